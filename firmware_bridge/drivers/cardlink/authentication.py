"""Authentication: both sides prove that they hold the device's key. docs/cardlink.md, "Proofs".

No key crosses the wire. This guards against a wrong, swapped or rogue device at the start of a link. Later frames are
sealed (`frame_sealing`) with keys that are derived like the proofs.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

from firmware_bridge.drivers.cardlink.messages import BadMessageError

HMAC_SHA256: Final = 1
NONCE_SIZE: Final = 16
KEY_SIZE: Final = 32
HOST_ROLE: Final = b"host"
DEVICE_ROLE: Final = b"device"


def proof(key: bytes, role: bytes, host_nonce: bytes, device_nonce: bytes, hello: bytes, identity: bytes) -> bytes:
    """Return the HMAC-SHA256 of the protocol's name, the role, both nonces, and header and body of both frames."""
    message = parts(b"cardlink1", role, host_nonce, device_nonce, hello, identity)
    return hmac.new(key, message, hashlib.sha256).digest()


def parts(*every: bytes) -> bytes:
    """Join parts, each after its length (u16, little-endian), so that different lists never give the same bytes."""
    return b"".join(len(part).to_bytes(2, "little") + part for part in every)


def check_nonce(nonce: bytes) -> None:
    """Raise BadMessageError if the nonce has the wrong size."""
    if len(nonce) != NONCE_SIZE:
        raise BadMessageError(f"a nonce has {NONCE_SIZE} bytes, not {len(nonce)}")


def is_valid(claimed: bytes, expected: bytes) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(claimed, expected)
