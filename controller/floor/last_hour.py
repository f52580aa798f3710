"""The rounds, irregularities and voids of the floor within the last hour, counted as their records arrive.

They are counted by the floor's own clock, minute by minute, and only from when this program began to listen: the page
says how long that is. It is separate from the stories, which are limited to the newest decisions of each table.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Final

import msgspec

MINUTE_NS: Final = 60 * 10**9
MINUTES: Final = 60
COUNTED: Final = {"round_began": "rounds", "irregularity_raised": "irregularities"}
VOID: Final = "voided"  # the phase of a round that is void


class HourTotals(msgspec.Struct, frozen=True):
    """The counts. `minutes` is how long this program has counted, at most 60."""

    minutes: int = 0
    rounds: int = 0
    irregularities: int = 0
    voids: int = 0


class _Named(msgspec.Struct):
    """The part of an event that says what to count."""

    event: str = ""
    phase: str = ""


_NAMED: Final = msgspec.json.Decoder(_Named)


class LastHour:
    """`now` returns nanoseconds of a monotonic clock."""

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._began = now() // MINUTE_NS
        self._minutes: deque[tuple[int, Counter[str]]] = deque(maxlen=MINUTES)

    def count(self, events: Iterable[msgspec.Raw]) -> None:
        """Count the events of a decision that has just arrived. An event of an unexpected form counts as nothing."""
        found = Counter(name for name in map(_what, events) if name)
        if not found:
            return
        minute = self._now() // MINUTE_NS
        if not self._minutes or self._minutes[-1][0] != minute:
            self._minutes.append((minute, Counter()))
        self._minutes[-1][1].update(found)

    def totals(self) -> HourTotals:
        minute = self._now() // MINUTE_NS
        while self._minutes and self._minutes[0][0] <= minute - MINUTES:
            self._minutes.popleft()
        sums: Counter[str] = Counter()
        for _, counted in self._minutes:
            sums.update(counted)
        return HourTotals(min(minute - self._began, MINUTES), sums["rounds"], sums["irregularities"], sums["voids"])


def _what(raw: msgspec.Raw) -> str:
    try:
        named = _NAMED.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return "voids" if named.event == "phase_entered" and named.phase == VOID else COUNTED.get(named.event, "")
