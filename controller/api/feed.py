"""Published events for any number of followers, each at its own speed: new ones from memory, older ones from disk."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Awaitable, Callable
from operator import attrgetter
from typing import Final, NamedTuple

import msgspec

from controller.api.pace import Pace

KEPT: Final = 4096  # events in memory; up to twice as many
PAGE: Final = 256  # events from memory, entries from disk; fewer are new and need no turn


CHANGED: Final = b',"changed":true}'
"""The end of an event that the journal shows was changed after it was recorded."""


class Published(msgspec.Struct, frozen=True):
    """One event as JSON without anything concealed. `entry` is its number."""

    entry: int
    payload: bytes


class Batch(NamedTuple):
    """The next events of a follower. `late`: there may be more; the follower catches up."""

    events: list[Published]
    late: bool


class EventFeed:
    """The published events. `read(after, until)` reads a range from the journal, oldest first.

    It is called for a follower that is far behind.
    """

    def __init__(self, read: Callable[[int, int], Awaitable[list[Published]]], pace: Pace | None = None) -> None:
        self.pace = pace or Pace()
        self._read = read
        self._kept: list[Published] = []
        self._waiting: set[asyncio.Future[None]] = set()
        self._dropped_up_to = 0

    def start_after(self, entry: int) -> None:
        """Note that everything up to this entry is in the journal and not in memory."""
        self._dropped_up_to = entry

    def publish(self, events: list[Published]) -> None:
        """Publish durable events, in order."""
        self._kept += events
        if len(self._kept) >= 2 * KEPT:
            self._dropped_up_to = self._kept[-KEPT - 1].entry
            del self._kept[:-KEPT]
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
        self._waiting.clear()

    def follow(self, after: int) -> Follower:
        """Return a follower for every event after an entry."""
        return Follower(self, after)

    @property
    def newest(self) -> int:
        return self._kept[-1].entry if self._kept else self._dropped_up_to

    def is_old(self, after: int) -> bool:
        """Return whether the events after that entry are in the journal and not in memory."""
        return after < self._dropped_up_to

    async def older(self, after: int) -> tuple[list[Published], int]:
        """Return the events of the page that holds the next entry, and the last entry that it covers."""
        until = min((after // PAGE + 1) * PAGE, self.newest)
        page = await self._read(after // PAGE * PAGE, until)
        return page[bisect_right(page, after, key=_entry) : bisect_right(page, until, key=_entry)], until

    def newer(self, after: int) -> list[Published]:
        """Return the next events among those in memory."""
        kept = self._kept
        if not kept or kept[-1].entry <= after:
            return []
        begin = bisect_right(kept, after, key=_entry)
        return kept[begin : begin + PAGE]

    def recent(self, count: int) -> list[Published]:
        """Return up to `count` of the newest events in memory, newest first."""
        return self._kept[: -count - 1 : -1]

    async def news(self) -> None:
        """Wait until something is published."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)


class Follower:
    """A reader that has had everything up to `after`."""

    def __init__(self, feed: EventFeed, after: int) -> None:
        self._feed = feed
        self._after = after

    async def next(self) -> Batch:
        """Return the next events, once there are some. Late followers take turns. Cancelling loses no events."""
        feed = self._feed
        while True:
            if feed.is_old(self._after):
                await feed.pace.turn()
                events, self._after = await feed.older(self._after)
                if events:
                    return Batch(events, late=True)
            elif events := feed.newer(self._after):
                if late := len(events) == PAGE:
                    await feed.pace.turn()
                self._after = events[-1].entry
                return Batch(events, late)
            else:
                await feed.news()


_entry: Final = attrgetter("entry")
