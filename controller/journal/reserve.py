"""Disk space kept for the end of a round: an empty preallocated file, deleted when the disk is full.

The rest of a round in progress fits into it many times over, together with the pages of the log that SQLite still has
to copy into the journal's file.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from controller.journal.file import explain, foreign, speaking
from controller.journal.sealing import sync_directory

NAME: Final = "reserve"
BYTES: Final = 8 * 1024 * 1024
_BLOCK: Final = 512  # bytes, the unit of `st_blocks`


class Reserve:
    """The reserve next to a journal in that folder. It belongs to the thread that owns the journal."""

    def __init__(self, folder: Path, size: int = BYTES) -> None:
        self._path = folder / NAME
        self._size = size
        self.is_held = False

    def hold(self) -> None:
        """Reserve the space, if the disk has it. Raise `JournalError` for errors other than a full disk."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        with speaking(self._path):
            descriptor = os.open(self._path, flags, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise foreign(self._path)
            self.is_held = self._allocate(descriptor)
        finally:
            os.close(descriptor)
        if not self.is_held:
            self.release()

    def release(self) -> bool:
        """Free the space for the journal. Return whether any was reserved."""
        held, self.is_held = self.is_held, False
        # If the file cannot be deleted, no space is freed, and the journal's next write reports that.
        with suppress(OSError):
            self._path.unlink()
            sync_directory(self._path.parent)
        return held

    def _allocate(self, descriptor: int) -> bool:
        # A copy of the folder may have made it a sparse file, which occupies no space.
        if os.fstat(descriptor).st_blocks * _BLOCK >= self._size:
            return True
        try:
            os.posix_fallocate(descriptor, 0, self._size)
        except OSError as error:
            explained = explain(self._path, error)
            if explained.code != "journal-full":
                raise explained from error
            return False
        return True
