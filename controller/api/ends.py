"""Deadlines that the journal keeps as times of day but that the boot-time clock measures."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from controller.journal.codec import Moment


class Ends:
    """Deadlines by key. Even if the clock is set, none is more than its `longest_ns` after its first look."""

    def __init__(self, now: Callable[[], Moment]) -> None:
        self._now = now
        self._ends: dict[Hashable, tuple[int, int]] = {}  # the end in UTC, and in boot time

    def note(self, key: Hashable, until_utc_ns: int, left_ns: int) -> None:
        """Note that a deadline is at most `left_ns` away, by another source than the time of day."""
        now = self._now()
        left = max(0, min(left_ns, until_utc_ns - now.utc_ns))
        self._ends[key] = (until_utc_ns, now.boottime_ns + left)

    def seconds_left(self, key: Hashable, until_utc_ns: int, longest_ns: int) -> float:
        """Return the seconds until that time; 0 or less if it has passed. `until_utc_ns` 0: no deadline."""
        if not until_utc_ns:
            self._ends.pop(key, None)
            return 0.0
        now = self._now()
        if self._ends.get(key, (0, 0))[0] != until_utc_ns:
            left = min(max(until_utc_ns - now.utc_ns, 0), longest_ns)
            self._ends[key] = (until_utc_ns, now.boottime_ns + left)
        return (self._ends[key][1] - now.boottime_ns) / 1e9
