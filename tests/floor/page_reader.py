"""The page's server in a test, and a client that follows its streams as a page does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any

import aiohttp

from controller.api.tcp_listener import TcpListener
from controller.daemon.host import HostClock
from controller.floor.address import Broker
from controller.floor.follower import FloorFollower, FollowedPart
from controller.floor.page_server import PageServer
from tests.end_to_end.processes import PATIENCE


class PageReader:
    """Folds what a page is sent, as the page does. `whole` counts the complete states."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.matters: list[dict[str, Any]] = []
        self.contact: dict[str, Any] = {}
        self.story: dict[str, Any] = {}
        self.whole = 0
        self.messages = 0
        self._news = asyncio.Event()

    def take(self, event: str, said: dict[str, Any]) -> None:
        if event == "floor":
            if said.get("whole"):
                self.whole += 1
                self.rows.clear()
            self.rows |= {row["key"]: row for row in said["rows"]}
            for key in said.get("gone", ()):
                del self.rows[key]
            self.matters = said.get("matters", self.matters)
            self.contact = said["contact"]
        elif event == "story":
            self.story = said
        self.messages += event != "beat"
        self._news.set()

    async def follow(self, session: aiohttp.ClientSession, address: str) -> None:
        async with session.get(address) as answer:
            assert answer.status == 200, await answer.text()
            event = ""
            async for line in answer.content:
                if line.startswith(b"event: "):
                    event = line[7:].decode().strip()
                elif line.startswith(b"data: "):
                    self.take(event, json.loads(line[6:]))

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                await self._news.wait()


class Log:
    """A log that keeps each event with its values."""

    def __init__(self) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []

    def info(self, event: str, **values: Any) -> None:
        self.said.append((event, values))

    warning = info

    def of(self, event: str) -> list[dict[str, Any]]:
        return [values for name, values in self.said if name == event]


class RunningPage:
    """A running server of the page. `log` is the follower's. `hang_up` ends every connection."""

    def __init__(self, server: PageServer, follower: FloorFollower, log: Log, port: int) -> None:
        self.port = port
        self.follower = follower
        self.log = log
        self.hang_up = server.hang_up
        self._acceptor = server._acceptor

    @property
    def address(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def waiting(self) -> list[int]:
        """Return the bytes that wait to be read by each connection."""
        open_ = (one._transport for one in self._acceptor._inside)
        return [transport.get_write_buffer_size() for transport in open_ if transport is not None]

    @asynccontextmanager
    async def reader(self, path: str = "/v1/floor") -> AsyncIterator[PageReader]:
        found = PageReader()
        async with aiohttp.ClientSession(read_bufsize=2**20) as session:
            following = asyncio.create_task(found.follow(session, f"{self.address}{path}"))
            try:
                yield found
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError, aiohttp.ClientError):
                    await following


@asynccontextmanager
async def running_page(
    broker: Broker, part: FollowedPart | None = None, hosts: tuple[str, ...] = ()
) -> AsyncIterator[RunningPage]:
    clock, log = HostClock(), Log()
    follower = FloorFollower(broker, part or FollowedPart(), lambda: clock.now().boottime_ns, Random(7), log)
    listener = TcpListener(0)
    server = PageServer(follower, listener, hosts, clock)
    following = asyncio.create_task(follower.run())
    await server.start()
    try:
        yield RunningPage(server, follower, log, listener.port)
    finally:
        following.cancel()
        with suppress(asyncio.CancelledError):
            await following
        await server.close()
