"""The device's side of cardlink, without I/O: docs/cardlink.md, "A link".

It shares only framing, sealing and messages with the host's side. `now` is in seconds of one monotonic clock.
"""

from __future__ import annotations

import hmac
import math
from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import HEADER, VERSION, Frame, FrameReader, enclose, encode_frame
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import (
    BULK,
    INTERRUPT,
    OpenedFrame,
    SealedChannel,
    device_nonce,
    frame_keys,
)

WINDOW: Final = 8  # reports: docs/cardlink.md, "Reports: numbers, window, acknowledgement"
RESEND_FIRST: Final = 0.2  # seconds; doubles up to the longest
RESEND_LONGEST: Final = 2.0
HEARTBEAT: Final = 1.0  # seconds: docs/cardlink.md, "Signs of life"
HOST_LOST_AFTER: Final = 3.0
LEAST_MEMORY: Final = WINDOW  # reports
EARLIER_BOOTS: Final = 3  # remembered in addition to the running boot; the identity has room for this many
_DEVICE_KINDS: Final = frozenset(
    {FrameKind.SEALED_REJECT, FrameKind.REPORT, FrameKind.STATUS, FrameKind.ANSWER, FrameKind.ATTESTATION}
)  # sealed; an echo


class KeptReport(msgspec.Struct):
    """An unacknowledged report, or one that replaces all from `first` to `number`."""

    boot: int
    first: int
    number: int
    uptime_ms: int
    body: bytes


class CandidateLink(msgspec.Struct):
    """The candidate for the next link. `hello` and `identity` are header and body. `answered_at` is when its last hello
    or host proof was answered.
    """

    hello: bytes
    identity: bytes
    identity_frame: bytes
    nonces: tuple[bytes, bytes]
    answered_at: float
    proven: bool = False
    version: int = VERSION


