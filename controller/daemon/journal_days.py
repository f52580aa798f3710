"""When a table's journal goes on in its next file: when a day of the table begins, and when a file has become large.

A day begins at a time of the wall clock in a time zone, so it may have 23 or 25 hours. A file belongs to the day in
which it was begun; it is followed by another as soon as it is not that day any more, in whichever direction the clock
went. A clock that jumps makes one file more and stops none.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from controller.daemon.section_reader import LONGEST_NAME
from controller.journal.codec import Moment
from firmware_bridge.plain_text import plain

LEAST_NS = 600 * 1_000_000_000
"""Of the boot-time clock, between two files because of the day: a clock that jumps with every look makes no more."""


def find_zone(name: str) -> tzinfo:
    """The time zone of that name. UTC needs no data of the system. Raises ValueError for one that is not known."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a folder of zones is an OSError
        raise ValueError(f"this system knows no time zone {plain(name, LONGEST_NAME)!r}") from None


class JournalDays(msgspec.Struct, frozen=True):
    """`begins`: the time of day. `most_bytes`: of a file, after which the next is begun."""

    begins: time
    zone: tzinfo
    most_bytes: int

    def day(self, utc_ns: int) -> date:
        """The day of the table in which that moment lies: the last one that has begun."""
        moment = datetime.fromtimestamp(utc_ns // 1_000_000_000, UTC)
        today = moment.astimezone(self.zone).date()
        tomorrow = today + timedelta(days=1)
        return next(day for day in (tomorrow, today, today - timedelta(days=1)) if self._beginning(day) <= moment)

    def is_over(self, begun: Moment, now: Moment, size: int) -> bool:
        """Whether a file of that size is to be followed by the next one. `begun.boottime_ns`: in this run."""
        if size >= self.most_bytes:
            return True
        return self.day(begun.utc_ns) != self.day(now.utc_ns) and now.boottime_ns - begun.boottime_ns >= LEAST_NS

    def _beginning(self, day: date) -> datetime:
        return datetime.combine(day, self.begins, self.zone).astimezone(UTC)
