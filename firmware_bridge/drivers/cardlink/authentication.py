"""Authentication: both sides prove that they hold the device's key. docs/cardlink.md, "Proofs".

No key crosses the wire. This protects against a wrong, swapped or rogue device when the link is made; what follows is
sealed (`frame_sealing`), with keys that are made as the proofs are.
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
    """HMAC-SHA256 over the protocol's name, the prover's role, both nonces and both frames' header and body."""
    message = parts(b"cardlink1", role, host_nonce, device_nonce, hello, identity)
    return hmac.new(key, message, hashlib.sha256).digest()


def parts(*every: bytes) -> bytes:
    """Each with its length before it, as u16, little-endian: no two different lists of parts are the same bytes."""
    return b"".join(len(part).to_bytes(2, "little") + part for part in every)


def check_nonce(nonce: bytes) -> None:
    """Raises BadMessageError when it has the wrong size."""
    if len(nonce) != NONCE_SIZE:
        raise BadMessageError(f"a nonce has {NONCE_SIZE} bytes, not {len(nonce)}")


def is_valid(claimed: bytes, expected: bytes) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(claimed, expected)
