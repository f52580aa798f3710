"""The values from which a driver is made for one link, among them which device may serve the table.

A serial number is only as good as its proof. A driver whose handshake proves it refuses at the handshake. For every
other driver the link checks what the driver reports, which for a one-way device is the name in the URL.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TypeAlias

import msgspec

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.cards import Card
from firmware_bridge.drivers.base import LinkOver
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.messages import message


class DevicePolicy(msgspec.Struct, frozen=True):
    """The allowed device and firmware. An empty `serial` allows any device, and empty `firmware_digests` (SHA-256,
    lower-case hexadecimal) any firmware. A digest is the device's own claim.
    """

    serial: str = ""
    firmware_digests: tuple[str, ...] = ()

    def refuse_serial(self, serial: str) -> LinkOver | None:
        """Return why a device with this serial number must not be used, or None if it may."""
        if self.serial in ("", serial):
            return None
        said = message(
            "The connected device is {found}, but this table uses only {serial}. Connect {serial}, or set "
            "[device] serial to the new device between rounds.",
            found=serial or message("a device without a serial number"),
            serial=self.serial,
        )
        return LinkOver("device-other-serial", said, refused=True)

    def refuse_firmware(self, serial: str, digest: str) -> LinkOver | None:
        """Return why this firmware must not be used, or None if it may."""
        if not self.firmware_digests or digest.lower() in self.firmware_digests:
            return None
        said = message(
            "The firmware of {serial} is not approved ({digest}). Install approved firmware, or have this "
            "firmware approved and add its digest to [device] firmware_digests.",
            serial=serial,
            digest=digest or message("no digest reported"),
        )
        return LinkOver("device-firmware", said, refused=True)

    def refuse(self, identity: DeviceIdentity) -> LinkOver | None:
        """Apply both checks."""
        return self.refuse_serial(identity.serial) or self.refuse_firmware(identity.serial, identity.firmware_digest)


ANY_DEVICE = DevicePolicy()


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


class ApprovedImage(msgspec.Struct, frozen=True):
    """The program that has to run in the device. `salt` is 32 random bytes, never used before."""

    program: bytes
    salt: bytes

    @property
    def sha256(self) -> str:
        return sha256(self.program).hexdigest()

    def is_shown_by(self, digest: bytes) -> bool:
        """Return whether this is the answer of a device that runs the image."""
        return hmac.compare_digest(hmac.digest(self.salt, self.program, "sha256"), digest)


class DriverSetting(msgspec.Struct, frozen=True):
    """The setting of one link. A driver takes what its protocol needs.

    `nonce` is 16 random bytes, never used before. `line` comes from the device URL. `key_of` returns the 32-byte key of
    a serial number, or None; `next_key_of` the second key of a device whose key is being changed. `held` is the last
    report that the journal holds, as (boot, number), (0, 0) for none.
    `card_table` gives the card of an identifier. `simulated` means that the table is a simulated one, for devices that
    cannot report it. `replayed` means that the bytes come from a capture and nothing is sent; a device without a key
    here was verified when the capture was made. `policy` names the device that may be used, for drivers that refuse at
    their handshake; the link refuses in any case. `memory` is what drivers of earlier links kept of this device.
    `note_keys` is called with the keys of a link with sealed frames; `frame_keys` are those that a capture noted, for
    its replay. `image` is the program that a device has to show that it runs; None: any.
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
    next_key_of: Callable[[str], bytes | None] = lambda serial: None
    image: ApprovedImage | None = None
