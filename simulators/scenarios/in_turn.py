"""Inputs of a table without a daemon, taken in turn as the daemon takes them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from controller.table.inputs import AnyInput

ENDLESS: Final = 500  # inputs that follow from one


class EndlessError(Exception):
    """Table and device keep each other busy for ever."""


class InTurn:
    """`take` gets one input after another: what comes because of one, while it is taken, waits behind it."""

    def __init__(self, take: Callable[[AnyInput], None]) -> None:
        self._take = take
        self._queue: deque[AnyInput] = deque()
        self._busy = False

    def put(self, given: AnyInput) -> None:
        """One input and everything that follows from it. Raises `EndlessError`."""
        self._queue.append(given)
        if self._busy:
            return
        self._busy = True
        try:
            for _ in range(ENDLESS):
                if not self._queue:
                    return
                self._take(self._queue.popleft())
            raise EndlessError(f"{ENDLESS} inputs followed from one")
        finally:
            self._busy = False
