"""A rate limit: a burst, then one more at a fixed interval. Drivers, API, logs and store share this implementation."""

from __future__ import annotations


class Allowance:
    """A token bucket. Times are seconds of any one clock.

    >>> allowance = Allowance(2, 10.0)
    >>> [allowance.take(now) for now in (0.0, 1.0, 2.0, 11.0)]
    [True, True, False, True]
    """

    def __init__(self, at_once: int, one_more_every: float) -> None:
        self._at_once = at_once
        self._every = one_more_every
        self._left = float(at_once)
        self._since = 0.0

    def take(self, now: float) -> bool:
        """Take one and return whether there was one left."""
        self._left = self._left_at(now)
        self._since = now
        taken = self._left >= 1
        self._left -= taken
        return taken

    def give_back(self) -> None:
        """Return the one that was taken last."""
        self._left += 1

    def reserve(self, now: float) -> float:
        """Take one in advance and return the seconds until it is due."""
        self._left = self._left_at(now) - 1
        self._since = now
        return max(0.0, -self._left * self._every)

    def _left_at(self, now: float) -> float:
        return min(self._at_once, self._left + max(0.0, now - self._since) / self._every)
