"""Compares the PC's clock with the journal when the daemon starts: without a battery a PC starts with a wrong date.

A module of its own, because neither the journal nor the keeper of its files judges the clock.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from controller.journal.codec import Clock
from firmware_bridge.messages import Message, counted, message

SECOND_NS: Final = 10**9
STEP_NS: Final = 60 * SECOND_NS
"""A time server may set the clock back by as much without a warning."""
DAY_NS: Final = 86_400 * SECOND_NS
SHOWN_FOR_NS: Final = 3600 * SECOND_NS
"""How long an old journal is reported: the table may simply have been closed for days."""


class ClockDoubt:
    """The doubt about the clock of a daemon that found the newest entry recorded at `newest_utc_ns`; None: no entry."""

    def __init__(self, newest_utc_ns: int | None, clock: Clock) -> None:
        self._newest = newest_utc_ns
        self._clock = clock
        self._begun = clock.now()

    @property
    def warning(self) -> Message | None:
        """Return a warning for people, or None."""
        if self._newest is None:
            return None
        now = self._clock.now()
        if now.utc_ns < self._newest - STEP_NS:
            return message(
                "The PC's clock shows {now}, but the journal has an entry from {newest}. Set the clock "
                "(`timedatectl`). If it is right, that entry has a wrong time; this warning ends with the next "
                "restart.",
                now=_written(now.utc_ns),
                newest=_written(self._newest),
            )
        age = self._begun.utc_ns - self._newest
        if age >= DAY_NS and now.boottime_ns - self._begun.boottime_ns < SHOWN_FOR_NS:
            days = counted("1 day", "{count} days", age // DAY_NS)
            return message(
                "The newest entry was {days} old when the daemon started ({newest}). If the table was used since then, "
                "the PC's clock is wrong: set it (`timedatectl`).",
                days=days,
                newest=_written(self._newest),
            )
        return None


def _written(utc_ns: int) -> str:
    return f"{datetime.fromtimestamp(utc_ns // SECOND_NS, UTC):%Y-%m-%d %H:%M} UTC"
