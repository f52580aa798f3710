"""A USB bus without a kernel: pyusb's `IBackend` over devices that live in this process.

    gadget = UsbGadget("CARDSHOE-SIM-1", on_out=print)
    usb.core.find(backend=SimulatedUsb(gadget), idVendor=0x1209)

Called from any thread, as libusb is. What it does not model stands in docs/simulators.md.
"""

from __future__ import annotations

import errno
import os
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Final, NoReturn

import msgspec
import usb.backend
import usb.core

from firmware_bridge.usb_ids import TEST_PRODUCT_ID, TEST_VENDOR_ID

BULK_OUT: Final = 0x01
BULK_IN: Final = 0x81
INTERRUPT_IN: Final = 0x82
VENDOR_CLASS: Final = 0xFF

_BULK, _INTERRUPT = 2, 3  # transfer types, as bmAttributes has them
_DEVICE_TO_HOST: Final = 0x80
_GET_DESCRIPTOR: Final = 6
_STRING: Final = 3
_ENGLISH: Final = 0x0409
_SERIAL_INDEX: Final = 1


class UsbFaults(msgspec.Struct):
    """What goes wrong from now on, by name.

    `unplug_after`: the cable comes out when so many bytes have passed on all endpoints since the plug; 0: it does not.
    `unplug_errno`: what is said then: 19 (ENODEV) or 5 (EIO), as host controllers differ. `short`: the longest packet
    of the device in bytes, 0: whole packets. `silent`: bytes are taken and lost, and none come. `takes_nothing`: no
    byte is taken. `stalls`: how often an endpoint stalls, by its address; each stall lasts until it is cleared.
    `serial_stalls`: the serial number cannot be read.
    """

    unplug_after: int = 0
    unplug_errno: int = errno.ENODEV
    short: int = 0
    silent: bool = False
    takes_nothing: bool = False
    serial_stalls: bool = False
    stalls: dict[int, int] = msgspec.field(default_factory=dict)


