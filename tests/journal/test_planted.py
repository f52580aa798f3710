"""A trigger that somebody plants in the file neither silences the journal nor changes what it writes."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from controller.journal import JournalError
from controller.journal.file import connect_reader, read_name
from tests.journal.vocabulary import append, open_journal

IGNORES = "BEFORE INSERT ON entry BEGIN SELECT RAISE(IGNORE); END"
SILENCES_ONE = "BEFORE INSERT ON entry WHEN NEW.body LIKE '%step 2%' BEGIN SELECT RAISE(IGNORE); END"
REMOVES = "AFTER INSERT ON entry BEGIN DELETE FROM entry WHERE number = NEW.number; END"
CHANGES = "AFTER INSERT ON entry BEGIN UPDATE entry SET body = '{}' WHERE number = NEW.number; END"
ADDS = """AFTER INSERT ON entry WHEN NEW.number < 90
BEGIN INSERT INTO entry SELECT 99, utc_ns, boottime_ns, start, round, kind, body, previous, hash FROM entry LIMIT 1;
END"""


@pytest.fixture
def written(path: Path) -> Path:
    with closing(open_journal(path)) as journal:
        append(journal, 1)
    return path


def plant(path: Path, *statements: str) -> None:
    """With plain SQLite, as any program can that may write to the file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def kept(path: Path) -> int:
    with closing(connect_reader(path)) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM entry")
    return int(count)


@pytest.mark.parametrize("body", [IGNORES, SILENCES_ONE, REMOVES, CHANGES, ADDS])
@pytest.mark.parametrize("name", ["sqlitequiet", "sqlite", "sqliteXstat1", "entry", "journal", '"sqlite%"', "ruhe"])
def test_a_trigger_of_any_name_is_found_on_opening(written: Path, name: str, body: str) -> None:
    plant(written, f"CREATE TRIGGER {name} {body}")
    with pytest.raises(JournalError, match="guards") as found:
        open_journal(written)
    assert found.value.code == "journal-damaged"


def test_a_trigger_under_a_name_that_sqlite_keeps_to_itself_is_found(written: Path) -> None:
    plant(
        written,
        f"CREATE TRIGGER quiet {IGNORES}",
        "PRAGMA writable_schema=ON",
        "UPDATE sqlite_master SET name = 'sqlite_quiet', sql = replace(sql, 'quiet', 'sqlite_quiet') "
        "WHERE name = 'quiet'",
    )
    with pytest.raises(JournalError, match="guards"):
        open_journal(written)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW sqliteview AS SELECT * FROM entry",
        "CREATE TABLE sqlitetable (number INTEGER)",
        "CREATE INDEX sqliteindex ON entry (utc_ns)",
        "CREATE UNIQUE INDEX sqliteonce ON entry (number)",
        "ALTER TABLE entry ADD COLUMN more TEXT GENERATED ALWAYS AS (body) VIRTUAL",
        "ANALYZE",
    ],
)
def test_nothing_else_is_added_either(written: Path, statement: str) -> None:
    plant(written, statement)
    with pytest.raises(JournalError, match="guards"):
        open_journal(written)


def test_a_guard_taken_off_and_its_name_given_to_another_is_found(written: Path) -> None:
    plant(written, "DROP TRIGGER entry_update", f"CREATE TRIGGER entry_update {IGNORES}")
    with pytest.raises(JournalError, match="guards"):
        open_journal(written)


@pytest.mark.parametrize("body", [IGNORES, SILENCES_ONE, REMOVES, CHANGES, ADDS])
def test_planted_while_the_journal_is_open_it_ends_the_append(written: Path, body: str) -> None:
    with closing(open_journal(written)) as journal:
        head = journal.head
        guards = ["DROP TRIGGER entry_update", "DROP TRIGGER entry_delete"] if body in (REMOVES, CHANGES) else []
        plant(written, *guards, f"CREATE TRIGGER sqlitequiet {body}")
        for _ in range(2):
            with pytest.raises(JournalError) as found:
                append(journal, 2)
            assert found.value.code == "journal-damaged"
            assert found.value.hint
        assert journal.head == head
        assert kept(written) == 4
        plant(written, "DROP TRIGGER sqlitequiet")
        append(journal, 2)
        assert kept(written) == 8


def test_a_reader_looks_at_every_name(written: Path) -> None:
    plant(written, f"CREATE TRIGGER sqlitequiet {IGNORES}")
    with closing(connect_reader(written)) as connection, pytest.raises(JournalError, match="guards"):
        read_name(written, connection)
