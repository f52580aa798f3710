"""The golden vectors of docs/cardlink.md.

`python -m tests.protocol.vectors` prints the tables of that page; `python -m tools.generate` writes the file of frames.
"""

from __future__ import annotations

import hmac
import json
from typing import Final, Literal, NamedTuple, TypeAlias
from zlib import crc32

from msgspec.structs import replace

from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import FrameReader, enclose, encode_frame
from firmware_bridge.drivers.cardlink.messages import OF_HOST, FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import BULK, INTERRUPT, FrameSealer, device_nonce, frame_keys

from . import independent_cipher
from .independent_decoder import DecodedFrame, Value, decode_body, decode_frames

KEY: Final = bytes(range(32))
HOST_NONCE: Final = bytes(range(0x20, 0x30))
DEVICE_NONCE: Final = bytes(range(0x40, 0x50))
BOOT: Final = 0x1A2B3C4D
EARLIER_BOOT: Final = 0xC0DBDCDD  # full of bytes that need escapes
SHUFFLE: Final = 0x0051F00D
UPTIME: Final = 3_723_004
COMMAND_ID: Final = 70_001

EARLIER_START: Final = 12
PROGRAM: Final = bytes(range(256))
"""The program of the device that attests."""
PROGRAM_RANGE: Final = (16, 200)
Message: TypeAlias = messages.Body | messages.ReportBody


class Vector(NamedTuple):
    """A frame with its meaning. `counter` is that of a sealed one, whose body is the decrypted one."""

    name: str
    frame: bytes
    counter: int | None = None


STATUS: Final = messages.StatusBody(
    last_report=41,
    uptime_ms=UPTIME,
    shuffle=SHUFFLE,
    loaded=52,
    dispensed=9,
    remaining=43,
    sets_dispensed=3,
    tray_occupied=True,
    exit_held=False,
    moving=False,
    last_command=COMMAND_ID,
    heard=17,
)

IDENTITY: Final = messages.IdentityBody(
    version=1,
    kind="shuffler",
    unit="sets",
    maker="Example",
    model="Three",
    serial="CARDSHOE-0042",
    firmware="1.0",
    firmware_digest="9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    capabilities=["card_recognition", "tray_sensor", "exit_hold", "retains_reports", "dispenses_on_command"],
    report_memory=1000,
    simulated=False,
    deck_size=52,
    nonce=DEVICE_NONCE,
    kept=[messages.KeptReports(EARLIER_BOOT, 1207, 1209), messages.KeptReports(BOOT, 1, 41)],
)

REPORTS: Final[tuple[tuple[str, messages.ReportBody], ...]] = (
    ("started", messages.StartedReport(12, "power")),
    ("deck loaded, counted", messages.DeckLoadedReport(UPTIME, 2, 52)),
    ("deck loaded, shoe", messages.DeckLoadedReport(UPTIME, 2, 0, SHUFFLE)),
    ("shuffle started", messages.ShuffleStartedReport(UPTIME, 2)),
    ("shuffle finished", messages.ShuffleFinishedReport(UPTIME, 2, SHUFFLE, 52)),
    ("shuffle aborted", messages.ShuffleAbortedReport(UPTIME, 2, 53, 1, 2, 1, 3, 1, 1)),
    ("set dispensed", messages.SetDispensedReport(UPTIME, SHUFFLE, 7, 43, 2, [1, 26, 52])),
    ("set dispensed, one not read, one foreign", messages.SetDispensedReport(UPTIME, SHUFFLE, 7, 43, 2, [0, 127, 13])),
    ("set removed", messages.SetRemovedReport(UPTIME, SHUFFLE, 7)),
    ("card drawn, no orientation sensor", messages.CardDrawnReport(UPTIME, SHUFFLE, 10, 42, 2, 40)),
    ("card drawn, face up", messages.CardDrawnReport(UPTIME, SHUFFLE, 10, 42, 2, 14, True)),
    ("cards drawn together", messages.CardsDrawnTogetherReport(UPTIME, SHUFFLE, 10, 41, 2, False, [39, 27])),
    ("face up found", messages.FaceUpFoundReport(UPTIME, SHUFFLE, 11, 2, 5)),
    ("stub unloaded", messages.StubUnloadedReport(UPTIME, 2, 43)),
    ("jammed", messages.JammedReport(UPTIME, "transport")),
    ("jam cleared", messages.JamClearedReport(UPTIME, "transport")),
    ("door moved", messages.DoorMovedReport(UPTIME, True)),
    ("self-test finished", messages.SelfTestFinishedReport(UPTIME, False, "exit sensor")),
    ("power low", messages.PowerLowReport(2**32)),
    ("tampered", messages.TamperedReport(UPTIME, "lid")),
    ("button pressed", messages.ButtonPressedReport(UPTIME, "green")),
    ("reports lost", messages.ReportsLostReport(UPTIME, BOOT, 2, 30)),
    ("check failed", messages.CheckFailedReport(UPTIME, "program")),
)
FIRST_REPORTS: Final = 22
"""How many of them the page began with: their vectors stay as they are, and those of later ones follow at the end."""

