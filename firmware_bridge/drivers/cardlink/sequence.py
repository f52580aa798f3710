"""Tracks the next report across repeats, losses, and reports that the device kept from an earlier boot.

The device names what it kept, oldest boot first; the host names the last report that it holds durably. What lies
between and was not kept is reported as gone, once. docs/cardlink.md, "Reports: numbers, window, acknowledgement".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firmware_bridge.drivers.base import ReportsGone
from firmware_bridge.drivers.cardlink.messages import BadMessageError, KeptReports

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
                    f"its boot {boot} has come to report {part.newest}, and {number} was taken before"
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
        """Return whether reports may carry this boot in their header: the running one, or one that the device named."""
        return boot in self._order

    def accept(self, boot: int, first: int, last: int) -> bool:
        """Return whether a report is the next one, and if so move on.

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
