"""The interface of every transport: bytes in both directions on the event loop, and notice of a lost connection.

It also has the hints that several transports give.
"""

from __future__ import annotations

import grp
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportLostError
from firmware_bridge.messages import Message, message

UNSENT_LIMIT: Final = 65536  # bytes; with a working device fewer wait
GONE_HINT: Final = message("Check the cable and the device's power. The program reconnects automatically.")

OnData: TypeAlias = Callable[[bytes], None]
OnLost: TypeAlias = Callable[[TransportLostError], None]


class Transport(Protocol):
    """An open connection to a device. Everything happens on the event loop's thread.

    `on_data` gets the bytes received, never empty. `on_lost` is called at most once, perhaps from within `write`; by
    then the transport has released everything. After `close` neither is called.
    """

    def write(self, data: bytes) -> None:
        """Send now, or as soon as the device takes more. Never blocks, and never raises for a lost connection."""

    def close(self) -> None:
        """Close immediately and drop what was not sent. Closing again does nothing."""


class OpenTransport(Protocol):
    """Opens the connection that a URL names, within a bounded time.

    Raise TransportUnavailableError if it cannot be opened; nothing is then held. No callback is called before the
    transport has been returned.
    """

    def __call__(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Awaitable[Transport]: ...


def permission_hint(path: str) -> Message:
    """Return the next step for a user who lacks permission for the node at `path`."""
    try:
        node = Path(path).stat()
    except OSError:
        return message("This user may not open one of the folders in its path: check the path in the device URL.")
    try:
        group = grp.getgrgid(node.st_gid).gr_name
    except KeyError:
        group = str(node.st_gid)
    both = stat.S_IRGRP | stat.S_IWGRP
    if node.st_gid and node.st_mode & both == both:
        return message(
            "The device node belongs to the group {group}: add the user to this group (`usermod -aG {group} "
            "USER`), then log in again.",
            group=group,
        )
    return message(
        "The device node belongs to the group {group}, which may not read and write it: install this "
        "program's udev rules.",
        group=group,
    )
