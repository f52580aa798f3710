"""The descriptors of a simulated USB device, as bytes (USB 2.0, chapter 9; CDC 1.1 and PSTN 1.2 for the serial port).

    interface 0   vendor (class FF): bulk OUT 01, bulk IN 81, interrupt IN 82     usb:///VENDOR:PRODUCT/SERIAL
    interface 1   CDC-ACM control:   interrupt IN 83                              serial:///dev/cardshoe/SERIAL
    interface 2   CDC-ACM data:      bulk OUT 04, bulk IN 84

An association descriptor says that 1 and 2 are one function.
"""

from __future__ import annotations

import struct
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from firmware_bridge.usb_bus import TEST_PRODUCT_ID, TEST_VENDOR_ID

BULK_OUT: Final = 0x01
BULK_IN: Final = 0x81
INTERRUPT_IN: Final = 0x82
SERIAL_NOTICES: Final = 0x83
SERIAL_IN: Final = 0x84
SERIAL_OUT: Final = 0x04
TO_HOST: Final = 0x80  # a bit in an endpoint's address and in bmRequestType

DEVICE, CONFIGURATION, STRING, INTERFACE, ENDPOINT, DEVICE_QUALIFIER, ASSOCIATION = 1, 2, 3, 4, 5, 6, 11
CDC_FUNCTION: Final = 0x24
HID: Final = 0x21

VENDOR_CLASS: Final = 0xFF
CDC_CLASS: Final = 0x02
CDC_DATA_CLASS: Final = 0x0A
BULK, INTERRUPT = 2, 3  # bmAttributes of an endpoint

CONFIGURATION_VALUE: Final = 1
MANUFACTURER_INDEX, PRODUCT_INDEX, SERIAL_INDEX = 1, 2, 3
ENGLISH: Final = 0x0409
CONTROL_PACKET: Final = 64  # bytes of a packet on endpoint 0
HIGH_SPEED_PACKET: Final = 512  # the only size of a bulk packet at high speed

Foreign: TypeAlias = Literal["keyboard", "network", "storage"]


class Endpoint(NamedTuple):
    """An endpoint. `packet` is its longest packet in bytes."""

    address: int
    kind: int
    packet: int


class Interface(NamedTuple):
    """An interface. `functional` has the class-specific descriptors before those of the endpoints."""

    number: int
    triple: tuple[int, int, int]
    functional: bytes
    endpoints: tuple[Endpoint, ...]


class UsbDescription(msgspec.Struct):
    """The description that a device gives of itself. May be changed while it is unplugged.

    `packet` is the size of a bulk packet: 512 makes a high-speed device, anything less a full-speed one. With
    `interrupt` the vendor interface has an interrupt endpoint. With `serial_port` there is a CDC-ACM function.
    `foreign` lists further interfaces, which a cardlink device does not have.
    """

    serial: str
    vendor: int = TEST_VENDOR_ID
    product: int = TEST_PRODUCT_ID
    packet: int = 64
    interrupt: bool = True
    interface_class: int = VENDOR_CLASS
    serial_port: bool = True
    foreign: tuple[Foreign, ...] = ()

    @property
    def high_speed(self) -> bool:
        return self.packet >= HIGH_SPEED_PACKET

    @property
    def interfaces(self) -> list[Interface]:
        found = [self._vendor_interface()]
        if self.serial_port:
            found += self._serial_interfaces()
        for kind in self.foreign:
            found.append(_foreign_interface(kind, len(found), self.packet))
        return found

    @property
    def endpoints(self) -> dict[int, Endpoint]:
        """The endpoints by address."""
        return {endpoint.address: endpoint for interface in self.interfaces for endpoint in interface.endpoints}

    @property
    def strings(self) -> dict[int, str]:
        """The strings by index. Without a serial number, its index has no string."""
        named = {MANUFACTURER_INDEX: "cardshoe", PRODUCT_INDEX: "Simulated card shoe"}
        return {**named, SERIAL_INDEX: self.serial} if self.serial else named

    def _vendor_interface(self) -> Interface:
        endpoints = [Endpoint(BULK_OUT, BULK, self.packet), Endpoint(BULK_IN, BULK, self.packet)]
        if self.interrupt:
            endpoints.append(Endpoint(INTERRUPT_IN, INTERRUPT, self.packet))
        return Interface(0, (self.interface_class, 0, 0), b"", tuple(endpoints))

    def _serial_interfaces(self) -> list[Interface]:
        functional = b"".join(
            (
                _descriptor(CDC_FUNCTION, b"\0" + struct.pack("<H", 0x0110)),  # header: CDC 1.1
                _descriptor(CDC_FUNCTION, bytes((1, 0, 2))),  # call management: none, data on interface 2
                _descriptor(CDC_FUNCTION, bytes((2, 2))),  # ACM: line coding and control lines
                _descriptor(CDC_FUNCTION, bytes((6, 1, 2))),  # union: interface 1 controls interface 2
            )
        )
        data = (Endpoint(SERIAL_OUT, BULK, self.packet), Endpoint(SERIAL_IN, BULK, self.packet))
        return [
            Interface(1, (CDC_CLASS, 2, 0), functional, (Endpoint(SERIAL_NOTICES, INTERRUPT, 16),)),
            Interface(2, (CDC_DATA_CLASS, 0, 0), b"", data),
        ]


