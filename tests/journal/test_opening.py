"""What is not this table's whole journal, with its key and for us alone, is refused with a next step."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from controller.journal import JournalError
from controller.journal.file import Head
from controller.journal.store import JournalReader
from firmware_bridge.cards import DECK, Concealed
from tests.journal.vocabulary import IDENTITY, LOCAL_KEY, AnyEvent, AnyInput, append, open_journal


def refusal(path: Path, **changed: object) -> JournalError:
    with pytest.raises(JournalError) as refused:
        open_journal(path, **changed)
    assert str(refused.value).endswith(".")
    assert refused.value.hint.endswith(".")
    return refused.value


@pytest.fixture
def written(path: Path) -> Path:
    with closing(open_journal(path)) as journal:
        append(journal, 1)
    return path


def test_a_new_journal_bears_the_name_that_was_handed_in(path: Path) -> None:
    with closing(open_journal(path)) as journal:
        assert journal.identity == IDENTITY
        assert journal.head.number == 0
        assert list(journal.entries()) == []


def test_an_existing_journal_keeps_its_own_id(written: Path) -> None:
    other = msgspec.structs.replace(IDENTITY, id="00" * 16, created_utc_ns=0)
    with closing(open_journal(written, identity=other)) as journal:
        assert journal.identity == IDENTITY
        assert journal.head.number == 4


def test_numbers_and_hashes_run_on_from_the_file_before(path: Path) -> None:
    follows = msgspec.structs.replace(IDENTITY, previous=Head(40, b"h" * 32))
    with closing(open_journal(path, identity=follows)) as journal:
        assert append(journal, 1) == [41, 42, 43, 44]
    with closing(open_journal(path)) as journal:
        assert journal.identity.previous == Head(40, b"h" * 32)
        assert journal.head.number == 44


def test_a_wrong_key_is_refused(written: Path) -> None:
    assert refusal(written, local_key=bytes(32)).code == "journal-key"


@pytest.mark.parametrize("length", [0, 16, 33])
def test_a_key_of_another_length_is_refused(path: Path, length: int) -> None:
    assert refusal(path, local_key=bytes(length)).code == "journal-key"


@pytest.mark.parametrize("changed", [{"table": "pit 1 / 8"}, {"simulated": False}])
def test_another_tables_journal_is_refused(written: Path, changed: dict[str, object]) -> None:
    error = refusal(written, identity=msgspec.structs.replace(IDENTITY, **changed))
    assert error.code == "journal-format"
    assert "belongs to simulated table 'pit 1 / 7'" in str(error)


def test_an_unknown_format_is_refused(written: Path) -> None:
    with closing(sqlite3.connect(written)) as connection, connection:
        connection.execute("DROP TRIGGER journal_update")
        connection.execute("UPDATE journal SET format = 2")
    error = refusal(written)
    assert error.code == "journal-format"
    assert "format 2" in str(error)


def test_a_journal_without_its_name_is_damaged(written: Path) -> None:
    with closing(sqlite3.connect(written)) as connection, connection:
        connection.execute("DROP TRIGGER journal_delete")
        connection.execute("DELETE FROM journal")
    assert refusal(written).code == "journal-damaged"


def test_a_file_that_is_no_database_is_refused_and_left_alone(path: Path) -> None:
    path.write_text("holiday plans\n" * 100)
    assert refusal(path).code == "journal-format"
    assert path.read_text() == "holiday plans\n" * 100


@pytest.mark.parametrize("made", ["CREATE TABLE recipe (name TEXT)", "CREATE TABLE journal (day TEXT)"])
def test_another_programs_database_is_refused_and_left_alone(path: Path, made: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(made)
    before = path.read_bytes()
    assert refusal(path).code == "journal-format"
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_journal(path: Path) -> None:
    path.touch()
    with closing(open_journal(path)) as journal:
        assert append(journal, 1) == [1, 2, 3, 4]


def test_a_directory_that_is_missing_is_said(tmp_path: Path) -> None:
    assert refusal(tmp_path / "missing" / "table.journal").code == "journal-io"


def test_one_at_a_time(path: Path) -> None:
    with closing(open_journal(path)) as first:
        assert refusal(path).code == "journal-locked"
        append(first, 1)
    with closing(open_journal(path)) as second:
        assert append(second, 2) == [5, 6, 7, 8]


def test_a_second_name_does_not_lead_past_the_lock(path: Path) -> None:
    other = path.with_name("other.journal")
    with closing(open_journal(path)) as first:
        append(first, 1)
        other.hardlink_to(path)
        assert refusal(other).code == "journal-locked"
        append(first, 2)
        assert first.verify() == first.head


def test_a_journal_with_two_names_is_refused_under_both_until_one_is_removed(written: Path) -> None:
    other = written.with_name("other.journal")
    other.hardlink_to(written)
    for name in (written, other):
        error = refusal(name)
        assert error.code == "journal-linked"
        assert "2 names" in str(error)
    other.unlink()
    with closing(open_journal(written)) as journal:
        assert append(journal, 2) == [5, 6, 7, 8]


def test_a_symbolic_link_is_the_file_that_it_names(written: Path) -> None:
    other = written.with_name("other.journal")
    other.symlink_to(written)
    with closing(open_journal(other)):
        assert refusal(written).code == "journal-locked"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/null")])
def test_what_is_no_file_is_no_journal(path: Path, make: Callable[[Path], object]) -> None:
    make(path)
    assert refusal(path).code == "journal-format"


def test_a_refused_opening_leaves_the_file_free(written: Path) -> None:
    refusal(written, local_key=bytes(32))
    open_journal(written).close()


def test_closing_twice_is_closing(path: Path) -> None:
    journal = open_journal(path)
    journal.close()
    journal.close()
    assert not path.with_name(path.name + "-wal").exists()


def test_a_reader_sees_what_is_committed_while_the_daemon_writes(path: Path) -> None:
    card = Concealed(DECK[30], 7, 1)
    with closing(open_journal(path)) as journal:
        append(journal, 1, card)
        reader: JournalReader[AnyInput, AnyEvent]
        reader = JournalReader.open_to_read(path, AnyInput, AnyEvent, local_key=LOCAL_KEY)
        with closing(reader):
            assert list(reader.entries()) == list(journal.entries())
            append(journal, 2, card)
            assert reader.verify() == journal.head
            assert reader.identity == IDENTITY
            assert [entry.number for entry in reader.entries(after=4)] == [5, 6, 7, 8]


@pytest.mark.parametrize("content", [None, b"", b"no database at all, and long enough to be read as a header" * 20])
def test_a_reader_refuses_what_is_no_journal(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JournalError) as refused:
        JournalReader.open_to_read(path, AnyInput, AnyEvent, local_key=LOCAL_KEY)
    assert refused.value.code == ("journal-io" if content is None else "journal-format")


def test_a_reader_needs_the_key(written: Path) -> None:
    with pytest.raises(JournalError) as refused:
        JournalReader.open_to_read(written, AnyInput, AnyEvent, local_key=bytes(32))
    assert refused.value.code == "journal-key"


def test_pages_of_entries_are_read_in_order(journal_with_many: Path) -> None:
    with closing(open_journal(journal_with_many)) as journal:
        numbers = [entry.number for entry in journal.entries()]
        assert numbers == list(range(1, 1201))
        assert [entry.number for entry in journal.entries(after=3, limit=600)] == list(range(4, 604))
        assert list(journal.entries(after=1200)) == []
        assert list(journal.entries(limit=0)) == []


@pytest.fixture
def journal_with_many(path: Path) -> Path:
    with closing(open_journal(path)) as journal:
        for step in range(300):
            append(journal, step)
    return path
