"""Reads a file of the journal, with or without its key, also while a daemon appends to it."""

from __future__ import annotations

import secrets
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, Self

import msgspec

from controller.journal import JournalError, schema
from controller.journal.chain import Head, hash_decision
from controller.journal.codec import (
    CHECKPOINT,
    DECISION,
    OPENING,
    EventT,
    InputT,
    JournalCodec,
    Kind,
    PackedState,
    Types,
)
from controller.journal.file import (
    Header,
    SqliteConnection,
    connect_reader,
    damaged,
    follow_on,
    foreign,
    keys_for,
    read_header,
    speaking,
)
from controller.journal.packing import Packing
from controller.journal.sealing import FileKeys
from firmware_bridge.messages import message

PAGE: Final = 200  # rows held while reading: a read transaction lasts for one page at most
_NEWEST: Final = "SELECT utc_ns FROM decision ORDER BY last DESC LIMIT 1"
_ROWS: Final = """SELECT last, count, utc_ns, boottime_ns, round, body, sealed, hash, mac
FROM decision WHERE last > ? ORDER BY last LIMIT ?"""
_CHECKPOINT: Final = """SELECT number, version, digest, state, sealed, mac,
(SELECT hash FROM decision WHERE last = number) FROM checkpoint WHERE number < ? ORDER BY number DESC LIMIT 1"""
_HASH_AT: Final = "SELECT hash FROM decision WHERE last = ?"
_HASH_BEFORE: Final = "SELECT hash FROM decision WHERE last <= ? ORDER BY last DESC LIMIT 1"
_LAST_SIGNED: Final = "SELECT max(number) FROM head WHERE number = ? OR number IN (SELECT last FROM decision)"
_NO_NUMBER: Final = 2**63 - 1  # above every entry's number
ROW_TYPES: Final = [int, int, int, int, int, bytes, bytes, bytes, bytes]
_PART: Final = struct.Struct(">QI")
_Events: Final = msgspec.json.Decoder(list[msgspec.Raw])


class JournaledDecision(msgspec.Struct, frozen=True):
    """An input and the events that it caused, read without a key: `input` has numbers in place of sealed items,
    `events` are as published. The entries are numbered from `first`, the input, to `last`.

    `holds` means that the row's hash follows from the previous row; if the reader has the key, also that its MAC is
    valid. `hash` is as stored.
    """

    last: int
    utc_ns: int
    boottime_ns: int
    round: int
    input: bytes
    events: tuple[bytes, ...]
    holds: bool = True
    hash: bytes = b""

    @property
    def first(self) -> int:
        return self.last - len(self.events)


class Entry(msgspec.Struct, Generic[InputT, EventT], frozen=True):
    """One entry, opened. Times are as in `Moment`."""

    number: int
    utc_ns: int
    boottime_ns: int
    round: int
    kind: Kind
    value: InputT | EventT


