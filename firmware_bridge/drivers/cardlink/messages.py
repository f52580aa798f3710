"""The typed bodies of cardlink frames: MessagePack arrays, field by field as in docs/cardlink.md, "Bodies".

New fields go at the end, with a default, so that either side may be the older one. A card is its number (1 to 52), 0 if
it was not recognised, 127 if it is foreign to the deck: always one byte, so that sizes reveal nothing.

`why_unreadable` says why a body cannot be read, without revealing a card: frame, field and limit. msgspec names the
place in the array and what it expected there, but not the value. The value is added if it is a number and the message
has no cards.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Annotated, Any, Final, TypeAlias

import msgspec

from firmware_bridge.drivers.cardlink.framing import VERSION

NOT_READ: Final = 0
FOREIGN: Final = 127
SALT_SIZE: Final = 32  # bytes

U8: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=0xFF)]
U32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
U63: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]
ReportNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=0xFFFF_FFFF)]
Ordinal: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=0xFF00)]  # leaves room for the cards in a set
SpokenVersions: TypeAlias = Annotated[list[U8], msgspec.Meta(min_length=1, max_length=8)]
SetSize: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=5)]
Salt: TypeAlias = Annotated[bytes, msgspec.Meta(min_length=SALT_SIZE, max_length=SALT_SIZE)]
ShownText: TypeAlias = Annotated[str, msgspec.Meta(max_length=32)]  # characters


class BadMessageError(ValueError):
    """Raised for a readable message that is not allowed. Its text reveals no card."""


class FrameKind(IntEnum):
    """The second byte of the header. The host sends those of `OF_HOST`."""

    HELLO = 0x01
    IDENTITY = 0x02
    HOST_PROOF = 0x03
    DEVICE_PROOF = 0x04
    RESUME = 0x05
    REJECT = 0x06
    SEALED_REJECT = 0x07
    ACK = 0x10
    REPORT = 0x20
    STATUS = 0x21
    COMMAND = 0x30
    ANSWER = 0x31
    CHALLENGE = 0x40
    ATTESTATION = 0x41


OF_HOST: Final = frozenset(
    {FrameKind.HELLO, FrameKind.HOST_PROOF, FrameKind.RESUME, FrameKind.ACK, FrameKind.COMMAND, FrameKind.CHALLENGE}
)

CLEAR: Final = frozenset(
    {FrameKind.HELLO, FrameKind.IDENTITY, FrameKind.HOST_PROOF, FrameKind.DEVICE_PROOF, FrameKind.REJECT}
)
"""The kinds sent in the clear. All others, including unknown ones, are sealed."""


class Body(msgspec.Struct, frozen=True, array_like=True):
    """The base class of all bodies."""


class HelloBody(Body, frozen=True):
    version: U8
    nonce: bytes


class HelloHead(Body, frozen=True):
    """The part of a hello that can be read from a host of any version."""

    version: U8


class AckBody(Body, frozen=True):
    """An acknowledgement; its report is in the header. `heard` is the highest counter taken from the device."""

    heard: U32


class StatusBody(Body, frozen=True):
    last_report: U32
    uptime_ms: U63
    shuffle: U32
    loaded: U32
    dispensed: U32
    remaining: U32
    sets_dispensed: U32
    tray_occupied: bool
    exit_held: bool
    moving: bool
    last_command: U63
    heard: U32
    faults: list[str] = []


class KeptReports(Body, frozen=True):
    """The reports of one boot that the device still has; none are left if `oldest` is `newest` + 1.

    For the running boot, `newest` is the last report so far.
    """

    boot: U32
    oldest: ReportNumber
    newest: U32


class IdentityBody(Body, frozen=True):
    version: U8
    kind: str
    unit: str
    maker: str
    model: str
    serial: str
    firmware: str
    firmware_digest: str
    capabilities: list[str]
    report_memory: U32
    simulated: bool
    deck_size: U32
    nonce: bytes
    kept: list[KeptReports]
    versions: SpokenVersions = msgspec.field(default_factory=lambda: [VERSION])


class ProofBody(Body, frozen=True):
    type: U8
    proof: bytes


class ResumeBody(Body, frozen=True):
    """The last report that the host holds durably; boot 0 if it holds none."""

    boot: U32
    number: U32


class RejectBody(Body, frozen=True):
    code: str
    text: str = ""


class AnswerBody(Body, frozen=True):
    command_id: U63
    done: bool
    reason: str = ""


class ChallengeBody(Body, frozen=True):
    """Asks for `length` bytes of the device's program, from `offset` on, hashed under the salt."""

    salt: Salt
    offset: U32
    length: U32


class AttestationBody(Body, frozen=True):
    """The answer to the challenge with this salt; `digest` is empty if the device has no such range."""

    salt: bytes
    digest: bytes


