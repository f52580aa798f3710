"""The API's server on a Unix socket. The kernel names the user id of each connection; the client does not.

GET  /v1/state         the table now
GET  /v1/events        server-sent events, resumed after `Last-Event-ID`
POST /v1/operations    what people do
GET  /healthz          whether the daemon's parts answer
"""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol
from uuid import UUID

import msgspec
import structlog
from aiohttp import web

from controller.api.door import NOT_ADMITTED, WRITE_WITHIN, Door, Listener, Visitor
from controller.api.feed import EventFeed, Follower
from controller.api.messages import EventId, NotInJournal, OperationAnswer, OperationRequest, decode_request, encode
from controller.api.pace import measured
from controller.api.people import Acting, People, PersonRefusedError
from controller.api.pins import PinDesk, PinRecord
from controller.api.refusals import Refusals
from controller.api.turns import Turns
from controller.api.view import TableView
from controller.journal import JournalError
from controller.journal.codec import Moment
from firmware_bridge.plain_text import plain

MAX_REQUEST: Final = 64 * 1024
KEEP_ALIVE: Final = 10.0  # seconds between comments on a quiet event stream, so that a dead peer is noticed
UP_TO_DATE: Final = b": up to date\n\n"
GRACE: Final = 1.0  # seconds that requests have to end when the daemon stops; then they are cancelled, in as many again
BODY_WITHIN: Final = 10.0  # seconds for the body of a request
STREAMS: Final = 8  # event streams of one user
VISITOR: Final = web.RequestKey("visitor", Visitor)
READS_ONLY: Final = "This user may look and not operate; use a user of a person in the configuration."
REFUSED_OFTEN: Final = (
    "Operations of this user were refused too often. Wait ten seconds, read the screen, and enter it again."
)
TOO_SLOW: Final = "The request did not come in time. Send it again."
STREAMS_IN_USE: Final = "This user follows the table too often; end programs that follow it, then try again."


class Table(PinRecord, Protocol):
    """The part of the daemon that the server uses."""

    feed: EventFeed

    @property
    def journal(self) -> str: ...

    @property
    def entry(self) -> int: ...

    def view(self) -> TableView: ...

    def on_duty_at(self, uid: int | None) -> str: ...

    async def operate(self, request: OperationRequest, by: Acting) -> OperationAnswer: ...

    async def refused_at_door(self, what: str, uid: int | None, count: int) -> None: ...

    async def answers(self) -> bool: ...


