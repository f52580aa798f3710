"""The API's server on a Unix socket. The kernel names the user id of each connection; the client does not.

GET  /v1/state         the table now
GET  /v1/events        server-sent events, resumed after `Last-Event-ID`
POST /v1/operations    what people do
GET  /healthz          whether the daemon's parts answer
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol
from uuid import UUID

import msgspec
from aiohttp import web

from controller.api.feed import EventFeed
from controller.api.messages import OperationAnswer, OperationRequest, decode_request, encode
from controller.api.people import People, PersonRefusedError
from controller.api.view import TableView
from controller.roles import Role
from firmware_bridge.plain_text import whole_number

MAX_REQUEST: Final = 64 * 1024
MAX_ENTRY: Final = 2**63 - 1
KEEP_ALIVE: Final = 10.0  # seconds between comments on a quiet event stream, so that a dead peer is noticed
GRACE: Final = 1.0  # seconds that requests have to end when the daemon stops; then they are cancelled, in as many again
_PEER: Final = struct.Struct("iII")  # pid, uid, gid


class Table(Protocol):
    """The part of the daemon that the server uses."""

    feed: EventFeed

    def view(self) -> TableView: ...

    def on_duty_at(self, uid: int | None) -> str: ...

    async def operate(
        self, request: OperationRequest, person: str, role: Role, uid: int | None = None
    ) -> OperationAnswer: ...

    async def answers(self) -> bool: ...


class ApiServer:
    """Serves one table. `start` opens the socket, `close` ends every stream and removes it."""

    def __init__(self, table: Table, people: People, path: Path) -> None:
        self._table = table
        self._people = people
        self._path = path
        self._streams: set[asyncio.Task[object]] = set()
        app = web.Application(client_max_size=MAX_REQUEST, middlewares=[self._admit])
        app.add_routes(
            [
                web.get("/v1/state", self._state),
                web.get("/v1/events", self._events),
                web.post("/v1/operations", self._operations),
                web.get("/healthz", self._health),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=GRACE)

    async def start(self) -> None:
        """Listen. A socket that a killed daemon left behind is removed: the journal's lock says that it is dead."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.unlink(missing_ok=True)
        await self._runner.setup()
        site = web.UnixSite(self._runner, str(self._path))
        await site.start()
        self._path.chmod(0o666)  # anyone may connect; only the users of people in the configuration are admitted

    async def close(self) -> None:
        for stream in list(self._streams):
            stream.cancel()
        await self._runner.cleanup()
        self._path.unlink(missing_ok=True)

    @web.middleware
    async def _admit(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        if request.path == "/healthz":  # shows nothing of the table; the watchdog's user may be of no person
            return await handler(request)
        uid = _peer_uid(request)
        if uid is None or not self._people.admits(uid):
            sentence = "This user is not admitted to the table; add the uid to a person in the configuration."
            return _json(OperationAnswer(False, code="not-admitted", sentence=sentence), status=403)
        return await handler(request)

    async def _state(self, request: web.Request) -> web.Response:
        return _json(self._table.view())

    async def _health(self, request: web.Request) -> web.Response:
        healthy = await self._table.answers()
        return web.Response(text="ok\n" if healthy else "the table does not answer\n", status=200 if healthy else 503)

    async def _operations(self, request: web.Request) -> web.Response:
        try:
            asked = decode_request(await request.read())
            UUID(asked.id)
        except (msgspec.MsgspecError, ValueError) as error:
            return _json(
                OperationAnswer(
                    False,
                    code="bad-request",
                    sentence=f"The request cannot be read: {error}. Correct it and send it again.",
                ),
                status=400,
            )
        uid = _peer_uid(request)
        try:
            person = await self._people.identify(uid, asked.person, asked.pin, self._table.on_duty_at(uid))
        except PersonRefusedError as refused:
            return _json(OperationAnswer(False, code=refused.code, sentence=str(refused)), status=403)
        return _json(await self._table.operate(asked, person.id, person.role, uid))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        after = whole_number(request.headers.get("Last-Event-ID", "0"), MAX_ENTRY)
        if after is None:
            return web.Response(status=400, text="Last-Event-ID must be the number of a journal entry\n")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        task = asyncio.current_task()
        assert task is not None
        self._streams.add(task)
        try:
            await response.prepare(request)
            await self._stream(response, after)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the follower or the daemon went away; either may
        finally:
            self._streams.discard(task)
        return response

    async def _stream(self, response: web.StreamResponse, after: int) -> None:
        follower = self._table.feed.follow(after)
        pending = asyncio.ensure_future(anext(follower))
        try:
            while True:
                with suppress(TimeoutError):
                    async with asyncio.timeout(KEEP_ALIVE):  # wait_for would pass over a cancellation that meets news
                        batch = await asyncio.shield(pending)
                    lines = [b"id: %d\ndata: %s\n\n" % (event.entry, event.payload) for event in batch]
                    await response.write(b"".join(lines) if lines else b": up to date\n\n")
                    pending = asyncio.ensure_future(anext(follower))
                    continue
                await response.write(b": still here\n\n")
        finally:
            pending.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await pending
            await follower.aclose()


def _peer_uid(request: web.Request) -> int | None:
    """The user id of the other end of a Unix socket, from the kernel."""
    peer = request.transport.get_extra_info("socket") if request.transport else None
    if peer is None or peer.family != socket.AF_UNIX:
        return None
    data = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
    return int(_PEER.unpack(data)[1])


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(body=encode(value), status=status, content_type="application/json")