class UsbGadget:
    """One device on the bus, plugged in. `on_out` takes what the host writes, on the host's thread.

    `packet` is the bulk endpoints' size. `admitted`: this user may open it. `interface_class` and `interrupt` shape its
    one interface; `kernel_driver`: a driver of the system has that.
    """

    def __init__(
        self,
        serial: str,
        on_out: Callable[[bytes], None] = lambda data: None,
        *,
        vendor: int = TEST_VENDOR_ID,
        product: int = TEST_PRODUCT_ID,
        packet: int = 64,
        interrupt: bool = True,
        interface_class: int = VENDOR_CLASS,
        kernel_driver: bool = False,
        configured: bool = True,
    ) -> None:
        self.serial = serial
        self.vendor = vendor
        self.product = product
        self.packet = packet
        self.interrupt = interrupt
        self.interface_class = interface_class
        self.kernel_driver = kernel_driver
        self.configuration = int(configured)
        self.admitted = True
        self.faults = UsbFaults()
        self.address = 1
        self.plugged = True
        self.moved = 0  # bytes since the plug
        self.handles: set[UsbHandle] = set()
        self.on_out = on_out
        self._claimed_by: UsbHandle | None = None
        self._waiting: dict[int, deque[bytes]] = {BULK_IN: deque(), INTERRUPT_IN: deque()}
        self._halted: set[int] = set()
        self._changed = threading.Condition()

    # -- the device's side ----------------------------------------------------------------------------------------

    def send(self, data: bytes, endpoint: int = BULK_IN) -> None:
        """One transfer to the host, in packets; the last one is short, if need be of no bytes."""
        with self._changed:
            if not self.plugged or self.faults.silent:
                return
            size = min(self.faults.short or self.packet, self.packet)
            packets = [data[start : start + size] for start in range(0, len(data), size)]
            if len(packets[-1]) == self.packet:
                packets.append(b"")
            self._waiting[endpoint].extend(packets)
            self._changed.notify_all()

    def unplug(self) -> None:
        with self._changed:
            self._go()

    def plug(self) -> None:
        """Plug it in (again): a new address, nothing waiting."""
        with self._changed:
            self._go()
            self.plugged = True
            self.address += 1
            self.moved = 0

    def waiting(self, endpoint: int) -> int:
        """Packets that the host has not read."""
        with self._changed:
            return len(self._waiting[endpoint])

    def change(self, **faults: Any) -> None:
        """Set faults while the host is at it."""
        with self._changed:
            for name, value in faults.items():
                setattr(self.faults, name, value)
            self._changed.notify_all()

    def _go(self) -> None:
        self.plugged = False
        self._claimed_by = None
        self._halted.clear()
        for waiting in self._waiting.values():
            waiting.clear()
        self._changed.notify_all()

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

    def string(self, handle: UsbHandle, index: int) -> bytes:
        with self._changed:
            self._require(handle)
            if index and self.faults.serial_stalls:
                _fail(errno.EPIPE)
            text = self.serial.encode("utf-16-le") if index else _ENGLISH.to_bytes(2, "little")
            return bytes((2 + len(text), _STRING)) + text

    def clear_halt(self, handle: UsbHandle, endpoint: int) -> None:
        with self._changed:
            self._require(handle)
            self._halted.discard(endpoint)

    def write(self, handle: UsbHandle, endpoint: int, data: bytes, seconds: float | None) -> int:
        """How many bytes were taken. Raises USBError."""
        with self._changed:
            self._use(handle, endpoint, lambda: not self.faults.takes_nothing, seconds)
            taken = self._pass(len(data))
            silent = self.faults.silent
        if taken and not silent:
            self.on_out(data[:taken])
        return taken

    def read(self, handle: UsbHandle, endpoint: int, size: int, seconds: float | None) -> bytes:
        """Packets until a short one, or until `size` bytes are there. Raises USBError."""
        with self._changed:
            waiting = self._waiting[endpoint]
            self._use(handle, endpoint, lambda: bool(waiting), seconds)
            data = b""
            while waiting and len(data) < size:
                packet = waiting.popleft()
                if len(data) + len(packet) > size:
                    _fail(errno.EOVERFLOW)
                data += packet
                if len(packet) < self.packet:
                    break
            return data[: self._pass(len(data))]

    def _use(self, handle: UsbHandle, endpoint: int, can: Callable[[], bool], seconds: float | None) -> None:
        """Wait for the endpoint to do something. Raises USBError when it stalls, does nothing, or is gone."""
        self._require(handle)
        if self._claimed_by is not handle:
            _fail(errno.ENOENT)
        self._changed.wait_for(lambda: not self._is_there(handle) or self._stalls(endpoint) or can(), seconds)
        self._require(handle)
        if self._stalls(endpoint):
            if endpoint not in self._halted:
                self._halted.add(endpoint)
                self.faults.stalls[endpoint] -= 1
            _fail(errno.EPIPE)
        if not can():
            raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT)

    def _stalls(self, endpoint: int) -> bool:
        return endpoint in self._halted or self.faults.stalls.get(endpoint, 0) > 0

    def _pass(self, count: int) -> int:
        """How many of so many bytes get through before the cable comes out."""
        limit = self.faults.unplug_after
        if limit:
            count = max(0, min(count, limit - self.moved))
        self.moved += count
        if limit and self.moved >= limit:
            self.faults.unplug_after = 0
            self._go()
        return count

    def _is_there(self, handle: UsbHandle) -> bool:
        return self.plugged and handle.address == self.address

    def _require(self, handle: UsbHandle) -> None:
        if not self._is_there(handle):
            _fail(self.faults.unplug_errno)


class UsbHandle:
    """A device as one program has it open; worthless after it was unplugged."""

    def __init__(self, gadget: UsbGadget, address: int) -> None:
        self.gadget = gadget
        self.address = address


def _fail(number: int) -> NoReturn:
    raise usb.core.USBError(os.strerror(number), -1, number)


