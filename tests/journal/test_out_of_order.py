"""A damaged file whose rows are out of order: everything that reads it by pages ends."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.journal import JournalError, reader
from controller.journal.reader import JournalReader
from controller.journal.verification import verify_journal
from controller.journal.witness import Witness
from tests.journal.vocabulary import LOCAL_KEY, TYPES, Cards, append, moment, open_journal, reader_of

PATIENCE = 20  # seconds: a guard against a hang

pytestmark = pytest.mark.timeout(PATIENCE)


def written(folder: Path) -> Path:
    """Return a closed file of four decisions and as many saved states and signed heads."""
    with closing(open_journal(folder)) as journal:
        for step in range(4):
            append(journal, step)
            journal.save(Cards())
            journal.sign_head(moment(step))
        return journal.path


def swap_rows(path: Path, table: str, one: int, other: int) -> None:
    """Exchange two rows' places in the leaf that holds the table (SQLite's file format, 1.6)."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
        ((size,),) = connection.execute("PRAGMA page_size")
    data = bytearray(path.read_bytes())
    page = (root - 1) * size
    assert data[page] == 13, "the table is to be one leaf"
    places = [page + 8 + 2 * cell for cell in (one, other)]
    first, second = (struct.unpack_from(">H", data, place)[0] for place in places)
    struct.pack_into(">H", data, places[0], second)
    struct.pack_into(">H", data, places[1], first)
    path.write_bytes(data)


READ: dict[str, Callable[[JournalReader[Any, Any]], Any]] = {
    "entries": lambda reader: list(reader.entries()),
    "decisions": lambda reader: list(reader.decisions()),
    "chain": lambda reader: reader.verify(),
}


@pytest.mark.parametrize("read", READ)
def test_decisions_out_of_order(read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "PAGE", 2)
    path = written(tmp_path)
    swap_rows(path, "decision", 2, 3)
    with closing(reader_of(path)) as file, pytest.raises(JournalError, match="is damaged"):
        READ[read](file)


def test_saved_states_out_of_order_and_unreadable(tmp_path: Path) -> None:
    """If no saved state can be used, the file is folded from its beginning."""
    path = written(tmp_path)
    swap_rows(path, "checkpoint", 0, 1)
    other = TYPES._replace(state=TYPES.state._replace(version=2))
    with closing(reader_of(path)) as file:
        assert file.checkpoint() is not None
    with closing(JournalReader[Any, Any].open_to_read(path, other, local_key=LOCAL_KEY)) as unknown:
        assert unknown.checkpoint() is None


def test_the_output_of_verify(tmp_path: Path) -> None:
    path = written(tmp_path)
    swap_rows(path, "decision", 2, 3)
    assert "structure" in {found.code for found in verify_journal(tmp_path).findings}


def test_a_witness_copies_nothing_twice(tmp_path: Path) -> None:
    (beside := tmp_path / "witness").mkdir()
    path = written(tmp_path / "journal")
    swap_rows(path, "head", 2, 3)
    with pytest.raises(JournalError, match="is damaged"):
        Witness(tmp_path / "journal", beside).copy()