class CardlinkDevice:
    """One device's end of the wire, for as long as it has power; `reboot` begins another boot.

    `identity` builds the identity for a nonce; `status` returns the present status, with the counter heard last.
    `random` returns 16 bytes of a true random source, or none; `start` counts the device's starts, in flash.
    `on_command` gets each command once and answers through `answer`. `on_host_lost` is called when the host is lost.
    `memory` is how many reports are kept, at least 8. Set `interrupt` if the line has a USB interrupt endpoint:
    statuses then go there, with flags 1, unless they answer a resume. `versions` of the protocol, of which the host
    chooses one. `program` is what it shows to run, if it can.
    """

    def __init__(
        self,
        *,
        key: bytes,
        boot: int,
        identity: Callable[[bytes, list[messages.KeptReports]], messages.IdentityBody],
        status: Callable[[int], messages.StatusBody],
        random: Callable[[], bytes],
        on_command: Callable[[int, messages.AnyOrder], None],
        on_host_lost: Callable[[], None] = lambda: None,
        memory: int = 1000,
        start: int = 1,
        versions: tuple[int, ...] = (VERSION,),
        program: bytes | None = None,
    ) -> None:
        if memory < LEAST_MEMORY:
            raise ValueError(f"a device keeps at least {LEAST_MEMORY} reports")
        self.boot = boot
        self.last_number = 0
        self.interrupt = False
        self._key = key
        self._identity = identity
        self._status = status
        self._random = random
        self._start = start
        self._versions = versions
        self._program = program
        self._draw = 0
        self._on_command = on_command
        self._on_host_lost = on_host_lost
        self._memory = memory
        self._reader = FrameReader()
        self._out: list[bytes] = []
        self._kept: list[KeptReport] = []
        self._catching_up = False  # the host does not yet have all that was kept when it resumed
        self._earlier: list[tuple[int, int]] = []  # remembered boots, each with its last report
        self._in_flight = 0
        self._resend_at = float("inf")
        self._resend_wait = RESEND_FIRST
        self._candidate: CandidateLink | None = None
        self._channel: SealedChannel | None = None  # the channel of the active link
        self._active_hello = b""
        self._answers: dict[int, tuple[int, bytes]] = {}  # by command id: header's number and body, empty while at work
        self._received_at = self._now = float("-inf")
        self._status_at = float("inf")

    @property
    def linked(self) -> bool:
        """Return whether a link is active."""
        return self._channel is not None

    @property
    def unacknowledged(self) -> int:
        return len(self._kept)

    # -- from the mechanism ----------------------------------------------------------------------------------------

    def report(self, report: messages.ReportBody, now: float) -> int:
        """Number a report, keep it until it is acknowledged, and send it as soon as the window allows."""
        self.last_number += 1
        number = self.last_number
        self._kept.append(KeptReport(self.boot, number, number, report.uptime_ms, encode_body(report)))
        if len(self._kept) > self._memory:
            self._declare_lost()
        self._fill_window(now)
        return self.last_number

    def answer(self, command_id: int, done: bool, reason: str = "") -> None:
        """Answer a command that has ended. Without its link, nothing is sent."""
        if self._channel is not None and command_id in self._answers:
            body = encode_body(messages.AnswerBody(command_id, done, reason))
            self._answers[command_id] = (self.last_number, body)
            self._send(FrameKind.ANSWER, self._now, body)

    def reboot(self, boot: int, *, keep_reports: bool) -> None:
        """Restart after a loss of power: the link is lost, and numbers begin at 1 again."""
        self._earlier = [*self._earlier, (self.boot, self.last_number)][-EARLIER_BOOTS:] if keep_reports else []
        remembered = {earlier for earlier, _ in self._earlier}
        self._kept = [kept for kept in self._kept if kept.boot in remembered]
        self.boot, self.last_number = boot, 0
        self._start += 1
        self._draw = 0
        self._candidate = None
        self._forget_link()
        self._in_flight = 0

    def _declare_lost(self) -> None:
        """Replace the oldest two reports from one boot with one that declares them lost, under the
        number of the later.
        """
        place = next(n for n in range(len(self._kept) - 1) if self._kept[n].boot == self._kept[n + 1].boot)
        first, last = self._kept[place], self._kept[place + 1]
        lost = messages.ReportsLostReport(last.uptime_ms, last.boot, first.first, last.number)
        self._kept[place : place + 2] = [
            KeptReport(last.boot, first.first, last.number, last.uptime_ms, encode_body(lost)),
        ]
        if self._in_flight > place:
            self._in_flight = max(place, self._in_flight - 1)

    def _forget_link(self) -> None:
        """Forget the keys, the answers and unsent frames."""
        self._channel = None
        self._active_hello = b""
        self._answers.clear()
        self._out.clear()
        self._status_at = self._resend_at = float("inf")

    def _send(
        self,
        kind: FrameKind,
        now: float,
        body: bytes,
        *,
        boot: int | None = None,
        number: int | None = None,
        flags: int = BULK,
    ) -> None:
        """Send a sealed frame on the active link, by default under the newest number."""
        assert self._channel is not None
        header = self.boot if boot is None else boot, self.last_number if number is None else number
        self._out.append(self._channel.seal(kind, *header, body, now, flags=flags))

    def _send_clear(self, kind: FrameKind, body: messages.Body, version: int = VERSION) -> None:
        header = HEADER.pack(version, kind, BULK, self.boot, self.last_number)
        self._out.append(enclose(header + encode_body(body)))

    # -- from the wire ---------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        self._now = now
        for frame in self._reader.receive(data):
            if frame.kind == FrameKind.HELLO and frame.version != VERSION:
                self._reject_version()
            elif frame.kind == FrameKind.HELLO or frame.version in self._versions:
                self._take(frame, now)

    def tick(self, now: float) -> None:
        self._now = now
        if self._channel is not None and (now >= self._host_lost_at() or self._channel.used_up):
            self._forget_link()
            self._on_host_lost()
        if self._candidate is not None and now >= self._candidate.answered_at + HOST_LOST_AFTER:
            self._candidate = None
        if now >= self._resend_at:
            self._in_flight = 0
            self._resend_wait = min(2 * self._resend_wait, RESEND_LONGEST)
            self._fill_window(now)
        if now >= self._status_at:
            self.send_status(now)

    def wake_at(self) -> float:
        times = [self._resend_at, self._status_at, self._host_lost_at()]
        if self._candidate is not None:
            times.append(self._candidate.answered_at + HOST_LOST_AFTER)
        return min(times)

    def _host_lost_at(self) -> float:
        """Return when the host counts as lost, by silence or because what is sent arrives late."""
        if self._channel is None:
            return float("inf")
        return min(self._received_at + HOST_LOST_AFTER, self._channel.ends_at())

    def outgoing(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def send_status(self, now: float, *, answers_resume: bool = False) -> None:
        """Send the heartbeat. It is also sent as soon as everything that was kept for a link is acknowledged."""
        if self._channel is not None:
            self._status_at = now + HEARTBEAT
            flags = INTERRUPT if self.interrupt and not answers_resume else BULK
            self._send(FrameKind.STATUS, now, encode_body(self._status(self._channel.heard)), flags=flags)

    def _take(self, frame: Frame, now: float) -> None:
        clear = frame.kind in CLEAR
        try:
            if frame.kind == FrameKind.HELLO:
                self._take_hello(frame, now)
            elif frame.kind == FrameKind.HOST_PROOF and self._candidate is not None:
                self._take_proof(frame, self._candidate, now)
            elif not clear and frame.kind not in _DEVICE_KINDS:
                self._take_sealed(frame, now)
        except ValueError:
            reject = messages.RejectBody("message", "a frame could not be read")
            if clear:
                self._send_clear(FrameKind.REJECT, reject)
            elif self._channel is not None:
                self._send(FrameKind.SEALED_REJECT, now, encode_body(reject))

    def _reject_version(self) -> None:
        self._send_clear(FrameKind.REJECT, messages.RejectBody("version", f"this device speaks cardlink {VERSION}"))

    def _take_hello(self, frame: Frame, now: float) -> None:
        """Answer the candidate's hello as before, ignore the active link's, and make a new candidate of any other."""
        if messages.decode_hello_head(frame.body).version != VERSION:
            self._reject_version()
            return
        hello = messages.decode_hello(frame.body)
        sealing.check_nonce(hello.nonce)
        if frame.content == self._active_hello:
            return
        if self._candidate is None or frame.content != self._candidate.hello:
            self._candidate = self._answer_to(frame.content, hello.nonce, now)
        self._candidate.answered_at = now
        self._out.append(self._candidate.identity_frame)

    def _answer_to(self, hello: bytes, host_nonce: bytes, now: float) -> CandidateLink:
        self._draw += 1
        nonce = device_nonce(self._key, self._random(), self._start, self._draw, hello)
        said = replace(self._identity(nonce, self._kept_ranges()), versions=list(self._versions))
        body = encode_body(said)
        identity_frame = encode_frame(FrameKind.IDENTITY, self.boot, self.last_number, body)
        identity = FrameReader().receive(identity_frame)[0].content
        return CandidateLink(hello, identity, identity_frame, (host_nonce, nonce), now)

    def _kept_ranges(self) -> list[messages.KeptReports]:
        """Return the reports kept for each remembered boot, including boots with none left."""
        ranges: list[messages.KeptReports] = []
        for boot, newest in (*self._earlier, (self.boot, self.last_number)):
            oldest = next((kept.first for kept in self._kept if kept.boot == boot), newest + 1)
            ranges.append(messages.KeptReports(boot, oldest, newest))
        return ranges

    def _proof(self, candidate: CandidateLink, role: bytes) -> bytes:
        return sealing.proof(self._key, role, *candidate.nonces, candidate.hello, candidate.identity)

    def _take_proof(self, frame: Frame, candidate: CandidateLink, now: float) -> None:
        """Answer a host proof. A wrong one changes nothing."""
        claimed = messages.decode_proof(frame.body)
        if claimed.type != sealing.HMAC_SHA256 or not sealing.is_valid(
            claimed.proof, self._proof(candidate, sealing.HOST_ROLE)
        ):
            self._send_clear(FrameKind.REJECT, messages.RejectBody("proof", "the host's proof does not hold"))
            return
        candidate.proven, candidate.version = True, frame.version
        candidate.answered_at = now
        ours = self._proof(candidate, sealing.DEVICE_ROLE)
        self._send_clear(FrameKind.DEVICE_PROOF, messages.ProofBody(sealing.HMAC_SHA256, ours), candidate.version)

    def _take_sealed(self, frame: Frame, now: float) -> None:
        """Take a frame of the active link, or the candidate's resume, which makes the candidate the active link."""
        if frame.kind == FrameKind.RESUME and self._candidate is not None and self._candidate.proven:
            of_host, of_device = frame_keys(
                self._key, *self._candidate.nonces, self._candidate.hello, self._candidate.identity
            )
            channel = SealedChannel(of_device, of_host, self._candidate.version)
            opened = channel.open(frame)
            if opened is not None:
                self._become_active(self._candidate, channel, now)
                self._take_resume(opened, now)
                return
        if self._channel is None:
            return
        opened = self._channel.open(frame)
        if opened is not None:
            self._received_at = now
            self._take_opened(opened, now)
        elif self._channel.is_worn_out:
            self._forget_link()
            self._on_host_lost()

    def _become_active(self, candidate: CandidateLink, channel: SealedChannel, now: float) -> None:
        self._forget_link()
        self._candidate = None
        self._channel, self._active_hello = channel, candidate.hello
        self._received_at = now
        channel.stands(now)

    def _take_opened(self, frame: OpenedFrame, now: float) -> None:
        if frame.kind == FrameKind.RESUME:
            self._take_resume(frame, now)
        elif not self._has_resumed:
            raise ValueError("no resume was understood")
        elif frame.kind == FrameKind.ACK:
            assert self._channel is not None
            self._channel.hear(messages.decode_ack(frame.body).heard, now)
            self._take_ack(frame.boot, frame.number, now)
        elif frame.kind == FrameKind.COMMAND and frame.boot == self.boot:
            self._take_command(frame, now)
        elif frame.kind == FrameKind.CHALLENGE and frame.boot == self.boot and self._program is not None:
            self._attest(messages.decode_challenge(frame.body), self._program, now)

    def _attest(self, asked: messages.ChallengeBody, program: bytes, now: float) -> None:
        part = program[asked.offset : asked.offset + asked.length]
        digest = hmac.digest(asked.salt, part, "sha256") if len(part) == asked.length else b""
        self._send(FrameKind.ATTESTATION, now, encode_body(messages.AttestationBody(asked.salt, digest)))

    def _take_resume(self, frame: OpenedFrame, now: float) -> None:
        resume = messages.decode_resume(frame.body)
        self._in_flight = 0
        self._resend_wait = RESEND_FIRST
        self._drop_up_to(resume.boot, resume.number)
        self._catching_up = bool(self._kept)
        self.send_status(now, answers_resume=True)
        self._fill_window(now)

    def _take_ack(self, boot: int, number: int, now: float) -> None:
        before = len(self._kept)
        self._drop_up_to(boot, number)
        gone = before - len(self._kept)
        if not gone:
            return
        self._in_flight = max(0, self._in_flight - gone)
        self._resend_wait = RESEND_FIRST
        self._resend_at = now + RESEND_FIRST if self._in_flight else float("inf")
        self._fill_window(now)
        if self._catching_up and not self._kept:
            self._catching_up = False
            self.send_status(now)

    def _drop_up_to(self, boot: int, number: int) -> None:
        """Forget what the host holds: that boot's reports up to `number`, and all reports of earlier boots."""
        newest = {**dict(self._earlier), self.boot: self.last_number}.get(boot, 0)
        if not 0 < number <= newest:
            return
        held = 0
        for place, kept in enumerate(self._kept, start=1):
            if kept.boot == boot:
                if kept.number > number:
                    break
                held = place
        del self._kept[:held]

    def _take_command(self, frame: OpenedFrame, now: float) -> None:
        """Carry out a command once; if it comes again, repeat its answer."""
        command_id = messages.decode_command_head(frame.body).command_id
        if command_id in self._answers:
            number, answer = self._answers[command_id]
            if answer:
                self._send(FrameKind.ANSWER, now, answer, number=number)
            return
        self._answers[command_id] = (0, b"")
        try:
            order = messages.decode_command(frame.body).order
        except ValueError:
            self.answer(command_id, False, "unknown")
        else:
            self._on_command(command_id, order)

    @property
    def _has_resumed(self) -> bool:
        """Return whether a resume of the active link was understood."""
        return not math.isinf(self._status_at)

    def _fill_window(self, now: float) -> None:
        if self._channel is None or not self._has_resumed:
            return
        waiting = self._kept[self._in_flight : WINDOW]
        for kept in waiting:
            self._send(FrameKind.REPORT, now, kept.body, boot=kept.boot, number=kept.number)
        if waiting and not self._in_flight:
            self._resend_at = now + self._resend_wait
        self._in_flight += len(waiting)
        if not self._in_flight:
            self._resend_at = float("inf")
