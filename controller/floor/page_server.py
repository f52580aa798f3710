"""Serves the floor's page, its files and its streams, on this machine only. Nothing can be changed through it.

GET /          the page; the files that it shares with the console are the console's
GET /v1/floor  server-sent events: the floor, then its changes
GET /v1/story  server-sent events: one table, `?table=SITE/PIT/TABLE`, and its story
GET /healthz   whether the server runs

Every program on the machine and every page in its browsers can connect: so the host that a request names must be one of
this page's hosts, and its origin that host.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from aiohttp import web

from controller.api.answers import CONNECTION, Answers
from controller.api.callers import Caller, Turns
from controller.api.event_streams import HEADERS, Streams, write
from controller.api.in_language import language_of
from controller.api.pages import CONSOLE, FOLDER, ServedFiles, files_of
from controller.api.refusals import Refusals
from controller.api.screen_port import TURNS_AT_ONCE, PortAcceptor, add_headers, host_of, is_of_another_page
from controller.api.serving import Serving
from controller.api.tcp_listener import OWN_NAMES, TcpListener
from controller.floor.follower import FloorFollower
from controller.floor.page_stream import PageStream, Write
from controller.floor.topics import place_of
from controller.journal.codec import Clock
from firmware_bridge.messages import message

OWN: Final = Path(__file__).parent / "page"
SHARED: Final = (
    "css/tokens.css",
    "css/parts.css",
    "icon.svg",
    "js/dom.js",
    "js/stream.js",
    "js/words.js",
)
"""Files of the console that the page uses too."""

WRONG_HOST: Final = message(
    "This page is not served under that name. Use localhost, or start it with --host and this name."
)
WRONG_ORIGIN: Final = message("The request comes from another page. Open the floor's own page and try again.")
NO_TABLE: Final = message("That is not a table. Name one as SITE/PIT/TABLE.")


def page_files() -> ServedFiles:
    shared = {at: path for at, path in files_of(FOLDER, CONSOLE).items() if at.removeprefix(CONSOLE) in SHARED}
    return ServedFiles(shared | files_of(OWN, "/floor/"), {"/": "/floor/index.html"})


class PageServer(Serving):
    """The server of the page. `hosts` are the names by which a reverse proxy reaches it."""

    def __init__(self, follower: FloorFollower, listener: TcpListener, hosts: Sequence[str], clock: Clock) -> None:
        refusals = Refusals(_keep_nothing, clock.now)
        pages = page_files()
        self._answers = Answers(refusals)
        self._streams = Streams(self._answers)
        self._stream = PageStream(follower, pages.version)
        self._listener = listener
        self._own = frozenset(f"{name}:{listener.port}" for name in OWN_NAMES)
        self._proxied = frozenset(hosts)
        self._acceptor = PortAcceptor(listener, refusals)
        routes = [
            web.get("/v1/floor", self._floor, allow_head=False),
            web.get("/v1/story", self._story, allow_head=False),
            web.get("/healthz", self._health),
            *pages.all(),
        ]
        super().__init__(Turns(at_once=TURNS_AT_ONCE), routes)
        self.app.on_response_prepare.append(add_headers)

    async def start(self) -> None:
        await self.setup()
        self._acceptor.open(self.make_protocol)

    async def close(self) -> None:
        self._acceptor.close()
        self._listener.close()
        self.hang_up()
        await self.cleanup()

    def hang_up(self) -> None:
        """Close all connections; pages reconnect."""
        self._streams.close()
        self._acceptor.end_all()

    def refuse(self, request: web.Request) -> web.Response | None:
        caller = request[CONNECTION].caller
        host = host_of(request)
        if host not in self._own and host.partition(":")[0] not in self._proxied:
            return self._answers.refused(421, "host", WRONG_HOST, caller)
        if is_of_another_page(request, host):
            return self._answers.refused(403, "origin", WRONG_ORIGIN, caller)
        return None

    async def _floor(self, request: web.Request) -> web.StreamResponse:
        return await self._followed(request, lambda out: self._stream.floor(out, language_of(request)))

    async def _story(self, request: web.Request) -> web.StreamResponse:
        place = place_of(request.query.get("table", ""))
        if place is None:
            return self._answers.refused(404, "not-found", NO_TABLE)
        return await self._followed(request, lambda out: self._stream.story(out, place, language_of(request)))

    async def _followed(self, request: web.Request, follow: Callable[[Write], Awaitable[None]]) -> web.StreamResponse:
        if (full := self._streams.refuse(request)) is not None:
            return full
        response = web.StreamResponse(headers=HEADERS)
        async with self._streams.following(request):
            await response.prepare(request)
            await follow(partial(write, response))
        return response

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")


async def _keep_nothing(what: str, caller: Caller, count: int) -> None:
    """Do nothing: refused requests are in the log, and this program does not have a journal."""
