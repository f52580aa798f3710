"""Whether what this side sends arrives in time: docs/cardlink.md, "Signs of life".

The other side names in `heard` the highest counter that it has taken. A box in the line that keeps frames back, to
deliver them later as if they were new, keeps back what names them as well.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Final

FRESH_WITHIN: Final = 5.0  # seconds between the sending of a frame and the `heard` that names it
LOST_WITHOUT: Final = 5.0  # seconds without such a `heard`
KEPT_EACH: Final = 0.1  # seconds; between them one frame stands for those after it, which errs towards "too old"


class Freshness:
    """Of one link. `begin` when the link stands; before, nothing is lost."""

    def __init__(self) -> None:
        self._sent: deque[tuple[int, float]] = deque()
        self._named_at = -math.inf  # when the newest frame that was named was sent
        self._fresh_at = math.inf

    def begin(self, now: float) -> None:
        self._fresh_at = now

    def sent(self, counter: int, now: float) -> None:
        """A frame with this counter is on its way."""
        if not self._sent or now >= self._sent[-1][1] + KEPT_EACH:
            self._sent.append((counter, now))
            while self._sent[0][1] < now - FRESH_WITHIN:
                self._sent.popleft()

    def hear(self, heard: int, now: float) -> None:
        """The other side names the highest counter that it has taken."""
        while self._sent and self._sent[0][0] <= heard:
            self._named_at = self._sent.popleft()[1]
        if now <= self._named_at + FRESH_WITHIN:
            self._fresh_at = now

    def ends_at(self) -> float:
        """When the other side counts as lost, unless a fresh `heard` comes before."""
        return self._fresh_at + LOST_WITHOUT
