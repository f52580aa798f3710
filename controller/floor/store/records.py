"""Reads a message from the broker, which is a record of a journal or something else."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from controller.floor.topics import TablePlace, TopicSubject, read_topic
from controller.journal.codec import decode_published
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Record
from controller.table.events import AnyEvent, Event

KNOWN: Final = frozenset(one.__struct_config__.tag for one in Event.__subclasses__())
_NAME: Final = re.compile(r"[a-z][a-z_]{0,63}")


def check_event(name: str, event: msgspec.Raw) -> None:
    """Raise ValueError or `msgspec.MsgspecError` unless a table publishes such an event, by the types of the journal's
    events without the sealed fields.

    An event of a later version has an unknown name; no view reads it.
    """
    if name in KNOWN:
        _EVENT.decode(event)
    elif not _NAME.fullmatch(name):
        raise ValueError("an event in it has an invalid name")


_EVENT: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(AnyEvent, dec_hook=decode_published)


LONGEST: Final = 1024 * 1024  # bytes of a record; those of a table have a tenth of that
MOST_EVENTS: Final = 5000  # events of one decision
DIGEST: Final = 16  # bytes
_HASH: Final = 32  # bytes; a key has as many
_SIGNATURE: Final = 64  # bytes
_LONGEST_NAME: Final = 128  # characters of an id
_MOST: Final = 2**63 - 1
_MOST_ROUND: Final = 2**31 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RECORD: Final = msgspec.json.Decoder(Record)


class Whose(NamedTuple):
    """A journal, identified by the table under whose topics it arrives; the table may move to another pit."""

    site: str
    table: str
    journal: str


class Arrived(NamedTuple):
    """A record with the topic under which it arrived. `doubt` says why no table sends it, as the end of a sentence."""

    topic: str
    place: TablePlace
    record: Record
    doubt: str = ""

    @property
    def whose(self) -> Whose:
        return Whose(self.place.site, self.place.table, self.record.journal)


class Unreadable(NamedTuple):
    """A message that is not a record. `why` completes the sentence that reports it."""

    topic: str
    why: str


class LeftOut(NamedTuple):
    """The number of messages of a topic that were dropped unread because their table sends more than a table can."""

    topic: str
    messages: int


Heard: TypeAlias = Arrived | Unreadable | LeftOut


class _Named(msgspec.Struct, frozen=True):
    event: str


_NAMED: Final = msgspec.json.Decoder(_Named)


def read_message(topic: str, payload: bytes) -> Arrived | Unreadable:
    """Read a message. Never raises, since any client with the right to publish may send anything."""
    found = read_topic(topic)
    if found is None or found[1] is not TopicSubject.JOURNAL:
        return Unreadable(topic, "its topic is not that of a journal")
    if len(payload) > LONGEST:
        return Unreadable(topic, f"it has {len(payload):,} bytes, and the limit is {LONGEST:,}")
    try:
        record = _RECORD.decode(payload)
        _check(record)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return Unreadable(topic, str(error))
    return Arrived(topic, found[0], record, _doubt(record))


def _doubt(record: Record) -> str:
    """Return why no table publishes these events, or ""."""
    for event in record.events if isinstance(record, DecisionMade) else ():
        try:
            check_event(name_of(event), event)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            return str(error)
    return ""


def name_of(event: msgspec.Raw) -> str:
    """Return the event's name. Raise `msgspec.MsgspecError` if it is not an event."""
    return _NAMED.decode(event).event


def text_of(event: msgspec.Raw) -> str:
    """Return the event as text. Raise ValueError if it is not valid text."""
    return bytes(event).decode()


def at(utc_ns: int) -> datetime:
    """Return the time, rounded down to a microsecond."""
    return _EPOCH + timedelta(microseconds=utc_ns // 1000)


def digest_of(record: Record) -> bytes:
    """Return a digest of all known fields, by name: a later version may have more fields."""
    names = _FIELDS[type(record)]
    said = msgspec.json.encode([getattr(record, name) for name in names])
    return hashlib.sha256(said).digest()[:DIGEST]


_FIELDS: Final = {
    DecisionMade: ("file", "first", "last", "hash", "before", "utc_ns", "round", "events"),
    HeadSigned: ("file", "number", "hash", "utc_ns", "signature", "key"),
    FileBegan: ("file", "number", "hash", "utc_ns", "table", "simulated", "key", "endorsement", "previous_file",
                "previous_hash"),
}  # fmt: skip


def _check(record: Record) -> None:
    """Raise ValueError or `msgspec.MsgspecError` for values that a journal never writes."""
    _name(record.journal)
    _name(record.file)
    _bytes(record.hash, _HASH)
    if not -_MOST <= record.utc_ns <= _MOST:
        raise ValueError("its time is not valid")
    if isinstance(record, DecisionMade):
        if not 1 <= record.first <= record.last <= _MOST or len(record.events) != record.last - record.first:
            raise ValueError("its entries are not numbered as a journal numbers them")
        if len(record.events) > MOST_EVENTS:
            raise ValueError(f"it has more than {MOST_EVENTS:,} events")
        if not 0 <= record.round <= _MOST_ROUND:
            raise ValueError("its round is not valid")
        _bytes(record.before, _HASH)
        for event in record.events:
            name_of(event)
            text_of(event)
        return
    if not 0 <= record.number <= _MOST:
        raise ValueError("its entry is not valid")
    _bytes(record.key, _HASH)
    if isinstance(record, HeadSigned):
        _bytes(record.signature, _SIGNATURE)
        return
    _bytes(record.previous_hash, _HASH)
    if record.endorsement:
        _bytes(record.endorsement, _SIGNATURE)
    if len(record.previous_file) > _LONGEST_NAME or len(record.table) > _LONGEST_NAME:
        raise ValueError("a name in it is too long")


def _name(value: str) -> None:
    if not value or len(value) > _LONGEST_NAME or not value.isprintable():
        raise ValueError("the id of its journal or file is not valid")


def _bytes(digits: str, length: int) -> None:
    if len(digits) != 2 * length or len(bytes.fromhex(digits)) != length:
        raise ValueError(f"{length} bytes in hexadecimal are expected")


def json_of(record: Record) -> str:
    """Return the record as JSON, as it is kept when it contradicts another."""
    return msgspec.json.encode(record).decode()
