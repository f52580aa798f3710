"""ChaCha20-Poly1305 written out from RFC 8439 alone: it shares nothing with the library that the program uses.

It is slow, and not for secrets: its time depends on the key.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

WORD = 0xFFFF_FFFF
PRIME = (1 << 130) - 5
CLAMP = 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
ROUND = (
    (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
    (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14),
)  # fmt: skip


def _quarter(state: list[int], a: int, b: int, c: int, d: int) -> None:
    for first, second, third, left in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[first] = (state[first] + state[second]) & WORD
        mixed = state[third] ^ state[first]
        state[third] = (mixed << left | mixed >> (32 - left)) & WORD


def _block(key: bytes, number: int, nonce: bytes) -> bytes:
    begun = [
        *struct.unpack("<4I", b"expand 32-byte k"),
        *struct.unpack("<8I", key),
        number,
        *struct.unpack("<3I", nonce),
    ]
    state = list(begun)
    for _ in range(10):
        for quarter in ROUND:
            _quarter(state, *quarter)
    return struct.pack("<16I", *((one + two) & WORD for one, two in zip(begun, state, strict=True)))


def _stream(key: bytes, nonce: bytes, data: bytes) -> Iterator[int]:
    for place in range(0, len(data), 64):
        block = _block(key, 1 + place // 64, nonce)
        for one, two in zip(data[place : place + 64], block, strict=False):
            yield one ^ two


def crypt(key: bytes, nonce: bytes, data: bytes) -> bytes:
    """Encrypt or decrypt."""
    return bytes(_stream(key, nonce, data))


def tag(key: bytes, nonce: bytes, ciphertext: bytes, associated: bytes) -> bytes:
    once = _block(key, 0, nonce)[:32]
    multiplier, addend = int.from_bytes(once[:16], "little") & CLAMP, int.from_bytes(once[16:], "little")
    message = b"".join(part + bytes(-len(part) % 16) for part in (associated, ciphertext))
    message += struct.pack("<2Q", len(associated), len(ciphertext))
    total = 0
    for place in range(0, len(message), 16):
        total = (total + int.from_bytes(message[place : place + 16] + b"\x01", "little")) * multiplier % PRIME
    return ((total + addend) & ((1 << 128) - 1)).to_bytes(16, "little")


def seal(key: bytes, nonce: bytes, plaintext: bytes, associated: bytes) -> bytes:
    ciphertext = crypt(key, nonce, plaintext)
    return ciphertext + tag(key, nonce, ciphertext, associated)


def open_sealed(key: bytes, nonce: bytes, sealed: bytes, associated: bytes) -> bytes:
    """Return the decrypted body. Raise ValueError where the tag is wrong."""
    ciphertext, claimed = sealed[:-16], sealed[-16:]
    if tag(key, nonce, ciphertext, associated) != claimed:
        raise ValueError("the tag is wrong")
    return crypt(key, nonce, ciphertext)
