"""The pin: a small file beside the journal that holds its newest head, so that the next start detects a journal that is
older, shorter or gone.

    two slots of 512 bytes, one at the beginning of each block of 4096; written in turn, the newer one counts
    slot  = "cardshoe pin 2" NUL | turn u64 | number u64 | hash | UTC i64 | stopped u8 | length of ids u16
            | journal id NUL file id | padding | SHA-256 of all before

Numbers are big-endian. A slot is written after each commit and synced at the end of each round: a power cut may lose an
unsynced slot, but never the other one. A commit is durable before its head is pinned, so a power cut never leaves the
journal behind the pin.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import struct
from pathlib import Path
from typing import Final

import msgspec

from controller.journal.chain import Head
from controller.journal.sealing import sync_directory

SLOT: Final = 512  # bytes, which a disk writes atomically
BLOCK: Final = 4096  # each slot is in its own block
MAGIC: Final = b"cardshoe pin 2\0"
_FIXED: Final = struct.Struct(">QQ32sq?H")
_SUM: Final = 32


class Pinned(msgspec.Struct, frozen=True):
    """The content of a slot: the head, its file and journal, and when it was committed.

    `stopped` means an orderly stop, after which nothing follows.
    """

    journal_id: str
    file_id: str
    head: Head
    utc_ns: int
    stopped: bool = False


class BadPinError(Exception):
    """Raised when the pin's file exists and neither of its slots can be read."""


class Pin:
    """The pin, written by the thread that owns the journal. Raise OSError; `open` also raises `BadPinError`."""

    def __init__(self, path: Path, descriptor: int, turn: int, newest: Pinned | None) -> None:
        self._path = path
        self._descriptor = descriptor
        self._turn = turn
        self.newest = newest
        """The content of the last slot; None for a new pin."""

    @classmethod
    def open(cls, path: Path) -> Pin:
        """Open the pin of a running table, creating it if it is missing. An unreadable file is left untouched."""
        turn, newest = _newest(_read(path))
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if newest is None:
            try:
                sync_directory(path.parent)
            except BaseException:
                os.close(descriptor)
                raise
        return cls(path, descriptor, turn, newest)

    def write(self, pinned: Pinned, *, sync: bool) -> None:
        """Write the newest head into the slot whose turn it is. A pin that the next start does not find is an error."""
        self._turn += 1
        os.pwrite(self._descriptor, encode_slot(pinned, self._turn), (self._turn % 2) * BLOCK)
        self.newest = pinned
        if sync:
            os.fdatasync(self._descriptor)
        if not os.path.samestat(self._path.stat(), os.fstat(self._descriptor)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(self._path))

    def close(self) -> None:
        os.close(self._descriptor)


def read_pin(path: Path) -> Pinned | None:
    """Return the pin's content, or None if there is no pin. Raise `BadPinError` or OSError."""
    return _newest(_read(path))[1]


def encode_slot(pinned: Pinned, turn: int) -> bytes:
    ids = f"{pinned.journal_id}\0{pinned.file_id}".encode()
    fixed = _FIXED.pack(turn, pinned.head.number, pinned.head.hash, pinned.utc_ns, pinned.stopped, len(ids))
    data = (MAGIC + fixed + ids).ljust(SLOT - _SUM, b"\0")
    if len(data) > SLOT - _SUM:
        raise ValueError("the ids are too long for a pin")
    return data + hashlib.sha256(data).digest()


def _decode_slot(data: bytes) -> tuple[int, Pinned] | None:
    body, checksum = data[: SLOT - _SUM], data[SLOT - _SUM : SLOT]
    if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != checksum:
        return None
    turn, number, hash_, utc_ns, stopped, length = _FIXED.unpack_from(body, len(MAGIC))
    start = len(MAGIC) + _FIXED.size
    journal_id, _, file_id = body[start : start + length].decode(errors="replace").partition("\0")
    return turn, Pinned(journal_id, file_id, Head(number, hash_), utc_ns, stopped)


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise BadPinError
        return file.read(BLOCK + SLOT)


def _newest(data: bytes | None) -> tuple[int, Pinned | None]:
    if data is None or not data.strip(b"\0"):  # empty if a power cut came before the first slot
        return 0, None
    found = [slot for at in (0, BLOCK) if (slot := _decode_slot(data[at : at + SLOT])) is not None]
    if not found:
        raise BadPinError
    return max(found, key=lambda slot: slot[0])
