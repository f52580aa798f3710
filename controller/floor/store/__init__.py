"""The store: the journals of all tables in one PostgreSQL database, and whether they are whole.

    records    what a message says: a record of a journal, or something that is none
    database   the connection, the schema's version, what its errors mean
    event_types  whether an event is one that a table publishes
    schema/    tables, functions, views and roles as SQL
    rows       a journal and its files as rows, locked while records are added
    files      files and heads that come: whose key signs, and whether it did
    owners     whose a journal is
    decisions  decisions that come: new, there already, or another one under the same number
    chain      up to where a journal is whole
    alarms     what a person has to look at
    writing    a batch of records in one transaction
    consumer   from the broker to the database; acknowledges what is committed
    meters     what it counts, for Prometheus
    audit      a table's own files beside what the store has

    broker ── consumer ── writing ──┬── rows, files, decisions, chain, alarms ── PostgreSQL
              audit ────────────────┘

Records may come twice, out of order, and through several consumers at once: a journal's row is locked while its records
are added, and what is stored depends on which records came alone. A record that contradicts a stored one is kept beside
it and raises an alarm; nothing that is stored is changed.

The codes of `StoreError`:

    ├── store-unreachable  no connection: no such host, nobody listens, it is starting or stopping
    ├── store-refused      the database does not let this program in, or not do what it has to do
    ├── store-schema       the database has no schema of the store, or one of another version
    ├── store-full         no room on its disk
    ├── store-read-only    it takes no changes
    ├── store-lost         the connection ended
    └── store-failed       something else
"""

from __future__ import annotations

from typing import Literal, TypeAlias

StoreCode: TypeAlias = Literal[
    "store-unreachable",
    "store-refused",
    "store-schema",
    "store-full",
    "store-read-only",
    "store-lost",
    "store-failed",
]


class StoreError(Exception):
    """A sentence for people (`str`), a `hint` what to do next, and a `code` for machines (see docs/faults.md)."""

    def __init__(self, code: StoreCode, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.code: StoreCode = code
        self.hint = hint
