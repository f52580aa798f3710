"""A file of format 1 has no signatures: what follows it, signed, holds its end, and a noted head does."""

from __future__ import annotations

import gzip
import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal import format_1
from controller.journal.chain import Head
from controller.journal.reader import JournalReader
from controller.journal.store import Journal
from controller.journal.verification import verify_journal
from tests.journal.table_journals import report
from tests.journal.vocabulary import SIGNER, moment

KEPT = Path(__file__).parents[1] / "kept" / "nc-sets"
OLD = "table.journal"


@pytest.fixture
def upgraded(tmp_path: Path) -> Path:
    """A journal of format 1, and the file that the first start of this version begins."""
    folder = tmp_path / "journal"
    folder.mkdir()
    (folder / OLD).write_bytes(gzip.decompress(KEPT.with_name("nc-sets.journal.gz").read_bytes()))
    key = bytes.fromhex(KEPT.with_name("nc-sets.key").read_text())
    with closing(JournalReader[Any, Any].open_to_read(folder / OLD)) as reader:
        identity = reader.header.identity
    with closing(Journal[Any, Any].open(folder, JOURNAL_TYPES, local_key=key, identity=identity, signer=SIGNER)) as new:
        load(new, moment(), report())
        assert new.path.name == "000001.journal"
    return folder


def change(path: Path, *, rechained: bool) -> Head:
    """Another time in the middle; returns the end of the chain."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = list(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE entry SET utc_ns = utc_ns + 1 WHERE number = 20")
        if rechained:
            _rechain(connection)
        for _, sql in triggers:
            connection.execute(sql)
        return Head(*next(iter(connection.execute("SELECT number, hash FROM entry ORDER BY number DESC LIMIT 1"))))


def _rechain(connection: sqlite3.Connection) -> None:
    ((previous,),) = connection.execute("SELECT hash FROM entry WHERE number = 19")
    for number, utc_ns, boottime_ns, round_number, start, kind, body, *_ in list(
        connection.execute(format_1.CHAIN, (19, -1))
    ):
        fixed = format_1._ENTRY.pack(number, utc_ns, boottime_ns, round_number, len(start), len(kind), len(body))
        made = hashlib.sha256(b"".join((fixed, previous, start, kind, body))).digest()
        connection.execute("UPDATE entry SET previous = ?, hash = ? WHERE number = ?", (previous, made, number))
        previous = made


def codes(folder: Path, *noted: Head) -> set[str]:
    return {found.code for found in verify_journal(folder, noted=noted).findings}


def test_a_changed_entry_is_found(upgraded: Path) -> None:
    assert codes(upgraded) == set()
    change(upgraded / OLD, rechained=False)
    assert codes(upgraded) == {"chain"}


def test_with_every_hash_made_again_it_does_not_fit_to_the_signed_file_that_follows(upgraded: Path) -> None:
    change(upgraded / OLD, rechained=True)
    assert codes(upgraded) == {"file-not-linked"}


def test_alone_a_noted_head_finds_it(upgraded: Path) -> None:
    """No file of format 2 was begun yet: nobody signed anything."""
    for one in upgraded.iterdir():
        if one.name != OLD:
            one.unlink()
    with closing(JournalReader[Any, Any].open_to_read(upgraded / OLD)) as reader:
        noted = reader.head()
    assert codes(upgraded, noted) == set()
    assert change(upgraded / OLD, rechained=True) != noted
    assert codes(upgraded) == set()
    assert codes(upgraded, noted) == {"other-than-noted"}
