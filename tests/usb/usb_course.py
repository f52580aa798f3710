"""The course of faults over USB: pyusb and the program's lookup on the host, a model of a device at the other end.

Nothing waits: the host reads where packets are, and time is the course's number.
"""

from __future__ import annotations

import usb.core

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.transports.usb import LARGEST_TRANSFER, StallRecovery
from firmware_bridge.transports.usb_lookup import OpenUsb, open_usb
from simulators.devices.faults import Side
from simulators.usb.control import UsbPlan
from simulators.usb.usb_front import UsbRouter
from tests.protocol.fault_course import FaultCourse
from tests.support.usb_backend import SimulatedUsb, UsbGadget

URL = DeviceUrl("usb", path="/1209:0001/SHOE-9")


class UsbCourse(FaultCourse):
    """A course over USB. `errors`: every USB error of the host; `not_found`: how often the device was not found."""

    def __init__(self, side: Side, *faults: str) -> None:
        self.errors: list[int | None] = []
        self.not_found: list[str] = []
        self._begins_with = faults
        self._opened: OpenUsb | None = None
        super().__init__(side)

    def _usb_plan(self) -> UsbPlan:
        return UsbPlan()

    def _connect(self) -> None:
        if not self.links:
            self._plug_in()
        super()._connect()
        self._open()

    def _plug_in(self) -> None:
        self.arm(*self._begins_with)
        self.gadget = UsbGadget("SHOE-9", interrupt=self.side in ("shuffler", "shoe"))
        injector = self.injector
        self._router = UsbRouter(
            self.gadget, injector.device, injector.line.receive, driver=self.driver_name, plan=injector.usb
        )
        self._router.on_hub_reset = self._reset_hub
        self._router.plugged_in()

    def plug(self) -> None:
        self.gadget.plug()
        self._router.plugged_in()
        super().plug()

    def _reset_hub(self) -> None:
        self.gadget.plug()
        self._router.plugged_in()

    def _open(self) -> None:
        if self._opened is not None:
            self._opened.release()
        self._opened = None
        while self._opened is None:
            try:
                self._opened = open_usb(URL, lambda: SimulatedUsb(self.gadget))
            except TransportUnavailableError as refused:
                self.not_found.append(refused.code)
        opened = self._opened
        self._reading = [(one, StallRecovery(one)) for one in (opened.interrupt_in, opened.bulk_in) if one is not None]

    def _from_device(self) -> bytes:
        if data := self.injector.line.outgoing():
            self._router.send(data)
        received = b""
        for endpoint, stalls in self._reading:
            while self.gadget.waiting(endpoint.bEndpointAddress):
                try:
                    received += bytes(endpoint.read(LARGEST_TRANSFER, 1))
                    stalls.worked()
                except usb.core.USBError as error:
                    self.errors.append(error.errno)
                    if not self._recovers(stalls, error):
                        return b""
        if self._is_cut and self.gadget.plugged:
            self.gadget.unplug()
        return received

    def _recovers(self, stalls: StallRecovery, error: usb.core.USBError) -> bool:
        """Recover as the transport does. Return whether clearing a stall was enough; if not, reopen the device."""
        try:
            stalls.clear_or_raise(error)
        except usb.core.USBError:
            FaultCourse._connect(self)
            self._open()
            return False
        return True

    def _to_device(self, data: bytes) -> None:
        assert self._opened is not None
        try:
            self._opened.bulk_out.write(data)
        except usb.core.USBError as error:
            self.errors.append(error.errno)
            FaultCourse._connect(self)
            self._open()
