"""A trigger planted in the file neither silences the journal nor changes its writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from controller.journal import JournalError
from controller.journal.file import connect_reader, read_header
from tests.journal.vocabulary import Cards, TestJournal, append, moment, open_journal

IGNORES = "BEFORE INSERT ON decision BEGIN SELECT RAISE(IGNORE); END"
SILENCES_ONE = "BEFORE INSERT ON decision WHEN NEW.last = 8 BEGIN SELECT RAISE(IGNORE); END"
REMOVES = "AFTER INSERT ON decision BEGIN DELETE FROM decision WHERE last = NEW.last; END"
CHANGES = "AFTER INSERT ON decision BEGIN UPDATE decision SET body = x'00' WHERE last = NEW.last; END"
ADDS = """AFTER INSERT ON decision WHEN NEW.last < 90 BEGIN
INSERT INTO decision SELECT 99, count, utc_ns, boottime_ns, round, body, sealed, hash, mac FROM decision LIMIT 1;
END"""


@pytest.fixture
def written(folder: Path, path: Path) -> Path:
    with closing(open_journal(folder)) as journal:
        append(journal, 1)
    return path


def plant(path: Path, *statements: str) -> None:
    """Plant a trigger with plain SQLite, as any program that may write to the file can."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def kept(path: Path) -> int:
    with closing(connect_reader(path)) as connection:
        ((count,),) = connection.execute("SELECT count(*) FROM decision")
    return int(count)


@pytest.mark.parametrize("body", [IGNORES, SILENCES_ONE, REMOVES, CHANGES, ADDS])
@pytest.mark.parametrize("name", ["sqlitequiet", "sqlite", "sqliteXstat1", "decision", "journal", '"sqlite%"', "ruhe"])
def test_a_trigger_of_any_name_is_found_on_opening(written: Path, name: str, body: str) -> None:
    plant(written, f"CREATE TRIGGER {name} {body}")
    with pytest.raises(JournalError, match="guards") as found:
        open_journal(written.parent)
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
        open_journal(written.parent)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE VIEW sqliteview AS SELECT * FROM decision",
        "CREATE TABLE sqlitetable (number INTEGER)",
        "CREATE INDEX sqliteindex ON decision (utc_ns)",
        "CREATE UNIQUE INDEX sqliteonce ON decision (last)",
        "ALTER TABLE decision ADD COLUMN more TEXT GENERATED ALWAYS AS (body) VIRTUAL",
        "ANALYZE",
    ],
)
def test_no_view_or_table_is_added_either(written: Path, statement: str) -> None:
    plant(written, statement)
    with pytest.raises(JournalError, match="guards"):
        open_journal(written.parent)


def test_a_replaced_trigger_is_found(written: Path) -> None:
    plant(written, "DROP TRIGGER decision_update", f"CREATE TRIGGER decision_update {IGNORES}")
    with pytest.raises(JournalError, match="guards"):
        open_journal(written.parent)


@pytest.mark.parametrize("body", [IGNORES, SILENCES_ONE, REMOVES, CHANGES, ADDS])
def test_planted_while_the_journal_is_open_it_ends_the_append(written: Path, body: str) -> None:
    with closing(open_journal(written.parent)) as journal:
        head = journal.head
        guards = ["DROP TRIGGER decision_update", "DROP TRIGGER decision_delete"] if body in (REMOVES, CHANGES) else []
        plant(written, *guards, f"CREATE TRIGGER sqlitequiet {body}")
        for _ in range(2):
            with pytest.raises(JournalError) as found:
                append(journal, 2)
            assert found.value.code == "journal-damaged"
            assert found.value.hint
        assert journal.head == head
        assert kept(written) == 1
        plant(written, "DROP TRIGGER sqlitequiet")
        append(journal, 2)
        assert kept(written) == 2


WRITES: dict[str, Callable[[TestJournal], object]] = {
    "head": lambda journal: journal.sign_head(moment()),
    "checkpoint": lambda journal: journal.save(Cards()),
}


@pytest.mark.parametrize("table", WRITES)
def test_signatures_and_saved_states_are_read_back_too(written: Path, table: str) -> None:
    with closing(open_journal(written.parent)) as journal:
        plant(written, f"CREATE TRIGGER sqlitequiet BEFORE INSERT ON {table} BEGIN SELECT RAISE(IGNORE); END")
        with pytest.raises(JournalError) as found:
            WRITES[table](journal)
        assert found.value.code == "journal-damaged"
        plant(written, "DROP TRIGGER sqlitequiet")
        append(journal, 2)


def test_a_reader_looks_at_every_name(written: Path) -> None:
    plant(written, f"CREATE TRIGGER sqlitequiet {IGNORES}")
    with closing(connect_reader(written)) as connection, pytest.raises(JournalError, match="guards"):
        read_header(written, connection)
