"""Detects a program in place of a device at a real table, when the table starts and at every link.

A device with a key proves its identity. The others are trusted to be what the configuration says, so a program at the
other end of their line passes as a device unless the line reveals it: docs/configuration.md says what cannot be
detected.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.messages import Message, message
from firmware_bridge.transports.base import OnData, OnLost, Transport
from firmware_bridge.transports.registry import open_transport

PSEUDO_TERMINALS: Final = range(136, 144)  # major numbers of their nodes


def program_behind(url: DeviceUrl) -> Message | None:
    """Return why a program is at the other end of a serial port, or None if none is known to be there."""
    if url.scheme != "serial":
        return None
    try:
        node = Path(url.path).stat()
    except OSError:
        return None  # not present at the moment
    if os.major(node.st_rdev) not in PSEUDO_TERMINALS:
        return None
    return message("{path} is a pseudo-terminal: a program is at its other end, not a device.", path=url.path)


async def open_real_device(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
    """Open a transport at a real table like `open_transport`; since the start the node may have been replaced."""
    if why := program_behind(url):
        raise TransportUnavailableError(
            why, message("Connect the real device; find out who put that node there."), "port-simulated"
        )
    return await open_transport(url, on_data=on_data, on_lost=on_lost)
