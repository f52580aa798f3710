"""The journal: every input with the events that it caused, durable and chained, with concealed cards sealed. Its parts:

    writer        the thread that owns the open journal; the daemon awaits its calls
    store         the journal of a running table: one transaction for each decision, saved states, the next file
    reserve       disk space kept free, so that a round can end on a full disk
    folder        the files of a journal in order
    reader        reads one file, with its key or without; pages, for followers
    file, schema  the SQLite file: append-only tables, its header, the meaning of errors; the tables
    chain         hashes
    codec         decisions and states as JSON
    sealing       keys, sealed cards and evidence, commitments
    signing       signed heads, and the key that signs
    pin, pinning  the newest head in a small file beside the journal; contradictions found at a start
    witness       signed heads in a folder elsewhere
    verification  checks that the journal is what was written; deep_check, the part that needs the local key

The codes of `JournalError`:

    ├── journal-full        the disk is full
    ├── journal-io          the disk, the directory or the connection failed
    ├── journal-format      not a journal, a journal of another format, or of another table
    ├── journal-key         the key is missing, readable by others, or not this journal's
    ├── journal-damaged     the content differs from what was written
    ├── journal-gone        the file in use is not at its path, or a journal that is known is not here
    ├── journal-locked      another program writes to it
    ├── journal-linked      the file has several names
    ├── journal-incomplete  a folder is not a complete backup
    └── journal-state       the journal's end is not where the program that writes to it expects it
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from firmware_bridge.messages import AnyText, MessageError

JournalCode: TypeAlias = Literal[
    "journal-full",
    "journal-io",
    "journal-format",
    "journal-key",
    "journal-damaged",
    "journal-gone",
    "journal-locked",
    "journal-linked",
    "journal-incomplete",
    "journal-state",
]


class JournalError(MessageError):
    """A message for people, a `hint` what to do next, and a `code` for machines (see docs/faults.md)."""

    code: JournalCode

    def __init__(self, code: JournalCode, said: AnyText, hint: AnyText) -> None:
        super().__init__(said, hint, code)
