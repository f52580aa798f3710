"""The harness finds code that loses decisions on a disk that loses power, and accepts code that does not."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import pytest

from tests.journal.power.cuts import Cut, cuts, examine
from tests.journal.power.runs import CHECKPOINTS, NAME, Run, look, record
from tests.journal.power.sqlite import connecting

ROLLBACK_JOURNAL: Final = {"PRAGMA journal_mode=WAL": "PRAGMA journal_mode=DELETE"}


long = partial(pytest.param, marks=pytest.mark.exhaustive)


def deal(run: Run) -> None:
    with run.journal() as journal:
        run.append(journal, 10)


def look_over_a_rollback_journal(folder: Path, cut: Cut) -> str | None:
    """Examine the folder after rolling back: SQLite's readers cannot use a rollback journal, and the cardshoe journal
    does not use one for its decisions.
    """
    for path in (folder / NAME).glob("*.journal"):
        with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.DatabaseError):
            connection.execute("SELECT * FROM journal").fetchall()
    return look(folder, cut)


@pytest.mark.parametrize(
    ("pragmas", "instead"),
    [
        (["synchronous=NORMAL"], {}),
        long(["synchronous=OFF"], {}),
        # The folder is not synced after the rollback journal is removed: it reappears, and undoes the commit.
        long(["locking_mode=NORMAL"], ROLLBACK_JOURNAL),
        long(["locking_mode=NORMAL", "synchronous=OFF"], ROLLBACK_JOURNAL),
    ],
)
def test_a_weakened_setting_loses_decisions(pragmas: list[str], instead: dict[str, str]) -> None:
    recorder = record(deal, connect=connecting([CHECKPOINTS, *pragmas], instead))
    _, wrong = examine(cuts(recorder, Random(1), each=1), look_over_a_rollback_journal)
    assert len(wrong) > 8
    assert any("decisions are kept" in one or "damaged" in one for one in wrong)


@pytest.mark.exhaustive
def test_another_safe_setting_loses_nothing() -> None:
    connect = connecting(["locking_mode=NORMAL", "synchronous=EXTRA"], ROLLBACK_JOURNAL)
    assert examine(cuts(record(deal, connect=connect), Random(1), each=1), look_over_a_rollback_journal)[1] == []


def test_a_disk_that_lies_about_its_syncs_loses_decisions() -> None:
    _, wrong = examine(cuts(record(deal), Random(1), each=1, lies=True), look)
    assert len(wrong) > 8
