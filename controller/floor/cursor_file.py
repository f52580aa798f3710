"""How far the journal has been sent, in a small file beside it.

Each write replaces the file as a whole, and is durable before sending relies on it. If the file is lost or cannot be
read, the journal is sent again from its beginning, under the same numbers: nothing else is lost.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import msgspec

from controller.journal.outbox import Cursor
from controller.journal.sealing import sync_directory

NAME: Final = "floor.cursor"
LONGEST: Final = 2048  # bytes
_NEXT: Final = ".next"


class SentUpTo(msgspec.Struct, frozen=True):
    """The broker has acknowledged everything before `acknowledged`, and has had time to write everything before
    `settled` to its disk. None: nothing.
    """

    acknowledged: Cursor
    settled: Cursor | None


def read_cursor(path: Path) -> SentUpTo | None:
    """Return the cursors, or None if there is no readable file. Raise OSError."""
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(LONGEST), type=SentUpTo)
    except (FileNotFoundError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def write_cursor(path: Path, sent: SentUpTo) -> None:
    """Write the file. Raise OSError; the previous file is then still in place."""
    beside = path.with_name(path.name + _NEXT)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(descriptor, msgspec.json.encode(sent))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    beside.replace(path)
    sync_directory(path.parent)
