"""Between a simulated device and its USB: which endpoint a frame goes out on, and the faults of USB at their frames.

Bytes go out by the interface through which the host last spoke: by a transfer, or by raising DTR of the serial port.
On the vendor interface every transfer holds one frame; a status for the interrupt endpoint goes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firmware_bridge.drivers.cardlink.frame_sealing import INTERRUPT
from simulators.devices.base import DeviceSide
from simulators.devices.faulty_line import FRAMES, split
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.carrier import Carrier
from simulators.usb.descriptors import BULK_IN, BULK_OUT, INTERRUPT_IN, SERIAL_IN, SERIAL_OUT
from simulators.usb.usb_device import UsbDevice
from simulators.usb.usb_faults import UsbPlan

_FLAGS: Final = 3  # where the flags stand in a cardlink frame, the delimiter included; they are never escaped


class UsbFront:
    """Carries `line`, which is `device` or what lies before it, over `usb`, from `start` until `stop`.

    `on_hub_reset` is called when the hub resets in the middle of a frame.
    """

    def __init__(
        self,
        line: DeviceSide,
        usb: UsbDevice,
        *,
        device: DeviceSide | None = None,
        driver: str = "cardlink",
        plan: UsbPlan | None = None,
    ) -> None:
        self.plan = plan or UsbPlan()
        self.on_hub_reset: Callable[[], None] = lambda: None
        self._usb = usb
        self._device = device or line
        self._frames = FRAMES[driver]
        self._carrier = Carrier(line, self._send)
        self._endpoint = BULK_IN
        usb.on_out = self.take
        usb.on_line = self._line_changed
        self._speak_on(BULK_IN)

    def start(self) -> None:
        self._usb.faults.unanswered, self.plan.unanswered = self.plan.unanswered, 0
        self._carrier.start()

    def stop(self) -> None:
        self._carrier.stop()

    def take(self, endpoint: int, data: bytes) -> None:
        """What the host wrote to that endpoint."""
        if endpoint in (BULK_OUT, SERIAL_OUT):
            self._speak_on(BULK_IN if endpoint == BULK_OUT else SERIAL_IN)
            self._carrier.take(data)

    def _line_changed(self, up: bool) -> None:
        if up:
            self._speak_on(SERIAL_IN)

    def _speak_on(self, endpoint: int) -> None:
        self._endpoint = endpoint
        if isinstance(self._device, SimulatedDevice):
            self._device.link.interrupt = endpoint == BULK_IN and self._usb.description.interrupt

    def _send(self, data: bytes) -> None:
        for frame in split(self._frames, data):
            self._send_frame(frame, self._endpoint_of(frame))

    def _endpoint_of(self, frame: bytes) -> int:
        statuses = self._endpoint == BULK_IN and INTERRUPT_IN in self._usb.description.endpoints
        is_whole = len(frame) > _FLAGS + 1 and frame[0] == frame[-1] == 0xC0
        return INTERRUPT_IN if statuses and is_whole and frame[_FLAGS] == INTERRUPT else self._endpoint

    def _send_frame(self, frame: bytes, endpoint: int) -> None:
        plan, usb = self.plan, self._usb
        plan.sent += 1
        usb.faults.short = plan.short or usb.faults.short
        if plan.sent in plan.hub_reset:
            usb.send(frame[: len(frame) // 2], endpoint)
            self.on_hub_reset()
            return
        if plan.sent in plan.halt:
            usb.halt(endpoint)
        if plan.sent in plan.babble:
            usb.babble(frame, endpoint)
        else:
            usb.send(frame, endpoint)