class SimulatedUsb(usb.backend.IBackend):  # type: ignore[misc]  # pyusb has no types
    """The bus, as pyusb asks it."""

    def __init__(self, *gadgets: UsbGadget) -> None:
        self.gadgets = list(gadgets)

    def enumerate_devices(self) -> Iterator[UsbGadget]:
        return iter([gadget for gadget in self.gadgets if gadget.plugged])

    def get_parent(self, dev: UsbGadget) -> None:
        return None

    def get_device_descriptor(self, dev: UsbGadget) -> SimpleNamespace:
        return _descriptor(
            18, 1, bcdUSB=0x0200, bDeviceClass=0, bDeviceSubClass=0, bDeviceProtocol=0, bMaxPacketSize0=64,
            idVendor=dev.vendor, idProduct=dev.product, bcdDevice=0x0100, iManufacturer=0, iProduct=0,
            iSerialNumber=_SERIAL_INDEX if dev.serial else 0, bNumConfigurations=1, address=dev.address, bus=1,
            port_number=1, port_numbers=(1,), speed=2,
        )  # fmt: skip

    def get_configuration_descriptor(self, dev: UsbGadget, config: int) -> SimpleNamespace:
        if config:
            raise IndexError(config)
        return _descriptor(
            9, 2, wTotalLength=9 + 9 + 7 * len(_endpoints(dev)), bNumInterfaces=1, bConfigurationValue=1,
            iConfiguration=0, bmAttributes=0x80, bMaxPower=50,
        )  # fmt: skip

    def get_interface_descriptor(self, dev: UsbGadget, intf: int, alt: int, config: int) -> SimpleNamespace:
        if intf or alt or config:
            raise IndexError(intf)
        return _descriptor(
            9, 4, bInterfaceNumber=0, bAlternateSetting=0, bNumEndpoints=len(_endpoints(dev)),
            bInterfaceClass=dev.interface_class, bInterfaceSubClass=0, bInterfaceProtocol=0, iInterface=0,
        )  # fmt: skip

    def get_endpoint_descriptor(self, dev: UsbGadget, ep: int, intf: int, alt: int, config: int) -> SimpleNamespace:
        address, kind = _endpoints(dev)[ep]
        return _descriptor(
            7, 5, bEndpointAddress=address, bmAttributes=kind, wMaxPacketSize=dev.packet,
            bInterval=8 if kind == _INTERRUPT else 0, bRefresh=0, bSynchAddress=0,
        )  # fmt: skip

    def open_device(self, dev: UsbGadget) -> UsbHandle:
        return dev.open()

    def close_device(self, dev_handle: UsbHandle) -> None:
        dev_handle.gadget.close(dev_handle)

    def get_configuration(self, dev_handle: UsbHandle) -> int:
        return dev_handle.gadget.configuration

    def set_configuration(self, dev_handle: UsbHandle, config_value: int) -> None:
        dev_handle.gadget.configuration = config_value

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
        dev_handle.gadget.clear_halt(dev_handle, ep)

    def bulk_write(self, dev_handle: UsbHandle, ep: int, intf: int, data: array[int], timeout: int) -> int:
        return dev_handle.gadget.write(dev_handle, ep, data.tobytes(), timeout / 1000 if timeout else None)

    def bulk_read(self, dev_handle: UsbHandle, ep: int, intf: int, buff: array[int], timeout: int) -> int:
        data = dev_handle.gadget.read(dev_handle, ep, len(buff), timeout / 1000 if timeout else None)
        buff[: len(data)] = array("B", data)
        return len(data)

    intr_read = bulk_read

    def ctrl_transfer(
        self, dev_handle: UsbHandle, bmRequestType: int, bRequest: int, wValue: int, wIndex: int,  # noqa: N803  # pyusb's names
        data: array[int], timeout: int,
    ) -> int:  # fmt: skip
        kind, index = divmod(wValue, 256)
        if (bmRequestType, bRequest, kind) != (_DEVICE_TO_HOST, _GET_DESCRIPTOR, _STRING):
            _fail(errno.EPIPE)
        answer = dev_handle.gadget.string(dev_handle, index)[: len(data)]
        data[: len(answer)] = array("B", answer)
        return len(answer)


def _endpoints(gadget: UsbGadget) -> list[tuple[int, int]]:
    bulk = [(BULK_OUT, _BULK), (BULK_IN, _BULK)]
    return [*bulk, (INTERRUPT_IN, _INTERRUPT)] if gadget.interrupt else bulk


def _descriptor(length: int, kind: int, **fields: object) -> SimpleNamespace:
    return SimpleNamespace(bLength=length, bDescriptorType=kind, extra_descriptors=[], **fields)
