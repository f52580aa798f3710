"""Overdue messages: a report that the device says it made, a status, the end of a motion.

A report counts as withheld only while every report taken is acknowledged: until then the journal is behind, not the
device. docs/cardlink.md, "Reports: numbers, window, acknowledgement".
"""

from __future__ import annotations

import math
from typing import Final

from firmware_bridge.drivers.base import ReportsGone
from firmware_bridge.drivers.cardlink.sequence import ReportSequence
from firmware_bridge.drivers.memory import LinkMemory

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
        known = memory.passed == self._due and newest <= (memory.passed_newest or 0)
        if known or not self._sequence.has_due(newest):
            self._since = math.inf
            return
        self._newest = newest
        self._since = min(self._since, now)

    def hear_of_later(self, now: float) -> None:
        """Note that a later report came instead of the one that is due."""
        self._since = min(self._since, now)

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
        """Give up the report; None means that a new link must be tried first."""
        memory = self._memory
        if self._due not in (memory.ended_for, memory.passed):
            memory.ended_for = self._due
            return None
        memory.passed, memory.passed_newest = self._due, self._newest
        self._since = math.inf
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
