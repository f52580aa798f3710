"""The journal: entries appended, one transaction an input with its events, and read back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, Self, TypeAlias

import msgspec

from controller.journal import JournalError
from controller.journal.codec import EventT, InputT, JournalCodec, Kind, Moment
from controller.journal.file import (
    FAILURES,
    INSERT,
    Connect,
    Connection,
    Head,
    Identity,
    connect,
    connect_reader,
    create,
    explain,
    foreign,
    grow_log,
    hash_entry,
    keys_for,
    lock_file,
    read_name,
    require_same_table,
    require_whole,
    require_written,
    speaking,
    verify,
)
from controller.journal.sealing import JournalKeys

_READ: Final = """SELECT number, utc_ns, boottime_ns, start, round, kind, body
FROM entry WHERE number > ? ORDER BY number LIMIT ?"""
_PAGE: Final = 500  # rows held while reading: no cursor stays open across appends
_Types: TypeAlias = tuple[Any, Any]


class Committed(msgspec.Struct, frozen=True):
    """What an append wrote durably: the number of the input's entry, and of the events' entries in their order."""

    first: int
    events: tuple[int, ...]


class Entry(msgspec.Struct, Generic[InputT, EventT], frozen=True):
    """One entry, opened. Times as in `Moment`; `start` is the host's start in which it was written."""

    number: int
    utc_ns: int
    boottime_ns: int
    start: str
    round: int
    kind: Kind
    value: InputT | EventT


class JournalReader(Generic[InputT, EventT]):
    """A journal that is read, also while a daemon appends to it. Belongs to the thread that opened it."""

    identity: Identity
    """Whose journal it is, as the file says."""

    codec: JournalCodec[InputT, EventT]
    """This journal's codec; `public_encode` may be used on one other thread."""

    def __init__(
        self, path: Path, connection: Connection, identity: Identity, keys: JournalKeys, types: _Types
    ) -> None:
        self._path = path
        self._connection = connection
        self._keys = keys
        self.identity = identity
        self.codec = JournalCodec(*types, keys)

    @classmethod
    def open_to_read(cls, path: Path, input_type: Any, event_type: Any, *, local_key: bytes) -> Self:
        """Open an existing journal without a right to write. Raises `JournalError`. The chain is not checked."""
        with speaking(path):
            connection = connect_reader(path)
        try:
            with speaking(path):
                name = read_name(path, connection)
            if name is None:
                raise foreign(path)
            return cls(path, connection, name[0], keys_for(path, local_key, *name), (input_type, event_type))
        except BaseException:
            connection.close()
            raise

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry[InputT, EventT]]:
        """The entries with numbers above `after`, in order, at most `limit`. Raises `JournalError`."""
        while limit is None or limit > 0:
            count = _PAGE if limit is None else min(limit, _PAGE)
            with speaking(self._path):
                rows = list(self._connection.execute(_READ, (after, count)))
            for row in rows:
                require_whole(self._path, row)
                number, utc_ns, boottime_ns, start, round_number, kind, body = row
                self.codec.aim(round_number, Moment(utc_ns, boottime_ns), start)
                value = self.codec.decode(number, kind, body)
                yield Entry(number, utc_ns, boottime_ns, start, round_number, kind, value)
            if len(rows) < count:
                return
            after = rows[-1][0]
            limit = None if limit is None else limit - count

    def verify(self) -> Head:
        """Check the whole chain and return its end. Raises `JournalError`: journal-damaged with the first bad entry."""
        with speaking(self._path):
            return verify(self._path, self._connection, self.identity, self._keys.check)

    def close(self) -> None:
        """Give up the file. Again: nothing happens."""
        with speaking(self._path):
            self._connection.close()


