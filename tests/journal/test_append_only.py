"""Nothing that the journal holds can be changed through it, and a change past it is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.journal import JournalError
from controller.journal.file import SCHEMA, Connection, connect
from controller.journal.store import JournalReader
from firmware_bridge.cards import DECK, Concealed
from tests.journal.vocabulary import LOCAL_KEY, AnyEvent, AnyInput, append, open_journal

FORBIDDEN = [
    "UPDATE entry SET body = '{}' WHERE number = 2",
    "UPDATE journal SET table_name = 'other'",
    "DELETE FROM entry WHERE number = 8",
    "DELETE FROM journal",
    "INSERT OR REPLACE INTO entry SELECT 2, utc_ns, boottime_ns, start, round, kind, '{}', previous, hash "
    "FROM entry WHERE number = 2",
    "REPLACE INTO journal SELECT one, format, id, 0, 'other', simulated, key_check, previous_number, previous_hash "
    "FROM journal",
    "INSERT INTO journal SELECT 2, format, id, 0, 'other', simulated, key_check, previous_number, previous_hash "
    "FROM journal",
]
FORBIDDEN_TO_OURS = [
    "DROP TRIGGER entry_update",
    "DROP TABLE entry",
    "ALTER TABLE entry ADD COLUMN more TEXT",
    "CREATE INDEX more ON entry (utc_ns)",
    "CREATE TEMP TABLE more (number INTEGER)",
    "PRAGMA recursive_triggers=OFF",
    "PRAGMA writable_schema=ON",
    "PRAGMA synchronous=OFF",
    "UPDATE sqlite_master SET sql = ''",
    "ATTACH ':memory:' AS other",
    "VACUUM",
]


@pytest.fixture
def written(path: Path) -> Path:
    """A closed journal with two appends, eight entries."""
    with closing(open_journal(path)) as journal:
        append(journal, 1, Concealed(DECK[0], 7, 1), Concealed(DECK[1], 7, 2))
        append(journal, 2)
    return path


def rows(connection: Connection) -> list[object]:
    return [*connection.execute("SELECT * FROM entry"), *connection.execute("SELECT * FROM journal")]


@pytest.mark.parametrize("statement", FORBIDDEN + FORBIDDEN_TO_OURS)
def test_the_journals_own_connection_refuses(written: Path, statement: str) -> None:
    with closing(connect(written)) as connection:
        before = rows(connection)
        with pytest.raises(sqlite3.DatabaseError):
            connection.execute(statement)
        assert rows(connection) == before


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_triggers_refuse_on_any_connection_with_recursive_triggers(written: Path, statement: str) -> None:
    with closing(sqlite3.connect(written, isolation_level=None)) as connection:
        connection.execute("PRAGMA recursive_triggers=ON")
        before = rows(connection)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(statement)
        assert rows(connection) == before


@contextmanager
def unguarded(path: Path) -> Iterator[sqlite3.Connection]:
    """The file as somebody with root and the schema's text changes it: guards taken off and put back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = [text for text in SCHEMA if "TRIGGER" in text]
        for text in guards:
            connection.execute(f"DROP TRIGGER {text.split()[2]}")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        yield connection
        for text in guards:
            connection.execute(text)


@pytest.mark.parametrize(
    ("change", "entry"),
    [
        ("UPDATE entry SET body = replace(body, 'box 1', 'box 2') WHERE number = 2", 2),
        ("UPDATE entry SET utc_ns = utc_ns + 1 WHERE number = 3", 3),
        ("UPDATE entry SET boottime_ns = 0 WHERE number = 4", 4),
        ("UPDATE entry SET round = 2 WHERE number = 5", 5),
        ("UPDATE entry SET start = 'another' WHERE number = 6", 6),
        ("UPDATE entry SET kind = 'input' WHERE number = 7", 7),
        ("UPDATE entry SET previous = zeroblob(32) WHERE number = 1", 1),
        ("UPDATE entry SET hash = zeroblob(32) WHERE number = 8", 8),
        ("UPDATE entry SET body = CAST(x'ff' AS TEXT) WHERE number = 8", 8),
        ("DELETE FROM entry WHERE number = 1", 1),
        ("DELETE FROM entry WHERE number = 4", 4),
        ("UPDATE entry SET number = 9 WHERE number = 8", 8),
        ("UPDATE journal SET created_utc_ns = 0", 1),
    ],
)
def test_a_change_past_the_journal_is_found_on_opening(written: Path, change: str, entry: int) -> None:
    with unguarded(written) as connection:
        assert connection.execute(change).rowcount == 1
    with pytest.raises(JournalError, match=rf"entry {entry} is missing or has been changed") as found:
        open_journal(written)
    assert found.value.code == "journal-damaged"
    assert found.value.hint


