"""How much of a processor followers that catch up may use: what they used is measured, and they wait in turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

SHARE: Final = 0.2  # of one core
_AHEAD: Final = 0.002  # seconds: the loop wakes no oftener than each millisecond, and catches up on it
_FIRST_GUESS: Final = 0.0002  # seconds that sending a page takes


class Pace:
    """A share of a core for all of them. Each `turn` stands for one page that is sent."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Coroutine[Any, Any, None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._in_turn = asyncio.Lock()
        self._free_at = 0.0
        self._typical = _FIRST_GUESS

    async def turn(self) -> None:
        """First come, first served."""
        async with self._in_turn:
            while (wait := self._free_at - self._clock()) > 0:
                await self._sleep(wait)
            self.spent(self._typical)

    def spent(self, seconds: float) -> None:
        """Seconds of a processor, which count at once."""
        self._free_at = max(self._free_at, self._clock() - _AHEAD) + seconds / SHARE

    def sent(self, seconds: float) -> None:
        """How long it took to send a page: the next turns count as that."""
        self._typical += (seconds - self._typical) / 16


@coroutine
def measured(work: Coroutine[Any, Any, T]) -> Generator[Any, Any, tuple[T, float]]:
    """Its result, and how many of the processor's seconds it took; what others do meanwhile does not count."""
    resume: Callable[[Any], Any] = work.send
    given: Any = None
    used = 0.0
    while True:
        began = time.thread_time()
        try:
            waits_for = resume(given)
        except StopIteration as done:
            return done.value, used + time.thread_time() - began
        used += time.thread_time() - began
        try:
            resume, given = work.send, (yield waits_for)
        except BaseException as error:  # goes on to who waits in there
            resume, given = work.throw, error
