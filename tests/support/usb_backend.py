"""A USB bus without a kernel: pyusb's `IBackend` over the model of a USB device (`simulators.usb`).

    gadget = UsbGadget("CARDSHOE-SIM-1", on_out=print)
    usb.core.find(backend=SimulatedUsb(gadget), idVendor=0x1209)

Any thread may call it, like libusb. It also plays the kernel: it configures a device, knows who has claimed it, and
gives errors their numbers. docs/simulators.md lists what it does not model.
"""

from __future__ import annotations

import errno
import os
import struct
import threading
from array import array
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import usb.backend
import usb.core

from simulators.usb.control import UsbFaults
from simulators.usb.descriptors import (
    BULK_IN,
    BULK_OUT,
    CONFIGURATION,
    CONFIGURATION_VALUE,
    DEVICE,
    ENDPOINT,
    INTERFACE,
    INTERRUPT_IN,
    TO_HOST,
    VENDOR_CLASS,
    UsbDescription,
    configuration_descriptor,
    device_descriptor,
)
from simulators.usb.usb_device import Transfer, UsbDeviceSide

__all__ = ["BULK_IN", "BULK_OUT", "INTERRUPT_IN", "SimulatedUsb", "UsbGadget"]

_FIELDS: Final = {
    DEVICE: ("<HBBBBHHHBBBB", "bcdUSB bDeviceClass bDeviceSubClass bDeviceProtocol bMaxPacketSize0 idVendor idProduct "
             "bcdDevice iManufacturer iProduct iSerialNumber bNumConfigurations"),
    CONFIGURATION: ("<HBBBBB", "wTotalLength bNumInterfaces bConfigurationValue iConfiguration bmAttributes bMaxPower"),
    INTERFACE: ("<BBBBBBB", "bInterfaceNumber bAlternateSetting bNumEndpoints bInterfaceClass bInterfaceSubClass "
                "bInterfaceProtocol iInterface"),
    ENDPOINT: ("<BBHB", "bEndpointAddress bmAttributes wMaxPacketSize bInterval"),
}  # fmt: skip


