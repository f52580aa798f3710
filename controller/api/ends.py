"""Ends that stand in the journal as times of the day, and are judged by the boot-time clock."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from controller.journal.codec import Moment


class Ends:
    """However the clock of the day is set, an end is never farther away than its `longest_ns` from its first look."""

    def __init__(self, now: Callable[[], Moment]) -> None:
        self._now = now
        self._ends: dict[Hashable, tuple[int, int]] = {}  # the end in UTC, and in boot time

    def note(self, key: Hashable, until_utc_ns: int, left_ns: int) -> None:
        """That time is so far away at most, as is known otherwise than by the clock of the day."""
        now = self._now()
        left = max(0, min(left_ns, until_utc_ns - now.utc_ns))
        self._ends[key] = (until_utc_ns, now.boottime_ns + left)

    def seconds_left(self, key: Hashable, until_utc_ns: int, longest_ns: int) -> float:
        """Until that time; 0 or less: it is over. `until_utc_ns` 0: there is none."""
        if not until_utc_ns:
            self._ends.pop(key, None)
            return 0.0
        now = self._now()
        if self._ends.get(key, (0, 0))[0] != until_utc_ns:
            left = min(max(until_utc_ns - now.utc_ns, 0), longest_ns)
            self._ends[key] = (until_utc_ns, now.boottime_ns + left)
        return (self._ends[key][1] - now.boottime_ns) / 1e9
