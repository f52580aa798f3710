"""The USB devices of this machine as the bus shows them, none opened or woken, and the ids of cardlink devices.

1209:0001 is a test pair of pid.codes: free to use on a desk, in CI and on a simulator, but not in devices that are sold
or given away. A maker ships devices under its own vendor and product number, and adds that pair here and in
`udev/70-cardshoe.rules` (a test compares the two).

Anyone may use a test pair, so the pair alone identifies nothing: a cardlink device is recognised by vendor, product
**and** serial number.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple

TEST_VENDOR_ID = 0x1209
TEST_PRODUCT_ID = 0x0001

# Shell patterns, because udev compares with them. The second exists because the device chooses its serial number, which
# becomes a file name: `CARDSHOE-/../../x` would name any path in /dev.
SERIAL_PATTERN = "CARDSHOE-*"
SERIAL_REFUSED = "*[!0-9A-Za-z_-]*"


def is_cardlink(vendor_id: int, product_id: int, serial: str) -> bool:
    """Return whether a device claims on the bus to be a cardlink device; only its proof shows its identity.

    >>> is_cardlink(0x1209, 0x0001, "CARDSHOE-0042")
    True
    >>> is_cardlink(0x1209, 0x0001, "SOMEBODY-0042"), is_cardlink(0x0403, 0x6001, "CARDSHOE-0042")
    (False, False)
    >>> is_cardlink(0x1209, 0x0001, "CARDSHOE-/../../sda")
    False
    """
    return (
        (vendor_id, product_id) == (TEST_VENDOR_ID, TEST_PRODUCT_ID)
        and fnmatchcase(serial, SERIAL_PATTERN)
        and not fnmatchcase(serial, SERIAL_REFUSED)
    )


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
    """Yield the devices. Raise OSError if the kernel does not support USB. Vanished devices are left out."""
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
