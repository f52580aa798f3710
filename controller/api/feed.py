"""Published events for any number of followers, each at its own speed: new ones from memory, older ones from disk.

Followers that catch up share a limited part of a core: their processor time is measured, and they take turns.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Coroutine, Generator
from operator import attrgetter
from types import coroutine
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")

SHARE: Final = 0.2  # the share of one core
_AHEAD: Final = 0.002  # seconds: the loop wakes at most every millisecond, and catches up on it
_FIRST_GUESS: Final = 0.0002  # seconds to send a page
KEPT: Final = 4096  # events in memory; up to twice as many
PAGE: Final = 256  # events from memory, entries from disk; fewer are new and need no turn


CHANGED: Final = b',"changed":true}'
"""The end of an event that the journal shows was changed after it was recorded."""


class ProcessorShare:
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

    def __init__(
        self, read: Callable[[int, int], Awaitable[list[Published]]], pace: ProcessorShare | None = None
    ) -> None:
        self.pace = pace or ProcessorShare()
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

    def follow(self, after: int) -> FeedFollower:
        """Return a follower for every event after an entry."""
        return FeedFollower(self, after)

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


class FeedFollower:
    """A reader that has received everything up to `after`."""

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