class UsbGadget:
    """A device on the bus, plugged in. `on_out(endpoint, data)` takes the host's writes, on the host's thread.

    `serial_port`: it also has a CDC-ACM function. `admitted`: this user may open it. `kernel_driver`: a driver of the
    system has its interface. `configured`: the kernel chooses its configuration when it is plugged in.
    """

    def __init__(
        self,
        serial: str,
        on_out: Callable[[int, bytes], None] = lambda endpoint, data: None,
        *,
        vendor: int = 0x1209,
        product: int = 0x0001,
        packet: int = 64,
        interrupt: bool = True,
        interface_class: int = VENDOR_CLASS,
        serial_port: bool = False,
        kernel_driver: bool = False,
        configured: bool = True,
    ) -> None:
        self.description = UsbDescription(serial, vendor, product, packet, interrupt, interface_class, serial_port)
        self.device = UsbDeviceSide(self.description, on_out=lambda endpoint, data: self.on_out(endpoint, data))
        self.on_out = on_out
        self.on_line: Callable[[bool], None] = lambda up: None
        self.kernel_driver = kernel_driver
        self.configured = configured
        self.admitted = True
        self.handles: set[UsbHandle] = set()
        self._claimed_by: UsbHandle | None = None
        self._changed = threading.Condition()
        self._configure()

    # -- the device's side ----------------------------------------------------------------------------------------

    @property
    def faults(self) -> UsbFaults:
        return self.device.faults

    @property
    def plugged(self) -> bool:
        return self.device.plugged

    @property
    def moved(self) -> int:
        """The number of bytes since the plug."""
        return self.device.moved

    @property
    def address(self) -> int:
        return self.device.plugs

    def send(self, data: bytes, endpoint: int = BULK_IN, short: int = 0) -> None:
        with self._changed:
            self.device.send(data, endpoint, short)

    def babble(self, data: bytes, endpoint: int = BULK_IN) -> None:
        with self._changed:
            self.device.babble(data, endpoint)

    def halt(self, endpoint: int = BULK_IN) -> None:
        with self._changed:
            self.device.halt(endpoint)

    def unplug(self) -> None:
        with self._changed:
            self.device.unplug()
            self._claimed_by = None

    def plug(self) -> None:
        """Plug the device in (again), with a new address and nothing pending."""
        with self._changed:
            self._claimed_by = None
            self.device.plug()
            self._configure()

    def waiting(self, endpoint: int) -> int:
        """The number of packets that the host has not read."""
        with self._changed:
            return self.device.waiting(endpoint)

    def change(self, **faults: Any) -> None:
        """Set faults while the host is using the device."""
        with self._changed:
            for name, value in faults.items():
                setattr(self.faults, name, value)
            self.device.go_on()

    def _configure(self) -> None:
        self.device.control.configuration = CONFIGURATION_VALUE if self.configured else 0

    # -- the host's side ------------------------------------------------------------------------------------------

    def open(self) -> UsbHandle:
        with self._changed:
            if not self.plugged:
                _fail(errno.ENODEV)
            if not self.admitted:
                _fail(errno.EACCES)
            handle = UsbHandle(self, self.address)
            self.handles.add(handle)
            return handle

    def close(self, handle: UsbHandle) -> None:
        with self._changed:
            self.handles.discard(handle)
            if self._claimed_by is handle:
                self._claimed_by = None

    def claim(self, handle: UsbHandle) -> None:
        with self._changed:
            self._require(handle)
            if self.kernel_driver or self._claimed_by not in (None, handle):
                _fail(errno.EBUSY)
            self._claimed_by = handle

    def release(self, handle: UsbHandle) -> None:
        with self._changed:
            self._require(handle)
            if self._claimed_by is not handle:
                _fail(errno.EINVAL)
            self._claimed_by = None

    def do(self, handle: UsbHandle, transfer: Transfer, seconds: float | None) -> Transfer:
        """Carry a transfer out, and return it once it has succeeded. Raise USBError otherwise."""
        with self._changed:
            self._require(handle)
            if transfer.endpoint and self._claimed_by is not handle:
                _fail(errno.ENOENT)
            transfer.on_done = lambda done: self._changed.notify_all()
            self.device.submit(transfer)
            if transfer.endpoint:  # a control transfer is answered immediately or never
                self._changed.wait_for(lambda: transfer.status is not None, seconds)
            self.device.cancel(transfer)
            if transfer.status == errno.ESHUTDOWN:
                _fail(self.faults.unplug_errno)
            if transfer.status == errno.ECONNRESET and not transfer.moved:
                raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT)
            if transfer.status in (errno.EPIPE, errno.EOVERFLOW):
                _fail(transfer.status)
            return transfer

    def _require(self, handle: UsbHandle) -> None:
        if not self.plugged or handle.address != self.address:
            _fail(self.faults.unplug_errno)


class UsbHandle:
    """A device that one program has opened. It becomes invalid when the device is unplugged."""

    def __init__(self, gadget: UsbGadget, address: int) -> None:
        self.gadget = gadget
        self.address = address


def _fail(number: int) -> NoReturn:
    raise usb.core.USBError(os.strerror(number), -1, number)


