"""Refusals before the table: counted, and reported to the journal and the log in bounded number.

The first refusal of each kind for each user is reported immediately. Later ones are reported together after
`REPORT_EVERY` seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import structlog

from controller.api.callers import DISPLAY, Caller
from controller.journal.codec import Moment
from firmware_bridge.allowance import Allowance

REPORT_EVERY: Final = 600.0  # seconds
LOOKED_AT_EVERY: Final = 60.0  # seconds between two checks for due reports
MOST_USERS: Final = 64  # users who are distinguished in one kind
BURST: Final = 30  # refused operations of one user that the table answers in succession
ONE_MORE_EVERY: Final = 10.0  # seconds until it answers one more

Key: TypeAlias = tuple[str, Caller]


@dataclass(slots=True)
class _Counted:
    reported_ns: int
    count: int = 0


class Refusals:
    """Counts of refusals. `tell(what, caller, count)` has a count journaled."""

    def __init__(self, tell: Callable[[str, Caller, int], Awaitable[None]], now: Callable[[], Moment]) -> None:
        self._tell = tell
        self._now = now
        self._counted: dict[Key, _Counted] = {}
        self._telling: set[asyncio.Task[None]] = set()
        self._answered: dict[Caller, Allowance] = {}  # refusals that the table answers
        self._log = structlog.get_logger()

    def note(self, what: str, caller: Caller) -> None:
        """Count a refusal. `DISPLAY` also means unknown callers."""
        key = self._key(what, caller)
        counted = self._counted.get(key)
        if counted is None:
            self._counted[key] = _Counted(self._now().boottime_ns)
            self._report(key, 1)
        else:
            counted.count += 1

    def tell_what_is_due(self) -> None:
        """Report what is due, and forget users without further refusals."""
        now = self._now().boottime_ns
        for key, counted in list(self._counted.items()):
            if now - counted.reported_ns < REPORT_EVERY * 1e9:
                continue
            if counted.count:
                self._report(key, counted.count)
                self._counted[key] = _Counted(now)
            else:
                del self._counted[key]

    async def run(self) -> None:
        while True:
            await asyncio.sleep(LOOKED_AT_EVERY)
            self.tell_what_is_due()

    async def close(self) -> None:
        """Report the rest, if the table still listens."""
        for key, counted in self._counted.items():
            if counted.count:
                self._report(key, counted.count)
        self._counted.clear()
        if self._telling:
            await asyncio.wait(self._telling, timeout=1.0)

    # -- operations that the table refuses

    def take(self, caller: Caller) -> bool:
        """Return whether the table is asked for this caller: `BURST` times, then once every `ONE_MORE_EVERY` seconds.

        `give_back` undoes it if the table refused nothing new.
        """
        allowance = self._answered.setdefault(caller, Allowance(BURST, ONE_MORE_EVERY))
        return allowance.take(self._now().boottime_ns / 1e9)

    def give_back(self, caller: Caller) -> None:
        self._answered[caller].give_back()

    def _key(self, what: str, caller: Caller) -> Key:
        if (what, caller) in self._counted or sum(kind == what for kind, _ in self._counted) < MOST_USERS:
            return what, caller
        return what, DISPLAY

    def _report(self, key: Key, count: int) -> None:
        self._log.warning("door.refused", what=key[0], uid=key[1].uid, screen=key[1].screen, count=count)
        task = asyncio.ensure_future(self._tell(*key, count))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)
