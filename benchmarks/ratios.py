"""P1, P4 and P7 in a few seconds, as one line of ratios to their floors: `.ci/run` prints it.

    python -m benchmarks.ratios

Nothing is asserted: compare with the line of an earlier run to see a change that doubles one of them. The ratios are of
processor time, so that other work on the machine counts little; the calls of functions for each input of P4 depend on
the program alone.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import statistics
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from benchmarks import p1_frames, p4_rounds, p7_hands
from benchmarks.frame_floor import cut
from benchmarks.in_process import record, replay

FRAMES: Final = 4000
ROUNDS: Final = 8
RUNS: Final = 7


def processor_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def ratio(ours: Callable[[], object], floor: Callable[[], object]) -> float:
    """Return how many times the processor time of the floor ours takes: medians of runs in turn."""
    pairs = [(processor_seconds(ours), processor_seconds(floor)) for _ in range(RUNS)]
    return statistics.median(first for first, _ in pairs) / statistics.median(second for _, second in pairs)


def frames() -> float:
    """Return P1's worst ratio among the sizes of reads of the clean stream."""
    data = p1_frames.clean(p1_frames.make_frames(FRAMES, Random(1))).data
    every = [cut(data, size) for size in p1_frames.READS]
    return max(ratio(partial(p1_frames.ours, reads), partial(p1_frames.opening_floor, reads)) for reads in every)


def rounds() -> tuple[float, float]:
    """Return P4's ratio without a journal, and the calls for each input."""
    steps = record(ROUNDS)
    inputs = replay(steps).inputs
    profile = cProfile.Profile()
    profile.runcall(replay, steps)
    calls: int = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    return ratio(partial(replay, steps), partial(p4_rounds.floor_triggers, inputs)), calls / inputs


def hands() -> float:
    """Return P7's ratio, one hand at a time."""
    every = p7_hands.every_hand()
    return ratio(p7_hands.ours(every), p7_hands.by_cards(every))


def main() -> None:
    played, calls = rounds()
    print(
        f"P1 {frames():.2f}x (goal {p1_frames.GOAL}x), P4 {played:.1f}x (goal 4x; {calls:.0f} calls an input), "
        f"P7 {hands():.2f}x (goal {p7_hands.GOAL}x); load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    main()
