"""Times that the daemon keeps: since when dealers are signed on, and when open irregularities were noticed.

A sign-on is measured by the boot-time clock of each boot of the PC, which cannot be set, and between two boots by the
wall clock, unless it was set back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from controller.api.feed import Published
from controller.api.pins import Deadlines
from controller.journal.codec import Moment
from controller.journal.pages import PAGE, Pages
from controller.journal.reader import JournaledDecision
from controller.table.decision import Decided
from controller.table.events import IrregularityRaised
from controller.table.model import Screen
from controller.table.state import TableState

_BEGAN: Final = re.compile(rb'\{"event":"table_began",.*"host_boot":"([^"]*)"')


class Shifts:
    """The sign-ons of dealers at screens. `length_ns` is how long one lasts."""

    def __init__(self, now: Callable[[], Moment]) -> None:
        self.length_ns = 0
        self._now = now
        self._ends = Deadlines(now)

    def dealer_at(self, screen: Screen | None) -> str:
        """Return the dealer who is signed on at the screen, or "" if nobody is, as after the shift."""
        if screen is None or self._ends.seconds_left(screen.id, screen.until_utc_ns, self.length_ns) <= 0:
            return ""
        return screen.dealer

    async def recall(self, state: TableState, folder: Path) -> None:
        """Recover the sign-ons at the start of the daemon: the wall clock may have been set back since. Raise
        `JournalError`.
        """
        pages = Pages(folder, dated)
        try:
            for one in state.screens:
                if one.dealer and one.since:
                    passed = await elapsed_since(one.since, one.host_boot, state.entry, self._now(), pages)
                    self._ends.note(one.id, one.until_utc_ns, self.length_ns - passed)
        finally:
            pages.close()


class Dated(NamedTuple):
    """The time of a decision. `boot` is the id of the PC's boot if the daemon started with it, else None."""

    moment: Moment
    boot: str | None = None


def dated(decision: JournaledDecision) -> list[Dated]:
    began = next(filter(None, map(_BEGAN.match, decision.events)), None)
    boot = None if began is None else began[1].decode()
    return [Dated(Moment(decision.utc_ns, decision.boottime_ns), boot)]


async def elapsed_since(entry: int, boot: str, until: int, now: Moment, pages: Pages[Dated]) -> int:
    """Return the nanoseconds since that entry of the journal, which ends with `until`. `boot` is the boot of the PC in
    which it was made. Raise `JournalError`.
    """
    found: list[Dated] = []
    for after in range(entry - 1, until, PAGE):
        found = _that_count([*found, *await pages.page(after, min(after + PAGE, until))])
    return known_ns(boot, [*found, Dated(now)])


def _that_count(found: list[Dated]) -> list[Dated]:
    """Return the first and the last moment, and each start with its predecessor. The others do not add anything."""
    last = len(found) - 1
    return [
        one for at, one in enumerate(found) if at in (0, last) or one.boot is not None or found[at + 1].boot is not None
    ]


def known_ns(boot: str, found: Iterable[Dated]) -> int:
    """Return the time between the first and the last moment. After a restart of the PC its boot-time clock began at
    zero, and shows the time since; the wall clock may show more.

    >>> hour = 3600 * 10**9
    >>> first, set_back = Dated(Moment(10**18, 50)), Dated(Moment(10**18 - 9 * hour, 50 + hour))
    >>> known_ns("a", [first, set_back]) == hour
    True
    >>> known_ns("a", [first, Dated(Moment(10**18 + 3 * hour, hour), "b")]) == 3 * hour
    True
    """
    passed, before = 0, None
    for one in found:
        if before is not None:
            ran = one.moment.boottime_ns - before.moment.boottime_ns
            if one.boot in (None, boot) and ran >= 0:
                passed += ran
            else:
                passed += max(one.moment.boottime_ns, one.moment.utc_ns - before.moment.utc_ns)
        before, boot = one, boot if one.boot is None else one.boot
    return passed


class NoticedTimes:
    """The times. `by_id` holds nanoseconds since 1970, by the irregularity's id."""

    def __init__(self) -> None:
        self.by_id: dict[int, int] = {}

    def note(self, utc_ns: int, numbers: tuple[int, ...], decided: Decided) -> None:
        """Note a decision made at that time, with the numbers of its events, and forget irregularities that are no
        longer open.
        """
        for number, event in zip(numbers, decided.events, strict=True):
            if isinstance(event, IrregularityRaised):
                self.by_id[number] = utc_ns
        still_open = {found.id for found in decided.state.open}
        self.by_id = {number: at for number, at in self.by_id.items() if number in still_open}

    async def recall(self, state: TableState, old: Pages[Published]) -> None:
        """Read the times of irregularities that were open before the start. Raise `JournalError`."""
        for found in state.open:
            if found.id not in self.by_id:
                for event in await old.page(found.id - 1, found.id):
                    if event.entry == found.id:
                        self.by_id[found.id] = msgspec.json.decode(event.payload)["utc_ns"]
