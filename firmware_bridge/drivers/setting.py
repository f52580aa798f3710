"""What a driver is made from: everything that a protocol may need for one link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from firmware_bridge.cards import Card
from firmware_bridge.device_policy import ANY_DEVICE, DevicePolicy
from firmware_bridge.drivers.memory import LinkMemory

FrameKeys: TypeAlias = tuple[bytes, bytes]
"""The keys of one link: of what the host sends, and of what the device sends."""


class DeviceLine(msgspec.Struct, frozen=True):
    """What the device URL says that concerns a driver.

    `known_as`: the device's name where it reports no serial number. `listen`: nothing may be written. `arm`: a driver
    that only listens by default may send its commands.
    """

    known_as: str
    listen: bool = False
    arm: bool = False


class DriverSetting(msgspec.Struct, frozen=True):
    """A driver takes from it what its protocol needs and leaves the rest.

    `nonce` is 16 random bytes, never used before. `line` is what the device URL says of the line. `key_of` gives the
    32-byte key of a serial number, or None. `held` is the last report that the journal holds, as (boot, number), (0, 0)
    for none. `card_table` gives the card of an identifier. `simulated`: the table is a simulated one, for devices that
    cannot report it themselves. `replayed`: the bytes come from a capture and nothing is sent; a device whose key is
    not here was judged when the capture was made. `policy`: the device that may be used, for drivers that refuse
    another at their handshake; the link refuses it in any case. `memory`: what the drivers of the links before kept of
    this device. `note_keys` is called with the keys of a link whose frames are sealed; `frame_keys` are those that a
    capture noted, for its replay.
    """

    nonce: bytes
    line: DeviceLine
    key_of: Callable[[str], bytes | None] = lambda serial: None
    held: tuple[int, int] = (0, 0)
    card_table: Mapping[str, Card] = {}
    simulated: bool = False
    replayed: bool = False
    policy: DevicePolicy = ANY_DEVICE
    memory: LinkMemory = msgspec.field(default_factory=LinkMemory)
    note_keys: Callable[[FrameKeys], None] = lambda keys: None
    frame_keys: FrameKeys | None = None
