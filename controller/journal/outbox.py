"""The journal as an outbox: record by record, for programs that follow it elsewhere.

    file      a file begins where the previous one ended
    decision  the events of one decision as anyone may read them, its hash and the previous hash
    head      a signed head

Records follow from the journal alone: the same cursor always gives the same records, so losing a cursor only repeats
them. Sealed content is in no record; its hash is a part of the decision's. The order is the journal's: a head comes
after its decision, at the latest when the next one is made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from controller.journal.file import connect_reader, damaged, speaking
from controller.journal.folder import files_in
from controller.journal.reader import JournalReader
from controller.journal.witness import BEFORE_ALL, WitnessedHead, signed_heads
from firmware_bridge.messages import message

PAGE: Final = 64  # decisions read in one query
_DECISIONS: Final = """SELECT last, count, utc_ns, round, body, hash
FROM decision WHERE last > ? ORDER BY last LIMIT ?"""


class FileBegan(msgspec.Struct, frozen=True, tag="file", tag_field="record"):
    """The beginning of a file. `number` is the last entry before it. `hash` is that of its name, which the first
    decision follows; `key` is the key that signs it. `endorsement` is the previous key's signature over this key if
    they differ.

    Hashes, keys and signatures are hexadecimal, here and in the other records; `utc_ns` is nanoseconds since 1970.
    """

    journal: str
    file: str
    number: int
    hash: str
    utc_ns: int
    table: str
    simulated: bool
    key: str
    endorsement: str
    previous_file: str
    previous_hash: str


class DecisionMade(msgspec.Struct, frozen=True, tag="decision", tag_field="record"):
    """A decision. `first` is the number of the input's entry; the events have the following numbers, up to `last`."""

    journal: str
    file: str
    first: int
    last: int
    hash: str
    before: str
    utc_ns: int
    round: int
    events: tuple[msgspec.Raw, ...]


class HeadSigned(WitnessedHead, frozen=True, tag="head", tag_field="record"):
    """A signed head, in the form that a witness holds."""


Record: TypeAlias = FileBegan | DecisionMade | HeadSigned


class Cursor(msgspec.Struct, frozen=True):
    """The place up to which records were taken: the file, the last decision with its hash, and the number of the last
    head.
    """

    journal: str
    file: str
    number: int
    hash: str
    head: int = BEFORE_ALL


class Taken(NamedTuple):
    """A record, and the cursor after taking it."""

    record: Record
    cursor: Cursor


class Outbox:
    """The records of the journal in that folder, also while it is being written. It belongs to one thread. Raise
    `JournalError`.

    Each page is read over a separate connection, so that neither the writer nor the end of a file waits.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ids: dict[Path, str] = {}  # ids of existing files

    def after(self, cursor: Cursor | None) -> list[Taken]:
        """Return the next records, which may be none yet. For None, or a cursor that the journal does not hold, begin
        at the start.
        """
        files = files_in(self._folder)  # listed before they are read: a file is complete once the next one exists
        at = self._place(files, cursor)
        for path in files[at or 0 :]:
            reader: JournalReader[Any, Any]
            with closing(JournalReader.open_to_read(path)) as reader:
                is_here = at is not None and cursor is not None and cursor.file == reader.header.file_id
                if taken := list(_page(reader, cursor if is_here else None)):
                    return taken
        return []

    def holds(self, cursor: Cursor) -> bool:
        """Return whether the journal holds the cursor's place. It does not after an older copy replaced the journal."""
        return self._place(files_in(self._folder), cursor) is not None

    def _place(self, files: Sequence[Path], cursor: Cursor | None) -> int | None:
        """Return the index of the file that holds the cursor, or None."""
        if cursor is None:
            return None
        for at in reversed(range(len(files))):
            if self._id(files[at]) == cursor.file:
                reader: JournalReader[Any, Any]
                with closing(JournalReader.open_to_read(files[at])) as reader:
                    held = reader.hash_at(cursor.number)
                    is_same = reader.header.identity.id == cursor.journal
                return at if is_same and held is not None and held.hex() == cursor.hash else None
        return None

    def _id(self, path: Path) -> str:
        if path not in self._ids:
            reader: JournalReader[Any, Any]
            with closing(JournalReader.open_to_read(path)) as reader:
                self._ids[path] = reader.header.file_id
        return self._ids[path]


def _page(reader: JournalReader[Any, Any], cursor: Cursor | None) -> Iterator[Taken]:
    """Yield the next records of a file, from the cursor or, if it is None, from the file's beginning."""
    header = reader.header
    if cursor is None:
        began = _began(reader)
        cursor = Cursor(began.journal, began.file, began.number, began.hash)
        yield Taken(began, cursor)
    with speaking(reader.path), closing(connect_reader(reader.path)) as connection:
        rows = list(connection.execute(_DECISIONS, (cursor.number, PAGE)))
    # read after the decisions, so that a head between two of them is included
    heads = signed_heads(reader, cursor.head)
    signed = 0
    while True:
        until = bisect_right(heads, cursor.number, key=attrgetter("number"))
        for head in heads[signed:until]:
            cursor = msgspec.structs.replace(cursor, head=head.number)
            yield Taken(HeadSigned(*msgspec.structs.astuple(head)), cursor)
        signed = max(signed, until)
        if not rows:
            return
        last, count, utc_ns, round_number, body, hash_ = rows.pop(0)
        if last != cursor.number + count:
            raise damaged(
                reader.path, message("what follows entry {entry} is missing or has been changed", entry=cursor.number)
            )
        made = DecisionMade(
            header.identity.id, header.file_id, cursor.number + 1, last, hash_.hex(), cursor.hash, utc_ns, round_number,
            tuple(map(msgspec.Raw, reader.texts_of(last, body)[1])),
        )  # fmt: skip
        cursor = msgspec.structs.replace(cursor, number=last, hash=made.hash)
        yield Taken(made, cursor)


def _began(reader: JournalReader[Any, Any]) -> FileBegan:
    header = reader.header
    return FileBegan(
        header.identity.id, header.file_id, header.before.number, header.before.hash.hex(), header.created_utc_ns,
        header.identity.table, header.identity.simulated, header.public_key.hex(), header.endorsement.hex(),
        header.previous_file, header.previous.hash.hex(),
    )  # fmt: skip
