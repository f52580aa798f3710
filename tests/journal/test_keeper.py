"""The keeper of a running table's journal saves, begins the next file, deletes and warns, and never raises."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time
from typing import Any

from controller.daemon.journal_days import JournalDays, find_zone
from controller.daemon.journal_keeper import LOOK_EVERY_NS, ROUNDS, TRY_AGAIN_NS, JournalKeeper
from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import Moment
from controller.journal.folder import FileEnd
from controller.table.events import FilesDeleted
from controller.table.evolve import evolve
from controller.table.inputs import DeviceReported, FilesExpired, RefusedAtDoor
from controller.table.phases import Phase
from controller.table.record import FileRecord
from controller.table.saved_state import SavedState
from controller.table.state import TableState
from firmware_bridge.cards import Evidence
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.messages import Message
from firmware_bridge.observations import PowerLow

SECOND = 1_000_000_000
DAY = 86_400 * SECOND
BETWEEN = TableState(phase=Phase.CONCLUDED)
PLAYING = TableState(phase=Phase.SETTLING)
NOTED = RefusedAtDoor("not-admitted", None, 1)
OLD = FileEnd("000001.journal", "5e" * 16, Head(40), 7)
EXPIRED = FilesExpired((FileRecord("000001.journal", "5e" * 16, 40, "00" * 32, 7),))


class Files:
    """The journal's writer, which lists its requests."""

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self.head = Head()
        self.saved: list[SavedState] = []
        self.files: list[SavedState] = []
        self.signed = 0
        self.deleted: list[str] = []
        self.old: tuple[FileEnd, ...] = ()
        self.bytes = 0
        self.full = False
        self.pin_fails: Message | None = None

    def _must_have_room(self) -> None:
        if self.full:
            raise JournalError("journal-full", "The disk is full.", "Make room.")

    async def answer(self) -> None:
        """Do nothing: nothing is pending."""

    async def save(self, state: SavedState) -> None:
        self._must_have_room()
        self.saved.append(state)

    async def sign_head(self, moment: Moment, *, stops: bool = False) -> None:
        self.signed += 1

    async def begin_file(self, state: SavedState, moment: Moment) -> None:
        self._must_have_room()
        self.begun = moment.utc_ns
        self.files.append(state)

    async def size(self) -> int:
        return self.bytes

    async def expired(self, keep_days: int) -> tuple[FileEnd, ...]:
        return self.old

    async def delete(self, names: Sequence[str]) -> None:
        self.deleted += names


