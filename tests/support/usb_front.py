"""A simulated device on a simulated USB bus: whole frames in every transfer, heartbeats on the interrupt endpoint."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from firmware_bridge.drivers.cardlink.frame_sealing import INTERRUPT
from firmware_bridge.drivers.cardlink.framing import FrameReader, enclose
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.carrier import Carrier
from tests.support.usb_backend import BULK_IN, INTERRUPT_IN, UsbGadget


class UsbFront:
    """Carries a device's bytes over a gadget, from `start` until `stop`; plugging is the gadget's."""

    def __init__(self, device: SimulatedDevice, gadget: UsbGadget) -> None:
        self._loop = asyncio.get_running_loop()
        self._carrier = Carrier(device, self._send)
        self._gadget = gadget
        device.link.interrupt = gadget.interrupt
        gadget.on_out = self._take

    def start(self) -> None:
        self._carrier.start()

    def stop(self) -> None:
        self._carrier.stop()

    def _take(self, data: bytes) -> None:
        """What the host wrote; called on its thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._carrier.take, data)

    def _send(self, data: bytes) -> None:
        for frame in FrameReader().receive(data):
            self._gadget.send(enclose(frame.content), INTERRUPT_IN if frame.flags == INTERRUPT else BULK_IN)
