"""The pin of a running journal: what a person accepts stands, also where the pin cannot be written."""

from __future__ import annotations

from pathlib import Path

from controller.journal.pinning import PIN
from tests.journal.vocabulary import append, open_journal


def test_a_pin_that_cannot_be_made_again_is_a_warning_and_no_error(folder: Path) -> None:
    open_journal(folder).close()
    (folder / PIN).write_bytes(b"?")
    (folder / f"{PIN}.damaged" / "kept").mkdir(parents=True)
    journal = open_journal(folder)
    assert journal.pin.doubt is not None
    append(journal, 1)
    journal.pin.accept()
    assert not journal.pin.doubt
    assert "cannot be written" in journal.pin.fails
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
    assert (again.pin.doubt, again.pin.fails) == (None, "")
    again.close()
