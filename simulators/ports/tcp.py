"""A simulated device behind a TCP port, as behind a serial server: one connection at a time."""

from __future__ import annotations

import asyncio
from typing import cast

from simulators.devices.base import DeviceSide
from simulators.ports.carrier import Carrier


class TcpFront:
    """Listens from `plug` until `unplug`. While a host is connected, others are rejected."""

    def __init__(self, device: DeviceSide, host: str = "127.0.0.1", port: int = 0) -> None:
        self._carrier = Carrier(device, self._send)
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        self._connection: asyncio.Transport | None = None

    @property
    def port(self) -> int:
        """The port on which it listens; for port 0 the system chooses one."""
        return self._port

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"tcp://{host}:{self._port}/"

    @property
    def plugged(self) -> bool:
        return self._server is not None

    async def plug(self) -> None:
        """Listen. Raise OSError if that is not possible."""
        if self._server is None:
            loop = asyncio.get_running_loop()
            self._server = await loop.create_server(lambda: _Line(self), self._host, self._port)
            self._port = self._server.sockets[0].getsockname()[1]
            self._carrier.start()

    async def unplug(self) -> None:
        """End the connection and stop listening. `plug` takes the same port again."""
        server, self._server = self._server, None
        self._carrier.stop()
        if server is not None:
            await close(server)
        if self._connection is not None:
            self._connection.abort()
        if server is not None:
            await server.wait_closed()

    def _send(self, data: bytes) -> None:
        """Send bytes; without a connection they are lost."""
        if self._connection is not None:
            self._connection.write(data)

    def admits(self, connection: asyncio.Transport) -> bool:
        """Accept a new connection unless one exists already."""
        if self._connection is not None:
            return False
        self._connection = connection
        return True

    def take(self, data: bytes) -> None:
        """Take what a connected host wrote."""
        self._carrier.take(data)

    def ended(self, connection: asyncio.BaseTransport | None) -> None:
        """Note that a connection is over."""
        if self._connection is connection:
            self._connection = None


async def close(server: asyncio.Server) -> None:
    """Stop listening, after the connections that the system has queued are taken.

    If its server closes, asyncio does not make a transport for a connection that it has already accepted, and nothing
        would close that connection.
    """
    for _ in range(4):  # the loop selects and accepts, makes the transport, and connects it; one round to spare
        await asyncio.sleep(0)
    server.close()


class _Line(asyncio.Protocol):
    def __init__(self, front: TcpFront) -> None:
        self._front = front
        self._connection: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        connection = cast(asyncio.Transport, transport)
        if self._front.admits(connection):
            self._connection = connection
        else:
            connection.abort()

    def data_received(self, data: bytes) -> None:
        if self._connection is not None:
            self._front.take(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._front.ended(self._connection)
