"""Turns: what one user asks for waits when it comes too fast, so that it takes little of the time of all others.

A request costs one turn. `AT_ONCE` are given without waiting, further ones come back at `A_SECOND`. People and their
screens do not reach that; a program in a loop waits, and only itself. Who operates the table does not wait: what the
table accepts is in the journal with its author.
"""

from __future__ import annotations

import asyncio
from typing import Final

from firmware_bridge.allowance import Allowance

AT_ONCE: Final = 3
A_SECOND: Final = 50
AT_WORK: Final = 1.0  # seconds after an accepted operation


class _Account:
    def __init__(self, now: float) -> None:
        self.allowance = Allowance(AT_ONCE, 1 / A_SECOND)
        self.at_work_until = now
        self.queue = asyncio.Lock()  # first come, first served


class Turns:
    """By user of the machine."""

    def __init__(self) -> None:
        self._accounts: dict[int, _Account] = {}

    async def take(self, uid: int) -> None:
        loop = asyncio.get_running_loop()
        account = self._accounts.setdefault(uid, _Account(loop.time()))
        if loop.time() < account.at_work_until:
            return
        async with account.queue:
            if wait := account.allowance.reserve(loop.time()):
                await asyncio.sleep(wait)

    def is_at_work(self, uid: int) -> None:
        """An operation of this user was accepted."""
        self._accounts[uid].at_work_until = asyncio.get_running_loop().time() + AT_WORK
