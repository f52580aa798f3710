"""A simulated device in the host's process, joined to it in memory."""

from __future__ import annotations

from firmware_bridge.errors import TransportLostError, TransportUnavailableError
from firmware_bridge.transports.base import OnData, OnLost
from firmware_bridge.transports.memory import MemoryTransport, memory_pair
from simulators.devices.base import DeviceWithMechanism
from simulators.devices.faulty_line import FaultyLine
from simulators.devices.one_way import OneWayDevice
from simulators.ports.carrier import Carrier


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
                "This simulated device already has a host.", "Use another seed in the other URL.", "port-busy"
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
