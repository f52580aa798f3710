"""Retention: the oldest files expire once all their entries are older; a clock that jumps deletes nothing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from controller.journal.chain import Head
from controller.journal.codec import Moment
from controller.journal.folder import JournalFolder, delete_files, expired_files
from tests.journal.vocabulary import Cards, append, open_journal

DAY = 86_400 * 1_000_000_000
BEGUN = 20_000 * DAY


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


def begin_files(folder: Path, *days: float) -> list[Head]:
    """Begin a file on each of these days, with four entries each. Return the head of each file."""
    heads: list[Head] = []
    with closing(open_journal(folder)) as journal:
        for step, day in enumerate(days):
            journal.begin_file(Cards(), Moment(BEGUN + int(day * DAY), step))
            append(journal, step)
            heads.append(journal.head)
    return heads


def names(folder: Path, keep_days: int) -> list[str]:
    return [end.name for end in expired_files(folder, keep_days)]


def test_the_oldest_files_expire_when_the_file_after_them_is_old(folder: Path) -> None:
    """`open_journal` begins the first one. A file's age is that of the beginning of the one after it."""
    heads = begin_files(folder, 0, 1, 2, 30, 31, 32)
    assert names(folder, 30) == ["000001.journal", "000002.journal"], "up to the beginning of the last but one"
    assert names(folder, 29) == ["000001.journal", "000002.journal", "000003.journal"]
    assert names(folder, 1) == ["000001.journal", "000002.journal", "000003.journal", "000004.journal"]
    assert names(folder, 32) == []
    ends = expired_files(folder, 30)
    assert ends[1].head == heads[0]
    with closing(JournalFolder[object, object].open_to_read(folder).reader(folder / ends[1].name)) as reader:
        assert (reader.header.file_id, reader.head()) == (ends[1].file_id, ends[1].head)


def test_the_newest_two_are_kept_however_old(folder: Path) -> None:
    begin_files(folder, 0)
    assert names(folder, 1) == []


def test_a_clock_that_jumped_ahead_deletes_nothing(folder: Path) -> None:
    begin_files(folder, 0, 1, 2, 4000)
    assert names(folder, 3) == []


def test_after_a_deletion_the_journal_can_be_verified(folder: Path) -> None:
    begin_files(folder, 0, 1, 2, 30, 31, 32)
    gone = names(folder, 30)
    delete_files(folder, gone)
    delete_files(folder, gone)
    assert not [name for name in gone if (folder / name).exists()]
    assert names(folder, 30) == []
    files: JournalFolder[object, object] = JournalFolder.open_to_read(folder)
    files.verify()
    with closing(open_journal(folder)) as journal:
        append(journal, 99)