class Journal(JournalReader[InputT, EventT]):
    """The open journal of a running table. Belongs to the thread that opened it; one at a time for a file."""

    head: Head
    """The end of the chain, as committed."""

    def __init__(self, path: Path, connection: Connection, identity: Identity, keys: JournalKeys, types: _Types, *,
                 head: Head, start: str, lock: int) -> None:  # fmt: skip
        super().__init__(path, connection, identity, keys, types)
        self.head = head
        self._start = start
        self._lock: int | None = lock
        self._doubtful = False

    @classmethod
    def open(cls, path: Path, input_type: Any, event_type: Any, *, local_key: bytes, identity: Identity, start: str,
             connect: Connect = connect) -> Self:  # fmt: skip
        """Open the journal, or begin one where there is none, and check its chain.

        `identity` names a new journal; an existing one must be of the same table and equally simulated, and keeps its
        own id. `start` is the host's start id. Raises `JournalError`, and then holds nothing open.
        """
        path = path.resolve()
        lock = lock_file(path)
        connection: Connection | None = None
        try:
            with speaking(path):
                connection = connect(path)
                name = read_name(path, connection)
                if name is None:
                    name = identity, JournalKeys(local_key, identity.id).check
                    create(connection, *name)
                found, key_check = name
                require_same_table(path, found, identity)
                keys = keys_for(path, local_key, found, key_check)
                head = verify(path, connection, found, key_check)
                grow_log(path)
            return cls(path, connection, found, keys, (input_type, event_type), head=head, start=start, lock=lock)
        except BaseException:
            if connection is not None:
                with suppress(*FAILURES):
                    connection.close()
            os.close(lock)
            raise

    def append(self, given: InputT, events: Sequence[EventT], *, round: int, moment: Moment) -> Committed:  # noqa: A002  # the journal's word
        """Write an input and the events that it caused, durably and in one transaction.

        `round` stands in every commitment: an exposure is journaled under the round of its concealment. Raises
        `JournalError`, and then nothing was written; after journal-io a commit that reached the disk nonetheless may
        be found, whole, when the journal is next opened. TypeError and ValueError: something that no journal can hold.
        """
        if self._doubtful:
            self._settle()
        rows = self._rows(given, events, round, moment)
        execute = self._connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            for row in rows:
                execute(INSERT, row)
            require_written(self._path, self._connection, rows)
            execute("COMMIT")
        except BaseException as error:
            self._doubtful = True
            self._roll_back()
            if isinstance(error, FAILURES):
                raise explain(self._path, error) from error
            raise
        self.head = Head(rows[-1][0], rows[-1][8])
        first = rows[0][0]
        return Committed(first, tuple(range(first + 1, first + len(rows))))

    def close(self) -> None:
        """Give up the file and the lock. Again: nothing happens."""
        lock, self._lock = self._lock, None
        if lock is None:
            return
        try:
            super().close()
        finally:
            os.close(lock)

    def _rows(
        self, given: InputT, events: Sequence[EventT], round_number: int, moment: Moment
    ) -> list[tuple[Any, ...]]:
        number, previous = self.head.number, self.head.hash
        utc_ns, boottime_ns, start = moment.utc_ns, moment.boottime_ns, self._start
        start_bytes = start.encode()
        self.codec.aim(round_number, moment, start)
        rows: list[tuple[Any, ...]] = []
        kind: Kind = "input"
        for value in (given, *events):
            number += 1
            body = self.codec.encode(number, value)
            hash_ = hash_entry(number, utc_ns, boottime_ns, round_number, start_bytes, kind.encode(), body, previous)
            rows.append((number, utc_ns, boottime_ns, start, round_number, kind, body.decode(), previous, hash_))
            previous, kind = hash_, "event"
        return rows

    def _roll_back(self) -> None:
        # SQLite may have rolled back by itself, and then says that there is nothing to roll back.
        with suppress(*FAILURES):
            self._connection.execute("ROLLBACK")

    def _settle(self) -> None:
        """After a failed append: go on only when the file ends where the last good append ended."""
        self._roll_back()
        with speaking(self._path):
            last = list(self._connection.execute("SELECT number, hash FROM entry ORDER BY number DESC LIMIT 1"))
        known = [(self.head.number, self.head.hash)] if self.head.number > self.identity.previous.number else []
        if last != known:
            raise JournalError(
                "journal-damaged",
                f"The journal {self._path} goes on after entry {self.head.number}, though its last commit failed.",
                "Restart the daemon: it reads the journal again from the file.",
            )
        self._doubtful = False
