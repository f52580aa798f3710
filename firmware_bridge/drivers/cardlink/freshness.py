"""Checks that what this side sends arrives in time. docs/cardlink.md, "Signs of life".

The other side names the highest counter that it has taken in `heard`. A box in the line that delays frames, to deliver
them later as new, delays this too.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

FRESH_WITHIN: Final = 5.0  # seconds between the sending of a frame and the `heard` that names it
LOST_WITHOUT: Final = 5.0  # seconds without such a `heard`
KEPT_EACH: Final = 0.1  # seconds; one frame stands for those sent this soon after it, which errs towards "too old"


class Freshness:
    """The freshness of one link. Nothing counts as lost before `begin`, which is called when the link is up."""

    def __init__(self) -> None:
        self._sent: deque[tuple[int, float]] = deque()
        self._named_at = -math.inf  # when the newest acknowledged frame was sent
        self._fresh_at = math.inf

    def begin(self, now: float) -> None:
        self._fresh_at = now

    def sent(self, counter: int, now: float) -> None:
        """Note that a frame with this counter was sent."""
        if not self._sent or now >= self._sent[-1][1] + KEPT_EACH:
            self._sent.append((counter, now))
            while self._sent[0][1] < now - FRESH_WITHIN:
                self._sent.popleft()

    def hear(self, heard: int, now: float) -> None:
        """Note the highest counter that the other side has taken."""
        while self._sent and self._sent[0][0] <= heard:
            self._named_at = self._sent.popleft()[1]
        if now <= self._named_at + FRESH_WITHIN:
            self._fresh_at = now

    def ends_at(self) -> float:
        """Return when the other side counts as lost, unless a fresh `heard` comes first."""
        return self._fresh_at + LOST_WITHOUT
