"""The golden vectors of docs/cardlink.md. `python -m tests.protocol.vectors` prints their table."""

from __future__ import annotations

import json
from typing import Final, NamedTuple, TypeAlias

from firmware_bridge.drivers.cardlink import authentication, messages
from firmware_bridge.drivers.cardlink.framing import FrameReader, encode_frame
from firmware_bridge.drivers.cardlink.messages import Kind, encode_body

from .independent_decoder import Value, decode_body, decode_frames

KEY: Final = bytes(range(32))
HOST_NONCE: Final = bytes(range(0x20, 0x30))
DEVICE_NONCE: Final = bytes(range(0x40, 0x50))
BOOT: Final = 0x1A2B3C4D
EARLIER_BOOT: Final = 0xC0DBDCDD  # full of bytes that need escapes
SHUFFLE: Final = 0x0051F00D
UPTIME: Final = 3_723_004
COMMAND_ID: Final = 70_001

Message: TypeAlias = messages.Body | messages.Report


class Vector(NamedTuple):
    name: str
    frame: bytes


STATUS: Final = messages.Status(
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
)

IDENTITY: Final = messages.Identity(
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
    status=STATUS,
    kept=[messages.KeptReports(EARLIER_BOOT, 1207, 1209), messages.KeptReports(BOOT, 1, 41)],
)

REPORTS: Final[tuple[tuple[str, messages.Report], ...]] = (
    ("started", messages.Started(12, "power")),
    ("deck loaded, counted", messages.DeckLoaded(UPTIME, 2, 52)),
    ("deck loaded, shoe", messages.DeckLoaded(UPTIME, 2, 0, SHUFFLE)),
    ("shuffle started", messages.ShuffleStarted(UPTIME, 2)),
    ("shuffle finished", messages.ShuffleFinished(UPTIME, 2, SHUFFLE, 52)),
    ("shuffle aborted", messages.ShuffleAborted(UPTIME, 2, 53, 1, 2, 1, 3, 1, 1)),
    ("set dispensed", messages.SetDispensed(UPTIME, SHUFFLE, 7, 43, 2, [1, 26, 52])),
    ("set dispensed, one not read, one foreign", messages.SetDispensed(UPTIME, SHUFFLE, 7, 43, 2, [0, 254, 13])),
    ("set removed", messages.SetRemoved(UPTIME, SHUFFLE, 7)),
    ("card drawn, no orientation sensor", messages.CardDrawn(UPTIME, SHUFFLE, 10, 42, 2, 40)),
    ("card drawn, face up", messages.CardDrawn(UPTIME, SHUFFLE, 10, 42, 2, 14, True)),
    ("cards drawn together", messages.CardsDrawnTogether(UPTIME, SHUFFLE, 10, 41, 2, False, [39, 27])),
    ("face up found", messages.FaceUpFound(UPTIME, SHUFFLE, 11, 2, 5)),
    ("stub unloaded", messages.StubUnloaded(UPTIME, 2, 43)),
    ("jammed", messages.Jammed(UPTIME, "transport")),
    ("jam cleared", messages.JamCleared(UPTIME, "transport")),
    ("door moved", messages.DoorMoved(UPTIME, True)),
    ("self-test finished", messages.SelfTestFinished(UPTIME, False, "exit sensor")),
    ("power low", messages.PowerLow(2**32)),
    ("tampered", messages.Tampered(UPTIME, "lid")),
    ("button pressed", messages.ButtonPressed(UPTIME, "green")),
    ("reports lost", messages.ReportsLost(UPTIME, BOOT, 2, 30)),
)

ORDERS: Final[tuple[tuple[str, messages.AnyOrder], ...]] = (
    ("dispense", messages.Dispense(3)),
    ("hold exit", messages.HoldExit()),
    ("release exit", messages.ReleaseExit()),
    ("shuffle", messages.Shuffle()),
    ("unload stub", messages.UnloadStub()),
    ("show", messages.Show("Tisch 7 ✓")),
    ("run self-test", messages.RunSelfTest()),
)


