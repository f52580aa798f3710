"""Journals that were written when their format was settled, with their screens: they fold to the same state forever.

Each records a scenario (`tests/journal/keep.py`), so its keys protect nothing. A view is kept for each event that ends
something; fields that later versions added are not compared.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.journal_types import JOURNAL_TYPES, TableFold
from controller.journal.reader import JournalReader
from controller.journal.schema import FORMAT
from controller.journal.verification import verify_journal
from controller.table.evolve import evolve
from controller.table.state import TableState
from tests.journal.keep import SHOWN_AFTER
from tests.journal.keep import shown as shown_now

KEPT = Path(__file__).with_name("kept")
NAMES = sorted(path.name.removesuffix(".journal.gz") for path in KEPT.glob("*.journal.gz"))


OF_THE_PROGRAM = {"options", "next_step", "next_steps", "payments", "question", "questions", "shortcomings"}
"""What the program that runs words and offers, whatever the journal is of; the facts behind it are compared."""


def as_before(now: Any, before: Any) -> Any:
    """Return the current screen without the fields that the earlier version did not have."""
    if isinstance(before, dict):
        return {
            name: value if name in OF_THE_PROGRAM else as_before(now[name], value) for name, value in before.items()
        }
    if isinstance(before, list):
        assert len(now) == len(before)
        return [as_before(one, other) for one, other in zip(now, before, strict=True)]
    return now


@pytest.mark.parametrize("name", NAMES)
def test_a_kept_journal_folds_to_its_kept_screens(name: str, tmp_path: Path) -> None:
    path = tmp_path / "000001.journal"
    path.write_bytes(gzip.decompress((KEPT / f"{name}.journal.gz").read_bytes()))
    shown: list[Any] = json.loads(gzip.decompress((KEPT / f"{name}.views.json.gz").read_bytes()))
    key = bytes.fromhex((KEPT / f"{name}.key").read_text())
    journal: JournalReader[Any, Any] = JournalReader.open_to_read(path, JOURNAL_TYPES, local_key=key)
    state, compared = TableState(), 0
    try:
        journal.verify()
        for entry in journal.entries():
            if entry.kind != "event":
                continue
            state = evolve(state, entry.value, entry.number)
            if isinstance(entry.value, SHOWN_AFTER):
                before = shown[compared]
                now = as_before(shown_now(state), before)
                assert now == before, f"after entry {entry.number}"
                compared += 1
    finally:
        journal.close()
    assert compared == len(shown) > 5


def test_a_journal_of_this_format_is_kept(tmp_path: Path) -> None:
    (name,) = NAMES
    path = tmp_path / "000001.journal"
    path.write_bytes(gzip.decompress((KEPT / f"{name}.journal.gz").read_bytes()))
    with closing(sqlite3.connect(path)) as connection:
        assert list(connection.execute("SELECT format FROM journal")) == [(FORMAT,)]
    key = bytes.fromhex((KEPT / f"{name}.key").read_text())
    found = verify_journal(path, local_key=key, types=JOURNAL_TYPES, fold=TableFold())
    assert found.findings == ()