ORDERS: Final[tuple[tuple[str, messages.AnyOrder], ...]] = (
    ("dispense", messages.DispenseOrder(3)),
    ("hold exit", messages.HoldExitOrder()),
    ("release exit", messages.ReleaseExitOrder()),
    ("shuffle", messages.ShuffleOrder()),
    ("unload stub", messages.UnloadStubOrder()),
    ("show", messages.ShowOrder("Tisch 7 ✓")),
    ("run self-test", messages.RunSelfTestOrder()),
)


def frame(kind: FrameKind, body: Message, boot: int = BOOT, number: int = 41) -> bytes:
    """Return a clear frame."""
    return encode_frame(kind, boot, number, encode_body(body))


def content(encoded: bytes) -> bytes:
    """Return header and payload of the one frame in these bytes."""
    (decoded,) = FrameReader().receive(encoded)
    return decoded.content


HELLO: Final = frame(FrameKind.HELLO, messages.HelloBody(1, HOST_NONCE), boot=0, number=1206)
HELLO_CONTENT: Final = content(HELLO)
KEYS: Final = frame_keys(KEY, HOST_NONCE, DEVICE_NONCE, HELLO_CONTENT, content(frame(FrameKind.IDENTITY, IDENTITY)))
"""The keys of the frames of the host, and of those of the device."""

NONCES: Final[tuple[tuple[bytes, int, int], ...]] = (
    (bytes(range(0x60, 0x70)), EARLIER_START, 1),
    (bytes(range(0x60, 0x70)), EARLIER_START, 2),
    (b"", EARLIER_START, 1),
    (b"", EARLIER_START + 1, 1),
    (b"", 0xC0DB, 1),
)
"""What device nonces are made of, beside the key and the hello: random, start, draw."""


class _Sealing:
    """Both sides of the link of the vectors: each frame gets its side's next counter, unless one is given."""

    def __init__(self) -> None:
        self._sealers = [FrameSealer(key) for key in KEYS]

    def vector(
        self,
        name: str,
        kind: FrameKind,
        body: Message,
        boot: int = BOOT,
        number: int = 41,
        *,
        counter: int | None = None,
        flags: int = BULK,
    ) -> Vector:
        sealer = FrameSealer(KEYS[kind not in OF_HOST]) if counter else self._sealers[kind not in OF_HOST]
        sealer.counter = counter - 1 if counter else sealer.counter
        sealed = sealer.seal(kind, boot, number, encode_body(body), flags=flags)
        return Vector(name, enclose(sealed), sealer.counter)


def _handshake() -> list[Vector]:
    identity = frame(FrameKind.IDENTITY, IDENTITY)

    def proof(kind: FrameKind, role: bytes, number: int) -> bytes:
        made = sealing.proof(KEY, role, HOST_NONCE, DEVICE_NONCE, HELLO_CONTENT, content(identity))
        return frame(kind, messages.ProofBody(sealing.HMAC_SHA256, made), number=number)

    return [
        Vector("hello", HELLO),
        Vector("identity", identity),
        Vector("host proof", proof(FrameKind.HOST_PROOF, sealing.HOST_ROLE, 1206)),
        Vector("device proof", proof(FrameKind.DEVICE_PROOF, sealing.DEVICE_ROLE, 41)),
        Vector("reject", frame(FrameKind.REJECT, messages.RejectBody("proof", "the host's proof does not hold"))),
    ]


