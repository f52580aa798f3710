"""On a full disk the round in progress is still recorded, in the reserved space."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from controller.journal import JournalError
from controller.journal.reserve import BYTES, NAME, Reserve
from firmware_bridge.cards import DECK, Concealed
from tests.journal.vocabulary import Cards, Noted, Said, TestJournal, append, entries, moment, open_journal
from tests.support.small_disk import FILLER, fill, make_room, small_disk

LONG = "x" * 4000
A_ROUND = 300  # decisions; a round of eight boxes has fifty


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 32) as place:
        yield place


def say(journal: TestJournal, step: int) -> None:
    journal.append(Said(LONG), [Noted(str(step))], round=1, moment=moment(step))


def say_until(journal: TestJournal, done: Callable[[], bool]) -> int:
    """Append until the disk is full; return the number of decisions. The log already has its full size, so
    this takes many.
    """
    for step in range(5000):
        say(journal, step)
        if done():
            return step + 1
    raise AssertionError("the disk never was full")


def test_the_room_is_given_up_once_and_the_round_is_recorded(disk: Path) -> None:
    with closing(open_journal(disk / "journal")) as journal:
        fill(disk)
        said = say_until(journal, lambda: not journal.reserve.is_held)
        for step in range(A_ROUND):
            append(journal, step)
        assert journal.head.number == 2 * said + 4 * A_ROUND
        assert journal.files().verify() == journal.head
        assert not (disk / "journal" / NAME).exists()
    with closing(open_journal(disk / "journal")) as journal:
        assert len(entries(journal)) == 2 * said + 4 * A_ROUND


def test_without_the_reserve_the_same_round_is_lost(disk: Path) -> None:
    """The other tests rely on this: the disk is really full."""
    with closing(open_journal(disk / "journal")) as journal:
        fill(disk)
        journal.reserve.release()
        fill(disk)
        with pytest.raises(JournalError) as full:
            say_until(journal, lambda: False)
        assert full.value.code == "journal-full"
        head = journal.head
        make_room(disk)
        say(journal, 1)
        assert journal.files().verify().number == head.number + 2


def test_when_the_reserve_is_used_up_too_nothing_more_is_recorded(disk: Path) -> None:
    with closing(open_journal(disk / "journal")) as journal:
        fill(disk)
        say_until(journal, lambda: not journal.reserve.is_held)
        fill(disk)
        with pytest.raises(JournalError) as full:
            say_until(journal, lambda: False)
        assert full.value.code == "journal-full"
        assert journal.files().verify() == journal.head


def test_the_reserve_is_not_used_for_a_saved_state(disk: Path) -> None:
    with closing(open_journal(disk / "journal")) as journal:
        append(journal, 1)
        fill(disk)
        large = Cards(tuple(Concealed(DECK[0], shuffle, 1) for shuffle in range(500_000)))
        with pytest.raises(JournalError) as full:
            journal.save(large)
        assert full.value.code == "journal-full"
        assert journal.reserve.is_held
        assert append(journal, 2) == [5, 6, 7, 8]


def test_a_full_disk_has_no_reserve_until_there_is_room_again(disk: Path) -> None:
    fill(disk)
    os.truncate(disk / FILLER, (32 << 20) - BYTES + 8192)  # the journal itself needs less
    with closing(open_journal(disk / "journal")) as journal:
        assert not journal.reserve.is_held
        assert not (disk / "journal" / NAME).exists()
        append(journal, 1)
        make_room(disk)
        journal.reserve.hold()
        assert journal.reserve.is_held


def test_the_room_is_really_taken_also_where_a_copy_lost_it(tmp_path: Path) -> None:
    with (tmp_path / NAME).open("wb") as file:
        file.truncate(BYTES)
    Reserve(tmp_path).hold()
    found = (tmp_path / NAME).stat()
    assert found.st_size == BYTES
    assert found.st_blocks * 512 >= BYTES
    assert found.st_mode & 0o777 in (0o600, 0o644)


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/null")])
def test_a_path_that_is_not_a_file_is_left_untouched(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / NAME)
    with pytest.raises(JournalError) as refused:
        Reserve(tmp_path).hold()
    assert refused.value.code in {"journal-format", "journal-io"}
    assert os.path.lexists(tmp_path / NAME)
