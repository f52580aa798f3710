"""The device's reports as the host expects them: which one is next, and when it is overdue.

The device names what it kept, oldest boot first; the host names the last report that it holds durably. What lies
between and was not kept is reported as gone, once. A report counts as withheld only while every report taken is
acknowledged: until then the journal is behind, not the device. docs/cardlink.md, "Reports: numbers, window,
acknowledgement".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from firmware_bridge.drivers.base import ReportsGone
from firmware_bridge.drivers.cardlink.messages import BadMessageError, KeptReports
from firmware_bridge.drivers.memory import LinkMemory

WINDOW: Final = 8  # reports that a device sends before they are acknowledged


class ReportSequence:
    """The host's place in the device's reports: `boot` and `number` of the next report.

    `takes_next` means that this report was given up: the first report with its number or a later one is taken.
    """

    def __init__(self, held: tuple[int, int], kept: Sequence[KeptReports], running_boot: int) -> None:
        """Raise BadMessageError if the device contradicts what the host holds."""
        self._kept = [part for part in kept if part.boot != running_boot]
        self._kept += [part for part in kept if part.boot == running_boot] or [KeptReports(running_boot, 1, held[1])]
        self._running_boot = running_boot
        self.takes_next = False
        self._has_skipped = False
        self._order = {part.boot: place for place, part in enumerate(self._kept)}
        self.gone = self._start_after(*held)
        for part in self._kept[1:]:
            if part.oldest > 1:
                self.gone.append(ReportsGone(part.boot, 1, part.oldest - 1))
        self._pass_finished_boots()

    def _start_after(self, boot: int, number: int) -> list[ReportsGone]:
        """Find the next report and return what was lost before it."""
        gone: list[ReportsGone] = []
        places = [place for place, part in enumerate(self._kept) if part.boot == boot]
        if places:
            del self._kept[: places[0]]
            part = self._kept[0]
            if boot == self._running_boot and number > part.newest:
                # Numbers that begin again under an old boot would pass for repeats, and cards would go unseen.
                raise BadMessageError(
                    f"it names {part.newest} as the last report of boot {boot}, but report {number} was taken before"
                )
            self.boot, self.number = boot, number + 1
            if part.oldest > self.number:
                gone.append(ReportsGone(boot, self.number, part.oldest - 1))
                self.number = part.oldest
            return gone
        if boot:
            gone.append(ReportsGone(boot, number + 1, None))
        while self._kept[0].boot != self._running_boot and self._kept[0].oldest > self._kept[0].newest:
            del self._kept[0]
        self.boot, self.number = self._kept[0].boot, self._kept[0].oldest
        if self.number > 1:
            gone.append(ReportsGone(self.boot, 1, self.number - 1))
        return gone

    def _pass_finished_boots(self) -> None:
        while self.boot != self._running_boot and self.number > self._kept[0].newest:
            del self._kept[0]
            self.boot, self.number = self._kept[0].boot, self._kept[0].oldest

    def may_come_from(self, boot: int) -> bool:
        """Return whether reports may carry this boot in their header: the running boot, or a boot that the device
        named.
        """
        return boot in self._order

    def accept(self, boot: int, first: int, last: int) -> bool:
        """Return whether a report is the next expected report, and if so move on.

        `first` and `last` are the report's number, unless the device declares a run of reports lost: then they are its
        ends.
        """
        if self.takes_next and not self.is_repeat(boot, last):
            self._has_skipped = self._has_skipped or (boot, first) != (self.boot, self.number)
            while self._kept[0].boot != boot:
                del self._kept[0]
            self.boot = boot
        elif boot != self.boot or not first <= self.number <= last:
            return False
        self.takes_next = False
        self.number = last + 1
        self._pass_finished_boots()
        return True

    def is_repeat(self, boot: int, number: int) -> bool:
        """Return whether a report that was not accepted came before, rather than too soon."""
        return (self._order[boot], number) < (self._order[self.boot], self.number)

    def may_be_resent(self, boot: int, number: int) -> bool:
        """Return whether the device may still have this report in its window, or the report was passed over."""
        return self._has_skipped or (boot == self.boot and number + WINDOW >= self.number)

    def has_due(self, newest: int) -> bool:
        """Return whether a report is due, if `newest` is the last one that the running boot made."""
        return self.boot != self._running_boot or newest >= self.number

    def is_ahead_of(self, newest: int) -> bool:
        """Return whether a report of the running boot was taken that is later than the last one it says it made."""
        return self.boot == self._running_boot and self.number - 1 > newest


DUE_WITHIN: Final = 5.0  # seconds
MOVES_WITHIN: Final = 30.0  # seconds; longer than a slow set or the recovery from a jam takes


class OverdueReport:
    """The overdue report of one link. The link ends once for it after `DUE_WITHIN`; on the next link it is given up."""

    def __init__(self, sequence: ReportSequence, memory: LinkMemory, held: tuple[int, int]) -> None:
        self._behind_since = math.inf  # the device's status counts fewer reports than were taken
        self._sequence = sequence
        self._memory = memory
        self._taken = self._durable = held
        self._newest = 0
        self._answered = 0  # the newest report that an answer named
        self._since = math.inf
        sequence.takes_next = self._due == memory.passed

    @property
    def _due(self) -> tuple[int, int]:
        return self._sequence.boot, self._sequence.number

    def hear_of(self, newest: int, now: float) -> None:
        """Note the last report that the running boot made, as a status or a later report names it."""
        is_behind = self._sequence.is_ahead_of(newest)
        self._behind_since = min(self._behind_since, now) if is_behind else math.inf
        memory = self._memory
        if memory.passed == self._due and memory.passed_newest is None:
            memory.passed_newest = newest  # it was given up before this start of the program
        self._newest = newest
        known = memory.passed == self._due and newest <= (memory.passed_newest or 0)
        if known or not self._sequence.has_due(newest):
            self._since = min(self._since, now) if self._has_answer_waiting() else math.inf
            return
        self._since = min(self._since, now)

    def hear_of_later(self, now: float) -> None:
        """Note that a later report came instead of the one that is due."""
        self._since = min(self._since, now)

    def hear_of_answer(self, number: int, now: float) -> None:
        """Note the newest report that an answer names, which waits for that report."""
        self._answered = max(self._answered, number)
        if self._has_answer_waiting():
            self._since = min(self._since, now)

    def _has_answer_waiting(self) -> bool:
        return self._answered > 0 and not self._sequence.takes_next and self._sequence.has_due(self._answered)

    def take(self, boot: int, number: int) -> None:
        """Note that the report that was due has come."""
        self._taken = (boot, number)
        self._since = math.inf

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        self._durable = (boot, number)
        if self._since < math.inf:
            self._since = now

    def ends_at(self) -> float:
        """Return when this link ends for lack of the report, or of a status that counts all reports."""
        waits_since = self._since if self._taken == self._durable else math.inf
        return min(waits_since, self._behind_since) + DUE_WITHIN

    def counts_too_few(self, now: float) -> bool:
        """Return whether the cause is a status that does not count all reports."""
        return now >= self._behind_since + DUE_WITHIN

    def give_up(self) -> ReportsGone | None:
        """Give up on the report; None means that a new link must be tried first."""
        memory = self._memory
        if self._due not in (memory.ended_for, memory.passed):
            memory.ended_for = self._due
            return None
        memory.passed, memory.passed_newest = self._due, self._newest
        self._since = math.inf
        self._answered = 0
        self._sequence.takes_next = True
        return ReportsGone(*self._due, None, withheld=True, newest=self._newest)


class Statuses:
    """The statuses of one link. No other frame replaces them: without a status nothing can be compared."""

    def __init__(self) -> None:
        self._last = math.inf
        self._moving_since = math.inf

    def hear(self, now: float, *, moving: bool) -> None:
        self._last = now
        self._moving_since = min(self._moving_since, now) if moving else math.inf

    def silent_for(self, now: float) -> float:
        """Return the seconds since the last status."""
        return now - self._last

    def move_too_long(self, now: float) -> bool:
        """Return whether the device has reported motion for so long that it no longer excuses a difference."""
        return now >= self._moving_since + MOVES_WITHIN
