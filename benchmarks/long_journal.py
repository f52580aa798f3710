"""Writes a journal of many days, unsynced, through the real store by a table that plays smooth rounds.

    python -m benchmarks.long_journal FOLDER DAYS [ROUNDS_A_DAY]

A day has 600 rounds by default; a round has about 46 inputs and 151 entries. The last day began ten minutes ago, so
that a daemon continues its file. The key is all zeros.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from datetime import time as time_of_day
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from benchmarks.in_process import SmoothRounds
from controller.daemon.journal_days import JournalDays
from controller.daemon.journal_keeper import ROUNDS, JournalKeeper
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.chain import Head
from controller.journal.codec import Moment
from controller.journal.file import PRAGMAS, Identity, SqliteConnection
from controller.journal.folder import FileEnd
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.table.decision import Decided
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState
from controller.table.state import TableState
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.messages import Message

KEY: Final = bytes(32)
TABLE: Final = "BENCH"
ROUNDS_A_DAY: Final = 600
SECOND: Final = 1_000_000_000
DAY: Final = 86_400 * SECOND
AGO: Final = 600 * SECOND


class JournalWritten(msgspec.Struct):
    """The amount written."""

    rounds: int = 0
    decisions: int = 0
    entries: int = 0
    files: int = 0
    bytes: int = 0
    seconds: float = 0.0


class _Files:
    """The open journal as its keeper sees it, with the writer's calls done immediately."""

    def __init__(self, journal: Journal[AnyInput, AnyEvent]) -> None:
        self.journal = journal

    @property
    def head(self) -> Head:
        return self.journal.head

    @property
    def begun(self) -> int:
        return self.journal.begun

    @property
    def pin_fails(self) -> Message | None:
        return self.journal.pin.fails

    async def answer(self) -> None:
        """Return immediately: no call is in progress."""

    async def save(self, state: SavedState) -> None:
        self.journal.save(state)

    async def sign_head(self, moment: Moment, *, stops: bool = False) -> None:
        self.journal.sign_head(moment, stops=stops)

    async def begin_file(self, state: SavedState, moment: Moment) -> None:
        self.journal.begin_file(state, moment)

    async def size(self) -> int:
        return self.journal.size()

    async def expired(self, keep_days: int) -> tuple[FileEnd, ...]:
        return ()

    async def delete(self, names: Sequence[str]) -> None:
        """Do nothing: no file expires."""


class _Log:
    def warning(self, event: str, **said: object) -> None:
        raise RuntimeError(f"{event} {said}")

    error = warning


class _Writer:
    """Commits what the table decides, using its own clock."""

    def __init__(self, folder: Path, begin: int) -> None:
        self.written = JournalWritten()
        self._begin = self._now = begin
        self._state = TableState()
        identity = Identity(Random(1).randbytes(16).hex(), TABLE, True)
        self.journal: Journal[AnyInput, AnyEvent] = Journal.open(
            folder, JOURNAL_TYPES, local_key=KEY, identity=identity, signer=SigningKey(KEY), connect=_unsynced
        )
        self.journal.begin_file(SavedState(), self.now())
        days = JournalDays(time_of_day.fromisoformat(day_begins(begin)), UTC, 2**60)
        self.keeper = JournalKeeper(_Files(self.journal), LinkMemory(), days, 0, self, lambda: 0, _Log())

    def now(self) -> Moment:
        return Moment(self._now, self._now - self._begin)

    def commit(self, given: AnyInput, decided: Decided) -> None:
        self._now += SECOND
        before, after = self._state, decided.state
        ends_round = before.in_round and not after.in_round
        self.journal.append(given, decided.events, round=after.round.number, moment=self.now(), signs=ends_round)
        self._state = after
        self.written.decisions += 1
        self.written.rounds += ends_round
        self.keeper.remember(given)
        _run_now(self.keeper.committed(given, before, after))

    def go_on_at(self, utc_ns: int) -> None:
        """Begin the next round at that time."""
        self._now = max(self._now, utc_ns)
        _run_now(self.keeper.between_rounds(self._state))


def last_day() -> int:
    """Return when the last day of a journal written at present begins: a full minute."""
    minute = 60 * SECOND
    return (time.time_ns() - AGO) // minute * minute


def day_begins(begin: int) -> str:
    """Return that time of day as a configuration writes it."""
    return f"{datetime.fromtimestamp(begin // SECOND, UTC):%H:%M}"


def write(folder: Path, days: int, rounds_a_day: int = ROUNDS_A_DAY, *, last: int) -> JournalWritten:
    """Write a file for each day. As many rounds as possible stay unsaved at the end, as after a power cut."""
    started = time.perf_counter()
    begin = last - (days - 1) * DAY
    writer = _Writer(folder, begin)
    written = writer.written
    try:
        table = SmoothRounds(writer.commit)
        for day in range(days):
            for number in range(rounds_a_day):
                writer.go_on_at(begin + day * DAY + number * (DAY // (rounds_a_day + 1)))
                table.play()
                table.steps.clear()
        while writer.keeper.unsaved_rounds < ROUNDS - 1:
            table.play()
        written.entries = writer.journal.head.number
    finally:
        writer.journal.close()
    files = list(folder.glob("*.journal"))
    written.files, written.bytes = len(files), sum(path.stat().st_size for path in files)
    written.seconds = time.perf_counter() - started
    return written


def _unsynced(path: Path) -> SqliteConnection:
    """Open a connection that does not wait for the disk: this journal can be written again."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in (*PRAGMAS, "synchronous=OFF"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _run_now(work: Any) -> None:
    """Run a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise RuntimeError("it waited")


def main(folder: str, days: str, rounds_a_day: str = str(ROUNDS_A_DAY)) -> None:
    print(write(Path(folder), int(days), int(rounds_a_day), last=last_day()))


if __name__ == "__main__":
    main(*sys.argv[1:])
