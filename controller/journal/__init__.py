"""The journal: every input with the events that it caused, durable and chained, concealed cards sealed. Its parts:

    writer        one thread that owns the open journal; what the daemon awaits
    store         the journal that is appended to: one transaction a decision, saved states, the next file
    reserve       room on the disk with which a round ends though the disk is full
    folder        the files of a journal in their order
    reader        one file, read, with its key and without; pages, for followers
    file, schema  the SQLite file: append-only tables, what it says of itself, what errors mean; the tables
    chain         hashes
    format_1      the format before, which is read only
    codec         decisions and states as JSON
    sealing       keys, sealed cards and evidence, commitments
    signing       signed heads, and the key that signs
    pin, pinning  the newest head in a small file beside it; what contradicts it at a start
    witness       signed heads in a folder elsewhere
    verification  whether all of it is what was written; deep_check, the part that needs the local key

The codes of `JournalError`:

    ├── journal-full        no room on the disk
    ├── journal-io          the disk, the directory or the connection failed
    ├── journal-format      not a journal, a journal of another format, or of another table
    ├── journal-key         the key is missing, readable by others, or not this journal's
    ├── journal-damaged     what is written is not what was written
    ├── journal-locked      another program writes to it
    ├── journal-linked      the file has several names
    ├── journal-incomplete  a folder is no whole backup
    └── journal-state       it ends elsewhere than the program that writes to it takes for its end
"""

from __future__ import annotations

from typing import Literal, TypeAlias

JournalCode: TypeAlias = Literal[
    "journal-full",
    "journal-io",
    "journal-format",
    "journal-key",
    "journal-damaged",
    "journal-locked",
    "journal-linked",
    "journal-incomplete",
    "journal-state",
]


class JournalError(Exception):
    """A sentence for people (`str`), a `hint` what to do next, and a `code` for machines (see docs/faults.md)."""

    def __init__(self, code: JournalCode, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.code: JournalCode = code
        self.hint = hint
