"""The device's reports as the host expects them: which one is next, and when it is overdue.

The device names what it kept, oldest boot first; the host names the last report that it holds durably. What lies
between and was not kept is reported as gone, once. A report counts as withheld only while every report taken is
acknowledged: until then the journal is behind, not the device. docs/cardlink.md, "Reports: numbers, window,
acknowledgement".
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from firmware_bridge.drivers.base import Contradiction, ReportsGone
from firmware_bridge.drivers.cardlink.messages import BadMessageError, KeptReports, StatusBody
from firmware_bridge.drivers.memory import LinkMemory

WINDOW: Final = 8  # reports that a device sends before they are acknowledged


class ReportSequence:
    """The host's place in the device's reports: `boot` and `number` of the next report.

    `takes_next` means that this report was given up: the first report with its number or a later one is taken.
    `has_skipped` means that a report was passed over in this way, and may still come.
    """

    def __init__(self, held: tuple[int, int], kept: Sequence[KeptReports], running_boot: int) -> None:
        """Raise BadMessageError if the device contradicts what the host holds."""
        self._kept = [part for part in kept if part.boot != running_boot]
        self._kept += [part for part in kept if part.boot == running_boot] or [KeptReports(running_boot, 1, held[1])]
        self._running_boot = running_boot
        self.takes_next = False
        self.has_skipped = False
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
            self.has_skipped = self.has_skipped or (boot, first) != (self.boot, self.number)
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
        return self.has_skipped or (boot == self.boot and number + WINDOW >= self.number)

    def has_due(self, newest: int) -> bool:
        """Return whether a report is due, if `newest` is the last one that the running boot made."""
        return self.boot != self._running_boot or newest >= self.number

    def is_ahead_of(self, newest: int) -> bool:
        """Return whether a report of the running boot was taken that is later than the last one it says it made."""
        return self.boot == self._running_boot and self.number - 1 > newest


DUE_WITHIN: Final = 5.0  # seconds
DUE_FROM_OPEN_EXIT: Final = 1.0  # seconds; longer than three attempts of the device (docs/cardlink.md)
MOVES_WITHIN: Final = 30.0  # seconds; longer than a slow set or the recovery from a jam takes


class OverdueReport:
    """The overdue report of one link. The link ends once for it; on the next link it is given up after `DUE_WITHIN`.

    The link of a device that cannot hold its exit ends earlier, after `DUE_FROM_OPEN_EXIT`: people can draw on, and the
    end of the link is what tells them to stop.
    """

    def __init__(
        self, sequence: ReportSequence, memory: LinkMemory, held: tuple[int, int], *, holds_exit: bool = True
    ) -> None:
        self._first_within = DUE_WITHIN if holds_exit else DUE_FROM_OPEN_EXIT
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

    @property
    def _was_given_a_link(self) -> bool:
        """Return whether a link has ended for this report, which is given up next."""
        return self._due in (self._memory.ended_for, self._memory.passed)

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
        within = DUE_WITHIN if self._was_given_a_link else self._first_within
        return min(waits_since + within, self._behind_since + DUE_WITHIN)

    def counts_too_few(self, now: float) -> bool:
        """Return whether the cause is a status that does not count all reports."""
        return now >= self._behind_since + DUE_WITHIN

    def give_up(self) -> ReportsGone | None:
        """Give up on the report; None means that a new link must be tried first."""
        memory = self._memory
        if not self._was_given_a_link:
            memory.ended_for = self._due
            return None
        memory.passed, memory.passed_newest = self._due, self._newest
        self._since = math.inf
        self._answered = 0
        self._sequence.takes_next = True
        return ReportsGone(*self._due, None, withheld=True, newest=self._newest)


SETTLED_AFTER: Final = 2.0  # seconds; on USB a status may overtake what was sent before it


class Statuses:
    """The statuses of one link. No other frame replaces them: without a status nothing can be compared."""

    def __init__(self) -> None:
        self.at = math.inf  # the time of the last status
        self._moving_since = math.inf
        self._unordered_since = math.inf
        self._motions = 0  # without an order
        self._last: StatusBody | None = None
        self._highest_order = 0  # among the commands of this link
        self._done: tuple[int, float] | None = None  # the last card-moving command answered as done, and when

    def hear(self, said: StatusBody, now: float, *, ordered: bool) -> None:
        """Note a status, after its contradictions were asked for. `ordered`: a card-moving command is open."""
        self.at, self._last = now, said
        self._moving_since = min(self._moving_since, now) if said.moving else math.inf
        if not said.moving or ordered or not said.shuffle:  # a shuffle may take any time, and goes on over a new link
            self._unordered_since = math.inf
        elif self._unordered_since == math.inf:
            self._unordered_since, self._motions = now, self._motions + 1

    def order(self, command_id: int) -> None:
        """Note a command that is sent."""
        self._highest_order = max(self._highest_order, command_id)

    def carry_out(self, command_id: int, now: float) -> None:
        """Note that a card-moving command is answered as done."""
        self._done = (command_id, now)

    def contradictions(self, said: StatusBody, sent: float, now: float) -> Iterator[tuple[Contradiction, int]]:
        """Yield what a new status contradicts, each with a number that tells a second case from a repetition.

        `sent` is the highest counter that the host has used on this link; infinity if that is not known.
        docs/cardlink.md, "Status".
        """
        if said.heard > sent:
            yield "heard", 0
        if _miscounts(said) or (self._last is not None and _counts_back(self._last, said)):
            yield "counts", 0
        if self._last is not None and said.uptime_ms < self._last.uptime_ms:
            yield "clock", 0
        if self._misnames_command(said, now):
            yield "last_command", 0
        if said.moving and now >= self._unordered_since + MOVES_WITHIN:
            yield "motion", self._motions

    def _misnames_command(self, said: StatusBody, now: float) -> bool:
        """Return whether `last_command` falls, was never ordered, or lags behind a command answered as done."""
        if 0 < self._highest_order < said.last_command:
            return True
        if self._last is not None and said.last_command < self._last.last_command:
            return True
        return self._done is not None and now >= self._done[1] + SETTLED_AFTER and said.last_command < self._done[0]

    def silent_for(self, now: float) -> float:
        """Return the seconds since the last status."""
        return now - self.at

    def move_too_long(self, now: float) -> bool:
        """Return whether the device has reported motion for so long that it no longer excuses a difference."""
        return now >= self._moving_since + MOVES_WITHIN


def _miscounts(said: StatusBody) -> bool:
    """Return whether the counts of one status contradict each other. A device that does not count sends `loaded` 0."""
    left = said.loaded - said.dispensed if said.loaded else 0
    return said.remaining != left or said.sets_dispensed > said.dispensed


def _counts_back(before: StatusBody, said: StatusBody) -> bool:
    """Return whether a count of the same shuffle falls, or its deck has another size."""
    if not said.shuffle or said.shuffle != before.shuffle:
        return False
    falls = said.dispensed < before.dispensed or said.sets_dispensed < before.sets_dispensed
    return falls or (before.loaded != 0 and said.loaded != before.loaded)


class Acknowledgements:
    """The acknowledgements of one link that the device has confirmed: its `heard` covers the frame of each.

    A report that comes again although its acknowledgement was confirmed some time ago was not deleted.
    """

    def __init__(self) -> None:
        self._sent: deque[tuple[int, tuple[int, int]]] = deque()  # the counter of each, and the report
        self._confirmed: deque[tuple[float, tuple[int, int]]] = deque()

    def send(self, counter: int, boot: int, number: int) -> None:
        """Note an acknowledgement, or the resume, and the counter of its frame."""
        self._sent.append((counter, (boot, number)))

    def hear(self, heard: int, now: float) -> None:
        """Note the highest counter that the device has taken."""
        place = None
        while self._sent and self._sent[0][0] <= heard:
            _, place = self._sent.popleft()
        if place is not None:
            self._confirmed.append((now, place))
        while len(self._confirmed) > 1 and self._confirmed[1][0] + SETTLED_AFTER <= now:
            self._confirmed.popleft()

    def cover(self, boot: int, number: int, now: float) -> bool:
        """Return whether the device has known for a while that this report need not be sent again."""
        if not self._confirmed or self._confirmed[0][0] + SETTLED_AFTER > now:
            return False
        known_boot, known_number = self._confirmed[0][1]
        return boot == known_boot and number <= known_number
