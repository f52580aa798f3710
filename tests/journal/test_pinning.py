"""The pin of a running journal: a person's acceptance counts, even where the pin cannot be written."""

from __future__ import annotations

from pathlib import Path

from controller.journal.folder import files_in
from controller.journal.pinning import PIN
from controller.journal.reserve import NAME as RESERVE
from controller.journal.store import Journal
from tests.journal.vocabulary import IDENTITY, LOCAL_KEY, SIGNER, TYPES, append, open_journal


def test_a_pin_that_cannot_be_made_again_is_a_warning_and_no_error(folder: Path) -> None:
    open_journal(folder).close()
    (folder / PIN).write_bytes(b"?")
    (folder / f"{PIN}.damaged" / "kept").mkdir(parents=True)
    journal = open_journal(folder)
    assert journal.pin.doubts
    append(journal, 1)
    journal.pin.accept()
    assert not journal.pin.doubts
    assert "cannot be written" in str(journal.pin.fails)
    append(journal, 2)
    journal.close()


def test_a_damaged_pin_is_kept_and_made_again(folder: Path) -> None:
    open_journal(folder).close()
    (folder / PIN).write_bytes(b"?")
    journal = open_journal(folder)
    append(journal, 1)
    journal.pin.accept()
    journal.close()
    assert (folder / f"{PIN}.damaged").read_bytes() == b"?"
    again = open_journal(folder)
    assert (again.pin.doubts, again.pin.fails) == ((), None)
    again.close()


def test_a_journal_lost_with_its_pin_is_in_doubt_while_its_reserve_exists(folder: Path) -> None:
    first = open_journal(folder)
    append(first, 1)
    first.close()
    for path in (*files_in(folder), folder / PIN):
        path.unlink()
    journal = open_journal(folder)
    assert [doubt.code for doubt in journal.pin.doubts] == ["journal-gone"]
    journal.pin.accept()
    journal.close()
    again = open_journal(folder)
    assert not again.pin.doubts
    again.close()


def test_a_first_start_that_was_killed_leaves_no_doubt(folder: Path) -> None:
    """The kill came at any moment before a file existed."""
    Journal.open(folder, TYPES, local_key=LOCAL_KEY, identity=IDENTITY, signer=SIGNER).close()
    assert not (folder / RESERVE).exists()
    journal = open_journal(folder)
    assert (journal.pin.doubts, journal.reserve.is_held) == ((), True)
    journal.close()


def test_a_pin_that_is_gone_while_the_table_runs_is_a_warning_until_it_is_back(folder: Path) -> None:
    journal = open_journal(folder)
    append(journal, 1)
    elsewhere = (folder / PIN).rename(folder / "elsewhere")
    append(journal, 2)
    assert "cannot be written" in str(journal.pin.fails)
    (folder / PIN).write_bytes(elsewhere.read_bytes())
    append(journal, 3)
    assert "cannot be written" in str(journal.pin.fails)
    elsewhere.rename(folder / PIN)
    append(journal, 4)
    assert journal.pin.fails is None
    journal.close()
