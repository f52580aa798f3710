"""Published events for any number of followers, each at its own speed: the newest from memory, older ones from disk."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import takewhile
from typing import Final

import msgspec

KEPT: Final = 4096
AT_ONCE: Final = 512  # events from memory, which are encoded already
AT_ONCE_FROM_DISK: Final = 32  # these take time of the daemon's loop


class Published(msgspec.Struct, frozen=True):
    """One event as JSON, without anything concealed. `entry` is its number."""

    entry: int
    payload: bytes


class EventFeed:
    """`read(after, limit)` gives published events from the journal, oldest first, when a follower is far behind."""

    def __init__(self, read: Callable[[int, int], Awaitable[list[Published]]]) -> None:
        self._read = read
        self._kept: deque[Published] = deque(maxlen=KEPT)
        self._news: asyncio.Future[None] | None = None
        self._dropped_up_to = 0

    def start_after(self, entry: int) -> None:
        """Everything up to this entry is in the journal and not in memory."""
        self._dropped_up_to = entry

    def publish(self, events: list[Published]) -> None:
        """Durable events, in order."""
        for event in events:
            if len(self._kept) == KEPT:
                self._dropped_up_to = self._kept[0].entry
            self._kept.append(event)
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def follow(
        self, after: int, turn: Callable[[], Awaitable[None]] | None = None
    ) -> AsyncGenerator[list[Published], None]:
        """Every event after an entry, in batches, for ever; an empty batch says that all of them have been given.

        `turn` is awaited before a batch is read from the disk.
        """
        while True:
            news = self._next_news()  # before looking: what comes while the follower is busy must not be missed
            batch = await self._batch(after, turn)
            if batch:
                after = batch[-1].entry
                yield batch
                continue
            yield []
            await asyncio.shield(news)

    async def _batch(self, after: int, turn: Callable[[], Awaitable[None]] | None) -> list[Published]:
        if after < self._dropped_up_to:
            if turn is not None:
                await turn()
            if batch := await self._read(after, AT_ONCE_FROM_DISK):
                return batch
        if not self._kept or self._kept[-1].entry <= after:
            return []
        newer = list(takewhile(lambda event: event.entry > after, reversed(self._kept)))
        return newer[: -AT_ONCE - 1 : -1]

    def _next_news(self) -> asyncio.Future[None]:
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        return self._news
