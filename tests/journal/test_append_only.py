"""Nothing in the journal can be changed through it, and a change by other means is found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.journal import JournalError
from controller.journal.file import SqliteConnection, connect
from controller.journal.schema import SCHEMA, TABLES
from firmware_bridge.cards import DECK, Concealed
from tests.journal.vocabulary import LOCAL_KEY, Cards, append, moment, open_journal, reader_of

FORBIDDEN = [
    "UPDATE decision SET body = x'00' WHERE last = 4",
    "UPDATE journal SET table_name = 'other'",
    "DELETE FROM decision WHERE last = 8",
    "DELETE FROM journal",
    "INSERT OR REPLACE INTO decision SELECT last, count, utc_ns, boottime_ns, round, x'00', sealed, hash, mac "
    "FROM decision WHERE last = 4",
    "UPDATE head SET utc_ns = 0",
    "DELETE FROM head",
    "UPDATE checkpoint SET state = x'00'",
    "DELETE FROM checkpoint",
    "REPLACE INTO journal SELECT * FROM journal",
    "INSERT INTO journal SELECT * FROM journal",
]
FORBIDDEN_TO_OURS = [
    "DROP TRIGGER decision_update",
    "DROP TABLE decision",
    "ALTER TABLE decision ADD COLUMN more TEXT",
    "CREATE INDEX more ON decision (utc_ns)",
    "CREATE TEMP TABLE more (number INTEGER)",
    "PRAGMA recursive_triggers=OFF",
    "PRAGMA writable_schema=ON",
    "PRAGMA synchronous=OFF",
    "UPDATE sqlite_master SET sql = ''",
    "ATTACH ':memory:' AS other",
    "VACUUM",
]


@pytest.fixture
def written(folder: Path, path: Path) -> Path:
    """Return a closed journal's file with two decisions, eight entries, a signed head and a saved state."""
    with closing(open_journal(folder)) as journal:
        append(journal, 1, Concealed(DECK[0], 7, 1), Concealed(DECK[1], 7, 2))
        append(journal, 2)
        journal.sign_head(moment())
        journal.save(Cards())
    return path


