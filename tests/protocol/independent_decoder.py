"""An independent decoder of cardlink, written from docs/cardlink.md alone, so that shared mistakes show.

It is slow on purpose: a state machine byte by byte, a CRC bit by bit, MessagePack as far as cardlink uses it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TypeAlias

Value: TypeAlias = "int | bool | str | bytes | list[Value] | None"

SMALLEST = 15
LARGEST = 512
HEADER_SIZE = 11


class NotUnderstoodError(Exception):
    """The bytes are not MessagePack as cardlink uses it."""


@dataclass(frozen=True)
class DecodedFrame:
    version: int
    kind: int
    flags: int
    boot: int
    number: int
    body: bytes
    content: bytes


def crc32(data: bytes) -> int:
    remainder = 0xFFFFFFFF
    for byte in data:
        remainder ^= byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ 0xEDB88320 if remainder & 1 else remainder >> 1
    return remainder ^ 0xFFFFFFFF


def little_endian(data: bytes) -> int:
    return sum(byte << (8 * place) for place, byte in enumerate(data))


class Receiver:
    """The receiver of docs/cardlink.md, "Frames"."""

    def __init__(self) -> None:
        self._buffer: list[int] = []
        self._escaped = False
        self.frames: list[DecodedFrame] = []
        self.dropped = 0

    def feed(self, data: bytes) -> list[DecodedFrame]:
        before = len(self.frames)
        for byte in data:
            self._take(byte)
        return self.frames[before:]

    def _take(self, byte: int) -> None:
        if byte == 0xC0:
            if self._escaped:
                self._put(0xDB)
            self._finish()
            self._buffer.clear()
            self._escaped = False
        elif self._escaped and byte == 0xDC:
            self._put(0xC0)
            self._escaped = False
        elif self._escaped and byte == 0xDD:
            self._put(0xDB)
            self._escaped = False
        else:
            if self._escaped:
                self._put(0xDB)
            self._escaped = byte == 0xDB
            if not self._escaped:
                self._put(byte)

    def _put(self, byte: int) -> None:
        if len(self._buffer) <= LARGEST:
            self._buffer.append(byte)

    def _finish(self) -> None:
        decoded = bytes(self._buffer)
        if not decoded:
            return
        if not SMALLEST <= len(decoded) <= LARGEST or crc32(decoded[:-4]) != little_endian(decoded[-4:]):
            self.dropped += 1
            return
        content = decoded[:-4]
        self.frames.append(
            DecodedFrame(
                version=content[0],
                kind=content[1],
                flags=content[2],
                boot=little_endian(content[3:7]),
                number=little_endian(content[7:11]),
                body=content[HEADER_SIZE:],
                content=content,
            )
        )


def decode_frames(data: bytes) -> list[DecodedFrame]:
    return Receiver().feed(data)


def decode_body(data: bytes) -> Value:
    """Return the one MessagePack value that fills the body, or None for an empty body."""
    if not data:
        return None
    value, rest = _decode(data)
    if rest:
        raise NotUnderstoodError("bytes follow the body")
    return value


def _big_endian(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value << 8) | byte
    return value


def _split(data: bytes, size: int) -> tuple[bytes, bytes]:
    if len(data) < size:
        raise NotUnderstoodError("cut short")
    return data[:size], data[size:]


def _decode(data: bytes) -> tuple[Value, bytes]:
    first, rest = _split(data, 1)
    code = first[0]
    if code <= 0x7F:
        return code, rest
    if 0x90 <= code <= 0x9F:
        return _decode_array(code & 0x0F, rest)
    if 0xA0 <= code <= 0xBF:
        return _decode_text(code & 0x1F, rest)
    if code >= 0xE0:
        return code - 0x100, rest
    if code in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[code], rest
    if 0xCC <= code <= 0xCF:
        raw, rest = _split(rest, 1 << (code - 0xCC))
        return _big_endian(raw), rest
    if 0xD0 <= code <= 0xD3:
        raw, rest = _split(rest, 1 << (code - 0xD0))
        value = _big_endian(raw)
        return value - (1 << (8 * len(raw))) if raw[0] & 0x80 else value, rest
    if 0xC4 <= code <= 0xC6:
        size, rest = _split(rest, 1 << (code - 0xC4))
        raw, rest = _split(rest, _big_endian(size))
        return raw, rest
    if 0xD9 <= code <= 0xDB:
        size, rest = _split(rest, 1 << (code - 0xD9))
        return _decode_text(_big_endian(size), rest)
    if code in (0xDC, 0xDD):
        size, rest = _split(rest, 2 if code == 0xDC else 4)
        return _decode_array(_big_endian(size), rest)
    raise NotUnderstoodError(f"cardlink does not use {code:02X}")


def _decode_text(size: int, data: bytes) -> tuple[Value, bytes]:
    raw, rest = _split(data, size)
    try:
        return raw.decode("utf-8"), rest
    except UnicodeDecodeError as error:
        raise NotUnderstoodError("no UTF-8") from error


def _decode_array(size: int, data: bytes) -> tuple[Value, bytes]:
    if size > len(data):
        raise NotUnderstoodError("cut short")
    items: list[Value] = []
    for _ in range(size):
        item, data = _decode(data)
        items.append(item)
    return items, data


def proof(key: bytes, role: str, host_nonce: bytes, device_nonce: bytes, hello: bytes, identity: bytes) -> bytes:
    """Return HMAC-SHA256 over the parts of docs/cardlink.md, "Proofs"; with the role of frames, their key."""
    return keyed_hash(key, b"cardlink1", role.encode(), host_nonce, device_nonce, hello, identity)


def keyed_hash(key: bytes, *parts: bytes) -> bytes:
    """Return HMAC-SHA256, written out (RFC 2104), over parts with their lengths."""
    message = b""
    for part in parts:
        message += bytes([len(part) % 256, len(part) // 256]) + part
    padded = key + bytes(64 - len(key))
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in padded) + message).digest()
    return hashlib.sha256(bytes(byte ^ 0x5C for byte in padded) + inner).digest()
