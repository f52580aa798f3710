"""An audit of a journal that was changed after its recording ends in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from controller.journal import JournalError
from shuffle_audit.journal_recalls import read_journal
from tests.journal_commands.made import evening
from tests.journal_commands.test_changed import edit
from tests.journal_commands.test_changed_with_all_keys import File


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    evening(tmp_path / "journal").journal.close()
    return tmp_path / "journal"


def test_a_journal_as_it_was_written_is_read(folder: Path) -> None:
    assert read_journal(folder, None, None).decks


def test_a_changed_deal_is_not_counted(folder: Path) -> None:
    edit(folder / "000001.journal", b'"event":"deck_shuffled"', b'"event":"deck_shuffleD"')
    with pytest.raises(JournalError, match=r"000001\.journal is damaged: entries \d+ to \d+ were changed"):
        read_journal(folder, None, None)


def test_a_missing_file_is_reported(folder: Path) -> None:
    (folder / "000001.journal").unlink()
    with pytest.raises(JournalError, match=r"The files before 000002\.journal"):
        read_journal(folder, None, None)


def test_an_unreadable_deal_is_reported(folder: Path) -> None:
    """The holder of all keys changed it."""
    path = folder / "000001.journal"
    file = File(path)
    row = next(row for row in file.rows if b'"deck_shuffled"' in file.packing.unpack(row[5]))
    given, _, events = file.packing.unpack(row[5]).partition(b"\n")
    parts = json.loads(events)
    for event in parts:
        event.pop("count", None)
    row[5] = file.packing.pack(given + b"\n" + json.dumps(parts, separators=(",", ":")).encode())
    file.seal(None, "")
    file.write(path)
    (folder / "000002.journal").unlink()
    with pytest.raises(JournalError, match=r"000001\.journal is damaged: entry \d+ cannot be read"):
        read_journal(folder, None, None)
