"""A failed append leaves the journal unchanged, gives the reason, and does not end the journal."""

from __future__ import annotations

import errno
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_mock import MockerFixture

from controller.journal import JournalError
from controller.journal.file import SqliteConnection, connect
from tests.journal.vocabulary import Noted, Said, append, entries, moment, open_journal

FULL = sqlite3.OperationalError("database or disk is full")
STATEMENTS = ["BEGIN", "INSERT", "SELECT", "COMMIT"]  # the statements of one append


class Failing:
    """A connection whose `execute` can be made to fail."""

    def __init__(self, mocker: MockerFixture) -> None:
        self._mocker = mocker
        self.fail: Callable[[str], Exception | None] = lambda statement: None

    def connect(self, path: Path) -> SqliteConnection:
        real = connect(path)

        def execute(statement: str, parameters: Sequence[Any] = ()) -> Any:
            if error := self.fail(statement):
                raise error
            return real.execute(statement, parameters)

        connection = self._mocker.Mock(spec=["execute", "close"])
        connection.execute.side_effect = execute
        connection.close.side_effect = real.close
        return connection  # type: ignore[no-any-return]  # the journal expects its own type

    def at(self, position: int, error: Exception, *, rollback: Exception | None = None) -> None:
        """Fail at that statement of the next append, and optionally at its rollback."""
        position_now = iter(range(100))

        def fail(statement: str) -> Exception | None:
            if statement == "ROLLBACK":
                return rollback
            return error if next(position_now) == position else None

        self.fail = fail

    def nowhere(self) -> None:
        self.fail = lambda statement: None


@pytest.fixture
def failing(mocker: MockerFixture) -> Failing:
    return Failing(mocker)


def failure(step: Callable[[], object]) -> JournalError:
    with pytest.raises(JournalError) as failed:
        step()
    assert failed.value.hint
    return failed.value


@pytest.mark.parametrize("position", range(len(STATEMENTS)), ids=lambda i: f"{i}-{STATEMENTS[i]}")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FULL, "journal-full"),
        (OSError(errno.ENOSPC, "No space left on device"), "journal-full"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "journal-full"),
        (sqlite3.OperationalError("disk I/O error"), "journal-io"),
        (OSError(errno.EIO, "Input/output error"), "journal-io"),
    ],
    ids=lambda value: str(value),
)
def test_a_failed_append_leaves_the_journal_unchanged(
    folder: Path, failing: Failing, position: int, error: Exception, code: str
) -> None:
    with closing(open_journal(folder, connect=failing.connect)) as journal:
        append(journal, 1)
        before, head = entries(journal), journal.head
        journal.reserve.release()  # while the reserve exists, a full disk is not a failure
        failing.at(position, error)
        assert failure(lambda: append(journal, 2)).code == code
        failing.nowhere()
        assert entries(journal) == before
        assert journal.head == head
        assert append(journal, 3) == [5, 6, 7, 8]
    with closing(open_journal(folder)) as journal:
        assert journal.head.number == 8


@pytest.mark.parametrize("position", range(len(STATEMENTS)), ids=lambda i: f"{i}-{STATEMENTS[i]}")
def test_the_first_time_that_the_disk_is_full_the_reserve_is_given_up(
    folder: Path, failing: Failing, position: int
) -> None:
    with closing(open_journal(folder, connect=failing.connect)) as journal:
        append(journal, 1)
        failing.at(position, FULL)
        assert append(journal, 2) == [5, 6, 7, 8]
        assert not journal.reserve.is_held
        failing.at(position, FULL)
        assert failure(lambda: append(journal, 3)).code == "journal-full"
        failing.nowhere()
        assert append(journal, 4) == [9, 10, 11, 12]
        assert journal.files().verify() == journal.head


