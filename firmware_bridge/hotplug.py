"""Notices that a device was plugged in, so that the link keeper need not wait until the end of its pause.

This is only a hint. The kernel tells a transport that its device is gone, and the link keeper tries again anyway, so
missing or extra notices do no harm. Presence is checked every half second, which needs nothing but Linux.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path
from typing import Final, TypeAlias

from firmware_bridge.device_url import DeviceUrl, UsbName, usb_name
from firmware_bridge.discovery import ListPorts
from firmware_bridge.transports.serial_port import find_port, list_ports
from firmware_bridge.usb_bus import USB_DEVICES, seen_usb

CHECK_EVERY: Final = 0.5  # seconds
USB_NODES: Final = Path("/dev/bus/usb")

Pause: TypeAlias = Callable[[float], Awaitable[None]]
Presence: TypeAlias = Callable[[], Hashable]


async def watch(url: DeviceUrl, on_plugged_in: Callable[[], None], *, pause: Pause = asyncio.sleep) -> None:
    """Call `on_plugged_in` whenever the device of `url` is plugged in, until cancelled.

    Return immediately for the schemes without a plug on this machine: tcp and sim.
    """
    presence = presence_of(url)
    if presence is not None:
        await watch_presence(presence, on_plugged_in, pause=pause)


async def watch_presence(
    presence: Presence, on_plugged_in: Callable[[], None], *, pause: Pause = asyncio.sleep
) -> None:
    """Check every half second. `presence()` is None if no device is plugged in, else a new value each time one is."""
    before = _check(presence)
    while True:
        await pause(CHECK_EVERY)
        now = _check(presence)
        if now not in (None, before):
            on_plugged_in()
        before = now


def _check(presence: Presence) -> Hashable:
    # A node that vanishes meanwhile is absent. Any other error also occurs in the transport, which explains it.
    with contextlib.suppress(Exception):
        return presence()
    return None


def presence_of(url: DeviceUrl) -> Presence | None:
    """Return how to check for the device of `url`, or None if there is nothing to check."""
    if url.scheme == "serial":
        return lambda: port_presence(url.path)
    if url.scheme == "usb":
        return lambda: usb_presence(usb_name(url.path))
    return None


def port_presence(path: str, list_ports: ListPorts = list_ports) -> Hashable:
    """Return a value for the node of a serial URL that changes if it is created again or opened to its group."""
    node = Path(find_port(path, list_ports)).resolve()
    status = node.stat()
    return str(node), status.st_rdev, status.st_ino, status.st_ctime_ns


def usb_presence(name: UsbName, devices: Path = USB_DEVICES, nodes: Path = USB_NODES) -> Hashable:
    """Return bus and address of the USB devices of that name from the kernel's list, which opens and wakes none.

    The time at which a node changed is included: the kernel shows a device before udev opens its node to its group.
    """
    found = [
        (seen.bus, seen.address, _changed_at(nodes / f"{seen.bus:03}" / f"{seen.address:03}"))
        for seen in seen_usb(devices)
        if (seen.vendor, seen.product, seen.serial) == (name.vendor, name.product, name.serial)
    ]
    return tuple(sorted(found)) or None


def _changed_at(node: Path) -> int:
    """Return the time in nanoseconds, or 0 if the node does not exist."""
    with contextlib.suppress(OSError):
        return node.stat().st_ctime_ns
    return 0
