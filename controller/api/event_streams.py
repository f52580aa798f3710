"""`GET /v1/events`: server-sent events, each caller at its own speed, with a limit on streams."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Protocol

import structlog
from aiohttp import web

from controller.api.answers import CONNECTION, Answers, json_answer
from controller.api.bodies import EventId, NotInJournal
from controller.api.callers import Caller
from controller.api.connections import WRITE_WITHIN
from controller.api.feed import EventFeed, FeedFollower, measured
from controller.journal import JournalError
from firmware_bridge.messages import message

KEEP_ALIVE: Final = 10.0  # seconds between comments on a quiet event stream, which reveal a dead peer
UP_TO_DATE: Final = b": up to date\n\n"
STREAMS: Final = 8  # event streams of one user or screen
DISPLAY_STREAMS: Final = 32  # event streams of all displays together
STREAMS_IN_USE: Final = message(
    "This user has too many event streams; end programs that follow the table, then try again."
)
NO_EVENT_ID: Final = message(
    "Last-Event-ID must be JOURNAL:NUMBER, or the number of an entry. Correct it, or leave it out."
)
HEADERS: Final = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}


class FollowedTable(Protocol):
    """The part of the daemon that followers use."""

    feed: EventFeed

    @property
    def journal(self) -> str: ...

    @property
    def entry(self) -> int: ...


class Streams:
    """The streams of all listeners. `close` ends each of them."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.closed = False
        self._streams: set[asyncio.Task[object]] = set()
        self._following: Counter[Caller] = Counter()

    def close(self) -> None:
        self.closed = True
        for stream in list(self._streams):
            stream.cancel()

    def open(self) -> dict[str, int]:
        """Return the number of open streams of events and states, by kind of caller."""
        found = dict.fromkeys(("screen", "display", "user"), 0)
        for caller, count in self._following.items():
            found["user" if caller.uid is not None else "screen" if caller.screen else "display"] += count
        return found

    def refuse(self, request: web.Request) -> web.Response | None:
        """Return the refusal of one more stream for this caller, or None if the caller may have it."""
        caller = request[CONNECTION].caller
        most = STREAMS if caller.uid is not None or caller.screen else DISPLAY_STREAMS
        if self._following[caller] < most:
            return None
        return self._answers.refused(503, "streams", STREAMS_IN_USE, caller)

    @asynccontextmanager
    async def following(self, request: web.Request) -> AsyncIterator[None]:
        """Enclose the writing of a stream, which ends when its follower or the daemon goes away."""
        connection = request[CONNECTION]
        caller = connection.caller
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        connection.on_lost = task.cancel  # otherwise noticed only at the next event
        self._following[caller] += 1
        connection.follows = True
        try:
            yield
        except (ConnectionError, asyncio.CancelledError):
            pass  # normal: the follower or the daemon went away
        except TimeoutError:  # the follower does not read
            connection.abort()
        except JournalError as error:  # old events cannot be read; the follower may ask again
            structlog.get_logger().error("api.events_unreadable", code=error.code, sentence=str(error))
            connection.abort()
        finally:
            self._streams.discard(task)
            connection.on_lost = lambda: None
            connection.follows = False
            self._following[caller] -= 1


class EventStreams(Streams):
    """Streams of a table's events, which count together with its other streams."""

    def __init__(self, table: FollowedTable, answers: Answers) -> None:
        super().__init__(answers)
        self._table = table

    async def events(self, request: web.Request) -> web.StreamResponse:
        after = EventId.parse(request.headers.get("Last-Event-ID", "0"))
        if after is None:
            return self._answers.refused(400, "last-event-id", NO_EVENT_ID)
        if missing := self._not_in_journal(after):
            return json_answer(missing, status=409)
        if (full := self.refuse(request)) is not None:
            return full
        response = web.StreamResponse(headers=HEADERS)
        async with self.following(request):
            await response.prepare(request)
            await self._stream(response, after.entry)
        return response

    def _not_in_journal(self, after: EventId) -> NotInJournal | None:
        """Return the refusal for an event that is not in the journal: its follower would wait in vain, or miss some."""
        head = EventId(self._table.journal, self._table.entry)
        if after.journal not in ("", head.journal):
            said = message(
                "The table is writing a different journal, {journal}. Start with {first} to read all of it, or with "
                "{newest} to read only what follows.",
                journal=head.journal,
                first=str(EventId(head.journal)),
                newest=str(head),
            )
            return NotInJournal("other-journal", said, *head)
        if after.entry > head.entry:
            said = message(
                "The journal ends at entry {entry}. Start with {first} to read all of it, or with "
                "{newest} to read only what follows.",
                entry=head.entry,
                first=str(EventId(head.journal)),
                newest=str(head),
            )
            return NotInJournal("after-the-end", said, *head)
        return None

    async def _stream(self, response: web.StreamResponse, after: int) -> None:
        feed = self._table.feed
        event_id = b"id: %s:%%d\ndata: %%s\n\n" % self._table.journal.encode()
        follower = feed.follow(after)
        if after >= feed.newest:
            await write(response, UP_TO_DATE)
        while True:
            late, seconds = await measured(self._give_next(response, follower, event_id))
            if late:
                feed.pace.sent(seconds)

    async def _give_next(self, response: web.StreamResponse, follower: FeedFollower, event_id: bytes) -> bool:
        """Write the next events. Returns whether the follower is late."""
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                events, late = await follower.next()
        except TimeoutError:
            await write(response, b": still here\n\n")
            return False
        lines = [event_id % (event.entry, event.payload) for event in events]
        if events[-1].entry == self._table.feed.newest:
            lines.append(UP_TO_DATE)
        await write(response, b"".join(lines))
        return late


async def write(response: web.StreamResponse, data: bytes) -> None:
    """Write to a stream. Raises `TimeoutError` if the peer stops reading."""
    async with asyncio.timeout(WRITE_WITHIN):
        await response.write(data)
