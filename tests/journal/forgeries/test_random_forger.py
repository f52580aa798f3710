"""Random forgeries without the local key add and change nothing unnoticed; only truncation is possible."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal import JournalError
from controller.journal.codec import Moment
from controller.journal.file import connect_reader
from controller.journal.store import Journal
from controller.journal.verification import verify_journal
from tests.journal.forgeries.attacks import add_file, append, edit_all, edit_tail, forged, launder
from tests.journal.forgeries.forger import ALSO_HIS, FILES, Forger, copy, write_journal
from tests.journal.forgeries.others import _cut
from tests.journal.table_journals import report
from tests.journal_commands.made import IDENTITY, KEY, SIGNER
from tests.support import long_forms

SOME: Final = 75
LONG: Final = 10_000


def a_file(forger: Forger, random: Random) -> int:
    return random.choice([file for file in FILES if forger.path(file).exists()])


def edit(forger: Forger, random: Random) -> None:
    file = a_file(forger, random)
    rows = forger.rows(file)
    at = random.randrange(len(rows))
    row, other = rows[at], random.choice(rows)
    column = random.choice(("utc_ns", "boottime_ns", "round", "input", "events", "sealed", "hash", "mac", "count"))
    value: Any = getattr(other, column) if random.random() < 0.5 else None
    if value is None:
        now = getattr(row, column)
        value = now + 1 if isinstance(now, int) else now[:-1]
        if column in ("hash", "mac"):
            value = random.randbytes(len(now))
    rows[at] = row._replace(**{column: value})
    forger.put(file, rows)


def remove(forger: Forger, random: Random) -> None:
    file = a_file(forger, random)
    rows = forger.rows(file)
    del rows[random.randrange(len(rows))]
    forger.put(file, rows)


def insert(forger: Forger, random: Random) -> None:
    file = a_file(forger, random)
    rows = forger.rows(file)
    at = random.randrange(len(rows))
    forger.put(
        file, [*rows[: at + 1], *(row._replace(last=row.last + 1) for row in forged(rows[at], 1)), *rows[at + 2 :]]
    )


def from_other(forger: Forger, random: Random) -> None:
    """Insert a decision of another journal with the same keys."""
    file = a_file(forger, random)
    rows, theirs = forger.rows(file), Forger(forger.other, forger.other).rows(random.choice(FILES))
    at = random.randrange(len(rows))
    rows[at] = random.choice(theirs)._replace(last=rows[at].last)
    forger.put(file, rows)


def cut(forger: Forger, random: Random) -> None:
    if forger.path(3).exists() and (rows := forger.rows(3)):
        _cut(forger, random.choice(rows).last)


def drop_newest(forger: Forger, random: Random) -> None:
    if forger.path(3).exists():
        forger.path(3).unlink()


def sign(forger: Forger, random: Random) -> None:
    """Sign with the attacker's key, or remove heads."""
    file = a_file(forger, random)
    key = random.choice((ALSO_HIS, None))
    if key is not None and random.random() < 0.5:
        forger.name(file, public_key=key.public_key)
    forger.sign(key, file)


DOES: Final[tuple[Callable[[Forger, Random], object], ...]] = (
    edit,
    remove,
    insert,
    from_other,
    cut,
    drop_newest,
    sign,
    lambda forger, random: append(forger),
    lambda forger, random: edit_tail(forger),
    lambda forger, random: edit_all(forger),
    lambda forger, random: launder(forger),
    lambda forger, random: add_file(forger),
)
HIDES: Final[tuple[Callable[[Forger, Random], object], ...]] = (
    lambda forger, random: forger.rechain(random.choice(FILES)),
    lambda forger, random: forger.pin(),
    lambda forger, random: None,
)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "journal"
    write_journal(folder)
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("other") / "journal"
    write_journal(folder, seed=2)
    return folder


def decisions(folder: Path) -> list[Any]:
    found: list[Any] = []
    for path in sorted(folder.glob("*.journal")):
        with closing(connect_reader(path)) as connection:
            found += connection.execute("SELECT * FROM decision ORDER BY last")
    return found


def is_silent(folder: Path) -> bool:
    """Return whether neither a start nor a check with the local key finds anything."""
    if verify_journal(folder, local_key=KEY, types=JOURNAL_TYPES).findings:
        return False
    with suppress(JournalError):
        journal: Journal[Any, Any] = Journal.open(
            folder, JOURNAL_TYPES, local_key=KEY, identity=IDENTITY, signer=SIGNER
        )
        with closing(journal):
            load(journal, Moment(10**18, 1), report())
            return not journal.pin.doubts
    return False


def forge(seed: int, written: Path, other: Path, place: Path) -> bool:
    """Return whether the forgery went unnoticed. In that case an initial part of the original journal must remain."""
    random = Random(seed)
    forger = Forger(copy(written, place / "journal"), other)
    try:
        for _ in range(random.randint(1, 3)):
            with suppress(sqlite3.Error, StopIteration, JournalError, IndexError, FileNotFoundError, ValueError):
                random.choice(DOES)(forger, random)
        for _ in range(random.randint(0, 2)):
            with suppress(sqlite3.Error, JournalError, IndexError, FileNotFoundError, ValueError):
                random.choice(HIDES)(forger, random)
        with suppress(JournalError):
            left = decisions(forger.folder)
            if is_silent(forger.folder):
                assert left == decisions(written)[: len(left)], seed
                return True
        return False
    finally:
        shutil.rmtree(forger.folder)


def test_a_random_forger_without_the_local_key_can_only_cut(written: Path, other: Path, tmp_path: Path) -> None:
    silent = sum(forge(seed, written, other, tmp_path) for seed in range(SOME))
    assert 0 < silent < SOME / 2, "some cut, and wrote the pin"


@pytest.mark.soak
def test_ten_thousand_random_forgers_can_only_cut(written: Path, other: Path, tmp_path: Path) -> None:
    for seed in long_forms.some(range(SOME, LONG)):
        forge(seed, written, other, tmp_path)
