"""Decisions and states as JSON, with their sealed items.

    type        in an event, as it is published and stored      in an input, and in a state
    Card        "KD"                                            "KD"
    Exposed     {"card", "salt": hex, "shuffle", "ordinal"}     the same
    Concealed   {"commitment": hex}                             the index of its item in `sealed`
    Evidence    not allowed                                     the index of its item in `sealed`

A concealed card of an event is an item too, so that it can be recovered; a card that occurs twice in a row is one item.
The types of inputs, events and states are passed in. A field may be any of the four types or None, also inside a tuple;
two of the four in one union cannot be distinguished and are refused by msgspec.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar, cast

import msgspec

from controller.journal import JournalError
from controller.journal.packing import Packing
from controller.journal.sealing import NONCE_BYTES, FileKeys, JournalKeys
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed
from firmware_bridge.messages import message

Kind: TypeAlias = Literal["input", "event"]
InputT = TypeVar("InputT")
EventT = TypeVar("EventT")

NAME: Final = b"name"
DECISION: Final = b"decision"
OPENING: Final = b"opening state"
CHECKPOINT: Final = b"checkpoint"
UNKNOWN_CARD: Final = Concealed(Card.numbered(1), 0, 0)
"""A placeholder for a card that a reader without the key does not know. Its face means nothing."""
_COMMITMENT: Final = re.compile(r"[0-9a-f]{64}")


class Moment(msgspec.Struct, frozen=True):
    """The time of a decision: nanoseconds since 1970 in UTC, and nanoseconds of the boot-time clock."""

    utc_ns: int
    boottime_ns: int


class Clock(Protocol):
    """The source of moments: the host's clocks, or virtual time."""

    def now(self) -> Moment:
        """Return the present moment."""


class StateForm(NamedTuple):
    """The form in which a state is saved. `upgrade(version, json object)` converts an earlier version's form to this
    one's.

    `digest` changes with every type that the state contains.
    """

    type: Any
    version: int
    digest: bytes
    upgrade: Callable[[int, dict[str, Any]], dict[str, Any]]


class Types(NamedTuple):
    """The types in the journal of a table."""

    input: Any
    event: Any
    state: StateForm
    words: bytes = b""
    """A text that resembles the texts to be written, for `packing.Packing`."""


class EncodedDecision(NamedTuple):
    """A decision as it is stored, in `body` and `sealed`. `input` is as packed, `events` are as published."""

    input: bytes
    events: list[bytes]
    body: bytes
    sealed: bytes


class PackedState(NamedTuple):
    """A state as it is stored, packed."""

    version: int
    digest: bytes
    state: bytes
    sealed: bytes


class JournalCodec(Generic[InputT, EventT]):
    """Encodes and decodes the rows of one file, `path`. One thread at a time may use it."""

    def __init__(self, types: Types, keys: JournalKeys, file_keys: FileKeys, packing: Packing,
                 random: Callable[[int], bytes], path: Path | None = None) -> None:  # fmt: skip
        self._of = "The journal" if path is None else f"The journal {path}"
        self._types = types
        self._packing = packing
        self._file_keys = file_keys
        self._random = random
        self._opened: tuple[int, bytes, bytes] | None = None
        self._work = _Work(keys)
        work = self._work
        self._inputs = msgspec.json.Encoder(enc_hook=work.encode_sealed)
        self._events = msgspec.json.Encoder(enc_hook=work.encode_public)
        self._input_decoder = msgspec.json.Decoder(types.input, dec_hook=work.decode_sealed)
        self._event_decoder = msgspec.json.Decoder(types.event, dec_hook=work.decode_public)

    def encode(self, number: int, given: InputT, events: Sequence[EventT], round_number: int) -> EncodedDecision:
        """Encode the decision whose last entry has that number. Raise TypeError or ValueError for values that a journal
        cannot hold.
        """
        self._begin(round_number)
        encode = self._events.encode
        written = self._inputs.encode(given)
        published = [encode(event) for event in events]
        body = self._packing.pack(b"".join((written, b"\n[", b",".join(published), b"]")))
        return EncodedDecision(written, published, body, self._seal(number, DECISION))

    def decode_input(self, number: int, text: bytes | str, sealed: bytes) -> InputT:
        """Return the input of the decision whose last entry is `number`. Raise `JournalError` (journal-damaged)."""
        with _reading(self._of, number):
            self._open(number, sealed, DECISION, 0)
            return cast("InputT", self._input_decoder.decode(text))

    def decode_events(self, number: int, texts: Sequence[bytes], sealed: bytes, round_number: int) -> list[EventT]:
        """Return the decision's events. Raise `JournalError` (journal-damaged), also if a commitment matches none of
        the cards.
        """
        with _reading(self._of, number):
            self._open(number, sealed, DECISION, round_number)
            return [self._event_decoder.decode(text) for text in texts]

    def save(self, number: int, state: object, of: bytes) -> PackedState:
        """Encode the state after the entry `number`. `of` is `OPENING` or `CHECKPOINT`."""
        self._begin(0)
        encoded = self._packing.pack(self._inputs.encode(state))
        form = self._types.state
        return PackedState(form.version, form.digest, encoded, self._seal(number, of))

    def restore(self, number: int, saved: PackedState, of: bytes) -> Any:
        """Return the state. Raise `JournalError`: journal-damaged, or journal-format for a later version."""
        form = self._types.state
        if saved.version > form.version:
            raise JournalError(
                "journal-format",
                message(
                    "The journal's state after entry {number} has version {version}; this program reads up to version "
                    "{newest}.",
                    number=number,
                    version=saved.version,
                    newest=form.version,
                ),
                message("Install the version of cardshoe that wrote it, or a later one."),
            )
        with _reading(self._of, number):
            self._open(number, saved.sealed, of, 0)
            plain = msgspec.json.decode(self._packing.unpack(saved.state))
            if saved.version < form.version:
                plain = form.upgrade(saved.version, plain)
            return msgspec.convert(plain, form.type, dec_hook=self._work.decode_sealed)

    def _begin(self, round_number: int) -> None:
        self._opened = None
        self._work.begin(round_number)

    def _seal(self, number: int, of: bytes) -> bytes:
        items = self._work.items
        return self._file_keys.seal(number, items, self._random(NONCE_BYTES), of) if items else b""

    def _open(self, number: int, sealed: bytes, of: bytes, round_number: int) -> None:
        """Open a row's sealed items, once for its input and its events, which are decoded one after the other."""
        row = number, sealed, of
        if row != self._opened:
            self._work.items = self._file_keys.open(number, sealed, of)
            self._opened = row
        self._work.aim(round_number)


