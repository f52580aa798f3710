"""A loop whose time jumps to whatever is due next: waits of seconds take no time.

It suits only tests that run in memory, because nothing outside this process could keep up.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any


class _Selector(selectors.DefaultSelector):
    """A selector that never waits, and adds up how long it would have waited."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        ready = super().select(0)
        if not ready and timeout is None:
            raise RuntimeError("nothing can happen: everything waits for something else")
        if not ready and timeout is not None:
            self.now += max(timeout, 0.0)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now