def vectors() -> list[Vector]:
    """Return all vectors: every kind, every report, every order, and counters that need escapes."""
    seal = _Sealing().vector
    found = _handshake()
    found += [
        seal("resume", FrameKind.RESUME, messages.ResumeBody(EARLIER_BOOT, 1206), number=1206),
        seal("resume, nothing held", FrameKind.RESUME, messages.ResumeBody(0, 0), number=0),
        seal("sealed reject", FrameKind.SEALED_REJECT, messages.RejectBody("message", "a frame could not be read")),
        seal("status", FrameKind.STATUS, STATUS),
    ]
    jam = messages.StatusBody(42, UPTIME, 0, 52, 0, 52, 0, False, True, True, 0, 17, ["jam: transport"])
    found += [
        seal("status, with a fault", FrameKind.STATUS, jam),
        seal("status, flags 1", FrameKind.STATUS, STATUS, flags=INTERRUPT),
        seal("ack", FrameKind.ACK, messages.AckBody(3)),
        seal("ack, earlier boot", FrameKind.ACK, messages.AckBody(3), EARLIER_BOOT, 1209),
        seal("ack, a counter with escapes", FrameKind.ACK, messages.AckBody(300), counter=0xC0DBDCDD),
        seal("ack, the last counter", FrameKind.ACK, messages.AckBody(70_000), counter=0xFFFF_FFFF),
    ]
    found += [
        seal(f"report: {name}", FrameKind.REPORT, report, number=number)
        for number, (name, report) in enumerate(REPORTS[:FIRST_REPORTS], start=1)
    ]
    kept = messages.SetRemovedReport(UPTIME, 0xDBC0, 49)
    found.append(seal("report kept from an earlier boot", FrameKind.REPORT, kept, EARLIER_BOOT, 1207))
    found += [
        seal(f"command: {name}", FrameKind.COMMAND, messages.CommandBody(COMMAND_ID + place, order))
        for place, (name, order) in enumerate(ORDERS)
    ]
    found.append(seal("answer: done", FrameKind.ANSWER, messages.AnswerBody(COMMAND_ID, True)))
    found.append(seal("answer: refused", FrameKind.ANSWER, messages.AnswerBody(COMMAND_ID, False, "held")))
    found += [
        seal(f"report: {name}", FrameKind.REPORT, report, number=number)
        for number, (name, report) in enumerate(REPORTS[FIRST_REPORTS:], start=FIRST_REPORTS + 1)
    ]
    two = replace(IDENTITY, versions=[1, 2])
    found.append(Vector("identity of a device that speaks versions 1 and 2", frame(FrameKind.IDENTITY, two)))
    salt, (offset, length) = bytes(range(0x80, 0xA0)), PROGRAM_RANGE
    shown = hmac.digest(salt, PROGRAM[offset : offset + length], "sha256")
    found += [
        seal("challenge", FrameKind.CHALLENGE, messages.ChallengeBody(salt, offset, length)),
        seal("attestation", FrameKind.ATTESTATION, messages.AttestationBody(salt, shown)),
        seal("attestation: no such range", FrameKind.ATTESTATION, messages.AttestationBody(salt, b"")),
    ]
    return found


def written(value: Value) -> object:
    """Return a body as it appears in the file of frames: JSON, byte strings as h'00ff'."""
    if isinstance(value, bytes):
        return f"h'{value.hex()}'"
    return [written(item) for item in value] if isinstance(value, list) else value


