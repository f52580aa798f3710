"""P8: the exact odds of every wager of all five games, under every reading, compared with one numpy pass.

    python -m benchmarks.p8_odds [--runs 5]

Floor: numpy weighs all 455 x 455 pairs of rank hands and adds them up by 31 x 31 classes of ranking, once. Ours counts
every wager of every reading with an empty cache, and again with a full one. The dependences of shapes are found once in
a process, at their first count, and shown separately.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from types import ModuleType

from controller.games import GAMES
from controller.rules.dependence import dependence
from controller.rules.hand_counting import RANK_HANDS, Trait, classes_by, count_hands, count_pairs
from controller.rules.odds import WagerOdds, count_odds, every_reading

NO_NUMPY = "numpy is not installed here, so there is no floor; get it with `pip install numpy`."


def numpy_pass(numpy: ModuleType) -> object:
    """Weigh all ordered pairs of hands and add them up by class."""
    of = numpy.array(classes_by(frozenset({Trait.RANKING})).of)
    held = numpy.zeros((len(RANK_HANDS), 14), dtype=numpy.int64)
    for number, ranks in enumerate(RANK_HANDS):
        for rank in ranks:
            held[number, rank] += 1
    choose = numpy.array([[1, count, count * (count - 1) // 2, count * (count - 1) * (count - 2) // 6]
                          for count in range(5)])  # fmt: skip
    pairs = numpy.ones((len(RANK_HANDS), len(RANK_HANDS)), dtype=numpy.int64)
    for rank in range(1, 14):
        mine, theirs = held[:, rank][:, None], held[:, rank][None, :]
        pairs *= choose[4, mine] * choose[4 - mine, theirs]
    size = int(of.max()) + 1
    cells = (of[:, None] * size + of[None, :]).ravel()
    return numpy.bincount(cells, weights=pairs.ravel(), minlength=size * size).sum()


def every_game() -> list[WagerOdds]:
    return [counted for game in GAMES.values() for law in every_reading(game) for counted in count_odds(law)]


def from_nothing() -> list[WagerOdds]:
    for kept in (classes_by, count_hands, count_pairs):
        kept.cache_clear()
    return every_game()


def seconds(work: Callable[[], object], runs: int) -> float:
    times: list[float] = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description="P8: exact odds of all games")
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    begin = time.perf_counter()
    for game in GAMES.values():
        for law in every_reading(game):
            for wager in law.wagers:
                dependence(wager, law.prices(wager))
    found = time.perf_counter() - begin
    wagers = len(from_nothing())
    rows = {"cardshoe, from nothing": seconds(from_nothing, given.runs), "cardshoe, again": 0.0}
    rows["cardshoe, again"] = seconds(every_game, given.runs)
    readings = sum(len(every_reading(game)) for game in GAMES.values())
    print(f"P8: {len(GAMES)} games, {readings} readings, {wagers} wagers; median of {given.runs}")
    for name, took in rows.items():
        print(f"  {name:24} {took * 1e3:9.1f} ms {took / wagers * 1e3:8.2f} ms/wager")
    print(f"  {'what shapes depend on':24} {found * 1e3:9.1f} ms once")
    try:
        numpy = importlib.import_module("numpy")
    except ImportError:
        print(NO_NUMPY)
        return
    assert numpy_pass(numpy) == 407_170_400
    floor = seconds(lambda: numpy_pass(numpy), given.runs)
    print(f"  {'one numpy pass':24} {floor * 1e3:9.1f} ms")
    ours, again = rows["cardshoe, from nothing"], rows["cardshoe, again"]
    print(f"{ours / floor:.1f}x one pass, for all wagers of all readings; the goal is seconds for all five games.")
    print(f"{again / ours:.0%} is `settle`, asked for each class of hands by every wager of every reading; the rest is")
    print("weighing 207,025 pairs of rank hands, once for each thing that wagers on two hands distinguish.")


if __name__ == "__main__":
    main()
