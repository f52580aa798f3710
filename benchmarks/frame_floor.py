"""The floor of P1: the least work that could find frames. Standard library only, so that peers can run it."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Final

HEADER: Final = struct.Struct("<BBBII")
CRC: Final = struct.Struct("<I")
SHORTEST: Final = HEADER.size + CRC.size


def floor(reads: list[bytes], decrypt: Callable[[bytes, bytes, bytes], bytes] | None = None) -> int:
    """Count frames in one loop: split on the delimiter, two `replace`, `zlib.crc32`, `struct.unpack`.

    With `decrypt`, a cipher's function of nonce, ciphertext and associated data, each frame is opened too.
    """
    unpack_header = HEADER.unpack_from
    unpack_crc = CRC.unpack_from
    crc32 = zlib.crc32
    tail = b""
    found = 0
    for read in reads:
        pieces = (tail + read).split(b"\xc0")
        tail = pieces.pop()
        for piece in pieces:
            if not piece:
                continue
            decoded = piece.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")
            size = len(decoded)
            if size >= SHORTEST and crc32(decoded[:-4]) == unpack_crc(decoded, size - 4)[0]:
                unpack_header(decoded)
                if decrypt is not None:
                    decrypt(bytes(8) + decoded[11:15], decoded[15:-4], decoded[:15])
                found += 1
    return found


def cut(data: bytes, size: int) -> list[bytes]:
    """Return the stream in reads of `size` bytes."""
    return [data[start : start + size] for start in range(0, len(data), size)]
