"""Days and hours in the casino's time zone, with the day beginning when the gaming day does."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, tzinfo
from typing import Final, NamedTuple

from msgspec.structs import replace

from firmware_bridge.messages import AnyText, Message, message

SECOND: Final = 1_000_000_000
UTC: Final = "UTC"
DAYS: Final = (
    Message("{day} January {year}"),
    Message("{day} February {year}"),
    Message("{day} March {year}"),
    Message("{day} April {year}"),
    Message("{day} May {year}"),
    Message("{day} June {year}"),
    Message("{day} July {year}"),
    Message("{day} August {year}"),
    Message("{day} September {year}"),
    Message("{day} October {year}"),
    Message("{day} November {year}"),
    Message("{day} December {year}"),
)
"""A day in words, by month."""


class Span(NamedTuple):
    """A time from `start` until before `end`, in nanoseconds since 1970 in UTC. `name` is for people."""

    start: int
    end: int
    name: AnyText = ""


class CasinoClock(NamedTuple):
    """The casino's clock. `zone` is its time zone. `day_begins` is the local time at which its gaming day begins."""

    zone: tzinfo
    zone_name: str
    day_begins: time = time(6)

    def local(self, utc_ns: int) -> datetime:
        """Return the local time, to the microsecond."""
        seconds, rest = divmod(utc_ns, SECOND)
        return datetime.fromtimestamp(seconds, self.zone) + timedelta(microseconds=rest // 1000)

    def hour(self, utc_ns: int) -> str:
        return self.local(utc_ns).strftime("%H:%M:%S")

    def day_and_hour(self, utc_ns: int) -> Message:
        """Return day and time in a form that is unambiguous everywhere."""
        return message("{day}, {time}", day=day_named(self.local(utc_ns)), time=self.hour(utc_ns))

    def iso(self, utc_ns: int) -> str:
        return self.local(utc_ns).isoformat(timespec="milliseconds")

    def day_of(self, utc_ns: int) -> date:
        """Return the gaming day: events before it begins belong to the previous day."""
        today = self.local(utc_ns).date()
        around = (today + timedelta(days=1), today, today - timedelta(days=1))
        return next(day for day in around if self._begins(day) <= utc_ns)

    def day(self, day: date) -> Span:
        """Return the whole gaming day."""
        name = message(
            "gaming day of {day} (from {begins} {zone})",
            day=day_named(day), begins=f"{self.day_begins:%H:%M}", zone=self.zone_name,
        )  # fmt: skip
        return Span(self._begins(day), self._begins(day + timedelta(days=1)), name)

    def hour_of(self, utc_ns: int) -> int:
        """Return the start of the hour."""
        return round(self.local(utc_ns).replace(minute=0, second=0, microsecond=0).timestamp()) * SECOND

    def hours(self, first: int, last: int) -> range:
        """Return every hour from one to another."""
        return range(first, last + 1, 3600 * SECOND)

    def moment(self, text: str) -> int:
        """Read a person's time, such as 2026-11-23T14:00, optionally with seconds or an offset. Raise `ValueError` for
        any other text.
        """
        found = datetime.fromisoformat(text)
        aware = found if found.tzinfo is not None else found.replace(tzinfo=self.zone)
        return round(aware.timestamp()) * SECOND

    def _begins(self, day: date) -> int:
        return round(datetime.combine(day, self.day_begins, self.zone).timestamp()) * SECOND


def day_named(day: date) -> Message:
    """Return a day with the name of its month.

    >>> str(day_named(date(2026, 11, 23)))
    '23 November 2026'
    """
    return replace(DAYS[day.month - 1], args={"day": day.day, "year": day.year})


def lasted(nanoseconds: int) -> Message:
    """Return a duration for people.

    >>> str(lasted(42 * SECOND)), str(lasted(142 * SECOND)), str(lasted(7325 * SECOND))
    ('42 s', '2 min 22 s', '2 h 2 min')
    """
    minutes, seconds = divmod(max(0, nanoseconds) // SECOND, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return message("{hours} h {minutes} min", hours=hours, minutes=minutes)
    if minutes:
        return message("{minutes} min {seconds} s", minutes=minutes, seconds=seconds)
    return message("{seconds} s", seconds=seconds)


def device_clock(milliseconds: int) -> str:
    """Return a device's own clock, since it began to run.

    >>> device_clock(3_723_045)
    '1:02:03.045'
    """
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:03}"
