"""A file of the journal that is read, of either format, also while a daemon appends to it, and without its key."""

from __future__ import annotations

import hmac
import secrets
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, Self

import msgspec

from controller.journal import JournalError, format_1, schema
from controller.journal.chain import Head, hash_decision
from controller.journal.codec import CHECKPOINT, OPENING, EventT, InputT, JournalCodec, Kind, SavedState, Types
from controller.journal.file import (
    Connection,
    Header,
    connect_reader,
    damaged,
    follow_on,
    foreign,
    keys_for,
    read_header,
    speaking,
)
from controller.journal.sealing import FileKeys, JournalKeys

PAGE: Final = 200  # rows held while reading: no read transaction outlives a page
_READ: Final = """SELECT last, count, utc_ns, boottime_ns, round, input, events, sealed
FROM decision WHERE last > ? ORDER BY last LIMIT ?"""
# As they are stored: damage may have left no UTF-8.
_CHAIN: Final = """SELECT last, count, utc_ns, boottime_ns, round,
CAST(input AS BLOB), CAST(events AS BLOB), sealed, hash
FROM decision WHERE last > ? ORDER BY last LIMIT ?"""
_CHECKPOINT: Final = """SELECT number, version, digest, CAST(state AS BLOB), sealed, mac,
(SELECT hash FROM decision WHERE last = number) FROM checkpoint WHERE number < ? ORDER BY number DESC LIMIT 1"""
_HASH_AT: Final = "SELECT hash FROM decision WHERE last = ?"
_NO_NUMBER: Final = 2**63 - 1  # above every entry's
_ROW_TYPES: Final = [int, int, int, int, int, str, str, bytes]
_MAC: Final = struct.Struct(">QI")
_Events: Final = msgspec.json.Decoder(list[msgspec.Raw])


class Decision(msgspec.Struct, frozen=True):
    """An input and the events that it caused, without a key: `input` has numbers for what is sealed, `events` are as
    they were published. Their numbers end with `last`; the input's is `first`. Format 1: of the input, what is sealed
    is left out.
    """

    last: int
    utc_ns: int
    boottime_ns: int
    round: int
    input: bytes
    events: tuple[bytes, ...]

    @property
    def first(self) -> int:
        return self.last - len(self.events)


class Entry(msgspec.Struct, Generic[InputT, EventT], frozen=True):
    """One entry, opened. Times as in `Moment`."""

    number: int
    utc_ns: int
    boottime_ns: int
    round: int
    kind: Kind
    value: InputT | EventT


