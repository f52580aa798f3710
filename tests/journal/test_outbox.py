"""The journal as an outbox: all entries in order, once per cursor, while it grows and after files are replaced."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.journal import outbox as outbox_module
from controller.journal.folder import delete_files, files_in
from controller.journal.outbox import Cursor, DecisionMade, FileBegan, HeadSigned, Outbox, Record, Taken
from controller.journal.signing import is_signed, statement
from controller.journal.witness import WitnessedHead, signed_heads
from tests.journal.test_witness import sign, signed
from tests.journal.vocabulary import Cards, TestJournal, append, moment, reader_of


def all_after(outbox: Outbox, cursor: Cursor | None = None) -> list[Taken]:
    found: list[Taken] = []
    while page := outbox.after(found[-1].cursor if found else cursor):
        found += page
    return found


def records(outbox: Outbox, cursor: Cursor | None = None) -> list[Record]:
    return [one.record for one in all_after(outbox, cursor)]


def season(journal: TestJournal, files: int = 3) -> None:
    """Write files with decisions, some of them signed."""
    for file in range(files):
        append(journal, 10 * file)
        sign(journal, 10 * file + 1, 10 * file + 2)
        append(journal, 10 * file + 3)
        if file < files - 1:
            journal.begin_file(Cards(), moment(10 * file + 3))


@pytest.mark.parametrize("page", [1, 2, 64])
def test_every_decision_and_every_head_once_in_their_order(
    journal: TestJournal, folder: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(outbox_module, "PAGE", page)
    season(journal)
    found = records(Outbox(folder))
    assert [one.number for one in found if isinstance(one, FileBegan)] == [
        header_of(path).previous.number for path in files_in(folder)
    ]
    assert [(one.file, one.number) for one in found if isinstance(one, HeadSigned)] == signed(folder)
    number, hash_ = 0, ""
    for one in found:
        if isinstance(one, FileBegan):
            assert (one.number, one.previous_hash) == (number, hash_ or one.previous_hash)
            hash_ = one.hash
        elif isinstance(one, DecisionMade):
            assert (one.first, one.before) == (number + 1, hash_)
            assert len(one.events) == one.last - one.first
            number, hash_ = one.last, one.hash
        else:
            assert one.number == number
            assert one.hash == hash_
            said = statement(one.journal, one.file, one.head, one.utc_ns)
            assert is_signed(bytes.fromhex(one.key), bytes.fromhex(one.signature), said)
    assert number == journal.head.number
    assert hash_ == journal.head.hash.hex()


def header_of(path: Path):  # type: ignore[no-untyped-def]  # of the journal's own type
    with closing(reader_of(path)) as reader:
        return reader.header


@pytest.mark.parametrize("page", [1, 64])
def test_from_any_cursor_the_rest_follows(
    journal: TestJournal, folder: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(outbox_module, "PAGE", page)
    season(journal)
    whole = all_after(Outbox(folder))
    for at, taken in enumerate(whole):
        assert all_after(Outbox(folder), taken.cursor) == whole[at + 1 :]


def test_later_entries_follow_a_head_of_an_old_decision(journal: TestJournal, folder: Path) -> None:
    outbox = Outbox(folder)
    append(journal, 1)
    cursor = all_after(outbox)[-1].cursor
    assert outbox.after(cursor) == []
    journal.sign_head(moment(2))
    (head,) = outbox.after(cursor)
    assert isinstance(head.record, HeadSigned)
    assert head.record.number == journal.head.number
    append(journal, 3)
    (made,) = outbox.after(head.cursor)
    assert isinstance(made.record, DecisionMade)


def test_a_cursor_that_the_journal_does_not_hold_begins_again(journal: TestJournal, folder: Path) -> None:
    season(journal, 2)
    whole = all_after(Outbox(folder))
    cursor = whole[-1].cursor
    for other in (
        Cursor(cursor.journal, cursor.file, cursor.number, "00" * 32),
        Cursor(cursor.journal, cursor.file, cursor.number + 9, cursor.hash),
        Cursor(cursor.journal, "another", cursor.number, cursor.hash),
        Cursor("another", cursor.file, cursor.number, cursor.hash),
    ):
        assert all_after(Outbox(folder), other) == whole


def test_a_journal_that_was_rolled_back_is_sent_again(journal: TestJournal, folder: Path, tmp_path: Path) -> None:
    """A backup takes its place: the head that the cursor names no longer exists."""
    sign(journal, 1, 2)
    backup = tmp_path / "backup"
    shutil.copytree(folder, backup)
    append(journal, 3)
    cursor = all_after(Outbox(folder))[-1].cursor
    assert all_after(Outbox(backup), cursor) == all_after(Outbox(backup))


def test_files_that_were_deleted_are_passed_over(journal: TestJournal, folder: Path) -> None:
    season(journal)
    outbox = Outbox(folder)
    whole = all_after(outbox)
    first, second, _ = files_in(folder)
    ids = [header_of(path).file_id for path in (first, second)]
    delete_files(folder, [first.name])
    assert records(outbox, whole[0].cursor) == [one.record for one in whole if one.record.file != ids[0]]
    at = max(at for at, one in enumerate(whole) if one.record.file == ids[1])
    assert all_after(outbox, whole[at].cursor) == whole[at + 1 :]


def test_the_order_is_the_same_while_the_journal_grows(
    journal: TestJournal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a page is read, a head is signed and a decision follows: the head comes first, as it does later."""
    steps = iter(range(2, 99))

    def work() -> None:
        journal.sign_head(moment(next(steps)))
        append(journal, next(steps))

    def meanwhile(*given: Any) -> list[WitnessedHead]:
        work()
        found = signed_heads(*given)
        work()
        return found

    append(journal, 1)
    outbox = Outbox(folder)
    with monkeypatch.context() as patched:
        patched.setattr("controller.journal.outbox.signed_heads", meanwhile)
        found: list[Taken] = []
        for _ in range(4):
            found += outbox.after(found[-1].cursor if found else None)
    assert len(found) > 8
    assert all_after(outbox)[: len(found)] == found
