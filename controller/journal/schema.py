"""Format 3 of a journal's file: its tables, and the guards that only let them grow.

    journal     one row: the file's owner, the end of the previous file, and the state with which this one begins
    decision    an input with the events that it caused, one row; `last` is the number of its last entry
    head        signatures over the file's name, and over the end of a decision: the last one of each round, of a
                file, before an orderly stop, of each record of deleted files, and when the table is between rounds
                again
    checkpoint  the state after a decision, saved: a cache

`body` is packed (`packing.py`, with the file's `words`): the input as JSON, a line feed, and a JSON array of the events
as they are published. `state` is packed JSON. In an input and in states, a concealed card or the bytes of evidence are
the index of an item in `sealed` (`sealing.py`). `mac` is made with a key of the file, which is derived from the local
key. Entries are numbered consecutively across files; within a decision the input has the first number and its events
follow.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import Final

FORMAT: Final = 3

TABLES: Final = {
    "journal": """CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    format INTEGER NOT NULL,
    journal_id TEXT NOT NULL,
    file_id TEXT NOT NULL,
    created_utc_ns INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    key_check BLOB NOT NULL,
    public_key BLOB NOT NULL CHECK (length(public_key) = 32),
    endorsement BLOB NOT NULL CHECK (length(endorsement) IN (0, 64)),
    previous_file TEXT NOT NULL,
    previous_number INTEGER NOT NULL,
    previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32),
    state_version INTEGER NOT NULL,
    state_digest BLOB NOT NULL,
    state BLOB NOT NULL,
    state_sealed BLOB NOT NULL,
    words BLOB NOT NULL,
    mac BLOB NOT NULL CHECK (length(mac) = 16)
) STRICT""",
    "decision": """CREATE TABLE decision (
    last INTEGER PRIMARY KEY,
    count INTEGER NOT NULL CHECK (count > 0),
    utc_ns INTEGER NOT NULL,
    boottime_ns INTEGER NOT NULL,
    round INTEGER NOT NULL,
    body BLOB NOT NULL,
    sealed BLOB NOT NULL,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    mac BLOB NOT NULL CHECK (length(mac) = 16)
) STRICT""",
    "head": """CREATE TABLE head (
    number INTEGER PRIMARY KEY,
    utc_ns INTEGER NOT NULL,
    signature BLOB NOT NULL CHECK (length(signature) = 64)
) STRICT""",
    "checkpoint": """CREATE TABLE checkpoint (
    number INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    state BLOB NOT NULL,
    sealed BLOB NOT NULL,
    mac BLOB NOT NULL CHECK (length(mac) = 16)
) STRICT""",
}
SCHEMA: Final = (
    *TABLES.values(),
    """CREATE TRIGGER journal_once BEFORE INSERT ON journal WHEN EXISTS (SELECT 1 FROM journal)
BEGIN SELECT RAISE(ABORT, 'a file has one name'); END""",
    *(
        f"""CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"""
        for table in TABLES
        for verb in ("UPDATE", "DELETE")
    ),
)
# Nothing is excluded: anyone who may write to the file can give a trigger any name, even one reserved by SQLite.
MADE: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"

NAME: Final = "INSERT INTO journal VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT: Final = "INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_HEAD: Final = "INSERT INTO head VALUES (?, ?, ?)"
INSERT_CHECKPOINT: Final = "INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?)"
UNSIGNED: Final = """SELECT round FROM decision WHERE last = (SELECT max(last) FROM decision)
AND last NOT IN (SELECT number FROM head)"""
LAST: Final = "SELECT last, hash FROM decision ORDER BY last DESC LIMIT 1"


@cache
def as_made() -> list[str]:
    """Return what `MADE` yields for a new file."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
        return sorted(map(repr, connection.execute(MADE)))
