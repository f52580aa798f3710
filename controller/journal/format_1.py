"""Format 1 of a journal, which is read and never written: a row an entry, what is concealed sealed within its JSON.

hash of an entry  = SHA-256(number u64 | utc i64 | boottime i64 | round i64 | lengths of start, kind, body, each u32
                            | previous hash | start | kind | body)
before the first  = SHA-256(format u32 | created i64 | simulated u8 | last number of the file before, u64
                            | lengths of id, table, key check, each u32
                            | last hash of the file before | id | table | key check)

Concealed   {"sealed": base64, "commitment": hex}
Evidence    {"sealed": base64}
sealed      index u32 | AES-GCM(nonce = entry number u64 | index u32)
"""

from __future__ import annotations

import binascii
import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from controller.journal.chain import Head
from controller.journal.codec import damaged_entry, decode_open
from controller.journal.sealing import JournalKeys, OldSealer
from firmware_bridge.cards import Concealed, Evidence

FORMAT: Final = 1

SCHEMA: Final = (
    """CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    format INTEGER NOT NULL,
    id TEXT NOT NULL,
    created_utc_ns INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    key_check BLOB NOT NULL,
    previous_number INTEGER NOT NULL,
    previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32)
) STRICT""",
    """CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    utc_ns INTEGER NOT NULL,
    boottime_ns INTEGER NOT NULL,
    start TEXT NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('input', 'event')),
    body TEXT NOT NULL,
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT""",
    """CREATE TRIGGER journal_once BEFORE INSERT ON journal WHEN EXISTS (SELECT 1 FROM journal)
BEGIN SELECT RAISE(ABORT, 'a journal has one name'); END""",
    *(
        f"""CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"""
        for table in ("journal", "entry")
        for verb in ("UPDATE", "DELETE")
    ),
)

CHAIN: Final = """SELECT number, utc_ns, boottime_ns, round, CAST(start AS BLOB), CAST(kind AS BLOB),
CAST(body AS BLOB), previous, hash FROM entry WHERE number > ? ORDER BY number LIMIT ?"""
READ: Final = """SELECT number, utc_ns, boottime_ns, round, start, kind, body
FROM entry WHERE number > ? ORDER BY number LIMIT ?"""
# The input of the decision that holds an entry.
INPUT_OF: Final = "SELECT max(number) FROM entry WHERE kind = 'input' AND number <= ?"
ROW_TYPES: Final = [int, int, int, int, str, str, str]
_ENTRY: Final = struct.Struct(">QqqqIII")
_GENESIS: Final = struct.Struct(">IqBQIII")


def genesis(name: Sequence[Any]) -> bytes:
    """The hash before the first entry, from the columns of the file's name."""
    _, id_text, created, table_text, simulated, key_check, number, hash_ = name[1:]
    id_, table = id_text.encode(), table_text.encode()
    fixed = _GENESIS.pack(FORMAT, created, simulated, number, len(id_), len(table), len(key_check))
    return hashlib.sha256(b"".join((fixed, hash_, id_, table, key_check))).digest()


def follow(rows: Iterable[Sequence[Any]], before: Head) -> Iterator[tuple[int, Head | None]]:
    """The rows of `CHAIN` after that head: each number with the head that it makes, None where it does not fit."""
    number, previous = before.number, before.hash
    for row in rows:
        number += 1
        found, utc_ns, boottime_ns, round_number, start, kind, body, stored_previous, stored = row
        try:
            fixed = _ENTRY.pack(found, utc_ns, boottime_ns, round_number, len(start), len(kind), len(body))
            made = hashlib.sha256(b"".join((fixed, previous, start, kind, body))).digest()
        except (TypeError, struct.error):
            made = b""
        if (found, stored_previous, stored) != (number, previous, made):
            yield number, None
            return
        previous = stored
        yield number, Head(number, previous)


class Decoder:
    """Reads the values of entries."""

    def __init__(self, input_type: Any, event_type: Any, keys: JournalKeys) -> None:
        self._keys = keys
        self._stamp: tuple[int, int, str] | None = None
        self._sealer: OldSealer | None = None
        self._number = 0
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {
            "input": msgspec.json.Decoder(input_type, dec_hook=self._decode),
            "event": msgspec.json.Decoder(event_type, dec_hook=self._decode),
        }

    def value(self, row: Sequence[Any]) -> Any:
        """Of a row of `READ`. Raises `JournalError` (journal-damaged)."""
        number, utc_ns, boottime_ns, _, start, kind, body = row
        stamp = utc_ns, boottime_ns, start
        if stamp != self._stamp:
            self._stamp, self._sealer = stamp, None
        self._number = number
        try:
            return self._decoders[kind].decode(body)
        except (KeyError, msgspec.MsgspecError, RecursionError) as error:
            raise damaged_entry(number, str(error)) from error

    def _decode(self, expected: Any, value: Any) -> Any:
        if expected is not Concealed and expected is not Evidence:
            return decode_open(expected, value)
        assert self._stamp is not None
        if self._sealer is None:
            self._sealer = self._keys.old_sealer(*self._stamp)
        try:
            sealed = binascii.a2b_base64(value["sealed"], strict_mode=True)
        except (KeyError, TypeError, AttributeError, binascii.Error) as error:
            raise ValueError(f"no {expected.__name__} as the journal writes it") from error
        if expected is Concealed:
            return self._sealer.open_card(self._number, sealed)
        return self._sealer.open_evidence(self._number, sealed)


def public(body: str) -> bytes:
    """An entry without what is sealed in it. Raises `msgspec.MsgspecError`."""
    return msgspec.json.encode(_unsealed(msgspec.json.decode(body)))


def _unsealed(value: Any) -> Any:
    if isinstance(value, list):
        return [_unsealed(one) for one in value]
    if not isinstance(value, dict):
        return value
    if "sealed" in value:
        return {"commitment": value["commitment"]} if "commitment" in value else None
    return {name: _unsealed(one) for name, one in value.items()}
