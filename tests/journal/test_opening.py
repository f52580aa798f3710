"""Opening: anything but this table's complete journal, with its key and for us alone, is refused and left untouched."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from controller.journal import JournalError
from controller.journal.file import SqliteConnection, connect_reader
from controller.journal.folder import JournalFolder
from firmware_bridge.cards import DECK, Concealed
from tests.journal.vocabulary import (
    IDENTITY,
    LOCAL_KEY,
    TYPES,
    Cards,
    append,
    entries,
    moment,
    open_journal,
    reader_of,
)


def refusal(folder: Path, **changed: object) -> JournalError:
    with pytest.raises(JournalError) as refused:
        open_journal(folder, **changed)
    assert str(refused.value).endswith(".")
    assert str(refused.value.hint).endswith(".")
    return refused.value


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files without SQLite's own beside a file that is being read: an index, and an empty log."""
    found = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    return {name: data for name, data in found.items() if data.strip(b"\0") and not name.endswith("-shm")}


@pytest.fixture
def written(folder: Path) -> Path:
    """Return the folder of a journal with one decision, four entries."""
    with closing(open_journal(folder)) as journal:
        append(journal, 1)
    return folder


def test_a_new_journal_bears_the_name_that_was_handed_in(folder: Path) -> None:
    with closing(open_journal(folder)) as journal:
        assert journal.identity == IDENTITY
        assert journal.head.number == 0
        assert entries(journal) == []
    assert (folder / "000001.journal").stat().st_mode & 0o777 == 0o600


def test_an_existing_journal_keeps_its_own_id(written: Path) -> None:
    other = msgspec.structs.replace(IDENTITY, id="00" * 16)
    with closing(open_journal(written, identity=other)) as journal:
        assert journal.identity == IDENTITY
        assert journal.head.number == 4


def test_a_file_with_another_page_size_keeps_it(folder: Path) -> None:
    """A page of eight KiB wastes less room at its end. Files with other page sizes keep them."""

    def connect_small(path: Path) -> SqliteConnection:
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA page_size=4096")
        return connection

    with closing(open_journal(folder, connect=connect_small)) as journal:
        append(journal, 1)
    with closing(open_journal(folder)) as journal:
        append(journal, 2)
        before = entries(journal)
        assert journal.head.number == 8
        journal.begin_file(Cards(), moment(9))
        assert [page_size(path) for path in sorted(folder.glob("*.journal"))] == [4096, 8192]
        assert entries(journal) == before


def page_size(path: Path) -> int:
    with closing(connect_reader(path)) as connection:
        ((size,),) = connection.execute("PRAGMA page_size")
    return int(size)


def test_a_wrong_key_is_refused(written: Path) -> None:
    before = contents(written)
    assert refusal(written, local_key=bytes(32)).code == "journal-key"
    assert contents(written) == before


@pytest.mark.parametrize("length", [0, 16, 33])
def test_a_key_of_another_length_is_refused(folder: Path, length: int) -> None:
    assert refusal(folder, local_key=bytes(length)).code == "journal-key"


@pytest.mark.parametrize("changed", [{"table": "pit 1 / 8"}, {"simulated": False}])
def test_another_tables_journal_is_refused(written: Path, changed: dict[str, object]) -> None:
    before = contents(written)
    error = refusal(written, identity=msgspec.structs.replace(IDENTITY, **changed))
    assert error.code == "journal-format"
    assert "belongs to simulated table 'pit 1 / 7'" in str(error)
    assert contents(written) == before