def test_a_transaction_that_will_not_end_is_never_added_to(folder: Path, failing: Failing) -> None:
    with closing(open_journal(folder, connect=failing.connect)) as journal:
        append(journal, 1)
        failing.at(2, FULL, rollback=sqlite3.OperationalError("disk I/O error"))
        failure(lambda: append(journal, 2))
        assert failure(lambda: append(journal, 3)).code == "journal-damaged"
        failing.nowhere()
        assert append(journal, 4) == [5, 6, 7, 8]


def test_the_first_append_may_fail(folder: Path, failing: Failing) -> None:
    with closing(open_journal(folder, connect=failing.connect)) as journal:
        journal.reserve.release()
        failing.at(3, FULL)
        failure(lambda: append(journal, 1))
        failing.nowhere()
        assert append(journal, 2) == [1, 2, 3, 4]


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_append_is_undone_and_passed_on(
    folder: Path, failing: Failing, interruption: type[Exception]
) -> None:
    with closing(open_journal(folder, connect=failing.connect)) as journal:
        failing.at(2, interruption())
        with pytest.raises(interruption):
            append(journal, 1)
        failing.nowhere()
        assert append(journal, 2) == [1, 2, 3, 4]


def test_sqlites_own_full_disk(folder: Path) -> None:
    def small(path: Path) -> SqliteConnection:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA max_page_count=16")
        return connection

    with closing(open_journal(folder, connect=small)) as journal:
        steps = itertools.count()

        def fill() -> None:
            for step in steps:
                journal.append(Said("x" * 2000), [Noted("y" * 2000)], round=1, moment=moment(step))

        error = failure(fill)
        written = 2 * (next(steps) - 1)
        assert error.code == "journal-full"
        assert journal.head.number == written > 0
        assert journal.files().verify() == journal.head
    with closing(open_journal(folder)) as journal:
        assert append(journal, 1)[0] == written + 1


def test_a_disk_that_is_full_at_the_beginning(folder: Path) -> None:
    def none(path: Path) -> SqliteConnection:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA max_page_count=2")
        return connection

    assert failure(lambda: open_journal(folder, connect=none)).code == "journal-full"
    with closing(open_journal(folder)) as journal:
        assert append(journal, 1) == [1, 2, 3, 4]


@pytest.fixture
def impatient() -> Callable[[Path], SqliteConnection]:
    return lambda path: sqlite3.connect(path, timeout=0, isolation_level=None)


@pytest.fixture
def other_writer(folder: Path, path: Path) -> Iterator[sqlite3.Connection]:
    open_journal(folder).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        yield connection


def test_a_program_that_writes_past_the_lock_file_is_noticed(
    folder: Path, impatient: Callable[[Path], SqliteConnection], other_writer: sqlite3.Connection
) -> None:
    with closing(open_journal(folder, connect=impatient)) as journal:
        other_writer.execute("BEGIN IMMEDIATE")
        assert failure(lambda: append(journal, 1)).code == "journal-locked"
        other_writer.execute("ROLLBACK")
        assert append(journal, 2) == [1, 2, 3, 4]


def test_an_unstorable_entry_is_refused_before_anything_is_written(folder: Path) -> None:
    with closing(open_journal(folder)) as journal:
        for wrong in (object(), Said("\ud800")):
            with pytest.raises((TypeError, ValueError, NotImplementedError)):
                journal.append(wrong, [], round=1, moment=moment())  # type: ignore[arg-type]  # this fails
        assert append(journal, 1) == [1, 2, 3, 4]


@pytest.mark.parametrize("replaced", [False, True], ids=["moved", "replaced"])
def test_nothing_is_written_to_a_file_that_is_not_at_its_path(folder: Path, replaced: bool) -> None:
    """Its entries would be missing at the next start. The journal continues when the file is back."""
    with closing(open_journal(folder)) as journal:
        append(journal, 1)
        elsewhere = journal.path.rename(folder.parent / "elsewhere")
        if replaced:
            journal.path.write_bytes(elsewhere.read_bytes())
        assert failure(lambda: append(journal, 1)).code == "journal-gone"
        elsewhere.rename(journal.path)
        assert append(journal, 1) == [5, 6, 7, 8]
