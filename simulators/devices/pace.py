"""The pace of people and mechanisms: as in life, or without waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class Pace:
    """Waits for seconds of table time, at most `longest`, scaled. Scale 0 never waits."""

    def __init__(
        self, scale: float, longest: float = 3.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.scale = scale
        self._longest = longest
        self._sleep = sleep

    async def wait(self, seconds: float) -> None:
        if self.scale > 0 and seconds > 0:
            await self._sleep(min(seconds, self._longest) * self.scale)
