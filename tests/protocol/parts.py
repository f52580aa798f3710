"""Both ends of a link without anything between them, and ways to bring a host to any step of the handshake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Final

from msgspec.structs import replace

from firmware_bridge.drivers.base import Heard, LinkOver, LinkReady
from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import FrameReader, encode_frame
from firmware_bridge.drivers.cardlink.host import CardlinkHost, LinkStep
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import BULK, COUNTER, FrameOpener, OpenedFrame, SealedChannel
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.setting import ApprovedImage
from simulators.devices.cardlink import CardlinkDevice

KEY: Final = bytes(range(32))
OTHER_KEY: Final = bytes(32)
SERIAL: Final = "CARDSHOE-0042"
BOOT: Final = 0xC0FFEE01
NEVER: Final = float("inf")


def nonces() -> Callable[[], bytes]:
    """Return a separate source of nonces or random bytes: a seeded run must not depend on earlier tests."""
    numbers = count(1)
    return lambda: next(numbers).to_bytes(16, "big")


fresh_nonce: Final = nonces()


class BenchDevice:
    """A device without mechanics: it carries every command out immediately and records it."""

    def __init__(
        self,
        *,
        boot: int = BOOT,
        key: bytes = KEY,
        serial: str = SERIAL,
        memory: int = 64,
        version: int = 1,
        versions: tuple[int, ...] = (1,),
        kind: str = "shuffler",
        firmware_digest: str = "0" * 64,
        capabilities: Sequence[str] = ("exit_hold", "retains_reports", "dispenses_on_command", "sings"),
        random: Callable[[], bytes] = fresh_nonce,
        program: bytes | None = None,
    ) -> None:
        self.carried_out: list[tuple[int, messages.AnyOrder]] = []
        self.hosts_lost = 0
        self.answers_by_itself = True
        self.program = program
        self._serial = serial
        self._version = version
        self._kind = kind
        self._firmware_digest = firmware_digest
        self._capabilities = [*capabilities, *(["attests"] if program is not None else [])]
        self.link = CardlinkDevice(
            key=key,
            boot=boot,
            identity=self._identity,
            status=self.status,
            random=random,
            on_command=self._carry_out,
            on_host_lost=self._lose_host,
            memory=memory,
            versions=versions,
            program=program,
        )

    def status(self, heard: int = 0) -> messages.StatusBody:
        last = self.carried_out[-1][0] if self.carried_out else 0
        return messages.StatusBody(self.link.last_number, 1000, 7, 52, 0, 52, 0, False, False, False, last, heard)

    def exchange(self, data: bytes, now: float) -> bytes:
        """Return the device's answer to these bytes."""
        self.link.receive(data, now)
        return self.link.outgoing()

    def _lose_host(self) -> None:
        self.hosts_lost += 1

    def _carry_out(self, command_id: int, order: messages.AnyOrder) -> None:
        self.carried_out.append((command_id, order))
        if self.answers_by_itself:
            self.link.answer(command_id, True)

    def _identity(self, nonce: bytes, kept: list[messages.KeptReports]) -> messages.IdentityBody:
        return messages.IdentityBody(
            version=self._version,
            kind=self._kind,
            unit="sets",
            maker="Example",
            model="Bench",
            serial=self._serial,
            firmware="1.0",
            firmware_digest=self._firmware_digest,
            capabilities=self._capabilities,
            report_memory=64,
            simulated=True,
            deck_size=52,
            nonce=nonce,
            kept=kept,
        )


def make_host(
    *,
    held: tuple[int, int] = (0, 0),
    key: bytes = KEY,
    serial: str = SERIAL,
    now: float = 0.0,
    nonce: bytes = b"",
    memory: LinkMemory | None = None,
    next_key: bytes | None = None,
    versions: tuple[int, ...] = (1,),
    image: bytes | None = None,
) -> CardlinkHost:
    return CardlinkHost(
        nonce=nonce or fresh_nonce(),
        key_of={serial: key}.get,
        held=held,
        now=now,
        memory=memory,
        next_key_of=lambda _: next_key,
        versions=versions,
        image=None if image is None else ApprovedImage(image, fresh_nonce() + fresh_nonce()),
    )


def converse(host: CardlinkHost, device: BenchDevice, now: float) -> list[Heard]:
    """Carry bytes in both directions until both sides are silent, and return what the host heard."""
    heard: list[Heard] = []
    while data := host.outgoing():
        heard += host.receive(device.exchange(data, now), now)
    return heard


def host_before(step: LinkStep, device: BenchDevice, now: float = 0.0) -> tuple[CardlinkHost, bytes]:
    """Return a host that has reached this step, and the device's bytes that would take it further. It asks for the
    device's program only if the device can show it.
    """
    host = make_host(now=now, image=device.program)
    reply = device.exchange(host.outgoing(), now)
    for reached in (
        LinkStep.IDENTITY,
        LinkStep.DEVICE_PROOF,
        LinkStep.FIRST_STATUS,
        *([LinkStep.ATTESTATION] if device.program is not None else []),
        LinkStep.READY,
    ):
        if reached is step:
            return host, reply
        host.receive(reply, now)
        reply = device.exchange(host.outgoing(), now)
    raise AssertionError(f"no host comes to {step}")


def kinds_in(data: bytes) -> list[FrameKind]:
    """Return the kinds of the frames in these bytes."""
    return [FrameKind(frame.kind) for frame in FrameReader().receive(data)]


