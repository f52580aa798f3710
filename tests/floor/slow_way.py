"""A proxy to the broker that is slow, or silent for as long as its test wants."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self

from simulators.ports.tcp import close


class SlowWay:
    """A proxy that listens at `port`, as an async context manager.

    The broker's answers come `after` seconds later, and only while `open` is set.
    """

    def __init__(self, broker: int, after: float = 0.0) -> None:
        self.open = asyncio.Event()
        self.open.set()
        self.connections = 0
        self._broker = broker
        self._after = after
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await close(self._server)
        for running in self._running:
            running.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        self.connections += 1
        there, to_there = await asyncio.open_connection("127.0.0.1", self._broker)
        try:
            with suppress(OSError):
                async with asyncio.TaskGroup() as both:
                    both.create_task(_forward(reader, to_there))
                    both.create_task(self._answer(there, writer))
        finally:
            writer.transport.abort()
            to_there.transport.abort()

    async def _answer(self, there: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await there.read(65536):
            await asyncio.sleep(self._after)
            await self.open.wait()
            writer.write(data)
            await writer.drain()
        writer.close()


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
