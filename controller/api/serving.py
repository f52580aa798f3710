"""HTTP at one listener: a request waits for its turn and is answered or refused, within its connection's limits."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

from aiohttp import web

from controller.api.answers import CONNECTION, refused
from controller.api.callers import Caller, Turns
from controller.api.connections import Connection
from controller.api.in_language import ASKED, speaker_for
from firmware_bridge.messages import message

MAX_REQUEST: Final = 64 * 1024
GRACE: Final = 1.0  # seconds for requests to end when the daemon stops, and as many again once they are cancelled
REFUSALS: Final = {
    404: (
        "not-found",
        message("The API has nothing at that address. Check it in the documentation of the API."),
    ),
    405: (
        "method",
        message("That address does not accept this method. Check it in the documentation of the API."),
    ),
    413: ("too-large", message("The request is larger than 64 KiB. Send a smaller one.")),
}
"""Codes and sentences in place of aiohttp's own texts."""


class Serving(ABC):
    """HTTP at one listener. `make_protocol` is for the listener, after `setup`."""

    def __init__(self, turns: Turns, routes: Iterable[web.RouteDef]) -> None:
        self.turns = turns
        self.app = web.Application(client_max_size=MAX_REQUEST, middlewares=[self._admit])
        self.app.add_routes(routes)
        self._runner = web.AppRunner(self.app, handle_signals=False, shutdown_timeout=GRACE)

    @abstractmethod
    def refuse(self, request: web.Request) -> web.Response | None:
        """Return the refusal of a request that this caller may not make, or None if the caller may make it."""

    def caller_of(self, request: web.Request, connection: Connection) -> Caller:
        return connection.caller

    async def setup(self) -> None:
        await self._runner.setup()

    async def cleanup(self) -> None:
        await self._runner.cleanup()

    def make_protocol(self) -> asyncio.Protocol:
        manager = self._runner.server
        assert manager is not None
        return Protocol(
            manager,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # as aiohttp's runner does: no log of requests
            auto_decompress=False,  # a few bytes would become many
        )

    @web.middleware
    async def _admit(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        connection = request.transport.get_protocol() if request.transport is not None else None
        if not isinstance(connection, Connection):
            return web.Response(status=408)  # the client has hung up, so nobody reads the answer
        request[CONNECTION] = connection
        connection.begin_request()
        connection.caller = self.caller_of(request, connection)
        ASKED.set(speaker_for(request))
        try:
            if not connection.kept:
                with connection.waiting():
                    await self.turns.take(connection.caller)
            return self.refuse(request) or await handler(request)
        except web.HTTPException as error:
            if (refusal := REFUSALS.get(error.status)) is None:
                raise
            answer = refused(error.status, *refusal)
            if allowed := error.headers.get("Allow"):
                answer.headers["Allow"] = allowed
            return answer
        finally:
            connection.end_request()


class Protocol(web.RequestHandler):
    """aiohttp's protocol, with a bare answer to data that is not HTTP."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        response = super().handle_error(request, status, exc, message)
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Content-Security-Policy"] = "default-src 'none'"
        return response
