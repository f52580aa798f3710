"""The form of texts in a file: deflated, with digests as bytes.

    packed = raw deflate, with the file's words as its dictionary, of the text
             with 0x01 for each run of 64 hexadecimal digits | 32 bytes for each of these, in order

JSON has no byte 0x01. Digests are not deflated, so that the size of a packed text does not depend on a commitment. A
file contains its words, so that nothing else is needed to read it. It is a separate module because a program that reads
a journal without this package has to do the same.
"""

from __future__ import annotations

import re
import zlib
from typing import Final

_DIGEST: Final = re.compile(rb"[0-9a-f]{64}")
_MARK: Final = b"\x01"
_BYTES: Final = 32  # bytes in a digest
_WINDOW: Final = 13  # as a power of two; a larger window saves too little to justify its memory and time
_MEMORY: Final = 5
_LEVEL: Final = 6
MOST: Final = 64 * 1024 * 1024  # maximum bytes of a text; longer texts are never written
LONGEST_WORDS: Final = 1 << _WINDOW


class Packing:
    """Packs texts. `words` is a text that resembles them, with the most frequent words at its end."""

    def __init__(self, words: bytes) -> None:
        self._words = words[-LONGEST_WORDS:]
        self._deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -_WINDOW, _MEMORY, zlib.Z_DEFAULT_STRATEGY, self._words)

    def pack(self, text: bytes) -> bytes:
        """Pack a text. Raise ValueError if it contains the mark, which JSON never does."""
        if _MARK in text:
            raise ValueError("a text of the journal has no control characters")
        digests = b"".join(map(bytes.fromhex, (one.decode() for one in _DIGEST.findall(text))))
        deflate = self._deflate.copy()
        return deflate.compress(_DIGEST.sub(_MARK, text) if digests else text) + deflate.flush() + digests

    def unpack(self, data: bytes) -> bytes:
        """Unpack a text. Raise ValueError for data that `pack` did not write."""
        inflate = zlib.decompressobj(-zlib.MAX_WBITS, self._words)
        try:
            text = inflate.decompress(data, MOST)
        except zlib.error as error:
            raise ValueError(f"a packed text cannot be unpacked ({error})") from None
        digests = inflate.unused_data
        if not inflate.eof or text.count(_MARK) * _BYTES != len(digests):
            raise ValueError("a packed text cannot be unpacked: a part is missing")
        if not digests:
            return text
        parts = text.split(_MARK)
        found = [digests[at : at + _BYTES].hex().encode() for at in range(0, len(digests), _BYTES)]
        return b"".join(part for pair in zip(parts, [*found, b""], strict=True) for part in pair)