def rows(connection: SqliteConnection) -> list[object]:
    return [row for table in TABLES for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608  # the schema's own names


def evidence(connection: SqliteConnection) -> list[object]:
    """Return what the chain covers: all columns but the MACs."""
    covered: list[object] = []
    for table in ("journal", "decision"):
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})") if name != "mac"]
        covered += connection.execute(f"SELECT {', '.join(columns)} FROM {table}")  # noqa: S608  # the schema's own names
    return covered


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
    """Change the file as root could, knowing the schema: drop the triggers and restore them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = [text for text in SCHEMA if "TRIGGER" in text]
        for text in guards:
            connection.execute(f"DROP TRIGGER {text.split()[2]}")
        connection.execute("PRAGMA ignore_check_constraints=ON")
        yield connection
        for text in guards:
            connection.execute(text)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ("UPDATE decision SET body = (SELECT body FROM decision WHERE last = 8) WHERE last = 4", 0),
        ("UPDATE decision SET utc_ns = utc_ns + 1 WHERE last = 4", 0),
        ("UPDATE decision SET boottime_ns = 0 WHERE last = 8", 4),
        ("UPDATE decision SET round = 2 WHERE last = 8", 4),
        ("UPDATE decision SET body = substr(body, 2) WHERE last = 8", 4),
        ("UPDATE decision SET sealed = zeroblob(length(sealed)) WHERE last = 8", 4),
        ("UPDATE decision SET count = 3 WHERE last = 8", 4),
        ("UPDATE decision SET hash = zeroblob(32) WHERE last = 8", 4),
        ("UPDATE decision SET body = CAST(body || sealed AS BLOB), sealed = x'' WHERE last = 4", 0),
        ("DELETE FROM decision WHERE last = 4", 0),
        ("UPDATE decision SET last = 9 WHERE last = 8", 4),
        ("UPDATE journal SET created_utc_ns = 0", 0),
        ("UPDATE journal SET table_name = 'pit 1 / 75', journal_id = substr(journal_id, 2)", 0),
        ("UPDATE journal SET state = CAST(state || x'00' AS BLOB)", 0),
        ("UPDATE journal SET words = x'00'", 0),
        ("UPDATE journal SET previous_file = 'f1'", 0),
    ],
)
def test_a_change_past_the_journal_is_found(written: Path, change: str, after: int) -> None:
    with unguarded(written) as connection:
        assert connection.execute(change).rowcount == 1
    words = f"what follows entry {after} is missing or has been changed"
    with closing(reader_of(written, None)) as reader, pytest.raises(JournalError, match=words) as found:
        reader.verify()
    assert found.value.code == "journal-damaged"
    assert found.value.hint


def test_restoring_the_triggers_changes_nothing(written: Path) -> None:
    with unguarded(written):
        pass
    with closing(open_journal(written.parent)) as journal:
        assert journal.head.number == 8
        assert journal.files().verify() == journal.head


@pytest.mark.parametrize(
    "change",
    [
        "DROP TRIGGER decision_update",
        "CREATE TRIGGER more AFTER INSERT ON decision BEGIN SELECT 1; END",
        "CREATE TABLE more (number INTEGER)",
    ],
)
def test_changed_guards_are_found_on_opening(written: Path, change: str) -> None:
    with closing(sqlite3.connect(written)) as connection:
        connection.execute(change)
    with pytest.raises(JournalError, match="guards") as found:
        open_journal(written.parent)
    assert found.value.code == "journal-damaged"


def rewrite_schema(path: Path, before: str, after: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (before, after))


@pytest.mark.parametrize("value", ["NULL", "'noon'", "1.5", "x'00'"])
def test_a_value_of_another_type_breaks_the_chain(written: Path, value: str) -> None:
    rewrite_schema(written, "utc_ns INTEGER NOT NULL", "utc_ns ANY")
    with unguarded(written) as connection:
        connection.execute(f"UPDATE decision SET utc_ns = {value} WHERE last = 4")  # noqa: S608  # the test's own text
    rewrite_schema(written, "utc_ns ANY", "utc_ns INTEGER NOT NULL")
    with closing(reader_of(written, None)) as reader, pytest.raises(JournalError) as found:
        reader.verify()
    assert found.value.code == "journal-damaged"


def refusal_of(path: Path) -> JournalError | None:
    """Return the error that a program finds when it reads the whole file, or None."""
    try:
        with closing(reader_of(path)) as reader:
            reader.verify()
            list(reader.entries())
            reader.opening_state()
            reader.checkpoint()
    except JournalError as error:
        return error
    return None


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_flipped_bit_is_found_or_in_unused_space(written: Path, data: st.DataObject) -> None:
    """The bit may be covered by other keys (signatures, MACs), or be in a saved state, which is ignored if damaged."""
    content = written.read_bytes()
    with closing(sqlite3.connect(written)) as connection:
        before = evidence(connection)
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
            assert evidence(connection) == before


@pytest.mark.parametrize(
    "change",
    [
        "journal_id = x'00'",
        "file_id = x'00'",
        "key_check = 'text'",
        "previous_hash = printf('%.32c', 'a')",
        "previous_number = -1",
    ],
)
def test_a_name_of_other_types_is_found_on_opening(written: Path, change: str) -> None:
    column = change.split()[0]
    with closing(sqlite3.connect(written)) as connection:
        (kind,) = connection.execute(f"SELECT typeof({column}) FROM journal").fetchone()  # noqa: S608  # the test's own text
    rewrite_schema(written, f"{column} {kind.upper()} NOT NULL", f"{column} ANY NOT NULL")
    with unguarded(written) as connection:
        connection.execute(f"UPDATE journal SET {change}")  # noqa: S608  # the test's own text
    rewrite_schema(written, f"{column} ANY NOT NULL", f"{column} {kind.upper()} NOT NULL")
    with pytest.raises(JournalError, match="name differs from what was written") as found:
        open_journal(written.parent)
    assert found.value.code == "journal-damaged"


@pytest.mark.parametrize("column", ["count", "utc_ns", "boottime_ns", "round", "body", "sealed", "hash", "mac"])
@pytest.mark.parametrize("local_key", [LOCAL_KEY, None])
def test_a_reader_without_the_chain_finds_a_value_of_another_type(
    written: Path, column: str, local_key: bytes | None
) -> None:
    """SQLite reads what damage left: a NULL where the schema allows none."""
    with closing(sqlite3.connect(written)) as connection:
        (kind,) = connection.execute(f"SELECT typeof({column}) FROM decision WHERE last = 4").fetchone()  # noqa: S608  # the test's own text
    rewrite_schema(written, f"{column} {kind.upper()} NOT NULL", f"{column} ANY")
    with unguarded(written) as connection:
        connection.execute(f"UPDATE decision SET {column} = NULL WHERE last = 4")  # noqa: S608  # the test's own text
    rewrite_schema(written, f"{column} ANY", f"{column} {kind.upper()} NOT NULL")
    words = "entry 4 has been changed"
    with closing(reader_of(written, local_key)) as reader, pytest.raises(JournalError, match=words) as found:
        list(reader.decisions() if local_key is None else reader.entries())
    assert found.value.code == "journal-damaged"