def frame(kind: Kind, body: Message, boot: int = BOOT, number: int = 41) -> bytes:
    return encode_frame(kind, boot, number, encode_body(body))


def content(encoded: bytes) -> bytes:
    """Header and body of the one frame in these bytes."""
    (decoded,) = FrameReader().receive(encoded)
    return decoded.content


def _handshake() -> list[Vector]:
    hello = frame(Kind.HELLO, messages.Hello(1, HOST_NONCE), boot=0, number=1206)
    identity = frame(Kind.IDENTITY, IDENTITY)

    def proof(kind: Kind, role: bytes, number: int) -> bytes:
        made = authentication.proof(KEY, role, HOST_NONCE, DEVICE_NONCE, content(hello), content(identity))
        return frame(kind, messages.Proof(authentication.HMAC_SHA256, made), number=number)

    return [
        Vector("hello", hello),
        Vector("identity", identity),
        Vector("host proof", proof(Kind.HOST_PROOF, authentication.HOST_ROLE, 1206)),
        Vector("device proof", proof(Kind.DEVICE_PROOF, authentication.DEVICE_ROLE, 41)),
        Vector("resume", frame(Kind.RESUME, messages.Resume(EARLIER_BOOT, 1206), number=1206)),
        Vector("resume, nothing held", frame(Kind.RESUME, messages.Resume(0, 0), number=0)),
        Vector("reject", frame(Kind.REJECT, messages.Reject("proof", "the host's proof does not hold"))),
    ]


def vectors() -> list[Vector]:
    """All of them: every kind, every report, every order."""
    found = _handshake()
    found.append(Vector("status", frame(Kind.STATUS, STATUS)))
    jam = messages.Status(42, UPTIME, 0, 52, 0, 52, 0, False, True, True, 0, ["jam: transport"])
    found.append(Vector("status, with a fault", frame(Kind.STATUS, jam)))
    found.append(Vector("ack", encode_frame(Kind.ACK, BOOT, 41)))
    found.append(Vector("ack, earlier boot", encode_frame(Kind.ACK, EARLIER_BOOT, 1209)))
    found += [
        Vector(f"report: {name}", frame(Kind.REPORT, report, number=number))
        for number, (name, report) in enumerate(REPORTS, start=1)
    ]
    kept = messages.SetRemoved(UPTIME, 0xDBC0, 49)
    found.append(Vector("report kept from an earlier boot", frame(Kind.REPORT, kept, EARLIER_BOOT, 1207)))
    found += [
        Vector(f"command: {name}", frame(Kind.COMMAND, messages.CommandBody(COMMAND_ID + place, order)))
        for place, (name, order) in enumerate(ORDERS)
    ]
    found.append(Vector("answer: done", frame(Kind.ANSWER, messages.Answer(COMMAND_ID, True))))
    found.append(Vector("answer: refused", frame(Kind.ANSWER, messages.Answer(COMMAND_ID, False, "held"))))
    return found


def written(value: Value) -> str:
    """A body as the page shows it: JSON, byte strings as h'00ff'."""

    def plain(part: Value) -> object:
        if isinstance(part, bytes):
            return f"h'{part.hex()}'"
        return [plain(item) for item in part] if isinstance(part, list) else part

    return json.dumps(plain(value), ensure_ascii=False) if value is not None else ""


def table() -> str:
    """The table of the page, made from what the independent decoder reads in the frames."""
    lines = ["| frame | kind | boot | number | body | bytes |", "|---|---|---|---|---|---|"]
    for name, encoded in vectors():
        (read,) = decode_frames(encoded)
        body = written(decode_body(read.body)) and f"`{written(decode_body(read.body))}`"
        row = (name, f"{read.kind:02X}", f"{read.boot:08X}", str(read.number), body, f"`{encoded.hex().upper()}`")
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201  # what it is for
