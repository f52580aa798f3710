"""A host for tests, written from docs/cardlink.md: one link, no journal, no timers. The test controls what it sends."""

from __future__ import annotations

import hmac
import struct
import zlib
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from tests.c_device.conversation import CDevice

KEY: Final = bytes(range(100, 132))
HELLO, IDENTITY, HOST_PROOF, DEVICE_PROOF, RESUME, REJECT, SEALED_REJECT = range(1, 8)
ACK, REPORT, STATUS, COMMAND, ANSWER = 0x10, 0x20, 0x21, 0x30, 0x31
CHALLENGE, ATTESTATION = 0x40, 0x41
CLEAR: Final = {HELLO, IDENTITY, HOST_PROOF, DEVICE_PROOF, REJECT}
STATUS_FIELDS: Final = (
    *("last_report", "uptime", "shuffle", "loaded", "dispensed", "remaining", "sets", "tray", "exit_held", "moving"),
    *("last_command", "heard", "faults"),
)


def slip(frame: bytes) -> bytes:
    frame += zlib.crc32(frame).to_bytes(4, "little")
    return b"\xc0" + frame.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


def unslip(data: bytes) -> list[bytes]:
    frames = [piece.replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb") for piece in data.split(b"\xc0")]
    for frame in filter(None, frames):
        assert zlib.crc32(frame) == 0x2144DF1C
    return [frame[:-4] for frame in frames if frame]


def header(kind: int, boot: int = 0, number: int = 0, flags: int = 0, version: int = 1) -> bytes:
    return struct.pack("<BBBII", version, kind, flags, boot, number)


def part(text: bytes) -> bytes:
    return len(text).to_bytes(2, "little") + text


@dataclass(frozen=True)
class Frame:
    kind: int
    boot: int
    number: int
    counter: int  # 0 in a clear frame
    body: Any

    @property
    def status(self) -> dict[str, Any]:
        assert self.kind == STATUS
        return dict(zip(STATUS_FIELDS, self.body, strict=True))


class SmallHost:
    """One attempt to link, identified by its nonce."""

    def __init__(self, device: CDevice, nonce: bytes = b"nonce of host 01", key: bytes = KEY) -> None:
        self.device = device
        self.key = key
        self.nonce = nonce
        self.hello = header(HELLO) + msgspec.msgpack.encode([1, nonce])
        self.identity = b""
        self.sent = 0  # the counter of the last frame sealed
        self.heard = 0
        self._taken = [0, 0]  # by the flags
        self.durable = 0  # the last report that it "holds"
        self.host_key = self.device_key = b""

    def secret(self, role: bytes) -> bytes:
        device_nonce = self.fields[12]
        parts = (b"cardlink1", role, self.nonce, device_nonce, self.hello, self.identity)
        return hmac.digest(self.key, b"".join(map(part, parts)), "sha256")

    @property
    def fields(self) -> list[Any]:
        fields: list[Any] = msgspec.msgpack.decode(self.identity[11:])
        return fields

    def exchange(self, *frames: bytes, ms: int = 0) -> list[Frame]:
        """Write the frames, let time pass, and return what the device sent, once everything was taken."""
        for frame in frames:
            self.device.write(slip(frame))
        self.device.tick(ms)
        return self.read()

    def read(self) -> list[Frame]:
        return [frame for data in unslip(self.device.read()) if (frame := self.take(data)) is not None]

    def take(self, data: bytes, *, from_interrupt: bool = False) -> Frame | None:
        """Read a frame, unless it was sealed for another link."""
        version, kind, flags, boot, number = struct.unpack_from("<BBBII", data)
        assert version == 1
        assert flags == (1 if from_interrupt else 0)
        if kind in CLEAR:
            if kind == IDENTITY:
                assert len(data) + 4 <= 496
            return Frame(kind, boot, number, 0, msgspec.msgpack.decode(data[11:]))
        if not self.device_key:
            return None
        counter = int.from_bytes(data[11:15], "little")
        try:
            body = ChaCha20Poly1305(self.device_key).decrypt(bytes(8) + data[11:15], data[15:], data[:15])
        except InvalidTag:
            return None
        assert counter > self._taken[flags]
        self._taken[flags] = counter
        self.heard = max(self._taken)
        return Frame(kind, boot, number, counter, msgspec.msgpack.decode(body))

    def read_interrupt(self) -> list[Frame]:
        pieces = unslip(self.device.read_interrupt())
        return [frame for data in pieces if (frame := self.take(data, from_interrupt=True)) is not None]

    def sealed(self, kind: int, body: Any, boot: int | None = None, number: int = 0, flags: int = 0) -> bytes:
        self.sent += 1
        known = header(kind, self.boot if boot is None else boot, number, flags) + self.sent.to_bytes(4, "little")
        text = body if isinstance(body, bytes) else msgspec.msgpack.encode(body)
        return known + ChaCha20Poly1305(self.host_key).encrypt(bytes(8) + known[11:], text, known)

    @property
    def boot(self) -> int:
        return int.from_bytes(self.identity[3:7], "little")

    def say_hello(self) -> None:
        self.device.write(slip(self.hello))
        self.device.tick(0)
        (self.identity,) = (data for data in unslip(self.device.read()) if data[1] == IDENTITY)

    def proof(self) -> bytes:
        return header(HOST_PROOF, self.boot) + msgspec.msgpack.encode([1, self.secret(b"host")])

    def prove(self) -> None:
        (answer,) = (frame for frame in self.exchange(self.proof()) if frame.kind == DEVICE_PROOF)
        assert answer.body == [1, self.secret(b"device")]
        self.make_keys()

    def make_keys(self) -> None:
        self.host_key, self.device_key = self.secret(b"host frames"), self.secret(b"device frames")

    def resume(self) -> bytes:
        return self.sealed(RESUME, [self.boot if self.durable else 0, self.durable], number=self.durable)

    def link(self) -> list[Frame]:
        """Do the whole handshake. Return the status and the reports that answer the resume."""
        self.say_hello()
        self.prove()
        return self.exchange(self.resume())

    def ack(self, number: int | None = None, boot: int | None = None, heard: int | None = None) -> bytes:
        self.durable = self.durable if number is None else number
        return self.sealed(ACK, [self.heard if heard is None else heard], boot, self.durable)

    def command(self, command_id: int, *order: Any, boot: int | None = None) -> bytes:
        return self.sealed(COMMAND, [command_id, list(order)], boot)

    def order(self, command_id: int, *order: Any, ms: int = 0) -> list[Frame]:
        return self.exchange(self.command(command_id, *order), ms=ms)

    def keep_up(self, ms: int) -> list[Frame]:
        """Let time pass with an ack each 500 ms, of every report that came."""
        frames: list[Frame] = []
        for _ in range(ms // 500):
            came = self.exchange(self.ack(), ms=500)
            self.durable = max([self.durable, *(frame.number for frame in came if frame.kind == REPORT)])
            frames += came
        return frames
