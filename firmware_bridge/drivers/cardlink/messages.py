"""The typed bodies of cardlink frames: MessagePack arrays, field by field as in docs/cardlink.md, "Bodies".

New fields go at the end, with a default, so that either side may be the older one. A card is its number (1 to 52), 0 if
it was not recognised, 127 if it is foreign to the deck: always one byte, so that sizes reveal nothing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final, TypeAlias

import msgspec

NOT_READ: Final = 0
FOREIGN: Final = 127

U8: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=0xFF)]
U32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)]
U63: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=0x7FFF_FFFF_FFFF_FFFF)]
ReportNumber: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=0xFFFF_FFFF)]
Ordinal: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=0xFF00)]  # leaves room for the cards of a set
SetSize: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=5)]
ShownText: TypeAlias = Annotated[str, msgspec.Meta(max_length=32)]  # characters


class BadMessageError(ValueError):
    """Raised for a readable message that is not allowed. Its text reveals no card."""


class Kind(IntEnum):
    """The second byte of the header. The host sends hello, host proof, resume, ack and command."""

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


CLEAR: Final = frozenset({Kind.HELLO, Kind.IDENTITY, Kind.HOST_PROOF, Kind.DEVICE_PROOF, Kind.REJECT})
"""The kinds sent in the clear. All others, including unknown ones, are sealed."""


class Body(msgspec.Struct, frozen=True, array_like=True):
    """The base class of all bodies."""


class Hello(Body, frozen=True):
    version: U8
    nonce: bytes


class HelloHead(Body, frozen=True):
    """The part of a hello that can be read from a host of any version."""

    version: U8


class Ack(Body, frozen=True):
    """An acknowledgement; its report is in the header. `heard` is the highest counter taken from the device."""

    heard: U32


class Status(Body, frozen=True):
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


class Identity(Body, frozen=True):
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


class Proof(Body, frozen=True):
    type: U8
    proof: bytes


class Resume(Body, frozen=True):
    """The last report that the host holds durably; boot 0 if it holds none."""

    boot: U32
    number: U32


class Reject(Body, frozen=True):
    code: str
    text: str = ""


class Answer(Body, frozen=True):
    command_id: U63
    done: bool
    reason: str = ""


class Report(msgspec.Struct, frozen=True, array_like=True):
    """The base class of reports: the type's tag, the device's uptime in milliseconds, then the fields."""

    uptime_ms: U63


class Started(Report, frozen=True, tag=1):
    cause: str


class DeckLoaded(Report, frozen=True, tag=2):
    deck: U32
    count: U32  # 0: not counted
    shuffle: U32 = 0  # 0: not yet shuffled


class ShuffleStarted(Report, frozen=True, tag=3):
    deck: U32


class ShuffleFinished(Report, frozen=True, tag=4):
    deck: U32
    shuffle: U32
    count: U32
    missing: U32 = 0
    extra: U32 = 0
    duplicate: U32 = 0
    unreadable: U32 = 0
    foreign: U32 = 0
    face_up: U32 = 0


class ShuffleAborted(Report, frozen=True, tag=5):
    deck: U32
    count: U32
    missing: U32 = 0
    extra: U32 = 0
    duplicate: U32 = 0
    unreadable: U32 = 0
    foreign: U32 = 0
    face_up: U32 = 0


class SetDispensed(Report, frozen=True, tag=6):
    shuffle: U32
    ordinal: Ordinal
    remaining: U32
    deck: U32
    cards: list[U8]


class SetRemoved(Report, frozen=True, tag=7):
    shuffle: U32
    ordinal: Ordinal


class CardDrawn(Report, frozen=True, tag=8):
    shuffle: U32
    ordinal: Ordinal
    remaining: U32
    deck: U32
    card: U8
    face_up: bool | None = None


class CardsDrawnTogether(Report, frozen=True, tag=9):
    shuffle: U32
    ordinal: Ordinal
    remaining: U32
    deck: U32
    order_known: bool
    cards: list[U8]


class FaceUpFound(Report, frozen=True, tag=10):
    shuffle: U32
    ordinal: Ordinal
    deck: U32
    card: U8 = NOT_READ


class StubUnloaded(Report, frozen=True, tag=11):
    deck: U32
    count: U32


class Jammed(Report, frozen=True, tag=12):
    zone: str


class JamCleared(Report, frozen=True, tag=13):
    zone: str


class DoorMoved(Report, frozen=True, tag=14):
    open: bool


class SelfTestFinished(Report, frozen=True, tag=15):
    passed: bool
    detail: str = ""


class PowerLow(Report, frozen=True, tag=16):
    pass


class Tampered(Report, frozen=True, tag=17):
    where: str


class ButtonPressed(Report, frozen=True, tag=18):
    button: str


class ReportsLost(Report, frozen=True, tag=19):
    """Sent in place of reports that are gone, under the number of the last of them."""

    boot: U32
    first: U32
    last: U32


class CheckFailed(Report, frozen=True, tag=20):
    what: str


AnyReport: TypeAlias = (
    Started
    | DeckLoaded
    | ShuffleStarted
    | ShuffleFinished
    | ShuffleAborted
    | SetDispensed
    | SetRemoved
    | CardDrawn
    | CardsDrawnTogether
    | FaceUpFound
    | StubUnloaded
    | Jammed
    | JamCleared
    | DoorMoved
    | SelfTestFinished
    | PowerLow
    | Tampered
    | ButtonPressed
    | ReportsLost
    | CheckFailed
)


class Dispense(Body, frozen=True, tag=1):
    count: SetSize


class HoldExit(Body, frozen=True, tag=2):
    pass


class ReleaseExit(Body, frozen=True, tag=3):
    pass


class Shuffle(Body, frozen=True, tag=4):
    pass


class UnloadStub(Body, frozen=True, tag=5):
    pass


class Show(Body, frozen=True, tag=6):
    text: ShownText


class RunSelfTest(Body, frozen=True, tag=7):
    pass


AnyOrder: TypeAlias = Dispense | HoldExit | ReleaseExit | Shuffle | UnloadStub | Show | RunSelfTest


class CommandBody(Body, frozen=True):
    command_id: U63
    order: AnyOrder


class CommandHead(Body, frozen=True):
    """The part of a command that can be read even if a newer host sent the order."""

    command_id: U63


encode_body = msgspec.msgpack.Encoder().encode
decode_hello_head = msgspec.msgpack.Decoder(HelloHead).decode
decode_hello = msgspec.msgpack.Decoder(Hello).decode
decode_identity = msgspec.msgpack.Decoder(Identity).decode
decode_proof = msgspec.msgpack.Decoder(Proof).decode
decode_resume = msgspec.msgpack.Decoder(Resume).decode
decode_reject = msgspec.msgpack.Decoder(Reject).decode
decode_report = msgspec.msgpack.Decoder(AnyReport).decode
decode_ack = msgspec.msgpack.Decoder(Ack).decode
decode_status = msgspec.msgpack.Decoder(Status).decode
decode_command_head = msgspec.msgpack.Decoder(CommandHead).decode
decode_command = msgspec.msgpack.Decoder(CommandBody).decode
decode_answer = msgspec.msgpack.Decoder(Answer).decode
