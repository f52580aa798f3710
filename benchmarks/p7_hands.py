"""P7: hands ranked per second, one at a time and in bulk, compared with table lookups with a ready-made key.

    python -m benchmarks.p7_hands [--runs 7]

Every hand of the deck is ranked once per run, in shuffled order. Floors: a dict keyed by ordered triples of cards,
looked up with the hand itself; a dict keyed by ordered triples of ranks, with ranks read from the cards; in bulk, one
numpy lookup indexed by three arrays of ranks, and the same with the arrays filled from the cards first. Ours:
`rank_key`.

The goal is 1.5 times the cost of the dict keyed by cards and, in bulk, 1.5 times that of the numpy lookup. One at a
time it is met in some runs and missed by about a tenth in others: the call alone costs half of such a lookup. In bulk
it is missed more than tenfold if the ranks are in arrays already, and met if they must be read from cards first. A
round has at most ten hands, so no such arrays are kept. The last lines of a run have its results.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from itertools import combinations, product
from random import Random
from types import ModuleType
from typing import Final, TypeAlias

from controller.rules.hands import rank_key
from firmware_bridge.cards import DECK, Card

GOAL: Final = 1.5
NO_NUMPY: Final = "numpy is not installed here, so the bulk floor is left out; get it with `pip install numpy`."
Hand: TypeAlias = tuple[Card, Card, Card]


def every_hand() -> list[Hand]:
    random = Random(1)
    hands = [(first, second, third) for first, second, third in combinations(DECK, 3)]
    random.shuffle(hands)
    return hands


def keys_by_ranks() -> dict[tuple[int, int, int], int]:
    suits = [DECK[start : start + 13] for start in (0, 13, 26)]
    return {(a.rank, b.rank, c.rank): rank_key((a, b, c)) for a, b, c in product(*suits)}


def by_cards(hands: list[Hand]) -> Callable[[], object]:
    """Floor: make one lookup a hand, with the hand as the key."""
    table = {hand: rank_key(hand) for hand in hands}

    def take() -> None:
        for hand in hands:
            table[hand]

    return take


def by_ranks(hands: list[Hand]) -> Callable[[], object]:
    """Floor: read three ranks, then make one lookup, without a call."""
    table = keys_by_ranks()

    def take() -> None:
        for first, second, third in hands:
            table[first.rank, second.rank, third.rank]

    return take


def ours(hands: list[Hand]) -> Callable[[], object]:
    def take() -> None:
        for hand in hands:
            rank_key(hand)

    return take


def ours_in_bulk(hands: list[Hand]) -> Callable[[], object]:
    return lambda: list(map(rank_key, hands))


def numpy_table(numpy: ModuleType) -> object:
    table = numpy.zeros((14, 14, 14), dtype=numpy.int8)
    for ranks, key in keys_by_ranks().items():
        table[ranks] = key
    return table


def numpy_lookup(hands: list[Hand], numpy: ModuleType) -> Callable[[], object]:
    """Floor in bulk: look up ranks that are in arrays already."""
    table = numpy.asarray(numpy_table(numpy))
    first, second, third = numpy.array([[card.rank for card in hand] for hand in hands]).T.copy()
    return lambda: table[first, second, third]


def numpy_from_cards(hands: list[Hand], numpy: ModuleType) -> Callable[[], object]:
    """Floor in bulk: look up ranks that are first read from cards, as they come."""
    table = numpy.asarray(numpy_table(numpy))

    def take() -> object:
        ranks = numpy.fromiter((card.rank for hand in hands for card in hand), numpy.int8, 3 * len(hands))
        return table[ranks[0::3], ranks[1::3], ranks[2::3]]

    return take


def nanoseconds(take: Callable[[], object], hands: int, runs: int) -> float:
    """Return the time for each hand, the median of several runs."""
    times: list[float] = []
    for _ in range(runs):
        begin = time.perf_counter()
        take()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) / hands * 1e9


def against(ours: float, floor: float) -> str:
    """Say how a cost compares with the goal.

    >>> against(60.0, 50.0), against(100.0, 50.0)
    ('1.20x, the goal of 1.5x is met', '2.00x, the goal of 1.5x is missed')
    """
    return f"{ours / floor:.2f}x, the goal of {GOAL}x is {'met' if ours <= GOAL * floor else 'missed'}"


def main() -> None:
    parser = argparse.ArgumentParser(description="P7: hands ranked a second")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    hands = every_hand()
    rows = {
        "dict, the hand is the key": by_cards(hands),
        "dict, ranks read from cards": by_ranks(hands),
        "rank_key, one at a time": ours(hands),
        "rank_key, in bulk": ours_in_bulk(hands),
    }
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        print(NO_NUMPY)
    else:
        rows["numpy, ranks in arrays"] = numpy_lookup(hands, numpy)
        rows["numpy, ranks read from cards"] = numpy_from_cards(hands, numpy)
    cost = {name: nanoseconds(take, len(hands), given.runs) for name, take in rows.items()}
    print(f"P7: {len(hands)} hands, median of {given.runs}")
    for name, each in cost.items():
        print(f"  {name:30} {each:8.1f} ns/hand {1e9 / each:14,.0f} hands/s")
    alone = cost["rank_key, one at a time"]
    print(f"one at a time: {against(alone, cost['dict, the hand is the key'])}: a dict that has every hand as a key,")
    print(f"  {against(alone, cost['dict, ranks read from cards'])}: a dict of ranks.")
    print("  The call, unpacking the hand and reading three ranks are all of the difference.")
    for name in ("numpy, ranks in arrays", "numpy, ranks read from cards"):
        if name in cost:
            print(f"in bulk: {against(cost['rank_key, in bulk'], cost[name])}: {name}")


if __name__ == "__main__":
    main()
