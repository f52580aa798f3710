"""Turns: what one user asks for waits when it comes too fast, so that it takes little of the time of all others.

A request costs one turn. `AT_ONCE` are given without waiting, further ones come back at `A_SECOND`. People and their
screens do not reach that; a program in a loop waits, and only itself.
"""

from __future__ import annotations

import asyncio
from typing import Final

AT_ONCE: Final = 3
A_SECOND: Final = 50


class _Account:
    def __init__(self, now: float) -> None:
        self.left = float(AT_ONCE)
        self.since = now
        self.queue = asyncio.Lock()  # first come, first served


class Turns:
    """By user of the machine."""

    def __init__(self) -> None:
        self._accounts: dict[int, _Account] = {}

    async def take(self, uid: int) -> None:
        loop = asyncio.get_running_loop()
        account = self._accounts.setdefault(uid, _Account(loop.time()))
        async with account.queue:
            account.left = min(AT_ONCE, account.left + (loop.time() - account.since) * A_SECOND)
            account.since = loop.time()
            if account.left < 1:
                await asyncio.sleep((1 - account.left) / A_SECOND)
                account.left, account.since = 1.0, loop.time()
            account.left -= 1

    def give_back(self, uid: int) -> None:
        """It was worth while: an operation that was done."""
        self._accounts[uid].left += 1
