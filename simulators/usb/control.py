"""Endpoint 0 of a simulated USB device: standard requests (USB 2.0, 9.4) and those of its serial port (PSTN 1.2, 6.3).

An unknown request, or one that names something absent, is stalled (USB 2.0, 9.2.7).
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from simulators.usb import descriptors
from simulators.usb.descriptors import CDC_CLASS, CONFIGURATION_VALUE, TO_HOST, UsbDescription


class UsbFaults(msgspec.Struct):
    """The faults in effect, by name.

    With `unplug_after` the cable comes out when that many bytes have passed on all endpoints since the plug; with 0 it
    does not. `unplug_errno` is the error then: 19 (ENODEV) or 5 (EIO), as host controllers differ. With `silent`, bytes
    are taken and lost, and none come. With `takes_nothing`, no byte is taken. `stalls` is how often an endpoint stalls,
    by address; each stall lasts until it is cleared. With `serial_stalls`, the serial number cannot be read.
    `unanswered` is the number of the control request, counted from the plug, that is never answered; with 0 all are.
    """

    unplug_after: int = 0
    unplug_errno: int = errno.ENODEV
    silent: bool = False
    takes_nothing: bool = False
    serial_stalls: bool = False
    unanswered: int = 0
    stalls: dict[int, int] = msgspec.field(default_factory=dict)


class UsbPlan(msgspec.Struct):
    """The frames, counted from 1, at which something happens. `sent` counts those that have gone out.

    `halt` is the frame before which the endpoint halts, `babble` the one that comes in a packet that is too long,
    `hub_reset` the one in the middle of which the hub resets. `short` is the size of packets in bytes, 0 for whole
    ones. `unanswered` is the control request after the next plug that is not answered, or 0.
    """

    sent: int = 0
    halt: set[int] = msgspec.field(default_factory=set)
    babble: set[int] = msgspec.field(default_factory=set)
    hub_reset: set[int] = msgspec.field(default_factory=set)
    short: int = 0
    unanswered: int = 0


SETUP: Final = struct.Struct("<BBHHH")
LINE_CODING: Final = struct.Struct("<IBBB")  # baud, stop bits, parity, data bits

GET_STATUS, CLEAR_FEATURE, SET_FEATURE, SET_ADDRESS, GET_DESCRIPTOR = 0, 1, 3, 5, 6
GET_CONFIGURATION, SET_CONFIGURATION, GET_INTERFACE, SET_INTERFACE = 8, 9, 10, 11
SET_LINE_CODING, GET_LINE_CODING, SET_CONTROL_LINE_STATE, SEND_BREAK = 0x20, 0x21, 0x22, 0x23
ENDPOINT_HALT: Final = 0  # a feature
DTR: Final = 1  # a bit in the value of SET_CONTROL_LINE_STATE
HID_REPORT: Final = 0x22

_OF_DEVICE, _OF_INTERFACE, _OF_ENDPOINT, _OF_CLASS = 0x00, 0x01, 0x02, 0x21
STALL: Final = errno.EPIPE


class Controlled(Protocol):
    """The part of the device that requests read and change."""

    description: UsbDescription
    faults: UsbFaults
    halted: set[int]
    on_line: Callable[[bool], None]

    def clear_halt(self, endpoint: int) -> None: ...


class ControlEndpoint:
    """The endpoint. `configuration` is 0 until the host has chosen a configuration. Nothing uses the `line_coding` that
    it sets.
    """

    def __init__(self, device: Controlled) -> None:
        self._device = device
        self.reset()

    def reset(self) -> None:
        """Return to the state right after the device was plugged in."""
        self.configuration = 0
        self.address = 0
        self.requests = 0
        self.dtr = False
        self.line_coding = LINE_CODING.pack(115200, 0, 0, 8)

    def answer(self, setup: bytes, data: bytes) -> bytes | int | None:
        """Return the data for the host, the error of a stall, or None if it is never answered."""
        self.requests += 1
        if self.requests == self._device.faults.unanswered:
            self._device.faults.unanswered = 0
            return None
        kind, request, value, index, length = SETUP.unpack(setup)
        if not kind & TO_HOST and len(data) != length:
            return STALL
        found = self._read(kind & ~TO_HOST, request, value, index) if kind & TO_HOST else None
        if kind & TO_HOST:
            return STALL if found is None else found[:length]
        return b"" if self._write(kind, request, value, index, data) else STALL

    # -- what the host reads; None is stalled ---------------------------------------------------------------------

    def _read(self, of: int, request: int, value: int, index: int) -> bytes | None:
        if (of, request) == (_OF_DEVICE, GET_DESCRIPTOR):
            return self._descriptor(*divmod(value, 256))
        if (of, request) == (_OF_INTERFACE, GET_DESCRIPTOR) and value >> 8 == HID_REPORT:
            return descriptors.KEYBOARD_REPORT if self._class_of(index) == 3 else None
        if (of, request) == (_OF_DEVICE, GET_CONFIGURATION):
            return bytes((self.configuration,))
        if request == GET_STATUS:
            return self._status(of, index)
        if not self.configuration:
            return None
        if (of, request) == (_OF_INTERFACE, GET_INTERFACE):
            return None if self._class_of(index) is None else b"\0"
        if (of, request) == (_OF_CLASS, GET_LINE_CODING):
            return self.line_coding if self._class_of(index) == CDC_CLASS else None
        return None

    def _descriptor(self, kind: int, index: int) -> bytes | None:
        description = self._device.description
        if kind == descriptors.STRING:
            if index == descriptors.SERIAL_INDEX and self._device.faults.serial_stalls:
                return None
            return descriptors.string_descriptor(description, index)
        if index:
            return None
        if kind == descriptors.DEVICE:
            return descriptors.device_descriptor(description)
        if kind == descriptors.CONFIGURATION:
            return descriptors.configuration_descriptor(description)
        if kind == descriptors.DEVICE_QUALIFIER and description.high_speed:
            return descriptors.qualifier_descriptor()
        return None

    def _status(self, of: int, index: int) -> bytes | None:
        """Return two bytes: a device is not self-powered and cannot wake the host; an endpoint may be halted."""
        if of == _OF_DEVICE:
            return bytes(2)
        if of == _OF_INTERFACE:
            return bytes(2) if self.configuration and self._class_of(index) is not None else None
        if of == _OF_ENDPOINT and self._has(index):
            return bytes((index in self._device.halted, 0))
        return None

    # -- what the host writes; False is stalled -------------------------------------------------------------------

    def _write(self, of: int, request: int, value: int, index: int, data: bytes) -> bool:
        if (of, request) == (_OF_DEVICE, SET_ADDRESS):
            self.address = value
            return value < 128
        if (of, request) == (_OF_DEVICE, SET_CONFIGURATION):
            return self._configure(value)
        if of == _OF_ENDPOINT and request in (CLEAR_FEATURE, SET_FEATURE):
            return self._set_halt(request == SET_FEATURE, value, index)
        if (of, request) == (_OF_INTERFACE, SET_INTERFACE):
            return self._set_interface(value, index)
        if of == _OF_CLASS and self.configuration and self._class_of(index) == CDC_CLASS:
            return self._serial_port_request(request, value, data)
        return False

    def _configure(self, value: int) -> bool:
        if value not in (0, CONFIGURATION_VALUE):
            return False
        self.configuration = value
        self._device.halted.clear()
        return True

    def _set_halt(self, halts: bool, feature: int, endpoint: int) -> bool:
        if feature != ENDPOINT_HALT or not self._has(endpoint):
            return False
        if halts and endpoint & ~TO_HOST:
            self._device.halted.add(endpoint)
        else:
            self._device.clear_halt(endpoint)
        return True

    def _set_interface(self, setting: int, interface: int) -> bool:
        if not self.configuration or setting or self._class_of(interface) is None:
            return False
        for endpoint in self._device.description.interfaces[interface].endpoints:
            self._device.clear_halt(endpoint.address)
        return True

    def _serial_port_request(self, request: int, value: int, data: bytes) -> bool:
        if request == SET_LINE_CODING and len(data) == LINE_CODING.size:
            self.line_coding = data
        elif request == SET_CONTROL_LINE_STATE:
            before, self.dtr = self.dtr, bool(value & DTR)
            if before != self.dtr:
                self._device.on_line(self.dtr)
        elif request != SEND_BREAK:
            return False
        return True

    def _class_of(self, interface: int) -> int | None:
        found = self._device.description.interfaces
        return found[interface].triple[0] if interface < len(found) else None

    def _has(self, endpoint: int) -> bool:
        known = endpoint in self._device.description.endpoints and bool(self.configuration)
        return known or endpoint in (0, TO_HOST)
