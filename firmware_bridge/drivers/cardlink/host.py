"""The host's side of one cardlink link: docs/cardlink.md, "A link".

    hello -> identity -> host proof -> device proof     in the clear (`handshake`)
    resume -> status                                    sealed, like all that follows; then the link is up
    challenge -> attestation                            if an image is approved; then the device may be used
    report -> (the journal) -> ack                      go-back-N, at most 8 in flight
    command -> answer                                   repeated under its id within the link

Nothing here does I/O. Whatever bytes come in, the only results are those of `firmware_bridge.drivers.base`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Any, Final, TypeAlias

from firmware_bridge import observations
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import (
    Answered,
    Contradicted,
    Contradiction,
    Heard,
    LinkOver,
    LinkReady,
    LinkStatistics,
    Reported,
    StatusHeard,
)
from firmware_bridge.drivers.cardlink import link_ends, messages
from firmware_bridge.drivers.cardlink.framing import HEADER, VERSION, Frame, FrameReader, enclose
from firmware_bridge.drivers.cardlink.handshake import HostHandshake, Proven, other_version, rejected, unproven
from firmware_bridge.drivers.cardlink.messages import CLEAR, OF_HOST, FrameKind, encode_body, why_unreadable
from firmware_bridge.drivers.cardlink.reports import (
    Acknowledgements,
    OverdueReport,
    ReportSequence,
    Statuses,
)
from firmware_bridge.drivers.cardlink.sealing import LOST_WITHOUT, OpenedFrame, SealedChannel
from firmware_bridge.drivers.cardlink.translate import observation_of, order_of, status_of
from firmware_bridge.drivers.detect import SAMPLE_SIZE
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.setting import ANY_DEVICE, ApprovedImage, DevicePolicy, DriverSetting, FrameKeys
from firmware_bridge.observations import AnyObservation

RESEND_FIRST: Final = 0.5  # seconds until an unanswered frame is repeated; doubles (docs/cardlink.md, "A link")
RESEND_LONGEST: Final = 2.0
RESEND_DAMAGED: Final = 0.1  # seconds, after a damaged frame in the handshake
HEARTBEAT: Final = 1.0  # seconds between the device's statuses, and between the host's acknowledgements
STALE_AFTER: Final = 1.5  # seconds: one heartbeat and some grace (docs/cardlink.md, "Signs of life")
LOST_AFTER: Final = 3.0  # seconds: three missed
HANDSHAKE_WITHIN: Final = 10.0  # seconds from hello to the first status
ATTESTED_WITHIN: Final = 10.0  # seconds from then to the attestation
DAMAGED: Final = 2  # frames since the last good one: then the line is bad, rather than the device silent
ANSWERED_WITHIN: Final = 5.0  # seconds; longer while cards move (docs/cardlink.md, "Commands" 6)
ANSWERS_KEPT: Final = 64  # answers that are kept to recognise a repeated one

Make: TypeAlias = Callable[[float], bytes]  # returns a frame's bytes for this time
FLAGS_END: Final = 3  # bytes of the header before those that name a report; flags are ignored


class LinkStep(Enum):
    """The state of the handshake: what the host waits for."""

    IDENTITY = auto()
    DEVICE_PROOF = auto()
    FIRST_STATUS = auto()
    ATTESTATION = auto()
    READY = auto()
    OVER = auto()


_UP: Final = (LinkStep.ATTESTATION, LinkStep.READY)


class Unanswered:
    """A frame that is repeated until it is answered: a clear one byte for byte, a sealed one sealed again."""

    def __init__(self, make: Make, now: float) -> None:
        self._make = make
        self.frame = make(now)
        self.wait = RESEND_FIRST
        self.due = now + RESEND_FIRST
        self.since = now
        self.repeats = 0

    def repeat(self, now: float) -> bytes:
        self.repeats += 1
        self.wait = min(2 * self.wait, RESEND_LONGEST)
        self.due = now + self.wait
        return self._make(now)

    def hurry(self, now: float) -> None:
        """Repeat sooner after damage, perhaps of the answer: a long identity needs many attempts on a bad line."""
        self.wait = RESEND_FIRST / 2
        self.due = min(self.due, now + RESEND_DAMAGED)


class CardlinkHost:
    """The driver of one link. `held` is the last report in the journal, as (boot, number); (0, 0) for none.

    `key_of` returns the 32-byte key of a serial number, or None if that device is not paired. `nonce` is 16 random
    bytes, never used before. `policy` names the device that may be used; firmware is checked after the proof. `memory`
    is what earlier links kept. `versions` of the protocol: the link uses the highest that both sides speak.
    `DriverSetting` describes `next_key_of`, `replayed`, `frame_keys`, `note_keys`, `image`.
    """

    def __init__(
        self,
        *,
        nonce: bytes,
        key_of: Callable[[str], bytes | None],
        held: tuple[int, int],
        now: float,
        next_key_of: Callable[[str], bytes | None] = lambda serial: None,
        replayed: bool = False,
        policy: DevicePolicy = ANY_DEVICE,
        memory: LinkMemory | None = None,
        frame_keys: FrameKeys | None = None,
        note_keys: Callable[[FrameKeys], None] = lambda keys: None,
        versions: tuple[int, ...] = (VERSION,),
        image: ApprovedImage | None = None,
    ) -> None:
        self.statistics = LinkStatistics()
        self._reader = FrameReader()
        self._out: list[bytes] = []
        self._note_keys = note_keys
        self._image = image
        self._attested_by = math.inf
        self._until_attested: list[Heard] = []  # what is reported once the device has attested its program
        self._replayed = replayed
        self._first_bytes = b""  # from a device that has sent no frame yet
        self._damaged_before = 0  # frames damaged before the last good one
        self._held = held
        self._durable = held
        self._step = LinkStep.IDENTITY
        self._boot = 0
        self._memory = memory or LinkMemory()
        self._sequence = ReportSequence(held, (), 0)
        self._overdue = OverdueReport(self._sequence, self._memory, held)
        self._started = now
        self._last_valid: float | None = None
        self._statuses = Statuses()
        self._acknowledgements = Acknowledgements()
        self._damaged_since_report = 0  # frames damaged when the last report was taken
        self._moving: set[int] = set()  # the open commands that move cards
        self._echoed = False
        self._last_ack = now
        self._commands: dict[int, Unanswered] = {}
        self._early_answers: dict[int, tuple[int, Answered]] = {}  # by command id, with the report that each waits for
        self._answers: dict[int, Answered] = {}  # the last ones, by command id
        self._proven: Proven | None = None
        self._channel: SealedChannel | None = None  # starting with the device's proof
        self._identity_content = b""
        self._replaced = 0  # host proofs that were replaced and may still be rejected
        hello = HEADER.pack(VERSION, FrameKind.HELLO, 0, 0, held[1]) + encode_body(messages.HelloBody(VERSION, nonce))
        self._handshake = HostHandshake(
            hello,
            nonce,
            key_of=key_of,
            next_key_of=next_key_of,
            policy=policy,
            memory=self._memory,
            replayed=replayed,
            recorded=frame_keys,
            versions=versions,
        )
        self._waiting: Unanswered | None = self._ask(lambda now: enclose(hello), now)

    # -- called by the link ---------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        self.statistics.bytes_in += len(data)
        if self._last_valid is None:
            self._first_bytes = (self._first_bytes + data)[:SAMPLE_SIZE]
        heard: list[Heard] = []
        damaged = self._damaged
        for frame in self._reader.receive(data):
            if self._step is LinkStep.OVER:
                break
            self._take(frame, now, heard)
        if self._step is not LinkStep.OVER:
            self._check_dropped_frames(now, heard)
        if self._waiting is not None and self._damaged > damaged:
            self._waiting.hurry(now)
        self.statistics.frames_corrupt = self._reader.corrupt
        self.statistics.frames_overlong = self._reader.overlong
        if self._last_valid == now:
            self._damaged_before = self._damaged
        return heard

    def tick(self, now: float) -> Sequence[Heard]:
        if self._step is LinkStep.OVER:
            return ()
        if now >= self._ends_at():
            return (self._end(self._why_ended(now)),)
        if self._channel is not None and self._channel.used_up:
            return (self._end(link_ends.COUNTERS_USED_UP),)
        if now >= self._attested_by and self._proven is not None:
            return (self._end(link_ends.not_attested(self._proven.identity.serial, ATTESTED_WITHIN)),)
        heard = self._give_up_report(now)
        if self._waiting is not None and now >= self._waiting.due:
            self._resend(self._waiting, now)
        for command in self._commands.values():
            if now >= command.due:
                self._resend(command, now)
        if self._step in _UP and now >= self._last_ack + HEARTBEAT:
            self._send_ack(now)
        return heard

    def wake_at(self) -> float:
        if self._step is LinkStep.OVER:
            return float("inf")
        times = [self._ends_at(), self._attested_by, *(command.due for command in self._commands.values())]
        if self._waiting is not None:
            times.append(self._waiting.due)
        if self._step in _UP:
            times.append(self._last_ack + HEARTBEAT)
        if self._step is LinkStep.READY:
            times.append(self._overdue.ends_at())
        return min(times)

    def outgoing(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        self.statistics.bytes_out += len(data)
        return data

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        self._durable = (boot, number)
        self._overdue.acknowledge(boot, number, now)
        if self._step is LinkStep.READY:
            self._send_ack(now)

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        if self._step is not LinkStep.READY or command_id in self._commands:
            return
        self._statuses.order(command_id)
        if command.moves_cards:
            self._moving.add(command_id)
        body = encode_body(messages.CommandBody(command_id, order_of(command)))
        self._commands[command_id] = self._ask(self._sealed(FrameKind.COMMAND, body), now)

    def is_stale(self, now: float) -> bool:
        return self._last_valid is not None and now - self._last_valid >= STALE_AFTER

    # -- sending --------------------------------------------------------------------------------------------------

    def _clear(self, kind: FrameKind, body: bytes) -> Make:
        frame = enclose(HEADER.pack(self._handshake.version, kind, 0, self._boot, self._durable[1]) + body)
        return lambda now: frame

    def _sealed(self, kind: FrameKind, body: bytes) -> Make:
        """Return a maker that seals the frame anew at each sending, under a fixed header."""
        boot, number, channel = self._boot, self._durable[1], self._channel
        assert channel is not None
        return lambda now: channel.seal(kind, boot, number, body, now)

    def _ask(self, make: Make, now: float) -> Unanswered:
        asked = Unanswered(make, now)
        self._out.append(asked.frame)
        return asked

    def _resend(self, asked: Unanswered, now: float) -> None:
        self.statistics.frames_resent += 1
        self._out.append(asked.repeat(now))

    def _send_ack(self, now: float) -> None:
        boot, number = self._durable
        self._last_ack = now
        assert self._channel is not None
        body = encode_body(messages.AckBody(self._channel.heard))
        self._out.append(self._channel.seal(FrameKind.ACK, boot or self._boot, number, body, now))
        self._acknowledgements.send(self._channel.sent, boot, number)

    def _end(self, over: LinkOver) -> LinkOver:
        self._step = LinkStep.OVER
        self._waiting = None
        self._commands.clear()
        return over

    def _end_by_sender(self, over: LinkOver) -> LinkOver:
        """End the link for what was received. Before the device's proof, anything on the line may have sent it."""
        return self._end(over if self._proven is not None else unproven(over))

    def _ends_at(self) -> float:
        """Return when the link ends unless something is received before."""
        silent = float("inf") if self._last_valid is None else self._last_valid + LOST_AFTER
        if self._channel is None or self._step not in _UP:
            return min(silent, self._started + HANDSHAKE_WITHIN)
        return min(silent, self._channel.ends_at())

    def _why_ended(self, now: float) -> LinkOver:
        if self._last_valid is None:
            return self._why_nothing_valid()
        if self._damaged - self._damaged_before >= DAMAGED:
            return self._how_changed() or link_ends.damaged(self._damaged, self.statistics.frames_in)
        if now >= self._last_valid + LOST_AFTER:
            if self._went_unheard():
                return link_ends.HEARS_NOTHING
            return link_ends.silent(LOST_AFTER)
        if self._channel is not None and now >= self._channel.ends_at():
            without = self._statuses.silent_for(now) >= LOST_WITHOUT
            return link_ends.no_status(LOST_WITHOUT) if without else link_ends.delayed(LOST_WITHOUT)
        return link_ends.NO_ANSWERS

    def _went_unheard(self) -> bool:
        """Return whether the last status named nothing that was sent in the time before it."""
        if self._channel is None or self._step not in _UP:
            return False
        return self._statuses.at >= self._channel.unheard_since() + STALE_AFTER

    def _why_nothing_valid(self) -> LinkOver:
        if self._echoed:
            return link_ends.ECHO
        if changed := self._how_changed():
            return changed
        return link_ends.garbage(self._first_bytes) if self.statistics.bytes_in else link_ends.NOTHING_CAME

    def _how_changed(self) -> LinkOver | None:
        """Return what on the line changes the data in the way in which the last damaged frames differ, if it shows."""
        if self._reader.lacks_flow_control:
            return link_ends.FLOW_CONTROL
        return link_ends.TELNET if self._reader.is_telnet else None

    def _give_up_report(self, now: float) -> Sequence[Heard]:
        """Give up on a report that is due: make the link again once, then declare that the report may be lost."""
        if self._step is not LinkStep.READY or now < self._overdue.ends_at():
            return ()
        if self._overdue.counts_too_few(now):
            return (self._end(link_ends.counts_too_few(self._sequence.number - 1)),)
        gone = self._overdue.give_up()
        if gone is None:
            if self._damaged - self._damaged_since_report >= DAMAGED:
                return (self._end(link_ends.damaged(self._damaged, self.statistics.frames_in)),)
            return (self._end(link_ends.report_withheld(self._sequence.number)),)
        heard: list[Heard] = [gone]
        self._release_answers(now, heard)
        return heard

    @property
    def _damaged(self) -> int:
        return self._reader.corrupt + self._reader.overlong

    # -- receiving ------------------------------------------------------------------------------------------------

    def _take(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        """Check in the order of docs/cardlink.md: version and direction, the seal, the boot, the body."""
        if frame.kind in OF_HOST:
            self._echoed = True
            return
        taken: Frame | OpenedFrame = frame
        if self._channel is None:
            if frame.version not in (VERSION, self._handshake.version):
                heard.append(self._end(other_version((frame.version,), (self._handshake.version,))))
                return
        else:
            opened = self._channel.open(frame)
            if opened is None:
                return
            taken = opened
        self._last_valid = now
        self.statistics.frames_in += 1
        try:
            self._handle(taken, now, heard)
        except messages.BadMessageError as error:
            heard.append(self._end_by_sender(link_ends.no_message(error)))
        except ValueError as error:
            # An undamaged frame that is not a message in this protocol. Reports are handled in _take_report.
            heard.append(self._end_by_sender(link_ends.no_message(why_unreadable(frame.kind, taken.body, error))))

    def _handle(self, frame: Frame | OpenedFrame, now: float, heard: list[Heard]) -> None:
        handle = _HANDLERS.get((self._step, frame.kind))
        proven = self._proven is not None
        if frame.kind == (FrameKind.SEALED_REJECT if proven else FrameKind.REJECT):
            self._take_reject(frame, proven, now, heard)
        elif self._wrong_boot(frame):
            heard.append(self._end_by_sender(link_ends.REBOOTED))
        elif handle is not None:
            handle(self, frame, now, heard)

    def _take_reject(self, frame: Frame | OpenedFrame, proven: bool, now: float, heard: list[Heard]) -> None:
        """Try the device's next key, or end the link. A reject of a host proof that was replaced is ignored."""
        if not proven and messages.decode_reject(frame.body).code == "proof":
            if self._replaced:
                self._replaced -= 1
                return
            if self._step is LinkStep.DEVICE_PROOF and self._handshake.try_next_key():
                self._replaced = self._waiting.repeats if self._waiting is not None else 0
                self._send_host_proof(now)
                return
        heard.append(self._end(rejected(frame.body) if proven else self._handshake.rejected(frame.body)))

    def _wrong_boot(self, frame: Frame | OpenedFrame) -> bool:
        """Return whether the header's boot is wrong. Before the proof, sealed frames of another link are ignored."""
        if self._step is LinkStep.IDENTITY or frame.boot == self._boot or frame.kind == FrameKind.IDENTITY:
            return False
        if self._proven is None:
            return frame.kind in CLEAR
        return not (frame.kind == FrameKind.REPORT and self._sequence.may_come_from(frame.boot))

    def _check_dropped_frames(self, now: float, heard: list[Heard]) -> None:
        """Check the frames that were dropped: too long to be answered, forged, or repeated."""
        if self._channel is None:
            if self._reader.too_long:
                heard.append(self._end_by_sender(link_ends.too_long(self._reader.too_long)))
            return
        self.statistics.frames_forged = self._channel.forged
        self.statistics.frames_repeated = self._channel.repeated
        if self._channel.is_worn_out:
            heard.append(self._end(link_ends.FORGED))
        elif (count := self._channel.forgeries_to_note(now)) is not None:
            heard.append(Contradicted("forged_frames", self._boot, count, Evidence(b"")))

    def _take_identity(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        """Take an identity. A later one replaces it: the first may answer the hello of an earlier, broken link."""
        if frame.content == self._identity_content:
            return
        if refusal := self._handshake.take_identity(frame):
            heard.append(self._end(refusal))
            return
        self._replaced += self._step is LinkStep.DEVICE_PROOF
        self._identity_content = frame.content
        self._boot = frame.boot
        self._step = LinkStep.DEVICE_PROOF
        self._send_host_proof(now)

    def _send_host_proof(self, now: float) -> None:
        self._waiting = self._ask(self._clear(FrameKind.HOST_PROOF, self._handshake.host_proof), now)

    def _take_device_proof(self, frame: Frame, now: float, heard: list[Heard]) -> None:
        proven = self._handshake.take_device_proof(frame)
        if isinstance(proven, LinkOver):
            heard.append(self._end(proven))
            return
        if self._image is not None and not proven.identity.capabilities.attests:
            heard.append(self._end(link_ends.cannot_attest(proven.identity.serial)))
            return
        self._proven = proven
        self._sequence = ReportSequence(self._held, proven.kept, self._boot)
        holds_exit = proven.identity.capabilities.holds_exit
        self._overdue = OverdueReport(self._sequence, self._memory, self._held, holds_exit=holds_exit)
        self._channel = SealedChannel(*proven.keys, self._handshake.version)
        self._note_keys(proven.keys)
        self._step = LinkStep.FIRST_STATUS
        self._waiting = self._ask(self._sealed(FrameKind.RESUME, encode_body(messages.ResumeBody(*self._held))), now)
        self._acknowledgements.send(self._channel.sent, *self._held)

    def _take_first_status(self, frame: OpenedFrame, now: float, heard: list[Heard]) -> None:
        assert self._proven is not None
        assert self._channel is not None
        said = messages.decode_status(frame.body)
        self._step = LinkStep.ATTESTATION
        self._waiting = None
        self._channel.stands(now)
        self._send_ack(now)
        self._damaged_since_report = self._damaged
        contradictions = self._hear_status(frame, said, now)
        self._memory.take_nonce(self._proven.nonce)
        proven, image = self._proven, "" if self._image is None else self._image.sha256
        ready = LinkReady(proven.identity, status_of(said, frame.boot), proven.nonce, proven.key, image)
        self._until_attested = [ready, *self._sequence.gone, *contradictions]
        if self._image is None:
            self._become_ready(heard)
            return
        body = encode_body(messages.ChallengeBody(self._image.salt, 0, len(self._image.program)))
        self._attested_by = now + ATTESTED_WITHIN
        self._waiting = self._ask(self._sealed(FrameKind.CHALLENGE, body), now)

    def _take_before_attested(self, frame: OpenedFrame, now: float, heard: list[Heard]) -> None:
        """Keep what the device says until it has shown which program it runs."""
        _HANDLERS[LinkStep.READY, frame.kind](self, frame, now, self._until_attested)

    def _take_attestation(self, frame: OpenedFrame, now: float, heard: list[Heard]) -> None:
        assert self._image is not None
        assert self._proven is not None
        said = messages.decode_attestation(frame.body)
        if said.salt != self._image.salt:
            return
        if not self._image.is_shown_by(said.digest):
            heard.append(self._end(link_ends.other_program(self._proven.identity.serial, self._image.sha256[:16])))
            return
        self._become_ready(heard)

    def _become_ready(self, heard: list[Heard]) -> None:
        self._step = LinkStep.READY
        self._waiting = None
        self._attested_by = math.inf
        heard.extend(self._until_attested)
        self._until_attested.clear()

    def _take_status(self, frame: OpenedFrame, now: float, heard: list[Heard]) -> None:
        said = messages.decode_status(frame.body)
        contradictions = self._hear_status(frame, said, now)
        late = [one for one, asked in self._commands.items() if now >= asked.since + ANSWERED_WITHIN]
        heard.append(StatusHeard(status_of(said, frame.boot), tuple(late), self._statuses.move_too_long(now)))
        heard.extend(contradictions)

    def _hear_status(self, frame: OpenedFrame, said: messages.StatusBody, now: float) -> list[Heard]:
        """Take a status, and return what it contradicts."""
        assert self._channel is not None
        contradictions: list[Heard] = []
        sent = math.inf if self._replayed else self._channel.sent
        for what, number in self._statuses.contradictions(said, sent, now):
            self._note(what, frame, number, now, contradictions)
        self._channel.hear(said.heard, now)
        self._acknowledgements.hear(said.heard, now)
        self._statuses.hear(said, now, ordered=bool(self._moving))
        self._overdue.hear_of(said.last_report, now)
        return contradictions

    def _take_answer(self, frame: OpenedFrame, now: float, heard: list[Heard]) -> None:
        answer = messages.decode_answer(frame.body)
        answered = Answered(answer.command_id, answer.done, answer.reason)
        _, before = self._early_answers.get(answer.command_id, (0, self._answers.get(answer.command_id)))
        if before is not None:
            if answered != before:
                self._note("answer", frame, answer.command_id, now, heard)
        elif answer.command_id in self._commands:
            self._early_answers[answer.command_id] = (frame.number, answered)
            self._overdue.hear_of_answer(frame.number, now)
            self._release_answers(now, heard)
        else:
            self._note("unknown_answer", frame, answer.command_id, now, heard)

    def _note(self, what: Contradiction, frame: OpenedFrame, number: int, now: float, heard: list[Heard]) -> None:
        if self._memory.may_note(what, frame.boot, number, now):
            heard.append(Contradicted(what, frame.boot, number, Evidence(frame.content)))

    def _release_answers(self, now: float, heard: list[Heard]) -> None:
        """Release the answers that overtook reports sent before them, as soon as those reports are taken or given up.

        Until then the command is repeated, and counts as unanswered.
        """
        for command_id, (number, answered) in list(self._early_answers.items()):
            is_taken = self._sequence.boot == self._boot and self._sequence.number > number
            if is_taken or self._sequence.takes_next:
                del self._early_answers[command_id], self._commands[command_id]
                if command_id in self._moving:
                    self._moving.discard(command_id)
                    if answered.done:
                        self._statuses.carry_out(command_id, now)
                self._answers[command_id] = answered
                if len(self._answers) > ANSWERS_KEPT:
                    del self._answers[next(iter(self._answers))]
                heard.append(answered)

    def _take_report(self, frame: OpenedFrame, now: float, heard: list[Heard]) -> None:
        report: AnyObservation
        uptime: int | None = None
        first = frame.number
        covers = False  # it replaces reports that the device has lost
        try:
            message = messages.decode_report(frame.body)
            uptime, report = message.uptime_ms, observation_of(message)
            if isinstance(message, messages.ReportsLostReport) and message.boot == frame.boot:
                covers, first = True, min(message.first, frame.number)
                report = observations.ReportsLost(frame.boot, max(first, self._sequence.number), frame.number)
        except ValueError as error:
            report = observations.NotUnderstood(why_unreadable(frame.kind, frame.body, error))
        if self._sequence.accept(frame.boot, first, frame.number):
            evidence = Evidence(frame.content)
            self._overdue.take(frame.boot, frame.number)
            self._damaged_since_report = self._damaged
            self._memory.take(frame.boot, frame.number, evidence)
            heard.append(Reported(frame.boot, frame.number, uptime, report, evidence))
            if self._early_answers:
                self._release_answers(now, heard)
            return
        if self._sequence.is_repeat(frame.boot, frame.number):
            self.statistics.reports_repeated += 1
            if not self._is_rightful_repeat(frame, covers=covers):
                self._note("report", frame, frame.number, now, heard)
            elif not self._sequence.has_skipped and self._acknowledgements.cover(frame.boot, frame.number, now):
                self._note("acknowledgement", frame, 0, now, heard)
        else:
            self.statistics.reports_out_of_order += 1
            self._overdue.hear_of_later(now)
        self._send_ack(now)

    def _is_rightful_repeat(self, frame: OpenedFrame, *, covers: bool) -> bool:
        """Return whether a repeat has the same bytes, or (within the window) replaces lost or forgotten reports."""
        in_window = self._sequence.may_be_resent(frame.boot, frame.number)
        before = self._memory.report(frame.boot, frame.number)
        if before is None or covers:
            return in_window
        return before.open()[FLAGS_END:] == frame.content[FLAGS_END:]


def make_cardlink(setting: DriverSetting, now: float) -> CardlinkHost:
    """Make the driver for the registry."""
    return CardlinkHost(
        nonce=setting.nonce,
        key_of=setting.key_of,
        next_key_of=setting.next_key_of,
        held=setting.held,
        now=now,
        replayed=setting.replayed,
        policy=setting.policy,
        memory=setting.memory,
        frame_keys=setting.frame_keys,
        note_keys=setting.note_keys,
        image=setting.image,
    )


_Handler = Callable[[CardlinkHost, Any, float, list[Heard]], None]
_HANDLERS: Final[dict[tuple[LinkStep, int], _Handler]] = {
    (LinkStep.IDENTITY, FrameKind.IDENTITY): CardlinkHost._take_identity,
    (LinkStep.DEVICE_PROOF, FrameKind.IDENTITY): CardlinkHost._take_identity,
    (LinkStep.DEVICE_PROOF, FrameKind.DEVICE_PROOF): CardlinkHost._take_device_proof,
    (LinkStep.FIRST_STATUS, FrameKind.STATUS): CardlinkHost._take_first_status,
    (LinkStep.ATTESTATION, FrameKind.STATUS): CardlinkHost._take_before_attested,
    (LinkStep.ATTESTATION, FrameKind.REPORT): CardlinkHost._take_before_attested,
    (LinkStep.ATTESTATION, FrameKind.ATTESTATION): CardlinkHost._take_attestation,
    (LinkStep.READY, FrameKind.STATUS): CardlinkHost._take_status,
    (LinkStep.READY, FrameKind.ANSWER): CardlinkHost._take_answer,
    (LinkStep.READY, FrameKind.REPORT): CardlinkHost._take_report,
}
