"""The device's side of cardlink, without I/O: docs/protocol.md, "A link".

Shares framing and messages with the host's side and nothing else. `now` is in seconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from firmware_bridge.drivers.cardlink import messages, proofs
from firmware_bridge.drivers.cardlink.framing import VERSION, Frame, FrameReader, encode_frame
from firmware_bridge.drivers.cardlink.messages import Kind, encode_body

WINDOW: Final = 8
RESEND_FIRST: Final = 0.2
RESEND_LONGEST: Final = 2.0
HEARTBEAT: Final = 1.0
HOST_LOST_AFTER: Final = 3.0


class Kept(msgspec.Struct):
    """A report that the host has not acknowledged."""

    boot: int
    number: int
    body: bytes


class CardlinkDevice:
    """One device's end of the wire, for as long as it has power; `reboot` begins another boot.

    `identity` builds the identity for a nonce; `status` gives the status of this moment; `nonce` gives 16 fresh bytes.
    `on_command` is told of each command once; it answers through `answer`. `on_host_lost` is told when the host is
    silent for 3 s.
    """

    def __init__(
        self,
        *,
        key: bytes,
        boot: int,
        identity: Callable[[bytes, list[messages.KeptReports]], messages.Identity],
        status: Callable[[], messages.Status],
        nonce: Callable[[], bytes],
        on_command: Callable[[int, messages.AnyOrder], None],
        on_host_lost: Callable[[], None] = lambda: None,
        memory: int = 1000,
    ) -> None:
        self.boot = boot
        self.last_number = 0
        self._key = key
        self._identity = identity
        self._status = status
        self._nonce = nonce
        self._on_command = on_command
        self._on_host_lost = on_host_lost
        self._memory = memory
        self._reader = FrameReader()
        self._out: list[bytes] = []
        self._kept: list[Kept] = []
        self._in_flight = 0
        self._resend_at = float("inf")
        self._resend_wait = RESEND_FIRST
        self._hello = b""
        self._identity_content = b""
        self._identity_frame = b""
        self._nonces = (b"", b"")
        self._proven = False
        self.linked = False
        self._answers: dict[int, bytes] = {}
        self._heard_at = float("-inf")
        self._status_at = float("inf")

    @property
    def unacknowledged(self) -> int:
        return len(self._kept)

    # -- from the mechanism ----------------------------------------------------------------------------------------

    def report(self, report: messages.Report, now: float) -> int:
        """Number a report, keep it until it is acknowledged, and send it as soon as the window allows."""
        self.last_number += 1
        self._kept.append(Kept(self.boot, self.last_number, encode_body(report)))
        if len(self._kept) > self._memory:
            self._declare_lost()
        self._fill_window(now)
        return self.last_number

    def answer(self, command_id: int, done: bool, reason: str = "") -> None:
        body = encode_body(messages.Answer(command_id, done, reason))
        frame = encode_frame(Kind.ANSWER, self.boot, self.last_number, body)
        self._answers[command_id] = frame
        if self.linked:
            self._out.append(frame)

    def reboot(self, boot: int, *, keep_reports: bool) -> None:
        """Power went and came: the link is gone; numbers begin anew."""
        self.boot, self.last_number = boot, 0
        if not keep_reports:
            self._kept.clear()
        self._hello = b""
        self._proven = self.linked = False
        self._in_flight = 0
        self._answers.clear()
        self._status_at = self._resend_at = float("inf")

    def _declare_lost(self) -> None:
        """The oldest two reports give way to one that says so, under the number of the later."""
        first, second = self._kept[0], self._kept[1]
        start = first.number
        try:
            before = messages.decode_report(first.body)
            if isinstance(before, messages.ReportsLost):
                start = before.first
        except msgspec.DecodeError:
            pass
        lost = messages.ReportsLost(self._status().uptime_ms, second.boot, start, second.number)
        self._kept[:2] = [Kept(second.boot, second.number, encode_body(lost))]
        self._in_flight = max(0, self._in_flight - 1)

    # -- from the wire ---------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        for frame in self._reader.receive(data):
            if frame.version == VERSION:
                self._take(frame, now)

    def tick(self, now: float) -> None:
        if self.linked and now - self._heard_at >= HOST_LOST_AFTER:
            self.linked = False
            self._status_at = self._resend_at = float("inf")
            self._on_host_lost()
            return
        if now >= self._resend_at:
            self._in_flight = 0
            self._resend_wait = min(2 * self._resend_wait, RESEND_LONGEST)
            self._fill_window(now)
        if now >= self._status_at:
            self.send_status(now)

    def wake_at(self) -> float:
        lost_at = self._heard_at + HOST_LOST_AFTER if self.linked else float("inf")
        return min(self._resend_at, self._status_at, lost_at)

    def outgoing(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def send_status(self, now: float) -> None:
        """The heartbeat; also sent at once when the last kept report is acknowledged."""
        self._status_at = now + HEARTBEAT
        self._out.append(encode_frame(Kind.STATUS, self.boot, self.last_number, encode_body(self._status())))

    def _take(self, frame: Frame, now: float) -> None:
        try:
            if frame.kind == Kind.HELLO:
                self._take_hello(frame)
            elif frame.kind == Kind.HOST_PROOF and self._hello:
                self._take_proof(frame)
            elif frame.kind == Kind.RESUME and self._proven:
                self._take_resume(frame, now)
            elif self.linked and frame.kind == Kind.ACK:
                self._heard_at = now
                self._take_ack(frame.boot, frame.number, now)
            elif self.linked and frame.kind == Kind.COMMAND and frame.boot == self.boot:
                self._heard_at = now
                self._take_command(frame)
        except (msgspec.DecodeError, ValueError):
            self._reject("message", "a frame could not be read")

    def _reject(self, code: str, text: str) -> None:
        body = encode_body(messages.Reject(code, text))
        self._out.append(encode_frame(Kind.REJECT, self.boot, self.last_number, body))

    def _take_hello(self, frame: Frame) -> None:
        """A new nonce begins a new link; the same hello is answered as before."""
        hello = messages.decode_hello(frame.body)
        if hello.version != VERSION:
            self._reject("version", f"this device speaks cardlink {VERSION}")
            return
        if frame.content != self._hello:
            self._hello, self._proven, self.linked = frame.content, False, False
            self._status_at = self._resend_at = float("inf")
            self._answers.clear()
            self._nonces = (hello.nonce, self._nonce())
            identity = encode_body(self._identity(self._nonces[1], self._kept_ranges()))
            self._identity_frame = encode_frame(Kind.IDENTITY, self.boot, self.last_number, identity)
            self._identity_content = FrameReader().receive(self._identity_frame)[0].content
        self._out.append(self._identity_frame)

    def _kept_ranges(self) -> list[messages.KeptReports]:
        ranges: dict[int, messages.KeptReports] = {}
        for kept in self._kept:
            oldest = ranges[kept.boot].oldest if kept.boot in ranges else self._first_of(kept)
            ranges[kept.boot] = messages.KeptReports(kept.boot, oldest, kept.number)
        if self.boot not in ranges:
            ranges[self.boot] = messages.KeptReports(self.boot, self.last_number + 1, self.last_number)
        return list(ranges.values())

    @staticmethod
    def _first_of(kept: Kept) -> int:
        report = messages.decode_report(kept.body)
        return report.first if isinstance(report, messages.ReportsLost) else kept.number

    def _proof(self, role: bytes) -> bytes:
        return proofs.proof(self._key, role, *self._nonces, self._hello, self._identity_content)

    def _take_proof(self, frame: Frame) -> None:
        claimed = messages.decode_proof(frame.body)
        if claimed.type != proofs.HMAC_SHA256 or not proofs.is_valid(claimed.proof, self._proof(proofs.HOST_ROLE)):
            self._reject("proof", "the host's proof does not hold")
            return
        self._proven = True
        body = encode_body(messages.Proof(proofs.HMAC_SHA256, self._proof(proofs.DEVICE_ROLE)))
        self._out.append(encode_frame(Kind.DEVICE_PROOF, self.boot, self.last_number, body))

    def _take_resume(self, frame: Frame, now: float) -> None:
        resume = messages.decode_resume(frame.body)
        self._heard_at = now
        self.linked = True
        self._in_flight = 0
        self._drop_up_to(resume.boot, resume.number)
        self.send_status(now)
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
        if not self._kept:
            self.send_status(now)

    def _drop_up_to(self, boot: int, number: int) -> None:
        for place, kept in enumerate(self._kept):
            if kept.boot == boot and kept.number == number:
                del self._kept[: place + 1]
                return

    def _take_command(self, frame: Frame) -> None:
        """A command is carried out once; its answer is repeated when it comes again."""
        body = messages.decode_command(frame.body)
        if body.command_id in self._answers:
            if answer := self._answers[body.command_id]:
                self._out.append(answer)
            return
        self._answers[body.command_id] = b""
        self._on_command(body.command_id, body.order)

    def _fill_window(self, now: float) -> None:
        if not self.linked:
            return
        waiting = self._kept[self._in_flight : WINDOW]
        for kept in waiting:
            self._out.append(encode_frame(Kind.REPORT, kept.boot, kept.number, kept.body))
        if waiting:
            self._in_flight += len(waiting)
            self._resend_at = now + self._resend_wait
        elif not self._in_flight:
            self._resend_at = float("inf")