class ReportBody(msgspec.Struct, frozen=True, array_like=True):
    """The base class of reports: the type's tag, the device's uptime in milliseconds, then the fields."""

    uptime_ms: U63


class StartedReport(ReportBody, frozen=True, tag=1):
    cause: str


class DeckLoadedReport(ReportBody, frozen=True, tag=2):
    deck: U32
    count: U32  # 0: not counted
    shuffle: U32 = 0  # 0: not yet shuffled


class ShuffleStartedReport(ReportBody, frozen=True, tag=3):
    deck: U32


class ShuffleFinishedReport(ReportBody, frozen=True, tag=4):
    deck: U32
    shuffle: U32
    count: U32
    missing: U32 = 0
    extra: U32 = 0
    duplicate: U32 = 0
    unreadable: U32 = 0
    foreign: U32 = 0
    face_up: U32 = 0


class ShuffleAbortedReport(ReportBody, frozen=True, tag=5):
    deck: U32
    count: U32
    missing: U32 = 0
    extra: U32 = 0
    duplicate: U32 = 0
    unreadable: U32 = 0
    foreign: U32 = 0
    face_up: U32 = 0


class SetDispensedReport(ReportBody, frozen=True, tag=6):
    shuffle: U32
    ordinal: Ordinal
    remaining: U32
    deck: U32
    cards: list[U8]


class SetRemovedReport(ReportBody, frozen=True, tag=7):
    shuffle: U32
    ordinal: Ordinal


class CardDrawnReport(ReportBody, frozen=True, tag=8):
    shuffle: U32
    ordinal: Ordinal
    remaining: U32
    deck: U32
    card: U8
    face_up: bool | None = None


class CardsDrawnTogetherReport(ReportBody, frozen=True, tag=9):
    shuffle: U32
    ordinal: Ordinal
    remaining: U32
    deck: U32
    order_known: bool
    cards: list[U8]


class FaceUpFoundReport(ReportBody, frozen=True, tag=10):
    shuffle: U32
    ordinal: Ordinal
    deck: U32
    card: U8 = NOT_READ


class StubUnloadedReport(ReportBody, frozen=True, tag=11):
    deck: U32
    count: U32


class JammedReport(ReportBody, frozen=True, tag=12):
    zone: str


class JamClearedReport(ReportBody, frozen=True, tag=13):
    zone: str


class DoorMovedReport(ReportBody, frozen=True, tag=14):
    open: bool


class SelfTestFinishedReport(ReportBody, frozen=True, tag=15):
    passed: bool
    detail: str = ""


class PowerLowReport(ReportBody, frozen=True, tag=16):
    pass


class TamperedReport(ReportBody, frozen=True, tag=17):
    where: str


class ButtonPressedReport(ReportBody, frozen=True, tag=18):
    button: str


class ReportsLostReport(ReportBody, frozen=True, tag=19):
    """Sent in place of reports that are gone, under the number of the last of them."""

    boot: U32
    first: U32
    last: U32


class CheckFailedReport(ReportBody, frozen=True, tag=20):
    what: str


AnyReport: TypeAlias = (
    StartedReport
    | DeckLoadedReport
    | ShuffleStartedReport
    | ShuffleFinishedReport
    | ShuffleAbortedReport
    | SetDispensedReport
    | SetRemovedReport
    | CardDrawnReport
    | CardsDrawnTogetherReport
    | FaceUpFoundReport
    | StubUnloadedReport
    | JammedReport
    | JamClearedReport
    | DoorMovedReport
    | SelfTestFinishedReport
    | PowerLowReport
    | TamperedReport
    | ButtonPressedReport
    | ReportsLostReport
    | CheckFailedReport
)


class DispenseOrder(Body, frozen=True, tag=1):
    count: SetSize


class HoldExitOrder(Body, frozen=True, tag=2):
    pass


class ReleaseExitOrder(Body, frozen=True, tag=3):
    pass


class ShuffleOrder(Body, frozen=True, tag=4):
    pass


class UnloadStubOrder(Body, frozen=True, tag=5):
    pass


class ShowOrder(Body, frozen=True, tag=6):
    text: ShownText


class RunSelfTestOrder(Body, frozen=True, tag=7):
    pass


AnyOrder: TypeAlias = (
    DispenseOrder | HoldExitOrder | ReleaseExitOrder | ShuffleOrder | UnloadStubOrder | ShowOrder | RunSelfTestOrder
)


class CommandBody(Body, frozen=True):
    command_id: U63
    order: AnyOrder


class CommandHead(Body, frozen=True):
    """The part of a command that can be read even if a newer host sent the order."""

    command_id: U63


_encode = msgspec.msgpack.Encoder().encode


