"""Measures what counting for `GET /metrics` adds to a decision, and what a page costs.

    python -m benchmarks.metered_rounds [--rounds 40] [--turns 9]

The same rounds are decided with and without the meters, in turn, in one process; figures are processor time. Floor: the
rounds without meters, decided in memory (with its commit a decision takes five times as long). Goal: at most 10
microseconds per decision and 5 ms per page; there is at most one page per second.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Callable
from typing import Final

from benchmarks.in_process import HostSide, Step, record, replay
from controller.api.view import LinkView
from controller.daemon import meter_definitions as of
from controller.daemon.host import HostClock
from controller.daemon.meters import Meters
from controller.daemon.metrics_page import Disk, MetricsPage
from controller.journal.codec import Moment
from controller.table.decision import Decided
from controller.table.inputs import AnyInput
from controller.table.state import TableState

PAGES: Final = 200


class Counting:
    """Updates the meters like the daemon, after each decision that has events."""

    def __init__(self) -> None:
        self.clock = HostClock()
        self.meters = Meters(self.clock)
        self.state = TableState()

    def __call__(self, given: AnyInput, decided: Decided) -> None:
        began = self.clock.now()
        self.meters.took(of.DECISION, began, in_round=decided.state.in_round)
        self.meters.committed(began, decided)
        self.state = decided.state


class EverLater:
    """A clock at which every page is due."""

    def __init__(self) -> None:
        self._seconds = 0

    def now(self) -> Moment:
        self._seconds += 2
        return Moment(self._seconds * 10**9, self._seconds * 10**9)


def seconds_of(steps: list[Step], commit: Callable[[AnyInput, Decided], None]) -> tuple[float, HostSide]:
    began = time.process_time()  # other load on the machine does not count
    side = replay(steps, commit)
    return time.process_time() - began, side


async def pages(counting: Counting) -> list[float]:
    """Return the seconds for each page."""
    page_of = MetricsPage(counting, lambda: LinkView(state="ready", age=0.1), lambda: Disk(1, 1), EverLater())
    times = []
    for _ in range(PAGES):
        began = time.process_time()
        await page_of.page(True, {"screen": 2, "display": 1, "user": 1})
        times.append(time.process_time() - began)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description="What counting for monitors costs")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--turns", type=int, default=9)
    given = parser.parse_args()
    steps = record(given.rounds)
    counting = Counting()
    seconds_of(steps, lambda given, decided: None)  # a warm-up
    without, counted = [], []
    for _ in range(given.turns):
        seconds, side = seconds_of(steps, lambda given, decided: None)
        without.append(seconds / side.inputs * 1e6)
        counted.append(seconds_of(steps, counting)[0] / side.inputs * 1e6)
    added = statistics.median(late - early for early, late in zip(without, counted, strict=True))
    floor = statistics.median(without)
    times = asyncio.run(pages(counting))
    print(f"metered rounds: {given.rounds} rounds, {given.turns} turns; microseconds an input")
    print(f"  {'without':<20}{floor:>9.1f}\n  {'with':<20}{statistics.median(counted):>9.1f}")
    print(f"  {'added':<20}{added:>9.1f}{added / floor:>8.1%}")
    print(f"  {'a page':<20}{statistics.median(times) * 1e6:>9.0f}")
    print("goal: at most 10 more, and a page within 5000")
    return 0


if __name__ == "__main__":
    sys.exit(main())
