"""Finds what is plugged into this machine and which driver fits, by what a device reports on the bus; none is opened.

A converter of any make may carry any device, so its vendor and product say nothing about the driver. Only its proof
shows a device's identity (`firmware_bridge.identify`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl
from firmware_bridge.drivers.registry import DRIVERS, driver_names
from firmware_bridge.errors import BridgeError
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.plain_text import plain
from firmware_bridge.usb_bus import is_cardlink

NAMED: Final = Path("/dev/cardshoe")


class FoundPort(Protocol):
    """The attributes that discovery reads of a port listed by pyserial."""

    device: str
    serial_number: str | None
    vid: int | None
    pid: int | None
    description: str


class FoundUsbDevice(msgspec.Struct, frozen=True):
    """A USB device that can be used without a serial port. `problem` says why its serial number is unknown."""

    vendor: int
    product: int
    serial: str
    place: str
    problem: AnyText = ""


ListPorts: TypeAlias = Callable[[], Iterable[FoundPort]]
ListUsb: TypeAlias = Callable[[], Iterable[FoundUsbDevice]]
ListNamed: TypeAlias = Callable[[], Iterable[Path]]


class Lists(NamedTuple):
    """Functions that list what is plugged in: serial ports, USB devices, names under /dev/cardshoe."""

    serial: ListPorts
    usb: ListUsb
    named: ListNamed


class FoundDevice(msgspec.Struct, frozen=True):
    """A device that is plugged in. `place` is its node, or where it is on the bus; `usb` is vendor and product.

    `url` opens the device with `driver`; `maturity` is the driver's. `driver` is empty if it is unknown; then `advice`
    says what to try.
    """

    way: Literal["serial", "usb"]
    place: str
    url: str
    serial: str
    usb: str
    description: str
    driver: str
    maturity: str
    advice: AnyText
    problem: AnyText = ""


class Discovery(msgspec.Struct, frozen=True):
    """The devices that are plugged in; `problems` says why something could not be listed."""

    devices: tuple[FoundDevice, ...]
    problems: tuple[Message, ...]


def discover(lists: Lists) -> Discovery:
    """Return what the three lists hold, each device once. A list that fails adds a sentence to the problems."""
    problems: list[Message] = []
    named = {path: path.resolve() for path in _listed(lists.named, message("The names under /dev/cardshoe"), problems)}
    ports = _listed(lists.serial, message("The serial ports"), problems)
    devices = [_port(port, [name for name, node in named.items() if node == Path(port.device)]) for port in ports]
    listed = {Path(port.device) for port in ports}
    devices += [_named_port(name) for name, node in named.items() if node not in listed]
    devices += [_usb(seen) for seen in _listed(lists.usb, message("The USB devices"), problems)]
    return Discovery(tuple(sorted(devices, key=lambda one: (one.way, one.place))), tuple(problems))


def _listed(what: Callable[[], Iterable[Any]], name: Message, problems: list[Message]) -> Sequence[Any]:
    try:
        return list(what())
    except BridgeError as error:
        problems.append(error.with_hint)
    except OSError as error:
        problems.append(message("{name} cannot be listed: {why}.", name=name, why=error.strerror or str(error)))
    return []


def _port(port: FoundPort, names: list[Path]) -> FoundDevice:
    serial = port.serial_number or ""
    vendor, product = port.vid or 0, port.pid or 0
    cardlink = is_cardlink(vendor, product, serial)
    path = str(names[0]) if names else str(NAMED / serial) if cardlink else port.device
    return FoundDevice(
        way="serial",
        place=port.device,
        url=str(DeviceUrl("serial", path=path)),
        serial=plain(serial),
        usb=f"{vendor:04x}:{product:04x}" if vendor else "",
        description="" if port.description == "n/a" else plain(port.description),  # pyserial's word for none
        **_driver_for(cardlink),
    )


def _named_port(name: Path) -> FoundDevice:
    """Return a node that a udev rule of the site named: the name does not tell which device it is."""
    return FoundDevice("serial", str(name), str(DeviceUrl("serial", path=str(name))), "", "", "", **_driver_for(False))


def _usb(seen: FoundUsbDevice) -> FoundDevice:
    pair = f"{seen.vendor:04x}:{seen.product:04x}"
    url = str(DeviceUrl("usb", path=f"/{pair}/{seen.serial}")) if seen.serial else ""
    cardlink = is_cardlink(seen.vendor, seen.product, seen.serial)
    return FoundDevice(
        "usb", seen.place, url, plain(seen.serial), pair, "", problem=seen.problem, **_driver_for(cardlink)
    )


def _driver_for(cardlink: bool) -> dict[str, Any]:
    if cardlink:
        maturity = DRIVERS[DEFAULT_DRIVER].maturity.value
        return {"driver": DEFAULT_DRIVER, "maturity": maturity, "advice": ""}
    names = tuple(f"driver={name}" for name in driver_names())
    return {
        "driver": "",
        "maturity": "",
        "advice": message(
            "unknown driver: try the one for the protocol that its maker names: {names:list}", names=names
        ),
    }