class _Work:
    """The msgspec hooks, with the row that they work on: `items` are its sealed items."""

    def __init__(self, keys: JournalKeys) -> None:
        self._keys = keys
        self._round = 0
        self.items: list[Concealed | Evidence] = []
        self._index: dict[Concealed, int] = {}
        self._committed: dict[str, Concealed] | None = None

    def begin(self, round_number: int) -> None:
        """Start writing a row."""
        self._round = round_number
        self.items = []
        self._index = {}

    def aim(self, round_number: int) -> None:
        """Start reading a row whose items have been opened."""
        self._round = round_number
        self._committed = None

    def encode_sealed(self, value: Any) -> Any:
        if type(value) is Concealed:
            return self._item_of(value)
        if type(value) is Evidence:
            self.items.append(value)
            return len(self.items) - 1
        return encode_open(value, self._keys, self._round)

    def encode_public(self, value: Any) -> Any:
        if type(value) is Concealed:
            self._item_of(value)
            return {"commitment": self._keys.commitment(self._round, value)}
        return encode_open(value, self._keys, self._round)

    def decode_sealed(self, expected: Any, value: Any) -> Any:
        if expected is not Concealed and expected is not Evidence:
            return decode_open(expected, value)
        if type(value) is not int or not 0 <= value < len(self.items):
            raise ValueError(f"no {expected.__name__} as the journal writes it")
        item = self.items[value]
        if type(item) is not expected:
            raise ValueError(f"the sealed item is not of type {expected.__name__}")
        return item

    def decode_public(self, expected: Any, value: Any) -> Any:
        if expected is not Concealed:
            return decode_open(expected, value)
        if self._committed is None:
            cards = [item for item in self.items if type(item) is Concealed]
            self._committed = {self._keys.commitment(self._round, card): card for card in cards}
        try:
            return self._committed[value["commitment"]]
        except (KeyError, TypeError) as error:
            raise ValueError("the commitment belongs to none of the sealed cards") from error

    def _item_of(self, card: Concealed) -> int:
        index = self._index.get(card)
        if index is None:
            index = self._index[card] = len(self.items)
            self.items.append(card)
        return index


def encode_open(value: Any, keys: JournalKeys, round_number: int) -> Any:
    """Encode a value that anyone may read. Raise NotImplementedError for other types."""
    if isinstance(value, Card):
        return value.code
    if isinstance(value, Exposed):
        salt = keys.salt(round_number, value.shuffle, value.ordinal).hex()
        return {"card": value.card.code, "salt": salt, "shuffle": value.shuffle, "ordinal": value.ordinal}
    raise NotImplementedError(f"{type(value).__name__} has no place in a journal")


def decode_open(expected: Any, value: Any) -> Any:
    """Decode what `encode_open` wrote. Raise ValueError for anything else."""
    if expected is Card:
        if not isinstance(value, str):
            raise ValueError("a card is written as text: rank and suit, as in KD, 10C or AS")
        return Card.parse(value)
    if expected is not Exposed:
        raise NotImplementedError(f"{expected!r} has no place in a journal")
    try:
        return Exposed(Card.parse(value["card"]), int(value["shuffle"]), int(value["ordinal"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not an Exposed card as the journal writes it") from error


def decode_published(expected: Any, value: Any) -> Any:
    """Decode a field of a published event without a key: a face-down card is `UNKNOWN_CARD`.

    Raise ValueError unless it is represented by its commitment in hexadecimal.
    """
    if expected is not Concealed:
        return decode_open(expected, value)
    if type(value) is dict and value.keys() == {"commitment"} and _COMMITMENT.fullmatch(str(value["commitment"])):
        return UNKNOWN_CARD
    raise ValueError("a face-down card is a commitment")


class _reading:  # noqa: N801  # a context manager that is cheaper than a generator's
    def __init__(self, of: str, number: int) -> None:
        self._of, self._number = of, number

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (msgspec.MsgspecError, ValueError, RecursionError)):
            raise damaged_entry(self._of, self._number, str(error).rstrip(".")) from error


def damaged_entry(of: str, number: int, why: str) -> JournalError:
    """Return the error for an unreadable entry. `of` is the journal or its file, at the beginning of a sentence."""
    return JournalError(
        "journal-damaged",
        message("{of} cannot be read up to entry {number}: {why}.", of=of, number=number, why=why),
        message("Keep the file for an audit, and open it with the version of cardshoe that wrote it."),
    )
