"""Times the shuffle audit: 10,000 decks through all tests, together with plain numpy code for one statistic.

    python -m benchmarks.audit_speed [--decks 10000] [--runs 5]

Floor: rising sequences of all decks in three lines of numpy. Ours: the same by `patterns`; its test, with its exact
chance; all tests with fresh samples; and all tests with cached samples. Hands and money are measured separately. The
goal is in seconds for all tests.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from controller.games import game
from controller.games.specification import Unit
from shuffle_audit import exact, patterns
from shuffle_audit.evidence import ShuffleEvidence
from shuffle_audit.faces import NEW_DECK, faces_out
from shuffle_audit.games_dealt import deals
from shuffle_audit.hands_dealt import compare
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.money import Start, costs, first_reading
from shuffle_audit.orders import Orders
from shuffle_audit.procedures import SHARES, examine
from shuffle_audit.sampled import SAMPLES, Nulls

GOAL: Final = 10.0  # seconds


def plain(orders: Orders) -> int:
    """Floor: find the place of each card, and count how often the next one comes before it."""
    places = np.empty_like(orders)
    np.put_along_axis(places, orders, np.arange(orders.shape[1])[None], axis=1)
    return int((places[:, 1:] < places[:, :-1]).sum()) + len(orders)


def by_its_test(orders: Orders) -> object:
    """Test rising sequences with their exact chance, without the cache of an earlier run."""
    exact.forget()
    one = exact.distribution(exact.rising_sequence_numbers(orders.shape[1]))
    return exact.tails_of_decks(one, len(orders), int(patterns.rising_sequences(orders).sum()))


def all_tests(orders: Orders, nulls: Nulls) -> object:
    exact.forget()
    return examine(orders, random=nulls, faces=NEW_DECK)


def seconds(work: Callable[[], object], runs: int) -> float:
    times: list[float] = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description="The shuffle audit: decks through all tests")
    parser.add_argument("--decks", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    orders = UNIFORM.shuffle(np.random.default_rng(1), given.decks, 52)
    assert plain(orders) == patterns.rising_sequences(orders).sum()
    kept = Nulls(np.random.default_rng(2))
    all_tests(orders, kept)
    law = first_reading(game("NC"))
    deal = next(one for one in deals() if (one.game, one.units) == ("NC", (Unit.SINGLES,)))
    out = faces_out(orders, NEW_DECK)
    rows: dict[str, Callable[[], object]] = {
        "plain numpy, one statistic": lambda: plain(orders),
        "cardshoe, the same statistic": lambda: patterns.rising_sequences(orders),
        "cardshoe, with its exact chance": lambda: by_its_test(orders),
        "all tests, samples drawn": lambda: all_tests(orders, Nulls(np.random.default_rng(2))),
        "all tests, samples kept": lambda: all_tests(orders, kept),
        "evidence, deck after deck": lambda: ShuffleEvidence().add(orders),
        "hands dealt, against the odds": lambda: compare(deal, out),
        "money, as many rounds": lambda: costs(
            law, UNIFORM, Unit.SINGLES, Start.NEW_DECK, np.random.default_rng(3), given.decks
        ),
    }
    print(f"{given.decks} decks of 52, {len(SHARES)} tests, {SAMPLES} samples; median of {given.runs}")
    took = {name: seconds(work, given.runs) for name, work in rows.items()}
    floor = took["plain numpy, one statistic"]
    for name, each in took.items():
        print(f"  {name:32} {each * 1e3:9.1f} ms {each / floor:8.1f}x plain numpy")
    whole = took["all tests, samples drawn"]
    print(f"all tests: {whole:.1f} s, the goal of {GOAL:g} s is {'met' if whole <= GOAL else 'missed'}")


if __name__ == "__main__":
    main()
