"""The host's side of one cardlink link: docs/cardlink.md, "A link".

    hello -> identity -> host proof -> device proof -> resume -> status      then the link stands
    report -> (the journal) -> ack                                           go-back-N, at most 8 in flight
    command -> answer                                                        repeated under its id within the link

Nothing here does I/O. Whatever bytes are received, the only results are those of `firmware_bridge.drivers.base`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final, Literal, TypeAlias

from firmware_bridge import observations
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.device_policy import ANY_DEVICE, DevicePolicy
from firmware_bridge.drivers.base import (
    Answered,
    Contradicted,
    DeviceReady,
    Heard,
    LinkOver,
    LinkStatistics,
    Reported,
    StatusHeard,
)
from firmware_bridge.drivers.cardlink import authentication, messages
from firmware_bridge.drivers.cardlink.framing import HEADER, VERSION, Frame, FrameReader, enclose, encode_frame
from firmware_bridge.drivers.cardlink.messages import Kind, encode_body
from firmware_bridge.drivers.cardlink.overdue import STATUS_WITHIN, OverdueReport, Statuses
from firmware_bridge.drivers.cardlink.sequence import ReportSequence
from firmware_bridge.drivers.cardlink.translate import identity_of, observation_of, order_of, status_of
from firmware_bridge.drivers.cardlink.unreadable import why_unreadable
from firmware_bridge.drivers.detect import SAMPLE_SIZE, what_to_check
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation

RESEND_FIRST: Final = 0.5  # seconds until an unanswered frame is repeated; doubles
RESEND_LONGEST: Final = 2.0
RESEND_DAMAGED: Final = 0.1  # after a damaged frame in the handshake
HEARTBEAT: Final = 1.0  # the device's status; the host acknowledges as often
STALE_AFTER: Final = 1.5  # one heartbeat missed, with half a second of grace
LOST_AFTER: Final = 3.0  # three missed
HANDSHAKE_WITHIN: Final = 10.0
DAMAGED: Final = 2  # frames since the last good one: then the device is not silent, but the line is bad
ANSWERED_WITHIN: Final = 5.0  # a device that moves cards may take longer; its status says so
ANSWERS_KEPT: Final = 64  # to recognise an answer that is repeated

Contradiction: TypeAlias = Literal["report", "answer", "unknown_answer"]
FLAGS_END: Final = 3  # bytes of a header, before those that name a report; flags mean nothing
_HOST_KINDS: Final = frozenset({Kind.HELLO, Kind.HOST_PROOF, Kind.RESUME, Kind.ACK, Kind.COMMAND})


class Step(Enum):
    """Where the handshake stands: what the host waits for."""

    IDENTITY = auto()
    DEVICE_PROOF = auto()
    FIRST_STATUS = auto()
    READY = auto()
    OVER = auto()


class Unanswered:
    """A frame that is repeated unchanged until it is answered."""

    def __init__(self, frame: bytes, now: float) -> None:
        self.frame = frame
        self.wait = RESEND_FIRST
        self.due = now + RESEND_FIRST
        self.since = now

    def repeat(self, now: float) -> bytes:
        self.wait = min(2 * self.wait, RESEND_LONGEST)
        self.due = now + self.wait
        return self.frame

    def hurry(self, now: float) -> None:
        """What came was damaged, perhaps the answer: a long identity needs many attempts on a bad line."""
        self.wait = RESEND_FIRST / 2
        self.due = min(self.due, now + RESEND_DAMAGED)


class CardlinkHost:
    """One link. `held` is the last report that the journal holds durably, as (boot, number); (0, 0) for none.

    `key_of` gives the 32-byte key of a serial number, or None when that device is not paired. `nonce` is 16
    random bytes, never used before. `policy`: which device may be used; its firmware is checked after its proof.
    `replayed`: the bytes come from a capture, and a device whose key is not here needs no proof; the host's own proof
    is then made with a key of zeros. `memory`: what the links before kept.
    """

    def __init__(
        self,
        *,
        nonce: bytes,
        key_of: Callable[[str], bytes | None],
        held: tuple[int, int],
        now: float,
        replayed: bool = False,
        policy: DevicePolicy = ANY_DEVICE,
        memory: LinkMemory | None = None,
    ) -> None:
        self.statistics = LinkStatistics()
        self._reader = FrameReader()
        self._out: list[bytes] = []
        self._key_of = key_of
        self._policy = policy
        self._first_bytes = b""  # of a device that has sent no frame yet
        self._damaged_before = 0  # frames, up to the last undamaged one
        self._held = held
        self._durable = held
        self._nonce = nonce
        self._step = Step.IDENTITY
        self._boot = 0
        self._identity: DeviceIdentity | None = None
        self._memory = memory or LinkMemory()
        self._sequence = ReportSequence(held, (), 0)
        self._overdue = OverdueReport(self._sequence, self._memory, held)
        self._expected_proof = b""
        self._replayed = replayed
        self._unproven = False
        self._started = now
        self._last_valid: float | None = None
        self._statuses = Statuses()
        self._echoed = False
        self._last_ack = now
        self._commands: dict[int, Unanswered] = {}
        self._early_answers: list[tuple[int, Answered]] = []
        self._answers: dict[int, Answered] = {}  # by the command's id, the last ones
        self._hello = self._content(Kind.HELLO, encode_body(messages.Hello(VERSION, nonce)))
        self._waiting: Unanswered | None = self._ask(self._hello, now)

    # -- called by the link ---------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        self.statistics.bytes_in += len(data)
        if self._last_valid is None:
            self._first_bytes = (self._first_bytes + data)[:SAMPLE_SIZE]
        heard: list[Heard] = []
        damaged = self._damaged
        for frame in self._reader.receive(data):
            if self._step is Step.OVER:
                break
            self._take(frame, now, heard)
        if self._waiting is not None and self._damaged > damaged:
            self._waiting.hurry(now)
        self.statistics.frames_in = self._reader.frames
        self.statistics.frames_corrupt = self._reader.corrupt
        self.statistics.frames_overlong = self._reader.overlong
        if self._last_valid == now:
            self._damaged_before = self._damaged
        return heard

    def tick(self, now: float) -> Sequence[Heard]:
        if self._step is Step.OVER:
            return ()
        if now >= self._ends_at():
            return (self._end(*self._why_ended(now)),)
        heard = self._give_up_report(now)
        if self._waiting is not None and now >= self._waiting.due:
            self._resend(self._waiting, now)
        for command in self._commands.values():
            if now >= command.due:
                self._resend(command, now)
        if self._step is Step.READY and now >= self._last_ack + HEARTBEAT:
            self._send_ack(now)
        return heard

    def wake_at(self) -> float:
        if self._step is Step.OVER:
            return float("inf")
        times = [self._ends_at(), *(command.due for command in self._commands.values())]
        if self._waiting is not None:
            times.append(self._waiting.due)
        if self._step is Step.READY:
            times += [self._last_ack + HEARTBEAT, self._overdue.ends_at()]
        return min(times)

    def outgoing(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        self.statistics.bytes_out += len(data)
        return data

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        self._durable = (boot, number)
        self._overdue.acknowledge(boot, number, now)
        if self._step is Step.READY:
            self._send_ack(now)

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        if self._step is not Step.READY or command_id in self._commands:
            return
        body = encode_body(messages.CommandBody(command_id, order_of(command)))
        self._commands[command_id] = self._ask(self._content(Kind.COMMAND, body), now)

    def is_stale(self, now: float) -> bool:
        return self._last_valid is not None and now - self._last_valid >= STALE_AFTER

    # -- sending --------------------------------------------------------------------------------------------------

    def _content(self, kind: Kind, body: bytes) -> bytes:
        """Header and body, as the CRC and the proofs cover them."""
        return HEADER.pack(VERSION, kind, 0, self._boot, self._durable[1]) + body

    def _ask(self, content: bytes, now: float) -> Unanswered:
        asked = Unanswered(enclose(content), now)
        self._out.append(asked.frame)
        return asked

    def _resend(self, asked: Unanswered, now: float) -> None:
        self.statistics.frames_resent += 1
        self._out.append(asked.repeat(now))

    def _send_ack(self, now: float) -> None:
        boot, number = self._durable
        self._last_ack = now
        self._out.append(encode_frame(Kind.ACK, boot or self._boot, number))

    def _end(self, code: str, sentence: str, *, refused: bool = False) -> LinkOver:
        self._step = Step.OVER
        self._waiting = None
        self._commands.clear()
        return LinkOver(code, sentence, refused)

    def _refuse(self, refusal: LinkOver) -> LinkOver:
        return self._end(refusal.code, refusal.sentence, refused=True)

    def _ends_at(self) -> float:
        """When the link ends, unless something is received before."""
        silent = float("inf") if self._last_valid is None else self._last_valid + LOST_AFTER
        if self._step is not Step.READY:
            return min(silent, self._started + HANDSHAKE_WITHIN)
        return min(silent, self._statuses.ends_at())

    def _why_ended(self, now: float) -> tuple[str, str]:
        if self._last_valid is None:
            return self._why_nothing_valid()
        if self._damaged - self._damaged_before >= DAMAGED:
            return (
                "device-damaged-frames",
                f"What the device sends arrives damaged ({self._damaged} of "
                f"{self._damaged + self.statistics.frames_in} frames): check the cable and its plugs, that no other "
                "program has the port, and the speed (baud=).",
            )
        if now >= self._last_valid + LOST_AFTER:
            return "device-silent", f"The device has been silent for {LOST_AFTER:.0f} s."
        if now >= self._statuses.ends_at():
            return "device-silent", f"The device has sent no status for {STATUS_WITHIN:.0f} s; the program reconnects."
        return (
            "device-no-answer",
            "The device sends, but does not answer what this program sends: check the wire that carries the host's "
            "bytes.",
        )

    def _give_up_report(self, now: float) -> Sequence[Heard]:
        """A report that is due and does not come: the link is made again, once; then what it held may be lost."""
        if self._step is not Step.READY or now < self._overdue.ends_at():
            return ()
        if self._overdue.counts_too_few(now):
            sentence = (
                f"The device counts fewer reports than the {self._sequence.number - 1} that it has sent; the program "
                "reconnects."
            )
            return (self._end("device-message", sentence),)
        gone = self._overdue.give_up()
        if gone is not None:
            return (gone,)
        sentence = (
            f"The device has made its report {self._sequence.number} and does not send it; the program reconnects."
        )
        return (self._end("device-reports", sentence),)

    def _why_nothing_valid(self) -> tuple[str, str]:
        if self._echoed:
            return (
                "device-garbage",
                "Only what this program sent came back: the line echoes, or its two wires are connected to each other.",
            )
        if self.statistics.bytes_in:
            return (
                "device-garbage",
                "Bytes came from the device, and none of them was part of a cardlink frame: "
                + what_to_check(self._first_bytes, "cardlink"),
            )
        return (
            "device-no-answer",
            "The device does not answer: check its power, the cable and the port, and that it speaks cardlink "
            "(driver=).",
        )

    @property
    def _damaged(self) -> int:
        return self._reader.corrupt + self._reader.overlong

    # -- receiving ------------------------------------------------------------------------------------------------

    def _take(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        if frame.kind in _HOST_KINDS:
            self._echoed = True
            return
        if frame.version != VERSION:
            self._refuse_version(frame.version, heard)
            return
        self._last_valid = now
        handle = _HANDLERS.get((self._step, frame.kind))
        try:
            if frame.kind == Kind.REJECT:
                self._take_reject(frame, heard)
            elif self._wrong_boot(frame):
                heard.append(self._end("device-rebooted", "The device has restarted; the program reconnects."))
            elif handle is not None:
                handle(self, frame, now, heard)
        except messages.BadMessageError as error:
            heard.append(self._end("device-message", f"The device sent a message that is not cardlink's: {error}."))
        except ValueError as error:
            # An undamaged frame that is no message of this protocol. Reports are handled in _take_report.
            why = why_unreadable(frame.kind, frame.body, error)
            heard.append(self._end("device-message", f"The device sent a message that is not cardlink's: {why}."))

    def _refuse_version(self, version: int, heard: list[Heard]) -> None:
        sentence = (
            f"The device speaks cardlink {version}, this program cardlink {VERSION}: update the older of the two."
        )
        heard.append(self._end("device-version", sentence, refused=True))

    def _wrong_boot(self, frame: Frame) -> bool:
        if self._step is Step.IDENTITY or frame.boot == self._boot:
            return False
        return not (frame.kind == Kind.REPORT and self._sequence.may_come_from(frame.boot))

    def _take_reject(self, frame: Frame, heard: list[Heard]) -> None:
        reject = messages.decode_reject(frame.body)
        sentence = f"The device refused this host ({reject.code}). {reject.text}".strip()
        if reject.code == "proof":
            sentence += " The keys of host and device differ: pair them again."
        heard.append(self._end("device-rejects-host", sentence, refused=True))

    def _take_identity(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        said = messages.decode_identity(frame.body)
        if said.version != VERSION:
            self._refuse_version(said.version, heard)
            return
        authentication.check_nonce(said.nonce)
        if refusal := self._policy.refuse_serial(said.serial):
            heard.append(self._refuse(refusal))
            return
        key = self._key_of(said.serial)
        self._unproven = key is None and self._replayed
        if self._unproven:
            key = bytes(authentication.KEY_SIZE)
        if key is None:
            sentence = f"The device with serial {said.serial} has no key here: pair it, or connect the right device."
            heard.append(self._end("device-unknown-serial", sentence, refused=True))
            return
        self._identity = identity_of(said, frame.boot)
        self._boot = frame.boot
        self._sequence = ReportSequence(self._held, said.kept, frame.boot)
        self._overdue = OverdueReport(self._sequence, self._memory, self._held)

        def expected(role: bytes) -> bytes:
            return authentication.proof(key, role, self._nonce, said.nonce, self._hello, frame.content)

        self._expected_proof = expected(authentication.DEVICE_ROLE)
        self._step = Step.DEVICE_PROOF
        ours = messages.Proof(authentication.HMAC_SHA256, expected(authentication.HOST_ROLE))
        self._waiting = self._ask(self._content(Kind.HOST_PROOF, encode_body(ours)), now)

    def _take_device_proof(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        claimed = messages.decode_proof(frame.body)
        is_valid = self._unproven or authentication.is_valid(claimed.proof, self._expected_proof)
        if claimed.type != authentication.HMAC_SHA256 or not is_valid:
            sentence = "The device could not prove its identity: its key is not the one kept here. Pair it again."
            heard.append(self._end("device-proof", sentence, refused=True))
            return
        assert self._identity is not None
        if refusal := self._policy.refuse_firmware(self._identity.serial, self._identity.firmware_digest):
            heard.append(self._refuse(refusal))
            return
        self._step = Step.FIRST_STATUS
        self._waiting = self._ask(self._content(Kind.RESUME, encode_body(messages.Resume(*self._held))), now)

    def _take_first_status(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        assert self._identity is not None
        status = status_of(messages.decode_status(frame.body), frame.boot)
        self._step = Step.READY
        self._waiting = None
        self._send_ack(now)
        self._hear_status(status, now)
        heard.append(DeviceReady(self._identity, status))
        heard.extend(self._sequence.gone)

    def _take_status(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        status = status_of(messages.decode_status(frame.body), frame.boot)
        self._hear_status(status, now)
        late = [one for one, asked in self._commands.items() if now >= asked.since + ANSWERED_WITHIN]
        heard.append(StatusHeard(status, tuple(late), self._statuses.move_too_long(now)))

    def _hear_status(self, status: DeviceStatus, now: float) -> None:
        self._statuses.hear(now, moving=status.moving)
        self._overdue.hear_of(status.last_report, now)

    def _take_answer(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        answer = messages.decode_answer(frame.body)
        answered = Answered(answer.command_id, answer.done, answer.reason)
        if self._commands.pop(answer.command_id, None) is not None:
            self._answers[answer.command_id] = answered
            if len(self._answers) > ANSWERS_KEPT:
                del self._answers[next(iter(self._answers))]
            self._early_answers.append((frame.number, answered))
            self._release_answers(heard)
        elif answer.command_id not in self._answers:
            self._note("unknown_answer", frame, answer.command_id, now, heard)
        elif answered != self._answers[answer.command_id]:
            self._note("answer", frame, answer.command_id, now, heard)

    def _note(self, what: Contradiction, frame: Frame, number: int, now: float, heard: list[Heard]) -> None:
        if self._memory.may_note(what, frame.boot, number, now):
            heard.append(Contradicted(what, frame.boot, number, Evidence(frame.content)))

    def _release_answers(self, heard: list[Heard]) -> None:
        """An answer may overtake the reports that were sent before it: it waits until they are taken."""
        waiting: list[tuple[int, Answered]] = []
        for number, answered in self._early_answers:
            if self._sequence.boot == self._boot and self._sequence.number > number:
                heard.append(answered)
            else:
                waiting.append((number, answered))
        self._early_answers = waiting

    def _take_report(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        report: AnyObservation
        uptime: int | None = None
        first = frame.number
        covers = False  # it stands for reports that the device has lost
        try:
            message = messages.decode_report(frame.body)
            uptime, report = message.uptime_ms, observation_of(message)
            if isinstance(message, messages.ReportsLost) and message.boot == frame.boot:
                covers, first = True, min(message.first, frame.number)
                report = observations.ReportsLost(frame.boot, max(first, self._sequence.number), frame.number)
        except ValueError as error:
            report = observations.NotUnderstood(why_unreadable(frame.kind, frame.body, error))
        if self._sequence.accept(frame.boot, first, frame.number):
            evidence = Evidence(frame.content)
            self._overdue.take(frame.boot, frame.number)
            self._memory.take(frame.boot, frame.number, evidence)
            heard.append(Reported(frame.boot, frame.number, uptime, report, evidence))
            if self._early_answers:
                self._release_answers(heard)
            return
        if self._sequence.is_repeat(frame.boot, frame.number):
            self.statistics.reports_repeated += 1
            if not self._is_rightful_repeat(frame, covers=covers):
                self._note("report", frame, frame.number, now, heard)
        else:
            self.statistics.reports_out_of_order += 1
            self._overdue.hear_of_later(now)
        self._send_ack(now)

    def _is_rightful_repeat(self, frame: Frame, *, covers: bool) -> bool:
        """The same bytes again; or, within the window, a report that stands for lost ones, or one that is not kept."""
        in_window = self._sequence.may_be_resent(frame.boot, frame.number)
        before = self._memory.report(frame.boot, frame.number)
        if before is None or covers:
            return in_window
        return before.open()[FLAGS_END:] == frame.content[FLAGS_END:]


def make_cardlink(setting: DriverSetting, now: float) -> CardlinkHost:
    """As the registry makes it."""
    return CardlinkHost(
        nonce=setting.nonce,
        key_of=setting.key_of,
        held=setting.held,
        now=now,
        replayed=setting.replayed,
        policy=setting.policy,
        memory=setting.memory,
    )


_Handler = Callable[[CardlinkHost, Frame, float, list[Heard]], None]
_HANDLERS: Final[dict[tuple[Step, int], _Handler]] = {
    (Step.IDENTITY, Kind.IDENTITY): CardlinkHost._take_identity,
    (Step.DEVICE_PROOF, Kind.DEVICE_PROOF): CardlinkHost._take_device_proof,
    (Step.FIRST_STATUS, Kind.STATUS): CardlinkHost._take_first_status,
    (Step.READY, Kind.STATUS): CardlinkHost._take_status,
    (Step.READY, Kind.ANSWER): CardlinkHost._take_answer,
    (Step.READY, Kind.REPORT): CardlinkHost._take_report,
}
