"""Looks after the journal of a running table: saved states, the next file, disk space, and the deletion of old files.

Nothing in this module raises: a failure is logged, the table continues, and the step is tried again. If the journal can
no longer be written, the next commit fails.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import structlog

from controller.daemon.configuration import Configuration
from controller.daemon.journal_days import JournalDays
from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import Clock, Moment
from controller.journal.folder import FileEnd
from controller.table.inputs import AnyInput, FilesExpired
from controller.table.record import FileRecord
from controller.table.saved_state import SavedState, remember
from controller.table.state import TableState
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.messages import Message, message

ROUNDS: Final = 64  # between two saved states: a start folds at most this many
LOOK_EVERY_NS: Final = 60 * 1_000_000_000
TRY_AGAIN_NS: Final = 600 * 1_000_000_000
LEVELS: Final = (90, 80)  # percent of the disk in use
T = TypeVar("T")


class KeptJournal(Protocol):
    """The part of the journal's writer that this module needs. A method may raise `JournalError`; it then leaves the
    journal unchanged.
    """

    @property
    def head(self) -> Head: ...

    @property
    def pin_fails(self) -> Message | None:
        """Return why the pin cannot be written, or None if it can."""

    @property
    def begun(self) -> int:
        """The time at which the current file was begun, in UTC."""

    async def answer(self) -> None:
        """Return when the thread has finished all earlier requests."""

    async def save(self, state: SavedState) -> None: ...

    async def sign_head(self, moment: Moment, *, stops: bool = False) -> None: ...

    async def begin_file(self, state: SavedState, moment: Moment) -> None: ...

    async def size(self) -> int:
        """Return the size in bytes of the current file."""

    async def expired(self, keep_days: int) -> tuple[FileEnd, ...]: ...

    async def delete(self, names: Sequence[str]) -> None: ...


def used_percent(folder: Path) -> int:
    """Return the share of the disk in use, out of what this user may use. Raise OSError."""
    found = os.statvfs(folder)
    used = found.f_blocks - found.f_bfree
    return round(100 * used / max(1, used + found.f_bavail))


class JournalKeeper:
    """The keeper of a journal. `memory` is what the journal holds of the device's reports. `used` returns the used
    percentage of its disk.

    `beside` returns warnings about the parts that follow the journal elsewhere; an empty string means that there is no
    warning.
    """

    def __init__(
        self,
        journal: KeptJournal,
        memory: LinkMemory,
        days: JournalDays,
        keep_days: int,
        clock: Clock,
        used: Callable[[], int],
        log: Any,
        beside: Callable[[], Iterable[Message]] = tuple,
    ) -> None:
        self._journal = journal
        self._memory = memory
        self._days = days
        self._keep_days = keep_days
        self._clock = clock
        self._begun_at = 0  # boot time; 0 if an earlier run began the file
        self._used = used
        self._log = log
        self._beside = beside
        self.unsaved_rounds = 0
        self._look_at = self._next_at = self._room_at = 0  # boot time
        self._expired_due = True
        self._level = 0
        self._fills: Message | None = None

    @property
    def warnings(self) -> tuple[Message, ...]:
        """Return the warnings that people are shown until their cause is removed."""
        return tuple(one for one in (self._fills, self._journal.pin_fails, *self._beside()) if one is not None)

    def remember(self, given: AnyInput) -> None:
        """Remember an input that is in the journal, together with the state, so that a saved state includes both."""
        remember(self._memory, given)

    async def committed(self, given: AnyInput, before: TableState, after: TableState) -> None:
        """Act on a commit whose input was remembered; `after` is the state to which the journal folds."""
        self._look_at_room(self._clock.now())
        if isinstance(given, FilesExpired):
            await self._try("journal.delete_failed", self._journal.delete([one.name for one in given.files]))
        if before.in_round and not after.in_round:
            self.unsaved_rounds += 1
            if self.unsaved_rounds >= ROUNDS:
                await self.save(after)

    async def save(self, state: TableState) -> None:
        """Save the state in the file, so that the next start only folds what follows."""
        # At a stop a commit may be in progress that nothing waits for; then this is not the state after it.
        await self._try("journal.state_not_saved", self._journal.answer())
        if self._journal.head.number != state.entry:
            return
        self.unsaved_rounds = 0
        saved = SavedState(state, self._memory.journaled())
        await self._try("journal.state_not_saved", self._journal.save(saved))

    async def stop(self, state: TableState) -> None:
        """Save the state and sign the head, at an orderly stop."""
        await self.save(state)
        await self._try("journal.head_not_signed", self._journal.sign_head(self._clock.now(), stops=True))

    async def between_rounds(self, state: TableState) -> FilesExpired | None:
        """Begin the next file if it is due. Return an input that is due for the deletion of files, or None."""
        now = self._clock.now()
        if now.boottime_ns < self._look_at:
            return None
        self._look_at = now.boottime_ns + LOOK_EVERY_NS
        self._look_at_room(now)
        await self._next_file(state, now)
        if not (self._keep_days and self._expired_due):
            return None
        self._expired_due = False
        ends = await self._try("journal.delete_failed", self._journal.expired(self._keep_days)) or ()
        recorded = [end.name for end in ends if end.file_id in state.files_deleted]
        if recorded:  # the daemon ended between the record and the deletion
            await self._try("journal.delete_failed", self._journal.delete(recorded))
        files = tuple(
            FileRecord(end.name, end.file_id, end.head.number, end.head.hash.hex(), end.ended_utc_ns)
            for end in ends
            if end.name not in recorded
        )
        return FilesExpired(files) if files else None

    async def _next_file(self, state: TableState, now: Moment) -> None:
        if now.boottime_ns < self._next_at or self._journal.head.number != state.entry:
            return
        size = await self._try("journal.next_file_failed", self._journal.size()) or 0
        if not self._days.is_over(Moment(self._journal.begun, self._begun_at), now, size):
            return
        saved = SavedState(state, self._memory.journaled())
        self._next_at = now.boottime_ns + TRY_AGAIN_NS  # even if it fails
        if await self._try("journal.next_file_failed", self._begin_next(saved, now)):
            self._begun_at, self._next_at, self.unsaved_rounds, self._expired_due = now.boottime_ns, 0, 0, True

    async def _begin_next(self, saved: SavedState, now: Moment) -> bool:
        await self._journal.begin_file(saved, now)
        return True

    def _look_at_room(self, now: Moment) -> None:
        if now.boottime_ns < self._room_at:
            return
        self._room_at = now.boottime_ns + LOOK_EVERY_NS
        try:
            used = self._used()
        except OSError as error:
            self._log.warning("journal.disk_not_read", error=error.strerror)
            return
        level = next((level for level in LEVELS if used >= level), 0)
        if level > self._level:
            self._log.warning("journal.disk_fills", percent=used)
        self._level = level
        self._fills = _fills(used) if level else None

    async def _try(self, failed: str, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except JournalError as error:
            self._log.error(failed, code=error.code, sentence=str(error))
            return None


def keeper_of(configuration: Configuration, journal: KeptJournal, saved: SavedState, clock: Clock,
              beside: Callable[[], Iterable[Message]]) -> JournalKeeper:  # fmt: skip
    """Return the keeper that a table's configuration asks for. `saved` is the state after the last entry."""
    section = configuration.journal
    return JournalKeeper(
        journal,
        LinkMemory(saved.link),
        section.days,
        section.keep_days,
        clock,
        lambda: used_percent(section.folder),
        structlog.get_logger(table=configuration.table.name),
        beside,
    )


def _fills(used: int) -> Message:
    return message(
        "The disk with the journal is {percent} % full. Move what is not needed to another disk.", percent=used
    )
