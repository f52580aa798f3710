"""The TCP port of screens: on this machine's own addresses, behind a reverse proxy if others need access.

Every program of the machine, and every page in a browser on it, can connect here, so nothing is trusted: the host that
a request names must be this table's, its origin that host, and any change must say that it comes from a script of the
page. The cookie of an enrolled screen identifies the caller; all others only display.
"""

from __future__ import annotations

import socket
from collections import Counter
from contextlib import suppress
from typing import Final, NamedTuple

from aiohttp import web

from controller.api.answers import CONNECTION
from controller.api.callers import DISPLAY, Caller, Turns
from controller.api.connections import Acceptor, Connection
from controller.api.pages import ServedFiles
from controller.api.refusals import Refusals
from controller.api.routes import Routes, Shared
from controller.api.screens import Screens
from controller.api.serving import Serving
from controller.api.tcp_listener import OWN_NAMES, TcpListener
from firmware_bridge.messages import message

IN_ALL: Final = 96  # connections; a screen keeps one stream and few others
TURNS_AT_ONCE: Final = 100  # a page has about thirty files
LOOKING: Final = ("GET", "HEAD")

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # with "no-referrer" some requests of the page itself have `Origin: null`
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}
WRONG_HOST: Final = message(
    "This table does not have that host name. Use one of [api.http] hosts in its configuration, or localhost."
)
WRONG_ORIGIN: Final = message("The request comes from another site's page. Open the table's own page, then try again.")
NO_HEADER: Final = message("A request that changes anything needs the header X-Cardshoe: 1. Add it.")
NO_JSON: Final = message("The body of a request must be JSON; send it with Content-Type: application/json.")
DISPLAYS_ONLY: Final = message(
    "This browser is not an enrolled screen and may only display the table. Ask a pit supervisor to enrol it."
)


class WebSetting(NamedTuple):
    """The port's settings. `table`: its name. `hosts`: the names under which a reverse proxy reaches it."""

    listener: TcpListener
    table: str
    hosts: tuple[str, ...]


class PortAcceptor(Acceptor):
    """The connections of the port. Nobody is refused, because a caller is unknown before its request.

    When all places are taken, the oldest connection without a screen's cookie and without a stream ends, or else the
    oldest without a cookie, or one of the screen that has the most. Each such connection costs a whole request.
    """

    refused_at_once = 1

    def __init__(self, listener: TcpListener, refusals: Refusals) -> None:
        super().__init__(listener.sockets, refusals)
        self._inside: dict[Connection, None] = {}  # in the order of arrival

    def _receive(self, peer: socket.socket) -> bool:
        full = len(self._inside) >= IN_ALL
        if full:
            self._end_one()
            self._refusals.note("connections", DISPLAY)
        with suppress(OSError):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(self._make_protocol(), DISPLAY, lambda: self._left(connection))
        self._inside[connection] = None
        self._enter(peer, connection)
        return not full

    def end_all(self) -> None:
        for connection in tuple(self._inside):
            connection.abort()

    def _left(self, connection: Connection) -> None:
        self._inside.pop(connection, None)

    def _end_one(self) -> None:
        displays = [one for one in self._inside if not one.caller.screen]
        chosen = next((one for one in displays if not one.follows), displays[0] if displays else None)
        if chosen is None:
            ((busiest, _),) = Counter(one.caller for one in self._inside).most_common(1)
            chosen = next(one for one in self._inside if one.caller == busiest)
        del self._inside[chosen]
        chosen.abort()


class WebServer(Serving):
    """HTTP at the port of screens."""

    def __init__(self, shared: Shared, setting: WebSetting, *, by_people: bool) -> None:
        turns = Turns(by_people=by_people, at_once=TURNS_AT_ONCE)
        routes = Routes(shared, turns)
        cookie = f"cardshoe-{setting.table}-{setting.listener.port}"
        self._screens = Screens(shared, routes, cookie, self._is_proxied)
        super().__init__(turns, [*routes.all(), *self._screens.all(), *ServedFiles().all()])
        self._shared = shared
        self._listener = setting.listener
        self._own = frozenset(f"{name}:{setting.listener.port}" for name in OWN_NAMES)
        self._proxied = frozenset(setting.hosts)
        self._acceptor = PortAcceptor(setting.listener, shared.refusals)
        self.app.on_response_prepare.append(add_headers)

    async def start(self) -> None:
        await self.setup()
        self._acceptor.open(self.make_protocol)

    def close(self) -> None:
        self._acceptor.close()
        self._listener.close()

    def caller_of(self, request: web.Request, connection: Connection) -> Caller:
        return self._screens.caller_of(request)

    def refuse(self, request: web.Request) -> web.Response | None:
        """Check host, origin and header in this order, so that a foreign page learns nothing but that it is foreign."""
        refused, caller = self._shared.answers.refused, request[CONNECTION].caller
        host = host_of(request)
        if not self._is_own(host):
            return refused(421, "host", WRONG_HOST, caller)
        if is_of_another_page(request, host):
            return refused(403, "origin", WRONG_ORIGIN, caller)
        if request.method in LOOKING or request.match_info.http_exception is not None:  # 404 and 405 change nothing
            return None
        if request.headers.get("X-Cardshoe") != "1":
            return refused(403, "header", NO_HEADER, caller)
        if request.content_type != "application/json":
            return refused(415, "content-type", NO_JSON, caller)
        if not caller.screen and not self._screens.enrols(request):
            return refused(403, "not-enrolled", DISPLAYS_ONLY, caller)
        return None

    def rename(self, hosts: tuple[str, ...]) -> None:
        """Replace the proxy's names. If a name was removed, browsers have to connect again."""
        gone, self._proxied = self._proxied - set(hosts), frozenset(hosts)
        if gone:
            self._acceptor.end_all()

    def _is_own(self, host: str) -> bool:
        """Return whether the host is a name of the proxy, with any port, or a name of the machine, with this port."""
        return host in self._own or self._is_proxied(host)

    def _is_proxied(self, host: str) -> bool:
        return host.partition(":")[0] in self._proxied


def host_of(request: web.Request) -> str:
    """Return the host that the request names, or an empty string unless it names exactly one."""
    hosts = request.headers.getall("Host", [])
    return hosts[0].lower() if len(hosts) == 1 else ""


def is_of_another_page(request: web.Request, host: str) -> bool:
    """Return whether the request comes from a page of another host."""
    origins = request.headers.getall("Origin", [])
    return bool(origins) and [origin.lower() for origin in origins] not in ([f"http://{host}"], [f"https://{host}"])


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    for name, value in HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.pop("Server", None)