def test_an_unknown_format_is_refused(written: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER journal_update")
        connection.execute("UPDATE journal SET format = 2")
    before = contents(written)
    error = refusal(written)
    assert error.code == "journal-format"
    assert "format 2" in str(error)
    assert contents(written) == before


def test_a_file_without_its_name_is_damaged(written: Path, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DROP TRIGGER journal_delete")
        connection.execute("DELETE FROM journal")
    assert refusal(written).code == "journal-damaged"


@pytest.mark.parametrize("name", ["000001.journal", "000002.journal", "0123456.journal"])
def test_a_file_that_is_not_a_database_is_refused_and_left_untouched(folder: Path, name: str) -> None:
    folder.mkdir()
    other = folder / name
    other.write_text("holiday plans\n" * 100)
    assert refusal(folder).code == "journal-format"
    assert contents(folder) == {name: b"holiday plans\n" * 100}


@pytest.mark.parametrize("made", ["CREATE TABLE recipe (name TEXT)", "CREATE TABLE journal (day TEXT)"])
def test_another_programs_database_is_refused_and_left_untouched(folder: Path, path: Path, made: str) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(made)
    before = contents(folder)
    assert refusal(folder).code == "journal-format"
    assert contents(folder) == before


def test_other_files_in_the_folder_are_left_untouched(folder: Path) -> None:
    folder.mkdir()
    (folder / "signing.key").write_text("ab" * 32)
    (folder / "000001.journal.txt").write_text("notes")
    with closing(open_journal(folder)) as journal:
        append(journal, 1)
    assert contents(folder).keys() == {"signing.key", "000001.journal.txt", "000001.journal", "pin"}


@pytest.mark.parametrize("length", [100, 4096, 8192, -4096, -20])
def test_a_truncated_file_is_refused_and_left_untouched(folder: Path, path: Path, length: int) -> None:
    with closing(open_journal(folder)) as journal:
        for step in range(40):
            append(journal, step)
    cut = path.read_bytes()[:length]
    path.write_bytes(cut)
    with pytest.raises(JournalError) as refused, closing(open_journal(folder)) as journal:
        journal.files().verify()
    assert refused.value.code in {"journal-damaged", "journal-format"}
    assert contents(folder)[path.name] == cut


def test_an_empty_file_is_not_a_journal_of_ours(folder: Path, path: Path) -> None:
    """A file that is being made has another name until it is complete."""
    folder.mkdir()
    path.touch()
    assert refusal(folder).code == "journal-format"
    assert path.read_bytes() == b""
    path.rename(path.with_name(f"{path.name}.part"))
    with closing(open_journal(folder)) as journal:
        assert append(journal, 1) == [1, 2, 3, 4]


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "journal"):
        assert refusal(folder).code == "journal-io"


def test_one_at_a_time(folder: Path) -> None:
    with closing(open_journal(folder)) as first:
        assert refusal(folder).code == "journal-locked"
        append(first, 1)
    with closing(open_journal(folder)) as second:
        assert append(second, 2) == [5, 6, 7, 8]


def test_a_second_name_of_the_folder_does_not_lead_past_the_lock(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    other.symlink_to(folder)
    with closing(open_journal(folder)) as first:
        append(first, 1)
        assert refusal(other).code == "journal-locked"
        append(first, 2)


def test_a_file_with_two_names_is_refused_until_one_is_removed(written: Path, path: Path) -> None:
    other = path.with_name("other.journal")
    other.hardlink_to(path)
    error = refusal(written)
    assert error.code == "journal-linked"
    assert "2 names" in str(error)
    other.unlink()
    with closing(open_journal(written)) as journal:
        assert append(journal, 2) == [5, 6, 7, 8]


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_path_that_is_not_a_file_is_refused(folder: Path, path: Path, make: Callable[[Path], object]) -> None:
    folder.mkdir()
    make(path)
    assert refusal(folder).code == "journal-format"


def test_a_refused_opening_leaves_the_folder_free(written: Path) -> None:
    refusal(written, local_key=bytes(32))
    open_journal(written).close()


def test_closing_twice_is_closing(folder: Path) -> None:
    journal = open_journal(folder)
    journal.close()
    journal.close()
    assert {each.name for each in folder.iterdir()} == {"000001.journal", "pin", "reserve"}


def test_a_reader_sees_what_is_committed_while_the_daemon_writes(folder: Path, path: Path) -> None:
    card = Concealed(DECK[30], 7, 1)
    with closing(open_journal(folder)) as journal:
        append(journal, 1, card)
        with closing(reader_of(path)) as reader:
            assert list(reader.entries()) == entries(journal)
            append(journal, 2, card)
            assert reader.verify() == journal.head
            assert reader.header.identity == IDENTITY
            assert [entry.number for entry in reader.entries(after=4)] == [5, 6, 7, 8]


def test_entries_from_within_a_decision(folder: Path) -> None:
    with closing(open_journal(folder)) as journal:
        append(journal, 1)
        append(journal, 2)
        everything = entries(journal)
        for after in range(9):
            assert entries(journal, after) == everything[after:]
            decisions = list(journal.files().decisions(after))
            assert [decision.last for decision in decisions] == [last for last in (4, 8) if last > after]


@pytest.mark.parametrize("content", [None, b"", b"no database at all, and long enough to be read as a header" * 20])
def test_a_reader_refuses_an_invalid_journal(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "table.journal"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(JournalError) as refused:
        reader_of(path)
    assert refused.value.code == ("journal-io" if content is None else "journal-format")


def test_a_reader_with_a_wrong_key_is_refused_and_without_one_reads_published(written: Path, path: Path) -> None:
    with pytest.raises(JournalError) as refused:
        reader_of(path, bytes(32))
    assert refused.value.code == "journal-key"
    with closing(reader_of(path, None)) as reader:
        (decision,) = reader.decisions()
        assert reader.verify().number == decision.last == 4
        assert decision.events[1] == b'{"type":"noted","text":"step 1"}'
        assert decision.input == b'{"type":"dispensed","number":1,"cards":[],"evidence":0}'


def test_pages_of_entries_are_read_in_order(folder: Path) -> None:
    with closing(open_journal(folder)) as journal:
        for step in range(300):
            append(journal, step)
        assert [entry.number for entry in entries(journal)] == list(range(1, 1201))
        assert entries(journal, 1200) == []
        assert [decision.last for decision in journal.files().decisions()] == list(range(4, 1201, 4))
        with closing(reader_of(journal.path)) as reader:
            assert [entry.number for entry in reader.entries(3, 600)] == list(range(4, 604))
            assert list(reader.entries(limit=0)) == []
            assert [decision.last for decision in reader.decisions(3, 2)] == [4, 8]
            assert list(reader.decisions(limit=0)) == []


@pytest.fixture
def three_files(folder: Path) -> Path:
    """Return a folder with two closed files and an open file, with one append in each."""
    with closing(open_journal(folder)) as journal:
        for step in (1, 2, 3):
            append(journal, step)
            if step < 3:
                journal.begin_file(Cards(), moment(step))
    return folder


def test_a_missing_file_between_two_is_named(three_files: Path) -> None:
    (three_files / "000002.journal").unlink()
    before = contents(three_files)
    error = refusal(three_files)
    assert (error.code, "000002.journal" in str(error)) == ("journal-damaged", True)
    with pytest.raises(JournalError, match=r"000002\.journal"):
        JournalFolder.open_to_read(three_files, TYPES)
    assert contents(three_files) == before


@pytest.mark.parametrize("ending", ["-wal", "-journal"])
def test_readers_refuse_a_log_beside_a_closed_file(three_files: Path, ending: str) -> None:
    """Its content may belong to the file, and a reader cannot tell."""
    closed = three_files / "000001.journal"
    assert closed.stat().st_mode & 0o777 == 0o440
    with closing(reader_of(closed)) as reader:
        assert reader.verify().number == 4
    closed.with_name(closed.name + ending).write_bytes(b"x" * 4152)
    before = contents(three_files)
    for key in (LOCAL_KEY, None):
        with pytest.raises(JournalError, match="there is a log beside it") as refused:
            reader_of(closed, key)
        assert refused.value.code == "journal-damaged"
    assert contents(three_files) == before


def test_nothing_is_added_to_a_closed_file(three_files: Path) -> None:
    """The newest file was taken away; the next file is begun after the closed file."""
    (three_files / "000003.journal").unlink()
    (three_files / "pin").unlink()
    before = contents(three_files)
    with closing(open_journal(three_files)) as journal:
        assert journal.path.name == "000003.journal"
        assert append(journal, 4) == [9, 10, 11, 12]
        assert journal.files().verify() == journal.head
    for name in ("000001.journal", "000002.journal"):
        assert contents(three_files)[name] == before[name]
