"""The device's side of cardlink, without I/O: docs/cardlink.md, "A link".

Shares framing and messages with the host's side and nothing else. `now` is in seconds of one monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from firmware_bridge.drivers.cardlink import authentication, messages
from firmware_bridge.drivers.cardlink.framing import VERSION, Frame, FrameReader, encode_frame
from firmware_bridge.drivers.cardlink.messages import Kind, encode_body

WINDOW: Final = 8
RESEND_FIRST: Final = 0.2
RESEND_LONGEST: Final = 2.0
HEARTBEAT: Final = 1.0
HOST_LOST_AFTER: Final = 3.0
LEAST_MEMORY: Final = WINDOW  # reports
EARLIER_BOOTS: Final = 3  # remembered besides the running one, as many as the identity has room for


class Kept(msgspec.Struct):
    """A report that the host has not acknowledged, or one that stands for all from `first` to `number`."""

    boot: int
    first: int
    number: int
    uptime_ms: int
    body: bytes


class CardlinkDevice:
    """One device's end of the wire, for as long as it has power; `reboot` begins another boot.

    `identity` builds the identity for a nonce; `status` gives the status of this moment; `nonce` gives 16 fresh bytes.
    `on_command` gets each command once; it answers through `answer`. `on_host_lost` is called when the host is silent
    for 3 s. `memory` is how many reports are kept, at least 8.
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
        if memory < LEAST_MEMORY:
            raise ValueError(f"a device keeps at least {LEAST_MEMORY} reports")
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
        self._catching_up = False  # the host has not yet all that was kept when it resumed
        self._earlier: list[tuple[int, int]] = []  # boots remembered, each with its last report
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
        self._greeted_at = float("-inf")
        self._host_is_there = False
        self._received_at = float("-inf")
        self._status_at = float("inf")

    @property
    def unacknowledged(self) -> int:
        return len(self._kept)

    # -- from the mechanism ----------------------------------------------------------------------------------------

    def report(self, report: messages.Report, now: float) -> int:
        """Number a report, keep it until it is acknowledged, and send it as soon as the window allows."""
        self.last_number += 1
        number = self.last_number
        self._kept.append(Kept(self.boot, number, number, report.uptime_ms, encode_body(report)))
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
        """Power went and came: the link is gone; numbers begin at 1 again."""
        self._earlier = [*self._earlier, (self.boot, self.last_number)][-EARLIER_BOOTS:] if keep_reports else []
        remembered = {earlier for earlier, _ in self._earlier}
        self._kept = [kept for kept in self._kept if kept.boot in remembered]
        self.boot, self.last_number = boot, 0
        self._forget_link()
        self._host_is_there = False
        self._in_flight = 0

    def _declare_lost(self) -> None:
        """One report that declares them lost replaces the oldest two of one boot, under the number of the later."""
        place = next(n for n in range(len(self._kept) - 1) if self._kept[n].boot == self._kept[n + 1].boot)
        first, last = self._kept[place], self._kept[place + 1]
        lost = messages.ReportsLost(last.uptime_ms, last.boot, first.first, last.number)
        self._kept[place : place + 2] = [
            Kept(last.boot, first.first, last.number, last.uptime_ms, encode_body(lost)),
        ]
        if self._in_flight > place:
            self._in_flight = max(place, self._in_flight - 1)

    def _forget_link(self) -> None:
        """A hello is answered with a fresh nonce from now on, so that nothing recorded on this link holds again."""
        self._hello = b""
        self._proven = self.linked = False
        self._answers.clear()
        self._out.clear()
        self._status_at = self._resend_at = float("inf")

    # -- from the wire ---------------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> None:
        for frame in self._reader.receive(data):
            if frame.version == VERSION:
                self._take(frame, now)
            elif frame.kind == Kind.HELLO:
                self._reject_version()

    def tick(self, now: float) -> None:
        if self._host_is_there and now >= self._received_at + HOST_LOST_AFTER:
            self._host_is_there = False
            if self.linked:
                self._forget_link()
            self._on_host_lost()
        if self._hello and not self.linked and now >= self._greeted_at + HOST_LOST_AFTER:
            self._forget_link()
        if now >= self._resend_at:
            self._in_flight = 0
            self._resend_wait = min(2 * self._resend_wait, RESEND_LONGEST)
            self._fill_window(now)
        if now >= self._status_at:
            self.send_status(now)

    def wake_at(self) -> float:
        times = [self._resend_at, self._status_at]
        if self._host_is_there:
            times.append(self._received_at + HOST_LOST_AFTER)
        if self._hello and not self.linked:
            times.append(self._greeted_at + HOST_LOST_AFTER)
        return min(times)

    def outgoing(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def send_status(self, now: float) -> None:
        """The heartbeat; also sent at once when all that was kept for a link is acknowledged."""
        self._status_at = now + HEARTBEAT
        self._out.append(encode_frame(Kind.STATUS, self.boot, self.last_number, encode_body(self._status())))

    def _take(self, frame: Frame, now: float) -> None:
        try:
            if frame.kind == Kind.HELLO:
                self._take_hello(frame, now)
            elif frame.kind == Kind.HOST_PROOF and self._hello:
                self._take_proof(frame, now)
            elif frame.kind == Kind.RESUME and self._proven:
                self._take_resume(frame, now)
            elif self.linked and frame.kind == Kind.ACK:
                self._received_at = now
                self._take_ack(frame.boot, frame.number, now)
            elif self.linked and frame.kind == Kind.COMMAND and frame.boot == self.boot:
                self._received_at = now
                self._take_command(frame)
        except ValueError:
            self._reject("message", "a frame could not be read")

    def _reject(self, code: str, text: str) -> None:
        body = encode_body(messages.Reject(code, text))
        self._out.append(encode_frame(Kind.REJECT, self.boot, self.last_number, body))

    def _reject_version(self) -> None:
        self._reject("version", f"this device speaks cardlink {VERSION}")

    def _take_hello(self, frame: Frame, now: float) -> None:
        """A new nonce begins a new link; the same hello is answered as before."""
        hello = messages.decode_hello(frame.body)
        if hello.version != VERSION:
            self._reject_version()
            return
        authentication.check_nonce(hello.nonce)
        if frame.content != self._hello:
            self._forget_link()
            self._hello = frame.content
            self._nonces = (hello.nonce, self._nonce())
            identity = encode_body(self._identity(self._nonces[1], self._kept_ranges()))
            self._identity_frame = encode_frame(Kind.IDENTITY, self.boot, self.last_number, identity)
            self._identity_content = FrameReader().receive(self._identity_frame)[0].content
        self._greeted_at = now
        self._out.append(self._identity_frame)

    def _kept_ranges(self) -> list[messages.KeptReports]:
        """What is kept of each boot remembered; of one whose reports were all acknowledged, that nothing is."""
        ranges: list[messages.KeptReports] = []
        for boot, newest in (*self._earlier, (self.boot, self.last_number)):
            oldest = next((kept.first for kept in self._kept if kept.boot == boot), newest + 1)
            ranges.append(messages.KeptReports(boot, oldest, newest))
        return ranges

    def _proof(self, role: bytes) -> bytes:
        return authentication.proof(self._key, role, *self._nonces, self._hello, self._identity_content)

    def _take_proof(self, frame: Frame, now: float) -> None:
        claimed = messages.decode_proof(frame.body)
        if claimed.type != authentication.HMAC_SHA256 or not authentication.is_valid(
            claimed.proof, self._proof(authentication.HOST_ROLE)
        ):
            self._reject("proof", "the host's proof does not hold")
            return
        self._proven = True
        self._greeted_at = now
        body = encode_body(messages.Proof(authentication.HMAC_SHA256, self._proof(authentication.DEVICE_ROLE)))
        self._out.append(encode_frame(Kind.DEVICE_PROOF, self.boot, self.last_number, body))

    def _take_resume(self, frame: Frame, now: float) -> None:
        resume = messages.decode_resume(frame.body)
        self._received_at = now
        self._host_is_there = self.linked = True
        self._in_flight = 0
        self._resend_wait = RESEND_FIRST
        self._drop_up_to(resume.boot, resume.number)
        self._catching_up = bool(self._kept)
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
        if self._catching_up and not self._kept:
            self._catching_up = False
            self.send_status(now)

    def _drop_up_to(self, boot: int, number: int) -> None:
        """Forget what the host holds: that boot's reports up to `number`, and all of the boots before it."""
        if boot == self.boot and number > self.last_number:
            return
        held = 0
        for place, kept in enumerate(self._kept, start=1):
            if kept.boot == boot:
                if kept.number > number:
                    break
                held = place
        del self._kept[:held]

    def _take_command(self, frame: Frame) -> None:
        """A command is carried out once; its answer is repeated when it comes again."""
        command_id = messages.decode_command_head(frame.body).command_id
        if command_id in self._answers:
            if answer := self._answers[command_id]:
                self._out.append(answer)
            return
        try:
            order = messages.decode_command(frame.body).order
        except ValueError:
            self.answer(command_id, False, "unknown")
            return
        self._answers[command_id] = b""
        self._on_command(command_id, order)

    def _fill_window(self, now: float) -> None:
        if not self.linked:
            return
        waiting = self._kept[self._in_flight : WINDOW]
        for kept in waiting:
            self._out.append(encode_frame(Kind.REPORT, kept.boot, kept.number, kept.body))
        if waiting and not self._in_flight:
            self._resend_at = now + self._resend_wait
        self._in_flight += len(waiting)
        if not self._in_flight:
            self._resend_at = float("inf")
