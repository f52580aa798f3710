"""The USB devices of this machine from the kernel's own list: none is opened or woken."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

USB_DEVICES: Final = Path("/sys/bus/usb/devices")


class SeenUsb(NamedTuple):
    """A plugged-in device. `folder` is its own in sysfs; `serial` is empty if it has none."""

    folder: Path
    vendor: int
    product: int
    serial: str
    bus: int
    address: int

    @property
    def has_port(self) -> bool:
        """Return whether a kernel driver made a serial port of it."""
        return any(self.folder.glob("*:*/tty*"))


def seen_usb(devices: Path = USB_DEVICES) -> Iterator[SeenUsb]:
    """Yield the devices. Raise OSError if the kernel has no USB at all. Vanished devices are left out."""
    for folder in sorted(devices.iterdir()):
        with contextlib.suppress(OSError, ValueError):
            vendor, product = (int(_content(folder / name), 16) for name in ("idVendor", "idProduct"))
            bus, address = (int(_content(folder / name)) for name in ("busnum", "devnum"))
            serial = ""
            with contextlib.suppress(OSError):
                serial = _content(folder / "serial")
            yield SeenUsb(folder, vendor, product, serial, bus, address)


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace").strip()
