"""The format of a capture: complete lines of JSON, so that a truncated file can be read up to the cut.

    {"is":"capture","format":1,...}                   a header: a recording begins, or continues in another file
    {"is":"opened","ms":0}                            the connection to the device is open
    {"is":"from_device","ms":12,"hex":"0204"}         bytes received, `ms` after the previous line
    {"is":"sealed","number":1,"sealed":"base64"}      any of these except a header, sealed

The sealed text is the record's length (u32, big-endian), its JSON, and zeros up to one of `SIZES`: otherwise the length
of a line would tell a ten from a nine. The line of the header is associated data. See docs/captures.md, "The format".
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Annotated, Any, Final, Protocol, TypeAlias

import msgspec

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.commands import AnyCommand
from firmware_bridge.errors import BridgeError

FORMAT: Final = 1
SIZES: Final = (1024, 16384)
"""The sizes of a sealed record: the first that holds it, or a multiple of the last. The first holds about 480 bytes
from a device (15 cards): every record that is not a backlog."""

LONGEST_MS: Final = 2**40  # between two records: 34 years; a longer time means that the line is damaged
_LENGTH: Final = struct.Struct(">I")


class CaptureError(BridgeError):
    """Raised for a file that is not a capture, or that cannot be read or written."""

    code = "capture-file"


class CaptureKeyError(CaptureError):
    """Raised when the capture was sealed with another key."""

    code = "capture-key"


class CaptureOrigin(StrEnum):
    """The source of the recorded bytes."""

    SIMULATED = "simulated"
    HARDWARE = "hardware"
    BY_HAND = "by_hand"


class CaptureLine(msgspec.Struct, frozen=True, tag_field="is"):
    """The base class of all lines."""


class CaptureHeader(CaptureLine, frozen=True, tag="capture", omit_defaults=True):
    """The header of the records up to the next header.

    `id` belongs to this header alone; `continues` is the id of the header before it when a recording continues in
    another file. `url` holds no secrets (no device URL does). `date` is UTC in ISO 8601. `device` is the identity as
    far as it was known when the line was written. `note` is for people.
    """

    format: int
    id: str
    date: str
    url: str
    driver: str
    origin: CaptureOrigin
    sealed: bool
    simulated: bool = False
    continues: str = ""
    device: DeviceIdentity | None = None
    note: str = ""


class Record(CaptureLine, frozen=True):
    """The base class of all events. `ms` is the time since the record before, in whole milliseconds."""

    ms: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_MS)]


class Opened(Record, frozen=True, tag="opened"):
    """The connection to the device is open; a link begins."""


class DriverMade(Record, frozen=True, tag="driver_made"):
    """The values the link's driver was made from: its nonce in hexadecimal, and the last report in the journal."""

    nonce: str
    boot: int
    number: int

    def __post_init__(self) -> None:
        bytes.fromhex(self.nonce)  # ValueError: the line is damaged


class LinkKeys(Record, frozen=True, tag="link_keys"):
    """The keys of the link's sealed frames, in hexadecimal. Anyone who has them can read and forge its frames."""

    host: str
    device: str

    def __post_init__(self) -> None:
        bytes.fromhex(self.host), bytes.fromhex(self.device)  # ValueError: the line is damaged


class Ready(Record, frozen=True, tag="ready"):
    """The device passed all checks; the link is ready."""

    device: DeviceIdentity


class _Bytes(Record, frozen=True):
    hex: str

    @property
    def data(self) -> bytes:
        return bytes.fromhex(self.hex)

    def __post_init__(self) -> None:
        bytes.fromhex(self.hex)  # ValueError: the line is damaged


class FromDevice(_Bytes, frozen=True, tag="from_device"):
    """Bytes received from the device, in the pieces in which they arrived."""


class ToDevice(_Bytes, frozen=True, tag="to_device"):
    """Bytes passed to the transport."""


class Commanded(Record, frozen=True, tag="commanded"):
    """A command passed to the driver."""

    command_id: int
    command: AnyCommand


class Lost(Record, frozen=True, tag="lost"):
    """The link has ended. With `by_driver` the driver ended it, and must end it again in a replay."""

    code: str
    sentence: str
    refused: bool = False
    by_driver: bool = False


class Sealed(CaptureLine, frozen=True, tag="sealed"):
    """A sealed record. `number` counts from 1 after each header."""

    number: int
    sealed: bytes


AnyRecord: TypeAlias = Opened | DriverMade | LinkKeys | Ready | FromDevice | ToDevice | Commanded | Lost
AnyLine: TypeAlias = CaptureHeader | AnyRecord | Sealed


class Cipher(Protocol):
    """Seals and opens the records after one header. Each number is used once."""

    def seal(self, number: int, plain: bytes) -> bytes: ...

    def open(self, number: int, sealed: bytes) -> bytes:
        """Open a record. Raise ValueError unless `seal` made it under this number."""


class MakeCipher(Protocol):
    """Makes the cipher of a header from its id and its whole line, which is the associated data of every record."""

    def __call__(self, capture_id: str, header_line: bytes) -> Cipher: ...


_ENCODER: Final = msgspec.json.Encoder()
_LINES: Final[msgspec.json.Decoder[AnyLine]] = msgspec.json.Decoder(AnyLine)
_RECORDS: Final[msgspec.json.Decoder[AnyRecord]] = msgspec.json.Decoder(AnyRecord)


def encode_line(line: CaptureLine) -> bytes:
    """Encode a line, with its line end."""
    return _ENCODER.encode(line) + b"\n"


def decode_line(data: bytes) -> AnyLine:
    """Decode a line. Raise ValueError unless it is a whole line of this format."""
    return _LINES.decode(data)


def format_of(data: bytes) -> int | None:
    """Return the format number in a first line, or None if the file is not a capture."""
    try:
        found: Any = msgspec.json.decode(data)
    except ValueError:
        return None
    if isinstance(found, dict) and found.get("is") == "capture" and isinstance(found.get("format"), int):
        return int(found["format"])
    return None


def seal_record(record: Record, number: int, cipher: Cipher) -> Sealed:
    plain = _ENCODER.encode(record)
    padded = _LENGTH.pack(len(plain)) + plain
    block = next((size for size in SIZES if len(padded) <= size), SIZES[-1])
    return Sealed(number, cipher.seal(number, padded + bytes(-len(padded) % block)))


def open_record(line: Sealed, cipher: Cipher) -> AnyRecord:
    """Open and decode a record. Raise ValueError if it cannot be opened or does not contain a record."""
    padded = cipher.open(line.number, line.sealed)
    (length,) = _LENGTH.unpack_from(padded)
    return _RECORDS.decode(padded[_LENGTH.size : _LENGTH.size + length])