class ApiServer:
    """Serves one table. `start` opens the socket, `close` ends every stream and removes it.

    `by_people`: operations are entered by people, and not by a simulation.
    """

    def __init__(
        self, table: Table, people: People, path: Path, now: Callable[[], Moment], *, by_people: bool = True
    ) -> None:
        self._table = table
        self._people = people
        self._path = path
        self._desk = PinDesk(table, now)
        self._refusals = Refusals(table.refused_at_door, now)
        self._turns = Turns(by_people=by_people)
        self._streams: set[asyncio.Task[object]] = set()
        self._following: Counter[int] = Counter()
        app = web.Application(client_max_size=MAX_REQUEST, middlewares=[self._admit])
        app.add_routes(
            [
                web.get("/v1/state", self._state),
                web.get("/v1/events", self._events),
                web.post("/v1/operations", self._operations),
                web.get("/healthz", self._health),
            ]
        )
        self._runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            shutdown_timeout=GRACE,
            auto_decompress=False,  # a few bytes would become many
        )

    async def start(self) -> None:
        """Listen. Raises `SocketRefusedError`."""
        self._door = Door(Listener(self._path), self._people.may_look, self._refusals)
        await self._runner.setup()
        server = self._runner.server
        assert server is not None
        self._door.open(server)
        self._telling = asyncio.create_task(self._refusals.run())

    async def close(self) -> None:
        self._door.close()
        for stream in list(self._streams):
            stream.cancel()
        await self._runner.cleanup()
        self._desk.close()
        self._telling.cancel()
        await self._refusals.close()

    async def own_connection(self) -> socket.socket:
        """A connection of the daemon to itself, for questions about its health."""
        return await self._door.own_connection()

    @web.middleware
    async def _admit(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        visitor = request.transport.get_protocol() if request.transport is not None else None
        if not isinstance(visitor, Visitor):
            return web.Response(status=408)  # nobody reads it: the client has hung up
        request[VISITOR] = visitor
        visitor.begin_request()
        try:
            if not visitor.kept:
                with visitor.waiting():
                    await self._turns.take(visitor.uid)
            return self._refuse(request) or await handler(request)
        finally:
            visitor.end_request()

    def _refuse(self, request: web.Request) -> web.Response | None:
        """The refusal of what this user may not ask for."""
        uid = request[VISITOR].uid
        if self._people.may_operate(uid):
            return None
        if not self._people.may_look(uid):  # the daemon's own user
            return None if request.path == "/healthz" else self._refused(403, "not-admitted", NOT_ADMITTED, uid)
        return None if request.method == "GET" else self._refused(403, "reader", READS_ONLY, uid)

    def _refused(self, status: int, code: str, sentence: str, uid: int | None = None) -> web.Response:
        """`uid`: whose refusal is to be noted; None: it is not."""
        if uid is not None:
            self._refusals.note(code, uid)
        return _json(OperationAnswer(False, code=code, sentence=sentence), status=status)

    async def _state(self, request: web.Request) -> web.Response:
        return _json(self._table.view())

    async def _health(self, request: web.Request) -> web.Response:
        healthy = await self._table.answers()
        return web.Response(text="ok\n" if healthy else "the table does not answer\n", status=200 if healthy else 503)

    async def _operations(self, request: web.Request) -> web.Response:
        try:
            async with asyncio.timeout(BODY_WITHIN):
                asked = decode_request(await request.read())
            asked = msgspec.structs.replace(asked, id=str(UUID(asked.id)))  # however it is written
        except ConnectionError:
            return web.Response(status=408)  # nobody reads it: the client has hung up
        except TimeoutError:
            return self._refused(408, "too-slow", TOO_SLOW)
        except (msgspec.MsgspecError, ValueError) as error:
            why = plain(str(error))
            return self._refused(
                400, "bad-request", f"The request cannot be read: {why}. Correct it and send it again."
            )
        uid = request[VISITOR].uid
        on_duty = self._table.on_duty_at(uid)
        try:
            by = await self._people.identify(uid, asked.person, asked.pin, self._desk, on_duty)
        except PersonRefusedError as refused:
            return self._refused(403, refused.code, str(refused), uid if refused.at_door else None)
        if not self._refusals.take(uid):
            return self._refused(429, "refused-often", REFUSED_OFTEN, uid)
        with request[VISITOR].waiting():
            await self._turns.begin_operation(uid)
        try:
            before = self._table.entry
            answer = await self._table.operate(asked, by)
        finally:
            self._turns.end_operation(uid)
        if answer.accepted or answer.entry <= before:
            self._refusals.give_back(uid)
        if answer.accepted:
            self._turns.is_at_work(uid)
        return _json(answer)

    async def _events(self, request: web.Request) -> web.StreamResponse:
        after = EventId.parse(request.headers.get("Last-Event-ID", "0"))
        if after is None:
            return web.Response(status=400, text="Last-Event-ID must be JOURNAL:NUMBER, or the number of an entry\n")
        if missing := self._not_in_journal(after):
            return _json(missing, status=409)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        uid, visitor = request[VISITOR].uid, request[VISITOR]
        if self._following[uid] >= STREAMS:
            return self._refused(503, "streams", STREAMS_IN_USE, uid)
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        visitor.on_lost = task.cancel  # else it would be noticed with the next event only
        self._following[uid] += 1
        try:
            await response.prepare(request)
            await self._stream(response, after.entry)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the follower or the daemon went away; either may
        except TimeoutError:  # the follower does not read
            visitor.abort()
        except JournalError as error:  # old events cannot be read; the follower may ask again
            structlog.get_logger().error("api.events_unreadable", code=error.code, sentence=str(error))
            visitor.abort()
        finally:
            self._streams.discard(task)
            visitor.on_lost = lambda: None
            self._following[uid] -= 1
        return response

    def _not_in_journal(self, after: EventId) -> NotInJournal | None:
        """What a follower would otherwise wait for in vain, or pass over."""
        head = EventId(self._table.journal, self._table.entry)
        if after.journal not in ("", head.journal):
            code, sentence = "other-journal", f"The table writes another journal, {head.journal}"
        elif after.entry > head.entry:
            code, sentence = "after-the-end", f"The journal ends at entry {head.entry}"
        else:
            return None
        return NotInJournal(
            code, f"{sentence}. Begin with {EventId(head.journal)} for all of it, or with {head}.", *head
        )

    async def _stream(self, response: web.StreamResponse, after: int) -> None:
        feed = self._table.feed
        event_id = b"id: %s:%%d\ndata: %%s\n\n" % self._table.journal.encode()
        follower = feed.follow(after)
        if after >= feed.newest:
            await _write(response, UP_TO_DATE)
        while True:
            late, seconds = await measured(self._give_next(response, follower, event_id))
            if late:
                feed.pace.sent(seconds)

    async def _give_next(self, response: web.StreamResponse, follower: Follower, event_id: bytes) -> bool:
        """Whether the follower is late."""
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                events, late = await follower.next()
        except TimeoutError:
            await _write(response, b": still here\n\n")
            return False
        lines = [event_id % (event.entry, event.payload) for event in events]
        if events[-1].entry == self._table.feed.newest:
            lines.append(UP_TO_DATE)
        await _write(response, b"".join(lines))
        return late


async def _write(response: web.StreamResponse, data: bytes) -> None:
    """Raises `TimeoutError` where the peer does not read on."""
    async with asyncio.timeout(WRITE_WITHIN):
        await response.write(data)


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=encode(value), status=status, content_type="application/json")
