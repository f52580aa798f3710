"""Hot-plug: word that a device was plugged in, so that the link keeper need not wait out its pause.

It is only ever a hint. The kernel tells a transport that its device is gone, and the link keeper tries again anyway;
nothing is lost when no word comes, or one too many.

Here a device's presence is looked at every half second, which needs nothing but Linux. `watch` is all that others see:
a watcher that is told by udev fits behind the same call.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable
from pathlib import Path
from typing import Final, TypeAlias

from firmware_bridge.device_url import DeviceUrl, UsbName, usb_name
from firmware_bridge.transports.serial_port import ListPorts, find_port, list_ports

LOOK_EVERY: Final = 0.5  # seconds
USB_DEVICES: Final = Path("/sys/bus/usb/devices")

Pause: TypeAlias = Callable[[float], Awaitable[None]]
Presence: TypeAlias = Callable[[], Hashable]


async def watch(url: DeviceUrl, on_plugged_in: Callable[[], None], *, pause: Pause = asyncio.sleep) -> None:
    """Call `on_plugged_in` whenever what `url` names was plugged in, until cancelled.

    Returns at once where nothing can be plugged in that this machine would see: tcp and sim.
    """
    presence = presence_of(url)
    if presence is not None:
        await watch_presence(presence, on_plugged_in, pause=pause)


async def watch_presence(
    presence: Presence, on_plugged_in: Callable[[], None], *, pause: Pause = asyncio.sleep
) -> None:
    """Look every half second. `presence()` is None for nothing there, else what tells one plugging from the next."""
    before = _look(presence)
    while True:
        await pause(LOOK_EVERY)
        now = _look(presence)
        if now not in (None, before):
            on_plugged_in()
        before = now


def _look(presence: Presence) -> Hashable:
    # What vanishes while it is looked at is not there. What else goes wrong, the transport meets too, and explains.
    with contextlib.suppress(Exception):
        return presence()
    return None


def presence_of(url: DeviceUrl) -> Presence | None:
    """How to look for what `url` names; None where there is nothing to look at."""
    if url.scheme == "serial":
        return lambda: port_presence(url.path)
    if url.scheme == "usb":
        return lambda: usb_presence(usb_name(url.path))
    return None


def port_presence(path: str, list_ports: ListPorts = list_ports) -> Hashable:
    """The node behind a serial URL. A node of the same name that was made anew, or opened to its group, is another."""
    node = Path(find_port(path, list_ports)).resolve()
    status = node.stat()
    return str(node), status.st_rdev, status.st_ino, status.st_ctime_ns


def usb_presence(name: UsbName, devices: Path = USB_DEVICES) -> Hashable:
    """Bus and address of a USB device, as the kernel's own list has them: it is not opened and not woken."""
    for device in devices.iterdir():
        with contextlib.suppress(OSError, ValueError):
            vendor, product = (int(_word(device / word), 16) for word in ("idVendor", "idProduct"))
            if (vendor, product) == (name.vendor, name.product) and _word(device / "serial") == name.serial:
                return int(_word(device / "busnum")), int(_word(device / "devnum"))
    return None


def _word(file: Path) -> str:
    return file.read_text().strip()