def lines() -> str:
    """Return the file of frames, made from what the independent decoder and cipher read in them."""
    found = []
    for name, encoded, counter in vectors():
        (read,) = decode_frames(encoded)
        body = read.body if counter is None else opened(read)
        found.append(
            {
                "frame": name,
                "kind": f"{read.kind:02X}",
                "flags": read.flags,
                "boot": f"{read.boot:08X}",
                "number": read.number,
                "counter": None if counter is None else f"{counter:X}",
                "body": written(decode_body(body)),
                "bytes": encoded.hex().upper(),
            }
        )
    return "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in found)


def opened(read: DecodedFrame) -> bytes:
    """Return the body of a sealed frame, opened by the independent cipher."""
    key = KEYS[read.kind not in OF_HOST]
    clear, sealed = read.content[:15], read.content[15:]
    return independent_cipher.open_sealed(key, bytes(8) + clear[11:], sealed, clear)


Verdict: TypeAlias = Literal["damaged", "dropped", "forged", "repeated", "ignored", "understood", "not understood"]
UNKNOWN_KIND: Final = 0x7E
TAKEN: Final = 5  # the counter that the receiver has taken before


class BadVector(NamedTuple):
    """Bytes that a receiver must not take for more than they are. `of_host` names the side that sends them."""

    what: str
    of_host: bool
    frame: bytes
    verdict: Verdict


def bad_vectors() -> list[BadVector]:
    """Return frames that are damaged, forged, repeated, too new or malformed, each with what a receiver makes of it."""

    def seal(kind: int, body: bytes, counter: int = TAKEN + 1, flags: int = BULK, of_host: bool = True) -> bytes:
        sealer = FrameSealer(KEYS[not of_host])
        sealer.counter = counter - 1
        return enclose(sealer.seal(kind, BOOT, 41, body, flags=flags))

    def changed(encoded: bytes, place: int) -> bytes:
        spoiled = bytearray(content(encoded))
        spoiled[place] ^= 1
        return enclose(bytes(spoiled))

    ack, status = encode_body(messages.AckBody(3)), encode_body(STATUS)
    hold = encode_body(messages.CommandBody(COMMAND_ID, messages.HoldExitOrder()))
    decoded = content(HELLO)
    long = seal(FrameKind.ACK, bytes(sealing.LONGEST_BODY))
    beyond = content(long)[:-1] + bytes(2)
    of_host: list[tuple[str, bytes, Verdict]] = [
        ("a bit of the frame is wrong", HELLO[:9] + bytes([HELLO[9] ^ 1]) + HELLO[10:], "damaged"),
        ("14 bytes with a good CRC", _enclosed(decoded[:10]), "damaged"),
        ("513 bytes with a good CRC", _enclosed(beyond), "damaged"),
        ("two frames without the delimiter between them", HELLO[:-1] + HELLO[1:], "damaged"),
        ("a hello of version 2", _enclosed(b"\x02" + decoded[1:]), "understood"),
        ("a hello without a nonce", encode_frame(FrameKind.HELLO, 0, 0, b"\x91\x01"), "not understood"),
        ("a hello with one element more", encode_frame(FrameKind.HELLO, 0, 0, b"\x93" + decoded[12:] + b"\xc0"),
         "understood"),
        ("a status that comes back as an echo", seal(FrameKind.STATUS, status, of_host=False), "ignored"),
        ("the tag is wrong", changed(seal(FrameKind.ACK, ack), -1), "forged"),
        ("the number in the header is changed", changed(seal(FrameKind.ACK, ack), 7), "forged"),
        ("sealed with the device's key", seal(FrameKind.ACK, ack, of_host=False), "forged"),
        ("a counter that was taken before", seal(FrameKind.ACK, ack, TAKEN), "repeated"),
        ("an older counter", seal(FrameKind.COMMAND, hold, 1), "repeated"),
        ("flags 2", seal(FrameKind.COMMAND, hold, flags=2), "dropped"),
        ("version 2, sealed", _enclosed(b"\x02" + content(seal(FrameKind.COMMAND, hold))[1:]), "dropped"),
        ("34 bytes of a sealed kind", encode_frame(FrameKind.ACK, BOOT, 41, bytes(19)), "dropped"),
        ("an unknown kind", seal(UNKNOWN_KIND, b"of a newer version"), "ignored"),
        ("an ack with more elements", seal(FrameKind.ACK, b"\x93\x03\xa3new\xc0"), "understood"),
        ("an ack with a wide integer", seal(FrameKind.ACK, b"\x91\xcf" + (3).to_bytes(8, "big")), "understood"),
        ("an ack without its field", seal(FrameKind.ACK, b"\x90"), "not understood"),
        ("an ack whose field is a string", seal(FrameKind.ACK, b"\x91\xa13"), "not understood"),
        ("an ack whose field is out of range", seal(FrameKind.ACK, b"\x91\xcf" + bytes([1]) + bytes(7)),
         "not understood"),
        ("an ack that is not an array", seal(FrameKind.ACK, b"\x03"), "not understood"),
        ("an ack with a byte after its body", seal(FrameKind.ACK, ack + b"\xc0"), "not understood"),
        ("an empty body", seal(FrameKind.ACK, b""), "not understood"),
        ("a challenge whose salt has 31 bytes",
         seal(FrameKind.CHALLENGE, b"\x93\xc4\x1f" + bytes(31) + b"\x00\x01"), "not understood"),
    ]  # fmt: skip
    of_device: list[tuple[str, bytes, Verdict]] = [
        ("an ack that comes back as an echo", seal(FrameKind.ACK, ack), "ignored"),
        ("a report with the ordinal 0", seal(FrameKind.REPORT, b"\x94\x07\x01\x07\x00", of_host=False),
         "not understood"),
        ("a report of an unknown tag", seal(FrameKind.REPORT, b"\x92\xcc\xf0\x01", of_host=False), "not understood"),
        ("a status that lacks its last fields", seal(FrameKind.STATUS, b"\x92\x29\x01", of_host=False),
         "not understood"),
        ("a status on the other endpoint with an older counter",
         seal(FrameKind.STATUS, status, TAKEN, INTERRUPT, of_host=False), "understood"),
        ("a challenge that comes back as an echo",
         seal(FrameKind.CHALLENGE, encode_body(messages.ChallengeBody(bytes(32), 0, 1))), "ignored"),
        ("a status with more elements",
         seal(FrameKind.STATUS, bytes([status[0] + 1]) + status[1:] + b"\xc3", of_host=False), "understood"),
    ]  # fmt: skip
    return [
        BadVector(what, is_of_host, encoded, verdict)
        for is_of_host, every in ((True, of_host), (False, of_device))
        for what, encoded, verdict in every
    ]


