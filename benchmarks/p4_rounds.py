"""P4: whole rounds per second in one process (NC, eight boxes, card by card): frames, decide, evolve, and a journal.

    python -m benchmarks.p4_rounds [rounds]

Floor: bare `transitions` triggers for the same number of inputs; with a journal also a pwrite and fdatasync each.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import transitions

from benchmarks.in_process import Step, record, replay
from benchmarks.p3_journal import new_journal
from controller.journal.codec import Moment
from controller.journal.store import Journal
from controller.table.decision import Decided
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput

RUNS = 7


class _Model:
    state = "a"


def floor_triggers(count: int) -> None:
    """Trigger bare flat transitions, without hooks."""
    model = _Model()
    machine = transitions.Machine(model, states=["a", "b"], initial="a", auto_transitions=False)
    machine.add_transition("go", "a", "b")
    machine.add_transition("go", "b", "a")
    trigger = machine.events["go"].trigger
    for _ in range(count):
        trigger(model)


def floor_disk(count: int, folder: Path, size: int = 1500) -> None:
    """Write and fdatasync an average input's size for each input, into a preallocated file."""
    descriptor = os.open(folder / "floor", os.O_RDWR | os.O_CREAT)
    try:
        os.posix_fallocate(descriptor, 0, count * size)
        data = bytes(size)
        for number in range(count):
            os.pwrite(descriptor, data, number * size)
            os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def measured(*works: Callable[[], object]) -> list[float]:
    """Return the seconds of each, the median of several runs in turn, so that other load falls on all of them."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(RUNS):
        for work, taken in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            taken.append(time.perf_counter() - begin)
    return [statistics.median(taken) for taken in times]


def with_journal(steps: list[Step], journal: Journal[AnyInput, AnyEvent]) -> None:
    """Replay into an open journal: opening it is P6."""

    def commit(given: AnyInput, decided: Decided) -> None:
        moment = Moment(time.time_ns(), time.monotonic_ns())
        journal.append(given, decided.events, round=decided.state.round.number, moment=moment)

    replay(steps, commit)


def main(rounds: int) -> None:
    steps = record(rounds)
    inputs = replay(steps).inputs
    print(f"P4: {rounds} rounds, {inputs} inputs ({inputs / rounds:.0f} a round); median of {RUNS}")
    bare, ours = measured(lambda: floor_triggers(inputs), lambda: replay(steps))
    rows = [("bare transitions triggers", bare, 1.0), ("cardshoe without a journal", ours, ours / bare)]
    with tempfile.TemporaryDirectory() as name, closing(new_journal(Path(name) / "journal")) as journal:
        disk, kept = measured(lambda: floor_disk(inputs, Path(name)), lambda: with_journal(steps, journal))
        disk += bare
    rows += [("triggers + pwrite + fdatasync", disk, 1.0), ("cardshoe with a journal", kept, kept / disk)]
    for label, seconds, ratio in rows:
        print(f"  {label:32} {rounds / seconds:9.0f} rounds/s {1e6 * seconds / inputs:8.1f} us/input {ratio:6.2f}x")
    print("goals: 4x without, 2.5x with a journal. What dominates without a journal:")
    profile = cProfile.Profile()
    profile.runcall(replay, steps)
    pstats.Stats(profile).sort_stats("tottime").print_stats(8)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
