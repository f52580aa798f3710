"""Measures what screens cost the table's loop: microseconds of processor time an input, with one screen and with fifty.

    python -m benchmarks.screens [--rounds 3] [--screens 1 50] [--turns 5]

The states of recorded rounds are shown in turn (`benchmarks.in_process`), and every screen runs until it waits, as in
the daemon; what screens write is dropped. In `apart` 100 ms pass between two states, so that each is sent; in `burst`
2 ms, so that most are passed over. `languages`: half of the screens each ask for another language. Floor: the decision
of the same input, with its frames. The last line is the calls of functions for one message, by its parts.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.in_process import record, replay
from benchmarks.p3_journal import new_journal
from controller.api.feed import EventFeed, Published
from controller.api.screen_state import MessageKind, PersonView, ScreenView, own_part
from controller.api.screen_stream import ScreenStates
from controller.api.view import LinkView, TableView, view_of
from controller.daemon.journal_kinds import published
from controller.journal.codec import Moment
from controller.language import codes
from controller.table.decision import Decided
from controller.table.inputs import AnyInput
from controller.table.offers import Offer, offers
from controller.table.state import TableState

PEOPLE: Final = tuple(PersonView(f"p{number}", f"Person {number}", "dealer") for number in range(8))
APART: Final = 0.1  # seconds
BURST: Final = 0.002  # seconds
TURNS_OF_THE_LOOP: Final = 6  # in which every screen that has news has written


class ShownState(NamedTuple):
    """A state after an input, with the events that led to it."""

    state: TableState
    events: list[Published]


class ReplayedTable:
    """The table of the screens: `show` replaces its state."""

    def __init__(self, first: TableState) -> None:
        self.feed = EventFeed(self._read)
        self.state = first

    async def _read(self, after: int, until: int) -> list[Published]:
        return []

    def view(self) -> TableView:
        return view_of(self.state, self.link_view())

    def link_view(self) -> LinkView:
        return LinkView("ready", 0.1, 1)

    def shown_by(self) -> object:
        return self.state.entry

    def utc_ns(self) -> int:
        return 0

    def offers(self) -> tuple[Offer, ...]:
        return offers(self.state)

    def show(self, shown: ShownState) -> None:
        self.state = shown.state
        self.feed.publish(shown.events)


class ScreensTime:
    """The screens' clock, which the benchmark sets."""

    def __init__(self) -> None:
        self.now = 0.0
        self._waiting: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((self.now + seconds, future))
        await future

    def pass_by(self, seconds: float) -> None:
        self.now += seconds
        for until, future in self._waiting:
            if until <= self.now and not future.done():
                future.set_result(None)
        self._waiting = [(until, future) for until, future in self._waiting if not future.done()]


def states_of(rounds: int) -> tuple[list[ShownState], float]:
    """Return the states of so many rounds, and the microseconds of processor time that an input takes by itself."""
    steps = record(rounds)
    shown: list[ShownState] = []
    with tempfile.TemporaryDirectory() as name, closing(new_journal(Path(name) / "journal")) as journal:

        def commit(given: AnyInput, decided: Decided) -> None:
            number = decided.state.round.number
            done = journal.append(given, decided.events, round=number, moment=Moment(0, 0))
            shown.append(ShownState(decided.state, published(done.first, 0, number, done.published)))

        replay(steps, commit)
    began = time.process_time()
    inputs = replay(steps).inputs
    return shown, (time.process_time() - began) / inputs * 1e6


async def shown_to(screens: int, states: list[ShownState], gap: float, languages: tuple[str, ...]) -> float:
    """Return the microseconds for each state."""
    clock, table = ScreensTime(), ReplayedTable(states[0].state)
    maker = ScreenStates(table, dict, lambda: clock.now, clock.sleep)

    async def write(data: bytes) -> None: ...

    def follow(number: int) -> asyncio.Task[None]:
        kind = MessageKind(True, languages[number % len(languages)])
        own = ScreenView(True, f"screen-{number}", f"Screen {number}")
        return asyncio.ensure_future(maker.follow(write, lambda: kind, lambda: own_part(own, PEOPLE)))

    following = [follow(number) for number in range(screens)]
    used = 0.0
    for shown in states:
        began = time.process_time()
        clock.pass_by(gap)
        table.show(shown)
        for _ in range(TURNS_OF_THE_LOOP):
            await asyncio.sleep(0)
        used += time.process_time() - began
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)
    return used / len(states) * 1e6


def calls_for_each(states: list[ShownState]) -> dict[str, float]:
    """Return the calls of functions, C's included, for one message and its parts."""
    table = ReplayedTable(states[0].state)
    maker = ScreenStates(table, dict)

    def counted(work: Callable[[], object]) -> float:
        profile = cProfile.Profile()
        for shown in states:
            table.show(shown)
            profile.runcall(work)
        return sum(row[0] for row in pstats.Stats(profile).stats.values()) / len(states)  # type: ignore[attr-defined]

    return {
        "message": counted(lambda: maker.shared(MessageKind(True))),
        "view": counted(table.view),
        "offers": counted(table.offers),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="What screens cost the table's loop")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--screens", type=int, nargs="+", default=[1, 50])
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    states, floor = states_of(given.rounds)
    print(f"screens: {len(states)} states; microseconds an input, median of {given.turns}")
    print(f"  {'the decision alone':<34}{floor:>9.1f}{1.0:>8.1f}x")
    rows = [
        (f"{count:>3} screens, {name}{', languages' if len(languages) > 1 else ''}", count, gap, languages)
        for name, gap in (("apart", APART), ("burst", BURST))
        for count in given.screens
        for languages in ((codes()[:1], codes()) if count > 1 else (codes()[:1],))
    ]
    for label, count, gap, languages in rows:
        times = [asyncio.run(shown_to(count, states, gap, languages)) for _ in range(given.turns)]
        median = statistics.median(times)
        print(f"  {label:<34}{median:>9.1f}{median / floor:>8.1f}x")
    print("calls for each " + ", ".join(f"{name} {count:.0f}" for name, count in calls_for_each(states).items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
