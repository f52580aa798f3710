"""Two transports joined in memory: each receives what the other writes, on the event loop and in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from firmware_bridge.errors import TransportLostError
from firmware_bridge.transports.base import OnData, OnLost


class MemoryTransport:
    """One end. When it closes, the other end is lost after it has received everything written before."""

    def __init__(self, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False) -> None:
        self._listen_only = listen_only
        self._loop = asyncio.get_running_loop()
        self._on_data = on_data
        self._on_lost = on_lost
        self._other: MemoryTransport  # set by memory_pair
        self.closed = False

    def write(self, data: bytes) -> None:
        if data and not self._listen_only:
            self._call_other(lambda other: other._on_data(data))

    def close(self) -> None:
        if not self.closed:
            self._call_other(MemoryTransport._lose)
            self.closed = True

    def _call_other(self, call: Callable[[MemoryTransport], None]) -> None:
        # Through the loop, as with a real device: never from within the call that sent the bytes.
        other = self._other
        if not self.closed:
            self._loop.call_soon(lambda: None if other.closed else call(other))

    def _lose(self) -> None:
        self.closed = True
        self._on_lost(TransportLostError("The other end of the connection in memory was closed."))


def memory_pair(
    on_data: OnData,
    on_lost: OnLost,
    other_on_data: OnData,
    other_on_lost: OnLost,
    *,
    listen_only: bool = False,
) -> tuple[MemoryTransport, MemoryTransport]:
    """Return two joined ends, each with its own callbacks. `listen_only` applies to the first."""
    one = MemoryTransport(on_data, on_lost, listen_only=listen_only)
    other = MemoryTransport(other_on_data, other_on_lost)
    one._other, other._other = other, one
    return one, other