def only(heard: Sequence[Heard]) -> Heard:
    """Return the only message that was heard."""
    (thing,) = heard
    return thing


def frame(
    kind: int, body: messages.Body | messages.ReportBody | bytes = b"", *, boot: int = BOOT, number: int = 0
) -> bytes:
    """Return a clear frame, as either side would send it, even of a kind that should be sealed."""
    return encode_frame(kind, boot, number, body if isinstance(body, bytes) else encode_body(body))


def channel_of(side: CardlinkHost | BenchDevice) -> SealedChannel:
    """Return this side's end of the established link."""
    channel = side.link._channel if isinstance(side, BenchDevice) else side._channel
    assert channel is not None, "no link stands"
    return channel


def sealed(
    by: CardlinkHost | BenchDevice,
    kind: int,
    body: messages.Body | messages.ReportBody | bytes = b"",
    *,
    boot: int = BOOT,
    number: int = 0,
    now: float = 0.0,
    flags: int = BULK,
) -> bytes:
    """Return a frame that this side seals at this point: a valid frame of its link with any content."""
    encoded = body if isinstance(body, bytes) else encode_body(body)
    return channel_of(by).seal(kind, boot, number, encoded, now, flags=flags)


def opened(by: CardlinkHost | BenchDevice, data: bytes) -> list[OpenedFrame]:
    """Return the sealed frames in these bytes as this side opens them. Each frame counts as received."""
    frames = [channel_of(by).open(read) for read in FrameReader().receive(data)]
    assert None not in frames, "a frame that this side does not open"
    return [one for one in frames if one is not None]


def read_back(by: CardlinkHost | BenchDevice, data: bytes) -> list[OpenedFrame]:
    """Return the frames in these bytes that this side sealed on the established link. They do not count as received."""
    opener = FrameOpener(bytes(32))
    opener._cipher = channel_of(by)._sealer._cipher
    return [one for read in FrameReader().receive(data) if (one := opener.open(read)) is not None]


def counters_in(data: bytes) -> list[int]:
    """Return the counters of the sealed frames in these bytes."""
    return [COUNTER.unpack_from(read.body)[0] for read in FrameReader().receive(data) if read.kind not in CLEAR]


def status(by: BenchDevice, now: float = 0.0, **changes: object) -> bytes:
    """Return a status of this device, naming the counter that it has heard last."""
    return sealed(by, FrameKind.STATUS, replace(by.status(channel_of(by).heard), **changes), now=now)


def linked(
    device: BenchDevice, now: float = 0.0, held: tuple[int, int] = (0, 0), memory: LinkMemory | None = None
) -> CardlinkHost:
    """Return a host with an established link to this device. Neither side has anything left to send."""
    host = make_host(held=held, now=now, memory=memory)
    heard = converse(host, device, now)
    assert isinstance(heard[0], LinkReady)
    return host


def over(heard: Sequence[Heard]) -> LinkOver:
    """Return the end of the link, the only message heard."""
    thing = only(heard)
    assert isinstance(thing, LinkOver)
    return thing


def rejected(data: bytes) -> str:
    """Return the code of the one frame in these bytes, a clear reject."""
    (answer,) = FrameReader().receive(data)
    assert answer.kind == FrameKind.REJECT
    return messages.decode_reject(answer.body).code


def sealed_rejected(by: BenchDevice, data: bytes) -> str:
    """Return the code of the one frame in these bytes, a sealed reject of this device."""
    (answer,) = read_back(by, data)
    assert answer.kind == FrameKind.SEALED_REJECT
    return messages.decode_reject(answer.body).code


def content(data: bytes) -> bytes:
    (read,) = FrameReader().receive(data)
    return read.content


def identity_in(data: bytes) -> messages.IdentityBody:
    (read,) = FrameReader().receive(data)
    return messages.decode_identity(read.body)


def proof_frame(kind: FrameKind, key: bytes, role: bytes, hello: bytes, identity: bytes, type_: int = 1) -> bytes:
    """Return a proof made with `key`, over two frames as they were sent."""
    nonces = messages.decode_hello(FrameReader().receive(hello)[0].body).nonce, identity_in(identity).nonce
    made = sealing.proof(key, role, *nonces, content(hello), content(identity))
    return frame(kind, messages.ProofBody(type_, made))


def host_proof_of(host: CardlinkHost) -> bytes:
    """Return the host's proof as it was sent. The host repeats it after half a second."""
    host.tick(0.5)
    return host.outgoing()


def spoilt_proof(data: bytes, place: int) -> bytes:
    """Return the proof in these bytes with one changed bit."""
    (read,) = FrameReader().receive(data)
    claimed = bytearray(messages.decode_proof(read.body).proof)
    claimed[place] ^= 1
    return frame(FrameKind(read.kind), messages.ProofBody(1, bytes(claimed)))


def asking(step: LinkStep, device: BenchDevice) -> tuple[CardlinkHost, bytes]:
    """Return a host that waits at this step, and its question, which has not reached the device."""
    host = make_host()
    sent = host.outgoing()
    for reached in (LinkStep.IDENTITY, LinkStep.DEVICE_PROOF, LinkStep.FIRST_STATUS):
        if reached is step:
            break
        host.receive(device.exchange(sent, 0.0), 0.0)
        sent = host.outgoing()
    return host, sent
