"""Frames on a byte stream: SLIP (RFC 1055), a fixed header, a CRC-32. docs/cardlink.md, "Frames".

    C0 | escaped( header 11 bytes | body | CRC-32 of header and body, little-endian ) | C0

`split` finds delimiters and two `replace` undo escapes: nothing loops over bytes in Python.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import Final
from zlib import crc32

import msgspec

END: Final = b"\xc0"
ESCAPE: Final = b"\xdb"
ESCAPED_END: Final = b"\xdb\xdc"
ESCAPED_ESCAPE: Final = b"\xdb\xdd"

VERSION: Final = 1
MAX_DECODED: Final = 512
MAX_ENCODED: Final = 2 * MAX_DECODED
HEADER: Final = struct.Struct("<BBBII")
CRC: Final = struct.Struct("<I")
SMALLEST: Final = HEADER.size + CRC.size
FLOW_CONTROL: Final = (b"\x11", b"\x13")  # XON and XOFF, which software flow control takes out of the data
EXAMINED: Final = 4  # damaged frames that are kept to find out what the line does to them
CRC_RESIDUE: Final = 0x2144DF1C  # the CRC-32 of any bytes followed by their own CRC-32

_END_BYTE: Final = END[0]
_ESCAPE_BYTE: Final = ESCAPE[0]
_unpack_header = HEADER.unpack_from


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One undamaged frame. `decoded` is the whole frame without escapes: header, body and CRC.

    The body of a sealed frame is counter, ciphertext and tag (`frame_sealing`).
    """

    version: int
    kind: int
    flags: int
    boot: int
    number: int
    body: bytes
    decoded: bytes

    @property
    def content(self) -> bytes:
        """Header and body: the bytes that the CRC and the proofs cover."""
        return self.decoded[:-4]


def encode_frame(kind: int, boot: int, number: int, body: bytes = b"", *, flags: int = 0) -> bytes:
    """Return the bytes of a frame with both delimiters. Raise ValueError if it would exceed 512 bytes decoded."""
    return enclose(HEADER.pack(VERSION, kind, flags, boot, number) + body)


def enclose(content: bytes) -> bytes:
    """Put the CRC, the escapes and the delimiters around header and body."""
    decoded = content + CRC.pack(crc32(content))
    if len(decoded) > MAX_DECODED:
        raise ValueError(f"a frame of {len(decoded)} bytes exceeds {MAX_DECODED}")
    return END + decoded.replace(ESCAPE, ESCAPED_ESCAPE).replace(END, ESCAPED_END) + END


class FrameReader:
    """Finds frames in any bytes. Never raises: damaged or overlong frames are counted and dropped.

    >>> reader = FrameReader()
    >>> [frame.kind for frame in reader.receive(b"noise" + encode_frame(0x10, 7, 3))]
    [16]
    """

    def __init__(self) -> None:
        self.frames = 0
        self.corrupt = 0
        self.overlong = 0
        self.too_long = 0  # the size of the last overlong frame with a good CRC, 0 for none
        self._tail = b""
        self._skipping = False
        self._damaged: deque[bytes] = deque(maxlen=EXAMINED)

    @property
    def lacks_flow_control(self) -> bool:
        """Return whether one of the last damaged frames is good with one XON or XOFF added: the line takes them out."""
        return any(
            crc32(piece[:at] + one + piece[at:]) == CRC_RESIDUE
            for piece in self._damaged
            for at in range(len(piece) + 1)
            for one in FLOW_CONTROL
        )

    @property
    def is_telnet(self) -> bool:
        """Return whether one of the last damaged frames is good as a Telnet connection carries it (RFC 854): bytes FF
        are doubled, and a byte 0A or 00 follows each 0D.
        """
        return any(
            crc32(piece.replace(b"\xff\xff", b"\xff").replace(b"\r\0", b"\r").replace(b"\r\n", end)) == CRC_RESIDUE
            for piece in self._damaged
            for end in (b"\r\n", b"\n", b"\r")
        )

    @property
    def has_part(self) -> bool:
        """Return whether bytes have come that no delimiter has ended."""
        return bool(self._tail)

    def receive(self, data: bytes) -> list[Frame]:
        """Return the whole frames that end within `data`, in order."""
        if _END_BYTE not in data:
            self._tail += data
            if len(self._tail) > MAX_ENCODED:
                self._drop_tail()
            return []
        pieces = (self._tail + data).split(END)
        self._tail = pieces.pop()
        if self._skipping:
            self._skipping = False
            del pieces[0]
        frames: list[Frame] = []
        for piece in pieces:
            if not piece:
                continue
            if _ESCAPE_BYTE in piece:
                piece = piece.replace(ESCAPED_END, END).replace(ESCAPED_ESCAPE, ESCAPE)
            if crc32(piece) == CRC_RESIDUE and SMALLEST <= len(piece) <= MAX_DECODED:
                version, kind, flags, boot, number = _unpack_header(piece)
                frames.append(Frame(version, kind, flags, boot, number, piece[11:-4], piece))
            elif len(piece) > MAX_DECODED:
                self.overlong += 1
                self.too_long = len(piece) if crc32(piece) == CRC_RESIDUE else self.too_long
            else:
                self.corrupt += 1
                self._damaged.append(piece)
        self.frames += len(frames)
        if len(self._tail) > MAX_ENCODED:
            self._drop_tail()
        return frames

    def _drop_tail(self) -> None:
        """Drop the tail: nothing up to the next delimiter can be a frame."""
        if not self._skipping:
            self._skipping = True
            self.overlong += 1
        self._tail = b""