def _enclosed(decoded: bytes) -> bytes:
    """Enclose bytes of any size, with their CRC."""
    whole = decoded + crc32(decoded).to_bytes(4, "little")
    return b"\xc0" + whole.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"


def bad_lines() -> str:
    """Return the file of bad frames."""
    found = [
        {
            "what": one.what,
            "from": "host" if one.of_host else "device",
            "taken": TAKEN,
            "verdict": one.verdict,
            "bytes": one.frame.hex().upper(),
        }
        for one in bad_vectors()
    ]
    return "".join(f"{json.dumps(one)}\n" for one in found)


def key_table() -> str:
    """Return the table of the keys of the vectors' link."""
    names = zip(("K_host", "K_device"), KEYS, strict=True)
    return "\n".join(["| key | bytes |", "|---|---|", *(f"| {name} | `{key.hex().upper()}` |" for name, key in names)])


def nonce_table() -> str:
    lines = ["| random | start | draw | device nonce |", "|---|---|---|---|"]
    for random, start, draw in NONCES:
        made = device_nonce(KEY, random, start, draw, HELLO_CONTENT).hex().upper()
        lines.append(f"| {f'`{random.hex().upper()}`' if random else ''} | {start} | {draw} | `{made}` |")
    return "\n".join(lines)


TABLES: Final = {"keys": key_table, "nonces": nonce_table}
"""By the mark between which they stand on the page."""

if __name__ == "__main__":
    for mark, make in TABLES.items():
        print(f"<!-- {mark} -->\n{make()}\n<!-- end of {mark} -->\n")  # noqa: T201  # its purpose
