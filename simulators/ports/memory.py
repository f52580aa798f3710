"""A simulated device in the host's process, joined to it in memory: each end receives what the other writes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from firmware_bridge.errors import TransportLostError, TransportUnavailableError
from firmware_bridge.messages import message
from firmware_bridge.transports.base import OnData, OnLost
from simulators.devices.base import DeviceWithMechanism
from simulators.devices.faulty_line import FaultyLine
from simulators.devices.one_way import OneWayDevice
from simulators.ports.carrier import Carrier


class MemoryTransport:
    """One end of the connection. When it closes, the other end is lost after it has received everything written before
    that.
    """

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
        self._on_lost(TransportLostError(message("The other end of the connection in memory was closed.")))


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


class MemoryFront:
    """One device, which admits one host at a time. Its state outlives connections; between them its time stands still.

    A `line` may be between the device and the host.
    """

    def __init__(self, device: DeviceWithMechanism, line: FaultyLine | None = None) -> None:
        self.device = device
        self._carrier = Carrier(line or device, self._send)
        self._far: MemoryTransport | None = None

    def connect(self, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False) -> MemoryTransport:
        """Return the host's end. Raise TransportUnavailableError while another host has it."""
        if self._far is not None:
            raise TransportUnavailableError(
                message("This simulated device already has a host."),
                message("Use another seed in the other URL."),
                "port-busy",
            )
        if isinstance(self.device, OneWayDevice):
            self.device.outgoing()  # bytes sent without a host are lost, as with real devices
        near, self._far = memory_pair(on_data, on_lost, self._carrier.take, self._lost, listen_only=listen_only)
        self._carrier.start()
        return near

    def unplug(self) -> None:
        """Take the link away from the host."""
        far, self._far = self._far, None
        if far is not None:
            self._carrier.stop()
            far.close()

    def _send(self, data: bytes) -> None:
        assert self._far is not None, "the carrier runs only while a host is connected"
        self._far.write(data)

    def _lost(self, error: TransportLostError) -> None:
        self._carrier.stop()
        self._far = None
