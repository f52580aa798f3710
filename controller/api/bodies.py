"""Requests and answers of the local API, version 1. docs/api.md describes them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final, NamedTuple, Self, TypeVar

import msgspec

from controller.table.operations import AnyOperation
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed
from firmware_bridge.messages import AnyText, Message
from firmware_bridge.plain_text import LONGEST, is_plain, plain, whole_number

Body = TypeVar("Body", bound=msgspec.Struct)

MAX_ENTRY: Final = 2**63 - 1
_LONGEST_JOURNAL: Final = 64  # digits
_DIGITS: Final = frozenset("0123456789abcdef")


class EventId(NamedTuple):
    """The id of an event: `JOURNAL:ENTRY`. Without a journal, the table's present one is meant."""

    journal: str = ""
    entry: int = 0

    def __str__(self) -> str:
        return f"{self.journal}:{self.entry}" if self.journal else str(self.entry)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Read an id; None if it is invalid.

        >>> EventId.parse("0a1b:12"), EventId.parse("12"), EventId.parse(":12")
        (EventId(journal='0a1b', entry=12), EventId(journal='', entry=12), None)
        """
        journal, colon, number = text.rpartition(":")
        entry = whole_number(number, MAX_ENTRY)
        if entry is None or (colon and not (0 < len(journal) <= _LONGEST_JOURNAL and _DIGITS.issuperset(journal))):
            return None
        return cls(journal, entry)


BEGINNING: Final = EventId()


class OperationRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`POST /v1/operations`. `id` is the client's UUID: the same id again gets the same answer.

    `round` is the one that the person looks at. `person` and `pin`: who does it, if it is not the person whom the
    socket's peer represents; above the dealer's rank the PIN is always needed. `as_of`: the entry of the state from
    which the person's button was drawn; 0: not stated. `repeats`: the entry of the first request, if this is the
    second. `witness_pin`: the PIN of the person whom the operation names as `witness`, if the house asks for it.
    """

    id: str
    round: int
    operation: AnyOperation
    person: str = ""
    pin: str = ""
    as_of: int = 0
    repeats: int = 0
    witness_pin: str = ""


class RecalledCard(msgspec.Struct, frozen=True):
    """The card that left the device as number `ordinal`, with its place and face; an empty face was not read."""

    place: str
    ordinal: int
    card: str


class OperationAnswer(msgspec.Struct, frozen=True):
    """The answer to an operation. `entry`: the journal entry with it; 0: none. A refusal has a `code` and a sentence.

    `detail`: in English, the error in a request that cannot be read; it may quote the request. `recalled`: the cards
    that `recall_cards` asked for; nothing else in the API shows the face of such a card.
    """

    accepted: bool
    entry: int = 0
    code: str = ""
    sentence: AnyText = ""
    recalled: tuple[RecalledCard, ...] = ()
    detail: str = ""

    @classmethod
    def to_operation(cls, entry: int, code: str, said: AnyText) -> Self:
        """Return the table's answer. The operation was accepted if there is no code."""
        return cls(not code, entry, code, said)

    @classmethod
    def refused(cls, code: str, said: Message, detail: str = "") -> Self:
        """Return a refusal of a request that the table did not decide."""
        return cls(False, code=code, sentence=said, detail=detail)

    @classmethod
    def noted(cls, entry: int, said: Message, code: str = "") -> Self:
        """Return the answer to an operation that was accepted, with a remark about it."""
        return cls(True, entry, code, said)

    @property
    def explanation(self) -> str:
        """Return the sentence, with the detail if there is one.

        >>> OperationAnswer(False, sentence="The request cannot be read.", detail="name is missing").explanation
        'The request cannot be read. (name is missing)'
        """
        return f"{self.sentence} ({self.detail})" if self.detail else str(self.sentence)


class NotInJournal(msgspec.Struct, frozen=True):
    """The answer to `GET /v1/events` after an event that is not in the journal. `journal`, `entry`: the newest one."""

    code: str
    sentence: AnyText
    journal: str
    entry: int
    accepted: bool = False


