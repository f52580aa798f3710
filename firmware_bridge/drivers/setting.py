"""The values from which a driver is made: everything that a protocol may need for one link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

from firmware_bridge.cards import Card
from firmware_bridge.device_policy import ANY_DEVICE, DevicePolicy
from firmware_bridge.drivers.memory import LinkMemory

FrameKeys: TypeAlias = tuple[bytes, bytes]
"""The keys of one link: for what the host sends, and for what the device sends."""


class DeviceLine(msgspec.Struct, frozen=True):
    """The part of the device URL that a driver needs.

    `known_as` is the name of a device that reports no serial number. With `listen`, nothing may be written. With `arm`,
    a driver that only listens by default may send its commands.
    """

    known_as: str
    listen: bool = False
    arm: bool = False


class DriverSetting(msgspec.Struct, frozen=True):
    """The setting of one link. A driver takes what its protocol needs.

    `nonce` is 16 random bytes, never used before. `line` comes from the device URL. `key_of` returns the 32-byte key of
    a serial number, or None. `held` is the last report that the journal holds, as (boot, number), (0, 0) for none.
    `card_table` gives the card of an identifier. `simulated` means that the table is a simulated one, for devices that
    cannot report it. `replayed` means that the bytes come from a capture and nothing is sent; a device without a key
    here was verified when the capture was made. `policy` names the device that may be used, for drivers that refuse at
    their handshake; the link refuses in any case. `memory` is what drivers of earlier links kept of this device.
    `note_keys` is called with the keys of a link with sealed frames; `frame_keys` are those that a capture noted, for
    its replay.
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
