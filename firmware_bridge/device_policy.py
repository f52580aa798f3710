"""The device that may serve a table: its serial number and its approved firmware, from the configuration.

A serial number is only as good as its proof. A driver whose handshake proves it refuses at the handshake. For every
other driver the link checks what the driver reports, which for a one-way device is the name in the URL.
"""

from __future__ import annotations

import msgspec

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.drivers.base import LinkOver
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
            "The device is {found}, and this table is for {serial} alone: connect {serial}, or name the new device "
            "under [device] serial between two rounds.",
            found=serial or message("one without a serial number"),
            serial=self.serial,
        )
        return LinkOver("device-other-serial", said, refused=True)

    def refuse_firmware(self, serial: str, digest: str) -> LinkOver | None:
        """Return why this firmware must not be used, or None if it may."""
        if not self.firmware_digests or digest.lower() in self.firmware_digests:
            return None
        said = message(
            "The firmware of {serial} is not approved ({digest}): install an approved one, or have this one approved "
            "and add it to [device] firmware_digests.",
            serial=serial,
            digest=digest or message("it reports no digest"),
        )
        return LinkOver("device-firmware", said, refused=True)

    def refuse(self, identity: DeviceIdentity) -> LinkOver | None:
        """Apply both checks."""
        return self.refuse_serial(identity.serial) or self.refuse_firmware(identity.serial, identity.firmware_digest)


ANY_DEVICE = DevicePolicy()
