"""Drops the copies of telegrams and suspects gaps. The shoe sends each telegram three times under one sequence number.

The order of the numbers is not public, so it is learned. A departure from a learned successor, or damaged telegrams
without a good copy, is reported as a suspected gap, never as proof of a loss.
"""

from __future__ import annotations

from typing import Final

from firmware_bridge.drivers.angel_eye.telegrams import Telegram

COPIES: Final = 3
CERTAIN: Final = 2  # times that a successor was seen; from then on a single departure does not replace it


class Deduplicator:
    """Follows the telegrams of one link."""

    def __init__(self) -> None:
        self._last: Telegram | None = None
        self._copies = COPIES  # good copies of the last telegram
        self._damaged = 0  # damaged telegrams since then, and earlier ones that the copies due do not explain
        self._learned: dict[int, tuple[int, int]] = {}

    @property
    def unaccounted(self) -> bool:
        """Return whether more telegrams came damaged than copies of the last one were due."""
        return self._damaged > COPIES - self._copies

    def take(self, telegram: Telegram) -> tuple[bool, str]:
        """Return whether the telegram is new (not a copy of the last), and why a gap before it is suspected, or ""."""
        if self._is_copy(telegram):
            self._copies += 1
            return False, ""
        follows, why = self._follow(telegram)
        due = COPIES - self._copies
        self._damaged = 0 if follows or why else max(0, self._damaged - due)
        self._last, self._copies = telegram, 1
        return True, why

    def take_damaged(self) -> None:
        self._damaged += 1

    def give_up(self) -> None:
        """Forget the damaged telegrams: they have been reported."""
        self._damaged = 0

    def _is_copy(self, telegram: Telegram) -> bool:
        last = self._last
        same = last is not None and (last.seq, last.data) == (telegram.seq, telegram.data)
        return same and self._copies < COPIES

    def _follow(self, telegram: Telegram) -> tuple[bool, str]:
        """Return whether the telegram is the learned successor, and how it departs from that. After a start (S) numbers
        may begin again."""
        last = self._last
        if last is None or telegram.data[:1] == b"S":
            return False, ""
        successor, times = self._learned.get(last.seq, (telegram.seq, 0))
        if successor == telegram.seq:
            self._learned[last.seq] = (successor, times + 1)
            return times > 0, ""
        if times < CERTAIN:
            self._learned[last.seq] = (telegram.seq, 1)
        return False, f"number {telegram.seq} came after {last.seq}, where {successor} was learned"
