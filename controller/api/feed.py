"""Published events for any number of followers, each at its own speed: the newest from memory, older ones from disk."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from controller.api.pace import Pace

KEPT: Final = 4096
PAGE: Final = 256  # events from memory, entries from disk; fewer are news and wait for no turn


class Published(msgspec.Struct, frozen=True):
    """One event as JSON, without anything concealed. `entry` is its number."""

    entry: int
    payload: bytes


class Batch(NamedTuple):
    """`late`: the follower catches up. No events: all so far have been given."""

    events: list[Published]
    late: bool = False


class EventFeed:
    """`read(after, until)` gives published events from the journal, oldest first, when a follower is far behind: those
    of every decision with an entry in that range.
    """

    def __init__(self, read: Callable[[int, int], Awaitable[list[Published]]], pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
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

    async def follow(self, after: int) -> AsyncGenerator[Batch, None]:
        """Every event after an entry, in batches, for ever. Followers that are late take turns."""
        while True:
            news = self._next_news()  # before looking: what comes while the follower is busy must not be missed
            if after < self._dropped_up_to:
                await self.pace.turn()
                until = min((after // PAGE + 1) * PAGE, self._newest)
                page = await self._read(after // PAGE * PAGE, until)
                if events := page[bisect_right(page, after, key=_entry) : bisect_right(page, until, key=_entry)]:
                    yield Batch(events, late=True)
                after = until
                continue
            events = self._newer(after)
            if late := len(events) == PAGE:
                await self.pace.turn()
            yield Batch(events, late)
            if events:
                after = events[-1].entry
            else:
                await asyncio.shield(news)

    @property
    def _newest(self) -> int:
        return self._kept[-1].entry if self._kept else self._dropped_up_to

    def _newer(self, after: int) -> list[Published]:
        kept = self._kept
        if not kept or kept[-1].entry <= after:
            return []
        begin = bisect_right(kept, after, key=_entry)
        return list(islice(kept, begin, begin + PAGE))

    def _next_news(self) -> asyncio.Future[None]:
        if self._news is None or self._news.done():
            self._news = asyncio.get_running_loop().create_future()
        return self._news


_entry: Final = attrgetter("entry")
