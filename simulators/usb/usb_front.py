"""Routes frames between a simulated device and its USB endpoints, and applies USB faults at their frames.

Bytes go out on the interface that the host used last, by a transfer or by raising DTR of the serial port. After the
plug, and when DTR falls, that is the vendor interface. On the vendor interface every transfer holds one frame; a status
for the interrupt endpoint goes to that endpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from firmware_bridge.device_url import DEFAULT_DRIVER
from firmware_bridge.drivers.cardlink.sealing import INTERRUPT
from simulators.devices.base import DeviceSide
from simulators.devices.faulty_line import FRAMES, split
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.carrier import Carrier
from simulators.usb.control import UsbFaults, UsbPlan
from simulators.usb.descriptors import BULK_IN, BULK_OUT, INTERRUPT_IN, SERIAL_IN, SERIAL_OUT, UsbDescription

_FLAGS: Final = 3  # position of the flags in a cardlink frame with its delimiter; they are never escaped


class UsbPort(Protocol):
    """The device's side of a `UsbDeviceSide`, or of an object that guards one."""

    on_out: Callable[[int, bytes], None]
    on_line: Callable[[bool], None]

    @property
    def description(self) -> UsbDescription: ...

    @property
    def faults(self) -> UsbFaults: ...

    def send(self, data: bytes, endpoint: int, short: int = 0) -> None: ...

    def babble(self, data: bytes, endpoint: int) -> None: ...

    def halt(self, endpoint: int) -> None: ...


class UsbRouter:
    """A router. `device` speaks, perhaps from behind a line; `to_device` takes what the host wrote.

    `on_hub_reset` is called when the hub resets in the middle of a frame.
    """

    def __init__(
        self,
        usb: UsbPort,
        device: DeviceSide,
        to_device: Callable[[bytes], None],
        *,
        driver: str = DEFAULT_DRIVER,
        plan: UsbPlan | None = None,
    ) -> None:
        self.plan = plan or UsbPlan()
        self.on_hub_reset: Callable[[], None] = lambda: None
        self._usb = usb
        self._device = device
        self._to_device = to_device
        self._frames = FRAMES[driver]
        usb.on_out = self.take
        usb.on_line = self._line_changed
        self._speak_on(BULK_IN)

    def plugged_in(self) -> None:
        """Apply what was planned for the next plug."""
        self._speak_on(BULK_IN)
        self._usb.faults.unanswered, self.plan.unanswered = self.plan.unanswered, 0

    def take(self, endpoint: int, data: bytes) -> None:
        """Take what the host wrote to an endpoint."""
        if endpoint in (BULK_OUT, SERIAL_OUT):
            self._speak_on(BULK_IN if endpoint == BULK_OUT else SERIAL_IN)
            self._to_device(data)

    def send(self, data: bytes) -> None:
        """Send what the device says."""
        for frame in split(self._frames, data):
            self._send_frame(frame, self._endpoint_of(frame))

    def _line_changed(self, up: bool) -> None:
        self._speak_on(SERIAL_IN if up else BULK_IN)

    def _speak_on(self, endpoint: int) -> None:
        self._endpoint = endpoint
        if isinstance(self._device, SimulatedDevice):
            self._device.link.interrupt = endpoint == BULK_IN and self._usb.description.interrupt

    def _endpoint_of(self, frame: bytes) -> int:
        statuses = self._endpoint == BULK_IN and INTERRUPT_IN in self._usb.description.endpoints
        is_whole = len(frame) > _FLAGS + 1 and frame[0] == frame[-1] == 0xC0
        return INTERRUPT_IN if statuses and is_whole and frame[_FLAGS] == INTERRUPT else self._endpoint

    def _send_frame(self, frame: bytes, endpoint: int) -> None:
        plan, usb = self.plan, self._usb
        plan.sent += 1
        if plan.sent in plan.hub_reset:
            usb.send(frame[: len(frame) // 2], endpoint)
            self.on_hub_reset()
            return
        if plan.sent in plan.halt:
            usb.halt(endpoint)
        if plan.sent in plan.babble:
            usb.babble(frame, endpoint)
        else:
            usb.send(frame, endpoint, plan.short)


class UsbFront(UsbRouter):
    """Carries `line` (`device`, or what is in front of it) on the event loop from `start` until `stop`."""

    def __init__(
        self,
        line: DeviceSide,
        usb: UsbPort,
        *,
        device: DeviceSide | None = None,
        driver: str = DEFAULT_DRIVER,
        plan: UsbPlan | None = None,
    ) -> None:
        self._carrier = Carrier(line, self.send)
        super().__init__(usb, device or line, self._carrier.take, driver=driver, plan=plan)

    def start(self) -> None:
        self.plugged_in()
        self._carrier.start()

    def stop(self) -> None:
        self._carrier.stop()
