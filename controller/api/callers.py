"""The origin of a request, and the turns of each: requests that come too fast wait, so that others lose little time.

A request costs one turn. `AT_ONCE` are free; further ones come back at `A_SECOND`. People and their screens do not
reach that; a program in a loop delays only itself. A caller who operates the table does not wait, because the journal
names the author of every accepted operation.

Operations of one caller go to the table one after the other. At a real table they come at the pace of people, so that a
program cannot fill the disk with accepted ones.
"""

from __future__ import annotations

import asyncio
from typing import Final, NamedTuple

from firmware_bridge.allowance import Allowance

AT_ONCE: Final = 3
A_SECOND: Final = 50
AT_WORK: Final = 1.0  # seconds after an accepted operation
OPERATIONS_AT_ONCE: Final = 300  # at a real table: more than a round has
OPERATION_EVERY: Final = 0.5  # seconds, after those


class Caller(NamedTuple):
    """A user of the machine at the Unix socket, an enrolled screen at the TCP port, or a display that may only look.

    Requests are counted and paced by this value, so all displays share one account.
    """

    uid: int | None = None
    screen: str = ""  # its id


DISPLAY: Final = Caller()


class _Account:
    def __init__(self, now: float, at_once: int) -> None:
        self.allowance = Allowance(at_once, 1 / A_SECOND)
        self.at_work_until = now
        self.queue = asyncio.Lock()  # first come, first served
        self.operations = Allowance(OPERATIONS_AT_ONCE, OPERATION_EVERY)
        self.operating = asyncio.Lock()


class Turns:
    """Limits how often each caller is served. `by_people`: people enter the operations, not a simulation. `at_once`:
    requests without a wait."""

    def __init__(self, *, by_people: bool = True, at_once: int = AT_ONCE) -> None:
        self._by_people = by_people
        self._at_once = at_once
        self._accounts: dict[Caller, _Account] = {}

    def _account(self, caller: Caller) -> _Account:
        if caller not in self._accounts:
            self._accounts[caller] = _Account(asyncio.get_running_loop().time(), self._at_once)
        return self._accounts[caller]

    async def take(self, caller: Caller) -> None:
        loop = asyncio.get_running_loop()
        account = self._account(caller)
        if loop.time() < account.at_work_until:
            return
        async with account.queue:
            if wait := account.allowance.reserve(loop.time()):
                await asyncio.sleep(wait)

    async def begin_operation(self, caller: Caller) -> None:
        """Wait until an operation by this caller may go to the table. `end_operation` must follow."""
        account = self._account(caller)
        await account.operating.acquire()
        try:
            wait = account.operations.reserve(asyncio.get_running_loop().time())
            if wait and self._by_people:
                await asyncio.sleep(wait)
        except BaseException:
            account.operating.release()
            raise

    def end_operation(self, caller: Caller) -> None:
        self._accounts[caller].operating.release()

    def is_at_work(self, caller: Caller) -> None:
        """Note that an operation by this caller was accepted."""
        self._accounts[caller].at_work_until = asyncio.get_running_loop().time() + AT_WORK
