"""A limit on the processor time of followers that catch up. Their use is measured, and they take turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator
from types import coroutine
from typing import Any, Final, TypeVar

T = TypeVar("T")

SHARE: Final = 0.2  # of one core
_AHEAD: Final = 0.002  # seconds: the loop wakes at most every millisecond, and catches up on it
_FIRST_GUESS: Final = 0.0002  # seconds to send a page


class Pace:
    """A share of a core for all followers together. Each `turn` is for one page that is sent."""

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
        """Wait for a turn, first come, first served."""
        async with self._in_turn:
            while (wait := self._free_at - self._clock()) > 0:
                await self._sleep(wait)
            self.spent(self._typical)

    def spent(self, seconds: float) -> None:
        """Count seconds of processor time immediately."""
        self._free_at = max(self._free_at, self._clock() - _AHEAD) + seconds / SHARE

    def sent(self, seconds: float) -> None:
        """Count the time of sending a page. It is the estimate for later turns."""
        self._typical += (seconds - self._typical) / 16


@coroutine
def measured(work: Coroutine[Any, Any, T]) -> Generator[Any, Any, tuple[T, float]]:
    """Return the result of a coroutine and its processor seconds, without those of other tasks meanwhile."""
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
        except BaseException as error:  # passed to the coroutine that waits
            resume, given = work.throw, error
