"""Runs to be recorded. Run as a program, it does one of them in the named folder with the standard library's SQLite."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path
from typing import Final

from controller.journal.file import SqliteConnection, connect
from controller.journal.folder import delete_files, file_name
from tests.journal.power.recording import Recorder
from tests.journal.power.runs import CHECKPOINTS, Run, Work, make_log_small, state_after
from tests.journal.vocabulary import moment

YEAR_NS: Final = 366 * 86_400 * 1_000_000_000
DAY: Final = 4
"""Decisions in a file."""


def begin_and_deal(run: Run) -> None:
    """Begin a new journal, with enough decisions that SQLite copies its log into the file."""
    with run.journal() as journal:
        run.append(journal, 10)


def go_on(run: Run) -> None:
    """Stop the journal several times in an orderly way, each time with a saved state and a signed head."""
    for _ in range(3):
        with run.journal() as journal:
            run.append(journal, 3)
            run.save(journal)
            journal.sign_head(moment(run.decisions), stops=True)


def days(run: Run) -> None:
    """Begin the next file and close the previous one."""
    with run.journal() as journal:
        for _ in range(2):
            run.append(journal, DAY)
            run.next_file(journal)
        run.append(journal, 2)


def retention(run: Run) -> None:
    """Delete the oldest file. The clock jumps a year ahead, and back again when a file begins."""
    with run.journal() as journal:
        for years in (1, -1):
            run.append(journal, 2)
            journal.begin_file(state_after(run.decisions), moment(years * YEAR_NS))
        delete_files(journal.folder, [file_name(1)])
        run.append(journal, 2)


WORKS: Final[dict[str, Work]] = {work.__name__: work for work in (begin_and_deal, go_on, days, retention)}


def _connect(path: Path) -> SqliteConnection:
    connection = connect(path)
    assert isinstance(connection, sqlite3.Connection)
    connection.set_authorizer(None)  # the authorizer forbids the next statement
    connection.execute(f"PRAGMA {CHECKPOINTS}")
    return connection


if __name__ == "__main__":
    make_log_small(setattr)
    shown = Recorder(Path(sys.argv[1]))
    shown.heard = lambda least: print(least, flush=True)  # noqa: T201  # prints what is acknowledged
    WORKS[sys.argv[2]](Run(shown, _connect, 0, 0))