class JournalReader(Generic[InputT, EventT]):
    """Belongs to the thread that opened it. Without the local key, `decisions` and `verify` serve."""

    def __init__(self, path: Path, connection: Connection, header: Header, types: Types | None,
                 local_key: bytes | None) -> None:  # fmt: skip
        self.path = path
        self._connection = connection
        self.header = header
        self._types = types
        self._keys: JournalKeys | None = None
        if local_key is not None and types is not None:
            self._open_with(local_key, types)

    def _open_with(self, local_key: bytes, types: Types) -> None:
        self._keys = keys_for(self.path, local_key, self.header)
        self._old = format_1.Decoder(types.input, types.event, self._keys)
        self._file_keys = FileKeys(local_key, self.header.file_id)
        self._codec: JournalCodec[InputT, EventT] = JournalCodec(
            types, self._keys, self._file_keys, secrets.token_bytes
        )

    @classmethod
    def open_to_read(cls, path: Path, types: Types | None = None, *, local_key: bytes | None = None) -> Self:
        """Open an existing file without a right to write. Raises `JournalError`. The chain is not checked."""
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

    def decisions(self, after: int = 0, limit: int | None = None) -> Iterator[Decision]:
        """Those that end after that entry, in order. Raises `JournalError`."""
        if self.header.format == format_1.FORMAT:
            found = self._old_decisions(after)
            yield from found if limit is None else (one for one, _ in zip(found, range(limit), strict=False))
            return
        for row in self._rows(after, limit):
            last, _, utc_ns, boottime_ns, round_number, given, events, _ = row
            yield Decision(last, utc_ns, boottime_ns, round_number, given.encode(), self._events_of(row, events))

    def head(self) -> Head:
        """The end of the chain as it stands; not checked."""
        query = schema.LAST
        if self.header.format == format_1.FORMAT:
            query = "SELECT number, hash FROM entry ORDER BY number DESC LIMIT 1"
        with speaking(self.path):
            found = list(self._connection.execute(query))
        return Head(*found[0]) if found else self.header.before

    def hash_at(self, number: int) -> bytes | None:
        """The hash of the decision that ends with that entry, also of the one before the first; None: none does."""
        if number == self.header.before.number:
            return self.header.before.hash
        query = _HASH_AT if self.header.format == schema.FORMAT else "SELECT hash FROM entry WHERE number = ?"
        with speaking(self.path):
            found = list(self._connection.execute(query, (number,)))
        return found[0][0] if found else None

    def verify(self, after: Head | None = None, reached: Callable[[Head], None] = lambda head: None) -> Head:
        """Check the chain from that head (None: from the beginning of the file) and return its end. Raises
        `JournalError`: journal-damaged with the first bad entry. `reached` is called after every page.
        """
        head = after or self.header.before
        if self.header.format == format_1.FORMAT:
            return self._verify_old(head, reached)
        while rows := self._page(_CHAIN, head.number):
            for row in rows:
                last, count, utc_ns, boottime_ns, round_number, given, events, sealed, stored = row
                try:
                    made = hash_decision(last, count, utc_ns, boottime_ns, round_number, given, events, sealed,
                                         head.hash)  # fmt: skip
                except (TypeError, struct.error):
                    made = b""
                if last != head.number + count or stored != made:
                    raise damaged(self.path, f"what follows entry {head.number} is missing or has been changed")
                head = Head(last, stored)
            reached(head)
        return head

    # -- with the key

    def entries(self, after: int = 0, limit: int | None = None) -> Iterator[Entry[InputT, EventT]]:
        """The entries with numbers above `after`, in order, at most `limit`. Raises `JournalError`."""
        found = self._old_entries(after) if self.header.format == format_1.FORMAT else self._entries(after)
        for given, entry in enumerate(found):
            if given == limit:
                return
            yield entry

    def opening_state(self) -> Any:
        """The state with which this file begins; None: that of an empty table. Raises `JournalError`."""
        opening = self.header.opening
        return None if opening is None else self._codec.restore(self.header.previous.number, opening, OPENING)

    def checkpoint(self) -> tuple[Head, Any] | None:
        """The newest state saved within the file that this program can use, and where. Damage is passed over."""
        if self.header.format == format_1.FORMAT or self._types is None:
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
        """Give up the file. Again: nothing happens."""
        with speaking(self.path):
            self._connection.close()

    # -- inside

    def _use(self, row: Sequence[Any], hash_: bytes) -> Any:
        assert self._types is not None
        form = self._types.state
        number, version, digest, state, sealed, mac = row
        try:
            saved = SavedState(version, digest, state, sealed)
            good = hmac.compare_digest(mac, checkpoint_mac(self._file_keys, Head(number, hash_), saved))
            if good and (version, digest) == (form.version, form.digest):
                return self._codec.restore(number, saved, CHECKPOINT)
        except (JournalError, AttributeError, TypeError, struct.error):
            pass  # damaged: there is an earlier one, or the beginning
        return None

    def _page(self, query: str, after: int, limit: int = PAGE) -> list[Any]:
        with speaking(self.path):
            rows = list(self._connection.execute(query, (after, limit)))
        if not follow_on(after, (row[0] for row in rows)):
            raise damaged(self.path, f"what follows entry {after} is missing or has been changed")
        return rows

    def _rows(self, after: int, limit: int | None = None) -> Iterator[Any]:
        while limit is None or limit > 0:
            count = PAGE if limit is None else min(limit, PAGE)
            rows = self._page(_READ, after, count)
            for row in rows:
                if [type(value) for value in row] != _ROW_TYPES:
                    raise damaged(self.path, f"entry {row[0]} has been changed")
                yield row
            if len(rows) < count:
                return
            after = rows[-1][0]
            limit = None if limit is None else limit - count

    def _events_of(self, row: Sequence[Any], events: str) -> tuple[bytes, ...]:
        try:
            found = tuple(bytes(one) for one in _Events.decode(events))
        except (msgspec.MsgspecError, ValueError) as error:
            raise damaged(self.path, f"the events up to entry {row[0]} cannot be read") from error
        if len(found) != row[1] - 1:
            raise damaged(self.path, f"entry {row[0]} has been changed")
        return found

    def _entries(self, after: int) -> Iterator[Entry[InputT, EventT]]:
        for row in self._rows(after):
            last, count, utc_ns, boottime_ns, round_number, given, events, sealed = row
            number = last - count + 1
            if number > after:
                value: Any = self._codec.decode_input(last, given, sealed)
                yield Entry(number, utc_ns, boottime_ns, round_number, "input", value)
            texts = self._events_of(row, events)
            for value in self._codec.decode_events(last, texts, sealed, round_number):
                number += 1
                if number > after:
                    yield Entry(number, utc_ns, boottime_ns, round_number, "event", value)

    # -- format 1

    def _old_rows(self, after: int) -> Iterator[Any]:
        while rows := self._page(format_1.READ, after):
            for row in rows:
                if [type(value) for value in row] != [*format_1.ROW_TYPES]:
                    raise damaged(self.path, f"entry {row[0]} has been changed")
                yield row
            after = rows[-1][0]

    def _old_entries(self, after: int) -> Iterator[Entry[InputT, EventT]]:
        for row in self._old_rows(after):
            number, utc_ns, boottime_ns, round_number, _, kind, _ = row
            yield Entry(number, utc_ns, boottime_ns, round_number, kind, self._old.value(row))

    def _old_decisions(self, after: int) -> Iterator[Decision]:
        """From the input of the decision that holds the next entry."""
        with speaking(self.path):
            ((begins,),) = self._connection.execute(format_1.INPUT_OF, (after + 1,))
        held: list[Any] = []
        for row in self._old_rows((begins or 1) - 1):
            if row[5] == "input" and held:
                yield self._old_decision(held)
                held = []
            held.append(row)
        if held and held[-1][0] > after:
            yield self._old_decision(held)

    def _old_decision(self, rows: Sequence[Any]) -> Decision:
        try:
            given, *events = (format_1.public(row[6]) for row in rows)
        except msgspec.MsgspecError as error:
            raise damaged(self.path, f"entry {rows[0][0]} cannot be read") from error
        number, utc_ns, boottime_ns, round_number, _, _, _ = rows[-1]
        return Decision(number, utc_ns, boottime_ns, round_number, given, tuple(events))

    def _verify_old(self, head: Head, reached: Callable[[Head], None]) -> Head:
        while rows := self._page(format_1.CHAIN, head.number):
            for number, made in format_1.follow(rows, head):
                if made is None:
                    raise damaged(self.path, f"entry {number} is missing or has been changed")
                head = made
            reached(head)
        return head


def checkpoint_mac(keys: FileKeys, head: Head, saved: SavedState) -> bytes:
    """Binds a saved state to the place in the chain after which it was saved."""
    fixed = _MAC.pack(head.number, saved.version)
    parts = (head.hash, saved.digest, saved.state, saved.sealed)
    return keys.mac(fixed + b"".join(_MAC.pack(len(part), 0) + part for part in parts))