def decode_operation_hook(expected: Any, value: Any) -> Any:
    """Decode a `Card` as people write it, and refuse what only a device can know (msgspec's `dec_hook`).

    Raises `ValueError` with a sentence, which msgspec passes on with the path of the field.
    """
    if expected is Card:
        return _card(value)
    if expected in (Concealed, Exposed, Evidence):
        raise ValueError(f"{expected.__name__} comes from a device and cannot be sent")
    raise NotImplementedError(f"{expected!r} has no place in an operation")


def _card(value: Any) -> Card:
    if not isinstance(value, str):
        raise ValueError("a card is written as text: rank and suit, as in KD, 10C or AS")
    return Card.parse(value)


def encode_hook(value: Any) -> Any:
    if isinstance(value, Card):
        return value.code
    raise NotImplementedError(f"{type(value).__name__} cannot be sent")


class EnrolmentRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`POST /v1/screen/enrolment`: a pit supervisor or above makes this browser the screen `name`.

    `person`: the id or the name.
    """

    id: str
    person: str
    pin: str
    name: str


class RemovalRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`DELETE /v1/screen/enrolment`: `person`, a pit supervisor or above, ends this browser's enrolment."""

    id: str
    person: str
    pin: str


class PreviewRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`POST /v1/preview`: returns the effect of an operation, which nobody signs and nothing records."""

    operation: AnyOperation


class SeenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`POST /v1/seen`: shows the screens of a simulated table what only eyes see there. Empty: nothing."""

    sentence: str


def decode_body(data: bytes, kind: type[Body]) -> Body:
    """Decode a body. Raises `ValueError` with a sentence fit for display, also for unsuitable text, with its field.

    People's text is shown in the journal, in every state and on screens; it is refused rather than silently changed.
    """
    try:
        asked = _DECODERS[kind](data)
    except msgspec.MsgspecError as error:
        raise ValueError(plain(str(error))) from None
    _refuse_twice_named(data)
    for field, text in _texts(asked, ""):
        if len(text) > LONGEST:
            raise ValueError(f"{field} has {len(text)} characters, and at most {LONGEST} are allowed")
        if not is_plain(text):
            raise ValueError(f"{field} contains a character that cannot be displayed, such as a control character")
    return asked  # type: ignore[no-any-return]  # the decoder's type is the kind's


def _refuse_twice_named(data: bytes) -> None:
    """Refuse repeated fields, which could mean one thing here and another to a program that checked the request before.

    Raises `ValueError`.
    """
    try:
        json.loads(data, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _each_once(fields: list[tuple[str, Any]]) -> None:
    counted = Counter(name for name, _ in fields)
    if len(counted) < len(fields):
        raise ValueError(f"the field `{plain(counted.most_common(1)[0][0])}` appears twice")


def _texts(value: object, place: str) -> Iterator[tuple[str, str]]:
    """Yield every string in the value, with the names of the fields that lead to it."""
    if isinstance(value, str) and not isinstance(value, Enum):
        yield place, value
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from _texts(getattr(value, name), f"{place}.{name}".lstrip("."))
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one, place)
    elif isinstance(value, dict):
        for one in value.items():
            yield from _texts(one, place)


_DECODERS: Final[dict[type[msgspec.Struct], Callable[[bytes], Any]]] = {
    kind: msgspec.json.Decoder(kind, dec_hook=decode_operation_hook).decode
    for kind in (OperationRequest, EnrolmentRequest, RemovalRequest, PreviewRequest, SeenRequest)
}


def decode_request(data: bytes) -> OperationRequest:
    """Decode a request as `decode_body` does."""
    return decode_body(data, OperationRequest)


decode_not_in_journal = msgspec.json.Decoder(NotInJournal).decode
decode_answer = msgspec.json.Decoder(OperationAnswer).decode
encode = msgspec.json.Encoder(enc_hook=encode_hook).encode