def encode_body(body: object) -> bytes:
    """Return the bytes of a body. An identity that names only version 1 leaves its last field out."""
    if isinstance(body, IdentityBody) and body.versions == [VERSION]:
        return _encode(msgspec.structs.astuple(body)[:-1])
    return _encode(body)


decode_hello_head = msgspec.msgpack.Decoder(HelloHead).decode
decode_hello = msgspec.msgpack.Decoder(HelloBody).decode
decode_identity = msgspec.msgpack.Decoder(IdentityBody).decode
decode_proof = msgspec.msgpack.Decoder(ProofBody).decode
decode_resume = msgspec.msgpack.Decoder(ResumeBody).decode
decode_reject = msgspec.msgpack.Decoder(RejectBody).decode
decode_report = msgspec.msgpack.Decoder(AnyReport).decode
decode_ack = msgspec.msgpack.Decoder(AckBody).decode
decode_status = msgspec.msgpack.Decoder(StatusBody).decode
decode_command_head = msgspec.msgpack.Decoder(CommandHead).decode
decode_command = msgspec.msgpack.Decoder(CommandBody).decode
decode_answer = msgspec.msgpack.Decoder(AnswerBody).decode
decode_challenge = msgspec.msgpack.Decoder(ChallengeBody).decode
decode_attestation = msgspec.msgpack.Decoder(AttestationBody).decode


_BODIES: Final[dict[int, type[Body]]] = {
    FrameKind.IDENTITY: IdentityBody,
    FrameKind.DEVICE_PROOF: ProofBody,
    FrameKind.REJECT: RejectBody,
    FrameKind.SEALED_REJECT: RejectBody,
    FrameKind.STATUS: StatusBody,
    FrameKind.ANSWER: AnswerBody,
    FrameKind.ATTESTATION: AttestationBody,
}
_REPORTS: Final = {report.__struct_config__.tag: report for report in ReportBody.__subclasses__()}
_OF_CARDS: Final = frozenset({"card", "cards"})  # fields; for a message that has one of these, no value is shown
_PLACE: Final = re.compile(r"(?P<expected>.*) - at `\$\[(?P<place>\d+)\](?P<inside>.*)`", re.DOTALL)
_SHORT: Final = re.compile(r"Expected `array` of at least length (?P<least>\d+), got (?P<got>\d+)")
_LIMIT: Final = {"<=": "at most", ">=": "at least"}


def why_unreadable(kind: int, body: bytes, error: Exception) -> str:
    """Return what is wrong with the body of a frame of this kind, whose decoding raised `error`."""
    frame = _frame_name(kind)
    if not isinstance(error, msgspec.ValidationError):
        return f"{frame}: the body is not a whole MessagePack array"
    try:
        array = msgspec.msgpack.decode(body)
    except (ValueError, TypeError, RecursionError):  # in fields that a newer device added
        return f"{frame}: a field is not valid"
    if not isinstance(array, list):
        return f"{frame}: the body is not an array"
    if kind != FrameKind.REPORT:
        body_type = _BODIES.get(kind)
        names = () if body_type is None else body_type.__struct_fields__
        return f"{frame}: {_field(str(error), names, array)}"
    report = _REPORTS.get(array[0]) if array and type(array[0]) is int else None
    if report is None:
        return f"{frame}: this version does not know its tag"
    return f"{frame} {_words(report)}: {_field(str(error), ('tag', *report.__struct_fields__), array)}"


def _frame_name(kind: int) -> str:
    return FrameKind(kind).name.lower().replace("_", " ")


def _words(struct: type[msgspec.Struct]) -> str:
    """Return the name as docs/cardlink.md writes it: CardDrawnReport is "card drawn"."""
    return re.sub(r"(?<!^)([A-Z])", r" \1", struct.__name__.removesuffix("Report")).lower()


def _field(error: str, names: tuple[str, ...], array: list[Any]) -> str:
    if short := _SHORT.fullmatch(error):
        return f"{short['got']} fields instead of at least {short['least']}"
    found = _PLACE.fullmatch(error)
    if found is None or int(found["place"]) >= len(names):
        return "a field is not valid"
    place = int(found["place"])
    value = array[place]
    tells = not found["inside"] and type(value) is int and not _OF_CARDS.intersection(names)
    is_value = f"is {value}" if tells else "is out of range"
    expected = found["expected"].replace("`", "").removeprefix("Expected ")
    kind, _, limit = expected.partition(" ")
    sign, _, bound = limit.partition(" ")
    if sign in _LIMIT and bound.lstrip("-").isdigit():
        return f"field {names[place]} {is_value}, {_LIMIT[sign]} {bound}"
    return f"field {names[place]} is not of type {kind.rstrip(',')}"