class JournalReader(Generic[InputT, EventT]):
    """A reader, which belongs to the thread that opened it. Without the local key, `decisions` and `verify` work; with
    the key alone, without types, they also tell whether a holder of the key wrote the rows.
    """

    def __init__(self, path: Path, connection: SqliteConnection, header: Header, types: Types | None,
                 local_key: bytes | None) -> None:  # fmt: skip
        self.path = path
        self._connection = connection
        self.header = header
        self._types = types
        self._packing = Packing(header.words)
        self._file_keys: FileKeys | None = None
        if local_key is not None:
            keys = keys_for(path, local_key, header)
            self._file_keys = FileKeys(local_key, header.file_id)
            if types is not None:
                self._codec: JournalCodec[InputT, EventT] = JournalCodec(
                    types, keys, self._file_keys, self._packing, secrets.token_bytes, path
                )

    @classmethod
    def open_to_read(cls, path: Path, types: Types | None = None, *, local_key: bytes | None = None) -> Self:
        """Open an existing file without the right to write. Raise `JournalError` if that fails. The chain is not
        checked.
        """
        with speaking(path):
            connection = connect_reader(path)
        try:
            with speaking(path):
                header = read_header(path, connection)
            if header is None:
                raise foreign(path)
            return cls(path, connection, header, types, local_key)
        except BaseException:
            connection.close()
            raise

    # -- without a key

    def decisions(self, after: int = 0, limit: int | None = None) -> Iterator[JournaledDecision]:
        """Yield the decisions that end after that entry, in order. Raise `JournalError` for unreadable rows."""
        before = self._hash_before(after)
        for row in self._rows(after, limit):
            last, _, utc_ns, boottime_ns, round_number, body, _, hash_, _ = row
            holds = self._holds(row, before)
            before = hash_
            given, events = self.texts_of(last, body)
            if len(events) != row[1] - 1:
                raise damaged(self.path, message("entry {entry} has been changed", entry=last))
            yield JournaledDecision(last, utc_ns, boottime_ns, round_number, given, events, holds, hash_)

    def texts_of(self, last: int, body: bytes) -> tuple[bytes, tuple[bytes, ...]]:
        """Return the input of a decision, and its events. `last` is its last entry. Raise `JournalError` if they cannot
        be read.
        """
        try:
            return split(self._packing.unpack(body))
        except (ValueError, msgspec.MsgspecError) as error:
            raise damaged(
                self.path, message("the entries up to {last} cannot be read: {error}", last=last, error=str(error))
            ) from error

    def head(self) -> Head:
        """Return the end of the chain, without checking it."""
        with speaking(self.path):
            found = list(self._connection.execute(schema.LAST))
        return Head(*found[0]) if found else self.header.before

    def newest_utc_ns(self) -> int:
        """Return when the last decision was recorded, or else when the file was begun."""
        with speaking(self.path):
            found = list(self._connection.execute(_NEWEST))
        return int(found[0][0]) if found else self.header.created_utc_ns

    def hash_at(self, number: int) -> bytes | None:
        """Return the hash of the decision that ends with that entry, or of the one before the first, or None."""
        if number == self.header.before.number:
            return self.header.before.hash
        with speaking(self.path):
            found = list(self._connection.execute(_HASH_AT, (number,)))
        return found[0][0] if found else None

    def last_signed(self) -> int:
        """Return the last entry with a signed head, without checking the signature."""
        with speaking(self.path):
            ((found,),) = self._connection.execute(_LAST_SIGNED, (self.header.before.number,))
        return self.header.before.number if found is None else int(found)

    def verify(self, after: Head | None = None, reached: Callable[[Head], None] = lambda head: None) -> Head:
        """Check the chain from that head (None: from the beginning of the file) and return its end. Raises
        `JournalError`: journal-damaged with the first bad entry. `reached` is called after every page.
        """
        head = after or self.header.before
        while rows := self._page(_ROWS, head.number):
            for row in rows:
                if row[0] != head.number + row[1] or not _follows(row, head.hash):
                    raise damaged(
                        self.path,
                        message("what follows entry {entry} is missing or has been changed", entry=head.number),
                    )
                head = Head(row[0], row[7])
            reached(head)
        return head

    # -- with the key

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry[InputT, EventT]]:
        """Yield at most `limit` entries with numbers above `after`, in order. Raise `JournalError` if one cannot be
        read.
        """
        for given, entry in enumerate(self._entries(after)):
            if given == limit:
                return
            yield entry

    def opening_state(self) -> Any:
        """Return the state with which this file begins. Raise `JournalError` if it cannot be read."""
        return self._codec.restore(self.header.previous.number, self.header.opening, OPENING)

    def first_unauthentic(self, since: int) -> int | None:
        """Return the last entry of the first decision that no holder of the local key wrote after its predecessor.

        Start with the decision that ends with entry `since`. Return None if there is none. The file's name counts as
        coming before all decisions.
        """
        assert self._file_keys is not None
        if since <= self.header.before.number and not self.header.is_authentic(self._file_keys):
            return self.header.before.number
        before = self._hash_before(since - 1)
        for row in self._rows(since - 1):
            if not self._holds(row, before):
                return int(row[0])
            before = row[7]
        return None

    def checkpoint(self) -> tuple[Head, Any] | None:
        """Return the newest state saved in the file that this program can use, and its head. Damaged ones are
        skipped.
        """
        if self._types is None:
            return None
        before = _NO_NUMBER
        with suppress(JournalError), speaking(self.path):
            while rows := list(self._connection.execute(_CHECKPOINT, (before,))):
                *row, hash_ = rows[0]
                if not follow_on(row[0], [before]):
                    break
                before = row[0]
                if hash_ is not None and (state := self._use(row, hash_)) is not None:
                    return Head(before, hash_), state
        return None

    def close(self) -> None:
        """Close the file. Closing again does nothing."""
        with speaking(self.path):
            self._connection.close()

    # -- internals

    def _use(self, row: Sequence[Any], hash_: bytes) -> Any:
        assert self._types is not None
        form = self._types.state
        number, version, digest, state, sealed, mac = row
        try:
            saved = PackedState(version, digest, state, sealed)
            assert self._file_keys is not None
            good = self._file_keys.authenticates(mac, CHECKPOINT, over_state(Head(number, hash_), saved))
            if good and (version, digest) == (form.version, form.digest):
                return self._codec.restore(number, saved, CHECKPOINT)
        except (JournalError, AttributeError, TypeError, struct.error):
            pass  # damaged: use an earlier state, or the beginning
        return None

    def _page(self, query: str, after: int, limit: int = PAGE) -> list[Any]:
        with speaking(self.path):
            rows = list(self._connection.execute(query, (after, limit)))
        if not follow_on(after, (row[0] for row in rows)):
            raise damaged(self.path, message("what follows entry {entry} is missing or has been changed", entry=after))
        return rows

    def _rows(self, after: int, limit: int | None = None) -> Iterator[Any]:
        while limit is None or limit > 0:
            count = PAGE if limit is None else min(limit, PAGE)
            rows = self._page(_ROWS, after, count)
            for row in rows:
                if [type(value) for value in row] != ROW_TYPES:
                    raise damaged(self.path, message("entry {entry} has been changed", entry=row[0]))
                yield row
            if len(rows) < count:
                return
            after = rows[-1][0]
            limit = None if limit is None else limit - count

    def _hash_before(self, after: int) -> bytes:
        """Return the hash of the last decision that does not end after that entry."""
        with speaking(self.path):
            found = list(self._connection.execute(_HASH_BEFORE, (after,)))
        return found[0][0] if found else self.header.before.hash

    def _holds(self, row: Sequence[Any], before: bytes) -> bool:
        keys = self._file_keys
        return _follows(row, before) and (keys is None or keys.authenticates(row[8], DECISION, row[7]))

    def _entries(self, after: int) -> Iterator[Entry[InputT, EventT]]:
        for row in self._rows(after):
            last, count, utc_ns, boottime_ns, round_number, body, sealed, _, _ = row
            given, texts = self.texts_of(last, body)
            number = last - count + 1
            if len(texts) != count - 1:
                raise damaged(self.path, message("entry {entry} has been changed", entry=last))
            if number > after:
                value: Any = self._codec.decode_input(last, given, sealed)
                yield Entry(number, utc_ns, boottime_ns, round_number, "input", value)
            for value in self._codec.decode_events(last, texts, sealed, round_number):
                number += 1
                if number > after:
                    yield Entry(number, utc_ns, boottime_ns, round_number, "event", value)


def split(text: bytes) -> tuple[bytes, tuple[bytes, ...]]:
    """Return the input of an unpacked body, and its events. Raise `msgspec.MsgspecError` or ValueError."""
    given, _, events = text.partition(b"\n")
    return given, tuple(map(bytes, _Events.decode(events)))


def _follows(row: Sequence[Any], before: bytes) -> bool:
    """Return whether the row's hash follows from the previous hash."""
    try:
        return bool(hash_decision(row[:7], before) == row[7])
    except (TypeError, struct.error):
        return False


def over_state(head: Head, saved: PackedState) -> bytes:
    """Return the bytes that the MAC of a saved state covers: the state and its place in the chain."""
    fixed = _PART.pack(head.number, saved.version)
    parts = (head.hash, saved.digest, saved.state, saved.sealed)
    return fixed + b"".join(_PART.pack(len(part), 0) + part for part in parts)
