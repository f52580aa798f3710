"""The store: the journals of all tables in one PostgreSQL database, with checks of their integrity.

    records    reads a message: a record of a journal, or something else
    database   the connection, the schema's version, and the meaning of its errors
    schema/    tables, functions, views and roles as SQL
    rows       a journal and its files as rows, locked while records are added
    files      incoming files and heads: which key signs, whether it is valid, which table owns the journal
    decisions  incoming decisions: new, already stored, or different under a stored number
    chain      how far a journal is complete
    alarms     findings that a person has to look at
    writing    a batch of records in one transaction
    consumer   from the broker to the database; acknowledges what is committed
    meters     counters for Prometheus
    audit      compares a table's own files with the store

    broker ── consumer ── writing ──┬── rows, files, decisions, chain, alarms ── PostgreSQL
              audit ────────────────┘

Records may arrive twice, out of order, and through several consumers at the same time: a journal's row is locked while
its records are added, and the stored result depends only on which records arrived. A record that contradicts a stored
one is kept beside it and raises an alarm; stored records never change.

The codes of `StoreError`:

    ├── store-unreachable  no connection: the host is unknown, nothing listens, or it is starting or stopping
    ├── store-refused      the database refuses this program's login, or a statement that it needs
    ├── store-schema       the database does not have the store's schema, or another version of it
    ├── store-full         its disk is full
    ├── store-read-only    it accepts no changes
    ├── store-lost         the connection ended
    └── store-failed       any other error
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from firmware_bridge.messages import AnyText, MessageError

StoreCode: TypeAlias = Literal[
    "store-unreachable",
    "store-refused",
    "store-schema",
    "store-full",
    "store-read-only",
    "store-lost",
    "store-failed",
]


class StoreError(MessageError):
    """Raised with a message for people, a `hint` with the next step, and a `code` for machines (see docs/faults.md)."""

    code: StoreCode

    def __init__(self, code: StoreCode, said: AnyText, hint: AnyText) -> None:
        super().__init__(said, hint, code)