def test_putting_the_guards_back_alone_changes_nothing(written: Path) -> None:
    with unguarded(written):
        pass
    with closing(open_journal(written)) as journal:
        assert journal.head.number == 8


@pytest.mark.parametrize(
    "change",
    [
        "DROP TRIGGER entry_update",
        "CREATE TRIGGER more AFTER INSERT ON entry BEGIN SELECT 1; END",
        "CREATE TABLE more (number INTEGER)",
    ],
)
def test_changed_guards_are_found_on_opening(written: Path, change: str) -> None:
    with closing(sqlite3.connect(written)) as connection:
        connection.execute(change)
    with pytest.raises(JournalError, match="guards") as found:
        open_journal(written)
    assert found.value.code == "journal-damaged"


def rewrite_schema(path: Path, before: str, after: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (before, after))


@pytest.mark.parametrize("value", ["NULL", "'noon'", "1.5", "x'00'"])
def test_a_value_of_another_type_is_found_on_opening(written: Path, value: str) -> None:
    rewrite_schema(written, "utc_ns INTEGER NOT NULL", "utc_ns ANY")
    with unguarded(written) as connection:
        connection.execute(f"UPDATE entry SET utc_ns = {value} WHERE number = 3")  # noqa: S608  # the test's own words
    rewrite_schema(written, "utc_ns ANY", "utc_ns INTEGER NOT NULL")
    with pytest.raises(JournalError) as found:
        open_journal(written)
    assert found.value.code == "journal-damaged"


def refusal_of(path: Path) -> JournalError | None:
    try:
        open_journal(path).close()
    except JournalError as error:
        return error
    return None


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_flipped_bit_is_refused_or_lies_where_nothing_is_stored(written: Path, data: st.DataObject) -> None:
    content = written.read_bytes()
    with closing(sqlite3.connect(written)) as connection:
        before = rows(connection)
    place = data.draw(st.integers(0, len(content) * 8 - 1))
    flipped = bytearray(content)
    flipped[place // 8] ^= 1 << place % 8
    copy = written.with_name("flipped")
    for name in ("flipped", "flipped-wal", "flipped-shm"):
        written.with_name(name).unlink(missing_ok=True)
    copy.write_bytes(flipped)
    if (error := refusal_of(copy)) is not None:
        assert error.code in {"journal-damaged", "journal-format", "journal-key", "journal-io"}
    else:
        with closing(sqlite3.connect(copy)) as connection:
            assert rows(connection) == before


@pytest.mark.parametrize(
    "change", ["id = x'00'", "key_check = 'text'", "previous_hash = printf('%.32c', 'a')", "previous_number = -1"]
)
def test_a_name_of_other_types_is_found_on_opening(written: Path, change: str) -> None:
    column = change.split()[0]
    with closing(sqlite3.connect(written)) as connection:
        (kind,) = connection.execute(f"SELECT typeof({column}) FROM journal").fetchone()  # noqa: S608  # the test's own words
    rewrite_schema(written, f"{column} {kind.upper()} NOT NULL", f"{column} ANY NOT NULL")
    with unguarded(written) as connection:
        connection.execute(f"UPDATE journal SET {change}")  # noqa: S608  # the test's own words
    rewrite_schema(written, f"{column} ANY NOT NULL", f"{column} {kind.upper()} NOT NULL")
    with pytest.raises(JournalError, match="name is not as it was made") as found:
        open_journal(written)
    assert found.value.code == "journal-damaged"


@pytest.mark.parametrize("column", ["utc_ns", "boottime_ns", "start", "round", "kind", "body"])
def test_a_reader_without_the_chain_finds_a_value_of_another_type(written: Path, column: str) -> None:
    """SQLite reads what damage left: a NULL where the schema allows none."""
    content = written.read_bytes()
    with closing(sqlite3.connect(written)) as connection:
        (kind,) = connection.execute(f"SELECT typeof({column}) FROM entry WHERE number = 3").fetchone()  # noqa: S608  # the test's own words
    rewrite_schema(written, f"{column} {kind.upper()} NOT NULL", f"{column} ANY")
    with unguarded(written) as connection:
        connection.execute(f"UPDATE entry SET {column} = NULL WHERE number = 3")  # noqa: S608  # the test's own words
    rewrite_schema(written, f"{column} ANY", f"{column} {kind.upper()} NOT NULL")
    assert written.read_bytes() != content
    reader: JournalReader[AnyInput, AnyEvent] = JournalReader.open_to_read(
        written, AnyInput, AnyEvent, local_key=LOCAL_KEY
    )
    with closing(reader), pytest.raises(JournalError, match="entry 3 has been changed") as found:
        list(reader.entries())
    assert found.value.code == "journal-damaged"
