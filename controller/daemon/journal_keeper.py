"""What the journal of a running table needs besides its entries: saved states, the next file, room on the disk, and an
end for files that are not to be kept.

Nothing here raises: what fails is reported in the log, the table goes on, and it is tried again. A journal that cannot
be written any longer fails at the next commit.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from controller.daemon.journal_days import JournalDays
from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import Clock, Moment
from controller.table.inputs import AnyInput, FilesExpired
from controller.table.record import FileRecord
from controller.table.saved_state import SavedState, remember
from controller.table.state import TableState
from firmware_bridge.drivers.memory import LinkMemory

ROUNDS: Final = 64  # between two saved states: what a start has to fold, at most
LOOK_EVERY_NS: Final = 60 * 1_000_000_000
TRY_AGAIN_NS: Final = 600 * 1_000_000_000
LEVELS: Final = (90, 80)  # percent of the disk in use
T = TypeVar("T")


class KeptJournal(Protocol):
    """The journal's writer, as far as it is needed here. Each may raise `JournalError`, and the file is as before."""

    @property
    def head(self) -> Head:
        """The end of the chain."""

    async def save_state(self, state: SavedState) -> None:
        """A checkpoint at the head."""

    async def begin_next_file(self, state: SavedState, moment: Moment) -> None:
        """Close the file that is written to, and go on in the next."""

    async def file_size(self) -> int:
        """Bytes of the file that is written to."""

    async def expired(self, keep_days: int) -> tuple[FileRecord, ...]:
        """Files that are older than they are to be kept."""

    async def delete(self, files: tuple[FileRecord, ...]) -> None:
        """Delete them, oldest first. One that is gone already is no error."""


def used_percent(folder: Path) -> int:
    """How much of the disk is in use, of what this user may use. Raises OSError."""
    found = os.statvfs(folder)
    used = found.f_blocks - found.f_bfree
    return round(100 * used / max(1, used + found.f_bavail))


class JournalKeeper:
    """`memory`: what the journal holds of the device's reports. `begun`: the beginning of the present file."""

    def __init__(
        self,
        journal: KeptJournal,
        memory: LinkMemory,
        days: JournalDays,
        keep_days: int,
        clock: Clock,
        begun: Moment,
        used: Callable[[], int],
        log: Any,
    ) -> None:
        self._journal = journal
        self._memory = memory
        self._days = days
        self._keep_days = keep_days
        self._clock = clock
        self._begun = begun
        self._used = used
        self._log = log
        self.unsaved_rounds = 0
        self._look_at = self._next_at = 0  # of the boot-time clock
        self._expired_due = True
        self._level = 0
        self.warnings: tuple[str, ...] = ()

    async def committed(self, given: AnyInput, before: TableState, after: TableState) -> None:
        """An input is in the journal, and `after` is the state to which that folds."""
        remember(self._memory, given)
        if isinstance(given, FilesExpired):
            await self._try("journal.delete_failed", self._journal.delete(given.files))
        if before.in_round and not after.in_round:
            self.unsaved_rounds += 1
            if self.unsaved_rounds >= ROUNDS:
                await self.save(after)

    async def save(self, state: TableState) -> None:
        """Save the state in the file, so that the next start folds what follows only."""
        if self._journal.head.number != state.entry:
            return  # a commit whose end was not waited for, at a stop
        self.unsaved_rounds = 0
        saved = SavedState(state, self._memory.journaled())
        await self._try("journal.state_not_saved", self._journal.save_state(saved))

    async def between_rounds(self, state: TableState) -> FilesExpired | None:
        """The next file, where it is time for it. Returns an input that is due, for files that are to be deleted."""
        now = self._clock.now()
        if now.boottime_ns < self._look_at:
            return None
        self._look_at = now.boottime_ns + LOOK_EVERY_NS
        self._look_at_room()
        await self._next_file(state, now)
        if not (self._keep_days and self._expired_due):
            return None
        self._expired_due = False
        files = await self._try("journal.delete_failed", self._journal.expired(self._keep_days))
        return FilesExpired(files) if files else None

    async def _next_file(self, state: TableState, now: Moment) -> None:
        if now.boottime_ns < self._next_at or self._journal.head.number != state.entry:
            return
        size = await self._try("journal.next_file_failed", self._journal.file_size()) or 0
        if not self._days.is_over(self._begun, now, size):
            return
        saved = SavedState(state, self._memory.journaled())
        self._next_at = now.boottime_ns + TRY_AGAIN_NS  # also where it fails
        if await self._try("journal.next_file_failed", self._begin_next(saved, now)):
            self._begun, self._next_at, self.unsaved_rounds, self._expired_due = now, 0, 0, True

    async def _begin_next(self, saved: SavedState, now: Moment) -> bool:
        await self._journal.begin_next_file(saved, now)
        return True

    def _look_at_room(self) -> None:
        try:
            used = self._used()
        except OSError as error:
            self._log.warning("journal.disk_not_read", error=error.strerror)
            return
        level = next((level for level in LEVELS if used >= level), 0)
        if level > self._level:
            self._log.warning("journal.disk_fills", percent=used)
        self._level = level
        self.warnings = (_fills(used),) if level else ()

    async def _try(self, failed: str, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except JournalError as error:
            self._log.error(failed, code=error.code, sentence=str(error))
            return None


def _fills(used: int) -> str:
    return f"The disk with the journal is {used} % full. Move what is not needed to another disk."
