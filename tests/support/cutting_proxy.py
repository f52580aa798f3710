"""A proxy for a table's socket that cuts each connection after a number of bytes from the daemon."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from simulators.ports.tcp import close


class CuttingProxy:
    """A proxy that listens at `path`, as an async context manager.

    `bytes_each`: the number of bytes that each next connection lets through; after the last number no connection is
    cut. `asked`: the first line of each request.
    """

    def __init__(self, path: Path, table: Path, bytes_each: Iterator[int]) -> None:
        self.path = path
        self.asked: list[str] = []
        self._table = table
        self._bytes_each = bytes_each
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._connected, self.path)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await close(self._server)
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        try:
            with suppress(OSError):
                there, to_there = await asyncio.open_unix_connection(self._table)
                asking = asyncio.create_task(self._forward(reader, to_there))
                try:
                    await self._answer(there, writer)
                finally:
                    asking.cancel()
                    to_there.transport.abort()
        finally:
            writer.transport.abort()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            line, _, rest = data.partition(b"\r\n")
            if b"HTTP/1.1" in line and rest:
                self.asked.append(line.decode())
            writer.write(data)
            await writer.drain()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = next(self._bytes_each, None)
        while data := await reader.read(65536):
            sent = data if left is None else data[:left]
            writer.write(sent)
            await writer.drain()
            if left is not None:
                left -= len(sent)
                if left <= 0:
                    writer.close()  # sends what was written
                    await writer.wait_closed()
                    return
