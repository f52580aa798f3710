"""A simulated device on a simulated USB bus, whose host works on its own threads."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from simulators.devices.base import DeviceSide
from simulators.usb.usb_front import UsbFront
from tests.support.usb_backend import UsbGadget


def front_of(device: DeviceSide, gadget: UsbGadget) -> UsbFront:
    """Carries the device's bytes over the gadget from `start` until `stop`. The gadget does the plugging."""
    loop = asyncio.get_running_loop()
    front = UsbFront(device, gadget)

    def take(endpoint: int, data: bytes) -> None:
        """Take the host's writes. This is called on the host's thread."""
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(front.take, endpoint, data)

    gadget.on_out = take
    return front