class Log:
    """The log entries, by event."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def warning(self, event: str, **_: object) -> None:
        self.events.append(event)

    error = warning


class Table:
    """A keeper in virtual time."""

    def __init__(self, keep_days: int = 0) -> None:
        self.utc_ns, self.boottime_ns = 20_000 * DAY + 12 * 3600 * SECOND, 0
        self.used: int | OSError = 12
        self.files, self.log = Files(self.utc_ns), Log()
        days = JournalDays(time(6), find_zone("UTC"), 1000)
        self.keeper = JournalKeeper(self.files, LinkMemory(), days, keep_days, self, self._used, self.log)

    def now(self) -> Moment:
        return Moment(self.utc_ns, self.boottime_ns)

    def _used(self) -> int:
        if isinstance(self.used, OSError):
            raise self.used
        return self.used

    async def later(self, nanoseconds: int = LOOK_EVERY_NS, state: TableState = BETWEEN) -> FilesExpired | None:
        self.utc_ns += nanoseconds
        self.boottime_ns += nanoseconds
        return await self.keeper.between_rounds(state)

    async def round(self, given: Any = NOTED) -> None:
        await self.keeper.committed(NOTED, BETWEEN, PLAYING)
        self.keeper.remember(given)
        await self.keeper.committed(given, PLAYING, PLAYING)
        await self.keeper.committed(NOTED, PLAYING, BETWEEN)


async def test_the_state_is_saved_after_a_number_of_rounds_and_on_request() -> None:
    table = Table()
    report = DeviceReported(7, 1, 1, PowerLow(), Evidence(b"report"))
    for _ in range(2 * ROUNDS):
        await table.round(report)
    assert len(table.files.saved) == 2
    assert table.files.saved[0].table == BETWEEN
    assert table.files.saved[0].link.reports == ((7, 1, Evidence(b"report")),)
    await table.keeper.stop(PLAYING)
    assert table.files.saved[2].table == PLAYING
    assert table.files.signed == 1


async def test_a_state_that_differs_from_the_journal_is_not_saved() -> None:
    """A stop cut off the wait for a commit."""
    table = Table()
    table.files.head = Head(7)
    await table.keeper.save(BETWEEN)
    table.files.bytes = 1000
    await table.later()
    assert (table.files.saved, table.files.files) == ([], [])


async def test_the_next_file_begins_with_the_day_and_the_state() -> None:
    table = Table()
    for _ in range(ROUNDS - 1):
        await table.round()
    await table.later()
    assert table.files.files == []
    await table.later(DAY)
    assert [saved.table for saved in table.files.files] == [BETWEEN]
    await table.later()
    assert len(table.files.files) == 1
    await table.round()
    assert table.files.saved == [], "the file begins with a state"


async def test_a_large_file_ends_immediately() -> None:
    table = Table()
    await table.later()
    table.files.bytes = 1000
    await table.later()
    assert len(table.files.files) == 1


async def test_a_next_file_that_cannot_be_begun_is_tried_again_later() -> None:
    table = Table()
    table.files.full = True
    for _ in range(3):
        await table.later(DAY // 3)
    failed = table.log.events.count("journal.next_file_failed")
    assert failed
    await table.later()
    await table.later()
    assert table.log.events.count("journal.next_file_failed") == failed, "not at every look"
    table.files.full = False
    await table.later(TRY_AGAIN_NS)
    assert len(table.files.files) == 1


async def test_a_state_that_cannot_be_saved_stops_nothing() -> None:
    table = Table()
    table.files.full = True
    await table.keeper.save(BETWEEN)
    assert table.log.events == ["journal.state_not_saved"]


async def test_files_are_deleted_after_that_is_recorded() -> None:
    table = Table(keep_days=30)
    table.files.old = (OLD,)
    assert await table.later() == EXPIRED
    assert table.files.deleted == []
    await table.keeper.committed(EXPIRED, BETWEEN, BETWEEN)
    assert table.files.deleted == ["000001.journal"]
    assert await table.later() is None, "looked for once for each file that is begun"
    assert await table.later(DAY) == EXPIRED


async def test_a_recorded_deletion_is_completed_without_another_record() -> None:
    """The daemon was killed in between."""
    table = Table(keep_days=30)
    table.files.old = (OLD,)
    due = await table.later()
    assert due == EXPIRED
    recorded = evolve(BETWEEN, FilesDeleted(EXPIRED.files), 1)
    again = Table(keep_days=30)
    again.files.old = (OLD,)
    assert await again.later(state=recorded) is None
    assert again.files.deleted == ["000001.journal"]


async def test_without_a_number_of_days_nothing_is_deleted() -> None:
    table = Table()
    table.files.old = (OLD,)
    assert await table.later() is None
    assert await table.later(400 * DAY) is None


async def test_a_disk_that_fills_is_reported_at_each_level_and_shown_as_long_as_it_is_so() -> None:
    table = Table()
    shown: list[bool] = []
    for table.used in (79, 80, 85, 90, 99, 85, 12, 81):
        await table.later()
        shown.append(bool(table.keeper.warnings))
    assert shown == [False, True, True, True, True, True, False, True]
    assert table.log.events == ["journal.disk_fills"] * 3
    assert "81 % full" in str(table.keeper.warnings[0])
    table.used = OSError(5, "Input/output error")
    await table.later()
    assert table.log.events[-1] == "journal.disk_not_read"


async def test_a_disk_that_fills_in_a_round_is_reported_in_that_round() -> None:
    table = Table()
    await table.later()
    table.used = 85
    table.boottime_ns += LOOK_EVERY_NS
    await table.keeper.committed(NOTED, PLAYING, PLAYING)
    assert table.log.events == ["journal.disk_fills"]


async def test_nothing_is_checked_more_than_once_a_minute() -> None:
    table = Table()
    await table.later()
    table.files.bytes = 1000
    await table.later(LOOK_EVERY_NS - 1)
    assert table.files.files == []
    await table.later(1)
    assert len(table.files.files) == 1
