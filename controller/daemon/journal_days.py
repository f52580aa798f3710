"""Decides when a table's journal continues in its next file: when a day of the table begins, or a file has become
large.

A day begins at a time of the wall clock in a time zone, so it may have 23 or 25 hours. A file belongs to the day in
which it was begun; the next file begins as soon as the day differs, in whichever direction the clock moved. A clock
that jumps causes an extra file, but never one too few.

It stands apart because configuration, keeper and commands count days alike.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from controller.daemon.section_reader import LONGEST_NAME
from controller.journal.codec import Moment
from firmware_bridge.messages import MessageError, message
from firmware_bridge.plain_text import plain

LEAST_NS = 600 * 1_000_000_000
"""The least boot time between two files begun because of the day, so that a jumping clock does not cause one at every
check.
"""


class UnknownZoneError(MessageError, ValueError):
    """Raised for a name that this system does not know as a time zone."""


def find_zone(name: str) -> tzinfo:
    """Return the time zone of that name. UTC does not need data from the system. Raise `UnknownZoneError`."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a name that is a folder of zones raises OSError
        raise UnknownZoneError(
            message("this system does not know the time zone {name}", name=repr(plain(name, LONGEST_NAME)))
        ) from None


class JournalDays(msgspec.Struct, frozen=True):
    """The days of a journal. `begins` is the time of day. `most_bytes` is the size after which the next file is
    begun.
    """

    begins: time
    zone: tzinfo
    most_bytes: int

    def day(self, utc_ns: int) -> date:
        """Return the table's day at that moment: the last one that has begun."""
        moment = datetime.fromtimestamp(utc_ns // 1_000_000_000, UTC)
        today = moment.astimezone(self.zone).date()
        tomorrow = today + timedelta(days=1)
        return next(day for day in (tomorrow, today, today - timedelta(days=1)) if self._beginning(day) <= moment)

    def is_over(self, begun: Moment, now: Moment, size: int) -> bool:
        """Return whether a file of that size should be followed by the next file. `begun.boottime_ns` belongs to this
        run.
        """
        if size >= self.most_bytes:
            return True
        return self.day(begun.utc_ns) != self.day(now.utc_ns) and now.boottime_ns - begun.boottime_ns >= LEAST_NS

    def _beginning(self, day: date) -> datetime:
        return datetime.combine(day, self.begins, self.zone).astimezone(UTC)