class SimulatedUsb(usb.backend.IBackend):  # type: ignore[misc]  # pyusb has no types
    """The bus, as pyusb asks for it."""

    def __init__(self, *gadgets: UsbGadget) -> None:
        self.gadgets = list(gadgets)

    def enumerate_devices(self) -> Iterator[UsbGadget]:
        return iter([gadget for gadget in self.gadgets if gadget.plugged])

    def get_parent(self, dev: UsbGadget) -> None:
        return None

    def get_device_descriptor(self, dev: UsbGadget) -> SimpleNamespace:
        (found,) = _parsed(device_descriptor(dev.description))
        return SimpleNamespace(
            **vars(found), address=dev.address, bus=1, port_number=1, port_numbers=(1,),
            speed=3 if dev.description.high_speed else 2,
        )  # fmt: skip

    def get_configuration_descriptor(self, dev: UsbGadget, config: int) -> SimpleNamespace:
        return [one for one in self._configuration(dev) if one.bDescriptorType == CONFIGURATION][config]

    def get_interface_descriptor(self, dev: UsbGadget, intf: int, alt: int, config: int) -> SimpleNamespace:
        if alt or config:
            raise IndexError(alt)
        return [one for one in self._configuration(dev) if one.bDescriptorType == INTERFACE][intf]

    def get_endpoint_descriptor(self, dev: UsbGadget, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        endpoints: list[SimpleNamespace] = []
        interface = -1
        for one in self._configuration(dev):
            interface += one.bDescriptorType == INTERFACE
            if one.bDescriptorType == ENDPOINT and interface == intf:
                endpoints.append(one)
        return endpoints[ep]

    def _configuration(self, dev: UsbGadget) -> list[SimpleNamespace]:
        return _parsed(configuration_descriptor(dev.description))

    def open_device(self, dev: UsbGadget) -> UsbHandle:
        return dev.open()

    def close_device(self, dev_handle: UsbHandle) -> None:
        dev_handle.gadget.close(dev_handle)

    def get_configuration(self, dev_handle: UsbHandle) -> int:
        return dev_handle.gadget.device.control.configuration

    def set_configuration(self, dev_handle: UsbHandle, config_value: int) -> None:
        self._control(dev_handle, bytes((0, 9, config_value, 0, 0, 0, 0, 0)))

    def set_interface_altsetting(self, dev_handle: UsbHandle, intf: int, altsetting: int) -> None:
        self._control(dev_handle, bytes((1, 11, altsetting, 0, intf, 0, 0, 0)))

    def claim_interface(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.gadget.claim(dev_handle)

    def release_interface(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.gadget.release(dev_handle)

    def is_kernel_driver_active(self, dev_handle: UsbHandle, intf: int) -> bool:
        return dev_handle.gadget.kernel_driver

    def detach_kernel_driver(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.gadget.kernel_driver = False

    def attach_kernel_driver(self, dev_handle: UsbHandle, intf: int) -> None:
        dev_handle.gadget.kernel_driver = True

    def clear_halt(self, dev_handle: UsbHandle, ep: int) -> None:
        self._control(dev_handle, bytes((2, 1, 0, 0, ep, 0, 0, 0)))

    def bulk_write(self, dev_handle: UsbHandle, ep: int, intf: int, data: array[int], timeout: int) -> int:
        return dev_handle.gadget.do(dev_handle, Transfer(ep, data=data.tobytes()), _seconds(timeout)).moved

    def bulk_read(self, dev_handle: UsbHandle, ep: int, intf: int, buff: array[int], timeout: int) -> int:
        done = dev_handle.gadget.do(dev_handle, Transfer(ep, length=len(buff)), _seconds(timeout))
        buff[: done.moved] = array("B", done.received)
        return done.moved

    intr_read = bulk_read

    def ctrl_transfer(
        self, dev_handle: UsbHandle, bmRequestType: int, bRequest: int, wValue: int, wIndex: int,  # noqa: N803  # pyusb's names
        data: array[int], timeout: int,
    ) -> int:  # fmt: skip
        setup = struct.pack("<BBHHH", bmRequestType, bRequest, wValue, wIndex, len(data))
        if not bmRequestType & TO_HOST:
            return self._control(dev_handle, setup, data.tobytes()).moved
        answer = self._control(dev_handle, setup).received
        data[: len(answer)] = array("B", answer)
        return len(answer)

    def _control(self, handle: UsbHandle, setup: bytes, data: bytes = b"") -> Transfer:
        return handle.gadget.do(handle, Transfer(0, setup=setup, data=data), None)


def _seconds(milliseconds: int) -> float | None:
    return milliseconds / 1000 if milliseconds else None


def _parsed(raw: bytes) -> list[SimpleNamespace]:
    """Return the descriptors of the kinds that pyusb asks for, in their order."""
    found: list[SimpleNamespace] = []
    while raw:
        length, kind = raw[0], raw[1]
        if kind in _FIELDS:
            form, names = _FIELDS[kind]
            fields = dict(zip(names.split(), struct.unpack(form, raw[2:length]), strict=True))
            one = SimpleNamespace(bLength=length, bDescriptorType=kind, extra_descriptors=[], **fields)
            if kind == ENDPOINT:
                one.bRefresh = one.bSynchAddress = 0
            found.append(one)
        raw = raw[length:]
    return found
