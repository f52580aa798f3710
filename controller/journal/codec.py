"""Entries of the journal as JSON, and what of an event may be published.

    type        in the journal                                  published
    Card        "KD"                                            "KD"
    Concealed   {"sealed": base64, "commitment": hex}           {"commitment": hex}
    Exposed     {"card", "salt": hex, "shuffle", "ordinal"}     the same
    Evidence    {"sealed": base64}                              null

The types of inputs and events are handed in. A field may be any of the four types or None, also inside a tuple; two
of the four in one union cannot be distinguished and are refused by msgspec.
"""

from __future__ import annotations

import binascii
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar, cast

import msgspec

from controller.journal import JournalError
from controller.journal.sealing import JournalKeys, Sealer
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed

Kind: TypeAlias = Literal["input", "event"]

InputT = TypeVar("InputT")
EventT = TypeVar("EventT")


class Moment(msgspec.Struct, frozen=True):
    """When something was decided: nanoseconds since 1970 in UTC, and nanoseconds of the boot-time clock."""

    utc_ns: int
    boottime_ns: int


class Clock(Protocol):
    """Where moments come from: the host, or virtual time."""

    def now(self) -> Moment:
        """The moment of asking."""


class JournalCodec(Generic[InputT, EventT]):
    """Encodes and decodes the entries of one journal.

    One thread at a time may use the journal's side (`aim`, `encode`, `decode`); `public_encode` keeps its own state and
    may be used by one other thread at the same time.
    """

    def __init__(self, input_type: Any, event_type: Any, keys: JournalKeys) -> None:
        self._sealing = _Sealing(keys)
        self._publishing = _Publishing(keys)
        self._encoder = msgspec.json.Encoder(enc_hook=self._sealing.encode)
        self._public_encoder = msgspec.json.Encoder(enc_hook=self._publishing.encode)
        decode = self._sealing.decode
        self._decoders: Final[dict[str, msgspec.json.Decoder[Any]]] = {
            "input": msgspec.json.Decoder(input_type, dec_hook=decode),
            "event": msgspec.json.Decoder(event_type, dec_hook=decode),
        }

    def aim(self, round_number: int, moment: Moment, start: str) -> None:
        """What follows belongs to an append of this round, at this moment, in this start of the host."""
        self._sealing.aim(round_number, moment, start)

    def encode(self, number: int, value: object) -> bytes:
        """The JSON of entry `number`. Raises TypeError or ValueError for what has no place in a journal."""
        self._sealing.begin(number)
        return self._encoder.encode(value)

    def decode(self, number: int, kind: str, body: str) -> InputT | EventT:
        """The value of entry `number`. Raises `JournalError` (journal-damaged) when it cannot be read."""
        self._sealing.begin(number)
        try:
            return cast("InputT | EventT", self._decoders[kind].decode(body))
        except (KeyError, msgspec.MsgspecError) as error:
            raise JournalError(
                "journal-damaged",
                f"Entry {number} of the journal cannot be read: {error}.",
                "Keep the file for an audit, and open it with the version of cardshoe that wrote it.",
            ) from error

    def public_encode(self, event: EventT, round: int) -> bytes:  # noqa: A002  # the journal's word
        """The JSON of an event of that round, for anyone: no concealed face, sealed or not, and no evidence."""
        self._publishing.round = round
        return self._public_encoder.encode(event)


class _Sealing:
    """The journal's hooks, and the entry that they are at work on."""

    def __init__(self, keys: JournalKeys) -> None:
        self._keys = keys
        self._stamp: tuple[Moment, str] = (Moment(0, 0), "")
        self._sealer: Sealer | None = None
        self._round = self._number = self._index = 0

    def aim(self, round_number: int, moment: Moment, start: str) -> None:
        self._round = round_number
        stamp = (moment, start)
        if stamp != self._stamp:
            self._stamp, self._sealer = stamp, None

    def begin(self, number: int) -> None:
        self._number, self._index = number, 0

    def encode(self, value: Any) -> Any:
        if isinstance(value, Concealed):
            sealed = self._current().seal_card(self._number, self._next_index(), value)
            return {"sealed": _base64(sealed), "commitment": self._keys.commitment(self._round, value)}
        if isinstance(value, Evidence):
            sealed = self._current().seal_evidence(self._number, self._next_index(), value)
            return {"sealed": _base64(sealed)}
        return _encode_open(value, self._keys, self._round)

    def decode(self, expected: Any, value: Any) -> Any:
        if expected is Card:
            return Card.parse(_text(value))
        try:
            if expected is Concealed:
                return self._current().open_card(self._number, _unbase64(value["sealed"]))
            if expected is Evidence:
                return self._current().open_evidence(self._number, _unbase64(value["sealed"]))
            if expected is Exposed:
                return Exposed(Card.parse(value["card"]), int(value["shuffle"]), int(value["ordinal"]))
        except (KeyError, TypeError, AttributeError, binascii.Error) as error:
            raise ValueError(f"no {expected.__name__} as the journal writes it") from error
        raise NotImplementedError(f"{expected!r} has no place in a journal")

    def _current(self) -> Sealer:
        if self._sealer is None:
            moment, start = self._stamp
            self._sealer = self._keys.sealer(moment.utc_ns, moment.boottime_ns, start)
        return self._sealer

    def _next_index(self) -> int:
        index = self._index
        self._index = index + 1
        return index


class _Publishing:
    """The hooks for what anyone may read."""

    def __init__(self, keys: JournalKeys) -> None:
        self._keys = keys
        self.round = 0

    def encode(self, value: Any) -> Any:
        if isinstance(value, Concealed):
            return {"commitment": self._keys.commitment(self.round, value)}
        if isinstance(value, Evidence):
            return None
        return _encode_open(value, self._keys, self.round)


def _encode_open(value: Any, keys: JournalKeys, round_number: int) -> Any:
    if isinstance(value, Card):
        return value.code
    if isinstance(value, Exposed):
        salt = keys.salt(round_number, value.shuffle, value.ordinal).hex()
        return {"card": value.card.code, "salt": salt, "shuffle": value.shuffle, "ordinal": value.ordinal}
    raise NotImplementedError(f"{type(value).__name__} has no place in a journal")


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _unbase64(text: str) -> bytes:
    return binascii.a2b_base64(text, strict_mode=True)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a card is written as text: rank and suit, as in KD, 10C or AS")
    return value
