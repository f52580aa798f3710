"""The rounds of a journal of format 1, as a reader gives them."""

from __future__ import annotations

import gzip
from pathlib import Path

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.folder import JournalFolder
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput

KEPT = Path(__file__).with_name("kept") / "nc-sets"


def test_every_entry_and_decision_has_its_round(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    path.write_bytes(gzip.decompress(KEPT.with_name("nc-sets.journal.gz").read_bytes()))
    key = bytes.fromhex(KEPT.with_name("nc-sets.key").read_text())
    folder: JournalFolder[AnyInput, AnyEvent] = JournalFolder.open_to_read(path, JOURNAL_TYPES, local_key=key)
    rounds = {entry.number: entry.round for entry in folder.entries()}
    assert list(dict.fromkeys(rounds.values())) == [0, 1, 2, 3, 4, 5, 6]
    assert [rounds[one.last] for one in folder.decisions()] == [one.round for one in folder.decisions()]