KEYBOARD_REPORT: Final = bytes.fromhex("05010906a101050719e029e7150025017501950881021900296515002565750895068100c0")
"""A report descriptor: eight modifiers and six keys (HID 1.11, appendix B, without the padding byte)."""


def _foreign_interface(kind: Foreign, number: int, packet: int) -> Interface:
    """Return an interface whose endpoints follow its number, so that no two interfaces share an endpoint."""
    inward, outward = Endpoint(TO_HOST | 5 + number, BULK, packet), Endpoint(5 + number, BULK, packet)
    if kind == "keyboard":
        functional = _descriptor(HID, struct.pack("<HBBBH", 0x0111, 0, 1, 0x22, len(KEYBOARD_REPORT)))
        return Interface(number, (3, 1, 1), functional, (Endpoint(TO_HOST | 5 + number, INTERRUPT, 8),))
    if kind == "storage":
        return Interface(number, (8, 6, 0x50), b"", (inward, outward))
    return Interface(number, (0xE0, 1, 3), b"", (inward, outward))  # network: RNDIS


def device_descriptor(device: UsbDescription) -> bytes:
    fields = (
        0x0200, 0xEF, 2, 1, CONTROL_PACKET,  # USB 2.0; the class is in the association
        device.vendor, device.product, 0x0100,
        MANUFACTURER_INDEX, PRODUCT_INDEX, SERIAL_INDEX if device.serial else 0, 1,
    )  # fmt: skip
    return _descriptor(DEVICE, struct.pack("<HBBBBHHHBBBB", *fields))


def qualifier_descriptor() -> bytes:
    """Return what a high-speed device would be at full speed; a full-speed device has no such descriptor."""
    return _descriptor(DEVICE_QUALIFIER, struct.pack("<HBBBBBB", 0x0200, 0xEF, 2, 1, CONTROL_PACKET, 1, 0))


def configuration_descriptor(device: UsbDescription) -> bytes:
    """Return the one configuration with all of its parts. Bus-powered, 100 mA."""
    parts = []
    for interface in device.interfaces:
        if interface.triple[0] == CDC_CLASS:
            parts.append(_descriptor(ASSOCIATION, bytes((interface.number, 2, CDC_CLASS, 2, 0, 0))))
        about = (interface.number, 0, len(interface.endpoints), *interface.triple, 0)
        parts.append(_descriptor(INTERFACE, bytes(about)) + interface.functional)
        parts += [_endpoint_descriptor(endpoint, device.high_speed) for endpoint in interface.endpoints]
    body = b"".join(parts)
    head = struct.pack("<HBBBBB", 9 + len(body), len(device.interfaces), CONFIGURATION_VALUE, 0, 0x80, 50)
    return _descriptor(CONFIGURATION, head) + body


def string_descriptor(device: UsbDescription, index: int) -> bytes | None:
    """Return a string, or None if that index has none. Index 0 lists the languages."""
    if index == 0:
        return _descriptor(STRING, struct.pack("<H", ENGLISH))
    text = device.strings.get(index)
    return None if text is None else _descriptor(STRING, text.encode("utf-16-le"))


def _endpoint_descriptor(endpoint: Endpoint, high_speed: bool) -> bytes:
    every = 0 if endpoint.kind == BULK else 7 if high_speed else 8  # 8 ms: 2 ** 6 microframes, or 8 frames
    return _descriptor(ENDPOINT, struct.pack("<BBHB", endpoint.address, endpoint.kind, endpoint.packet, every))


def _descriptor(kind: int, body: bytes) -> bytes:
    return bytes((2 + len(body), kind)) + body
