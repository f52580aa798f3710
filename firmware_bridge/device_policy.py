"""The device that may serve a table: its serial number and its approved firmware, from the configuration.

A serial number is only as good as its proof. A driver whose handshake proves it refuses at the handshake. For every
other driver the link checks what the driver reports, which for a one-way device is the name in the URL.
"""

from __future__ import annotations

import msgspec

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.drivers.base import LinkOver


class DevicePolicy(msgspec.Struct, frozen=True):
    """The allowed device and firmware. Empty `serial`: any device. Empty `firmware_digests` (SHA-256, lower-case
    hexadecimal): any firmware. A digest is the device's own claim."""

    serial: str = ""
    firmware_digests: tuple[str, ...] = ()

    def refuse_serial(self, serial: str) -> LinkOver | None:
        """Return why a device with this serial number must not be used, or None if it may."""
        if self.serial in ("", serial):
            return None
        sentence = (
            f"The device is {serial or 'one without a serial number'}, and this table is for {self.serial} alone: "
            f"connect {self.serial}, or name the new device under [device] serial between two rounds."
        )
        return LinkOver("device-other-serial", sentence, refused=True)

    def refuse_firmware(self, serial: str, digest: str) -> LinkOver | None:
        """Return why this firmware must not be used, or None if it may."""
        if not self.firmware_digests or digest.lower() in self.firmware_digests:
            return None
        sentence = (
            f"The firmware of {serial} is not approved ({digest or 'it reports no digest'}): install an approved one, "
            "or have this one approved and add it to [device] firmware_digests."
        )
        return LinkOver("device-firmware", sentence, refused=True)

    def refuse(self, identity: DeviceIdentity) -> LinkOver | None:
        """Apply both checks."""
        return self.refuse_serial(identity.serial) or self.refuse_firmware(identity.serial, identity.firmware_digest)


ANY_DEVICE = DevicePolicy()
