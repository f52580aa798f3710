"""The API's server: the Unix socket, where the kernel identifies users, and perhaps the TCP port of screens."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web

from controller.api.answers import CONNECTION
from controller.api.callers import Turns
from controller.api.people import People
from controller.api.pins import PinDesk
from controller.api.refusals import Refusals
from controller.api.routes import Metrics, Routes, ServedTable, Shared
from controller.api.screen_port import WebServer, WebSetting
from controller.api.serving import Serving
from controller.api.unix_socket import NOT_ADMITTED, Listener, SocketAcceptor, SocketRefusedError
from controller.journal.codec import Moment
from firmware_bridge.messages import Message, message

LOOK_EVERY: Final = 1.0  # seconds between two looks at the socket's path
SHOWN_FOR_NS: Final = 600 * 10**9  # for which a removed socket is a warning

READS_ONLY: Final = message(
    "This user may read the table but not operate it; use a user that belongs to a person in the configuration."
)


class ApiServer:
    """Serves one table. `start` opens the socket; `close` ends every stream and removes it.

    `by_people`: people enter the operations, not a simulation. `screens`: the port of screens. `metrics`: for monitors.
    """

    def __init__(
        self,
        table: ServedTable,
        people: People,
        path: Path,
        now: Callable[[], Moment],
        *,
        by_people: bool = True,
        screens: WebSetting | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._may_look = people.may_look
        self._path = path
        self._now = now
        self._renewed_ns: int | None = None
        self._why_missing: str | None = None
        self._desk = PinDesk(table, now)
        self._refusals = Refusals(table.refused_at_door, now)
        self._shared = Shared(table, people, self._desk, self._refusals, metrics)
        self._socket = SocketServer(self._shared, by_people=by_people)
        self._screens = WebServer(self._shared, screens, by_people=by_people) if screens is not None else None

    async def start(self) -> None:
        """Listen. Raises `SocketRefusedError`."""
        self._acceptor = SocketAcceptor(Listener(self._path), self._may_look, self._refusals)
        await self._socket.setup()
        self._acceptor.open(self._socket.make_protocol)
        if self._screens is not None:
            await self._screens.start()
        self._telling = asyncio.create_task(self._refusals.run())
        self._watching = asyncio.create_task(self._watch_socket())

    @property
    def warning(self) -> Message | None:
        """Return a warning for people, or None if the socket was not removed in the last ten minutes."""
        if self._why_missing is not None:
            return message(
                "Something removed the table's socket {path}, and it cannot be created again: {why}. Restart the "
                "daemon between rounds.",
                path=str(self._path),
                why=self._why_missing,
            )
        if self._renewed_ns is None or self._now().boottime_ns - self._renewed_ns > SHOWN_FOR_NS:
            return None
        return message(
            "Something removed the table's socket {path}; it was created again. Find out what removes it, such as a "
            "rule of systemd-tmpfiles or a script.",
            path=str(self._path),
        )

    async def _watch_socket(self) -> None:
        """Create the socket again when something removes it under the running daemon."""
        log = structlog.get_logger()
        while True:
            await asyncio.sleep(LOOK_EVERY)
            try:
                renewed = self._acceptor.renew()
            except (SocketRefusedError, OSError) as error:
                if self._why_missing is None:
                    log.error("api.socket_missing", path=str(self._path), why=str(error))
                self._why_missing = str(error)
            else:
                self._why_missing = None
                if renewed:
                    self._renewed_ns = self._now().boottime_ns
                    log.warning("api.socket_renewed", path=str(self._path))

    async def close(self) -> None:
        self._watching.cancel()
        self._acceptor.close()
        if self._screens is not None:
            self._screens.close()
        self._shared.streams.close()
        await self._socket.cleanup()
        if self._screens is not None:
            await self._screens.cleanup()
        self._desk.close()
        self._telling.cancel()
        await self._refusals.close()

    def admit_again(self, hosts: tuple[str, ...] = ()) -> None:
        """Apply changed people and hosts: end connections that are no longer allowed.

        Browsers have to ask again under a valid name.
        """
        self._acceptor.admit_again()
        if self._screens is not None:
            self._screens.rename(hosts)

    async def own_connection(self) -> socket.socket:
        """Return a connection of the daemon to itself, for health checks."""
        return await self._acceptor.own_connection()


class SocketServer(Serving):
    """HTTP at the Unix socket, where every caller is a user of the machine."""

    def __init__(self, shared: Shared, *, by_people: bool) -> None:
        turns = Turns(by_people=by_people)
        super().__init__(turns, Routes(shared, turns).all())
        self._shared = shared

    def refuse(self, request: web.Request) -> web.Response | None:
        caller = request[CONNECTION].caller
        people, refused = self._shared.people, self._shared.answers.refused
        assert caller.uid is not None, "the kernel names the user of each connection"
        if people.may_operate(caller.uid):
            return None
        if not people.may_look(caller.uid):  # the daemon's own user
            return None if request.path == "/healthz" else refused(403, "not-admitted", NOT_ADMITTED, caller)
        return None if request.method == "GET" else refused(403, "reader", READS_ONLY, caller)
