"""Devices that break one promise each. Each function breaks a good device, some with pytest's monkeypatch."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from firmware_bridge import commands, observations
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.drivers.cardlink.sealing import OpenedFrame, SealedChannel, frame_keys
from simulators.devices import cardlink
from simulators.devices.mechanism import CommandOutcome
from simulators.devices.simulated_device import SimulatedDevice

Break = Callable[[SimulatedDevice, pytest.MonkeyPatch], None]


def wrap(thing: Any, name: str, around: Callable[..., Any]) -> None:
    """Replace a method with one that gets the old one first."""
    old = getattr(thing, name)
    setattr(thing, name, lambda *given, **named: around(old, *given, **named))


def after(name: str, do: Callable[[Any], None]) -> Break:
    """Do something more at the end of a method of the link."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def both(old: Callable[..., Any], *given: Any, **named: Any) -> Any:
            result = old(*given, **named)
            do(device.link)
            return result

        wrap(device.link, name, both)

    return breaks


def before(name: str, do: Callable[[Any], None]) -> Break:
    """Do something more at the beginning of a method of the link."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def both(old: Callable[..., Any], *given: Any, **named: Any) -> Any:
            do(device.link)
            return old(*given, **named)

        wrap(device.link, name, both)

    return breaks


def never(name: str) -> Break:
    """Let a method of the link do nothing."""
    return lambda device, patch: setattr(device.link, name, lambda *given: None)


def constant(name: str, value: Any) -> Break:
    """Change a constant on the device's side."""
    return lambda device, patch: patch.setattr(cardlink, name, value)


def status_with(change: Callable[[messages.StatusBody], dict[str, Any]]) -> Break:
    """Change the content of statuses."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def other(old: Callable[[int], messages.StatusBody], heard: int) -> messages.StatusBody:
            status = old(heard)
            return msgspec.structs.replace(status, **change(status))

        wrap(device.link, "_status", other)

    return breaks


def seen_with(kind: type[observations.Observation], change: Callable[[Any], dict[str, Any]]) -> Break:
    """Change what the mechanism observes."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def other(old: Callable[[Any], None], seen: Any) -> None:
            old(msgspec.structs.replace(seen, **change(seen)) if isinstance(seen, kind) else seen)

        wrap(device.mechanism, "_emit", other)

    return breaks


def without_reason(reason: str, instead: str = "") -> Break:
    """Let a reason for refusing a command never apply, or give it another name."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def other(old: Callable[[AnyCommand], str], command: AnyCommand) -> str:
            said = old(command)
            return instead if said == reason else said

        wrap(device.mechanism, "why_not", other)

    return breaks


def never_holds(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def finish(old: Callable[..., CommandOutcome], command_id: int, command: AnyCommand) -> CommandOutcome:
        return CommandOutcome(True) if isinstance(command, commands.HoldExit) else old(command_id, command)

    wrap(device.mechanism, "finish", finish)


def loses_reports_with_the_host(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    before("_on_host_lost", lambda link: link._kept.clear())(device, patch)


def remembers_few_ids(link: Any) -> None:
    for command_id in list(link._answers)[:-8]:
        del link._answers[command_id]


def contradicts(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: OpenedFrame, now: float) -> None:
        command_id = messages.decode_command_head(frame.body).command_id
        if command_id in device.link._answers:
            device.link.answer(command_id, False, "jam")
        else:
            old(frame, now)

    wrap(device.link, "_take_command", take)


def answers_twice(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def answer(old: Callable[..., None], command_id: int, done: bool, reason: str = "") -> None:
        old(command_id, done, reason)
        old(command_id, not done, "jam")

    wrap(device.link, "answer", answer)


def sends_reserved_cards(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def report(old: Callable[..., int], made: messages.ReportBody, now: float) -> int:
        if isinstance(made, messages.SetDispensedReport):
            made = msgspec.structs.replace(made, cards=[99, *made.cards[1:]])
        return old(made, now)

    wrap(device.link, "report", report)


def covers(change: Callable[[int, int], int]) -> Break:
    """Let an ack cover another number, computed from its own and the newest."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def take(old: Callable[..., None], boot: int, number: int, now: float) -> None:
            old(boot, change(number, device.link.last_number), now)

        wrap(device.link, "_take_ack", take)

    return breaks


def keeps_the_long_wait(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], boot: int, number: int, now: float) -> None:
        wait, link = device.link._resend_wait, device.link
        old(boot, number, now)
        link._resend_wait = wait
        link._resend_at = now + wait if link._in_flight else link._resend_at

    wrap(device.link, "_take_ack", take)


class NoTag:
    """A cipher that decrypts without checking the tag."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def decrypt(self, nonce: bytes, sealed: bytes, clear: bytes) -> bytes:
        cipher = Cipher(algorithms.ChaCha20(self._key, (1).to_bytes(4, "little") + nonce), mode=None)
        return cipher.decryptor().update(sealed[:-16])


class Forgetful(dict[int, int]):
    """A memory for the last counters that does not keep them."""

    def __getitem__(self, flags: int) -> int:
        return 0


def looks_at_no_tag(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    of_host: list[bytes] = []

    def keys(old: Callable[..., tuple[bytes, bytes]], *given: bytes) -> tuple[bytes, bytes]:
        of_host[:] = [old(*given)[0]]
        return old(*given)

    original = frame_keys
    patch.setattr(cardlink, "frame_keys", lambda *given: keys(original, *given))
    after("_become_active", lambda link: setattr(link._channel._opener, "_cipher", NoTag(of_host[0])))(device, patch)


def takes_what_is_played_back(link: Any) -> None:
    link._channel._opener._last = Forgetful(link._channel._opener._last)


def takes_other_boots(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: OpenedFrame, now: float) -> None:
        is_command = frame.kind == FrameKind.COMMAND
        old(msgspec.structs.replace(frame, boot=device.link.boot) if is_command else frame, now)

    wrap(device.link, "_take_opened", take)


def does_what_it_does_not_know(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def answer(old: Callable[..., None], command_id: int, done: bool, reason: str = "") -> None:
        old(command_id, done or reason == "unknown", "" if reason == "unknown" else reason)

    wrap(device.link, "answer", answer)


def drops_the_candidate(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, candidate: Any, now: float) -> None:
        old(frame, candidate, now)
        if not candidate.proven:
            device.link._candidate = None

    wrap(device.link, "_take_proof", take)


def proves_without_a_proof(link: Any) -> None:
    if link._candidate is not None:
        link._candidate.proven = True


def never_forgets_a_candidate(link: Any) -> None:
    if link._candidate is not None:
        link._candidate.answered_at = 1e12


def leaves_gaps(link: Any) -> None:
    link.last_number += 1


def last_command_of_refusals(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def on_command(old: Callable[..., None], command_id: int, order: messages.AnyOrder) -> None:
        old(command_id, order)
        device.mechanism.last_command = command_id

    wrap(device.link, "_on_command", on_command)


def wide_integers(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    original = messages.encode_body

    def encode(body: Any) -> bytes:
        plain = original(body)
        if not isinstance(body, messages.ReportBody):
            return plain
        rest = plain[len(original([0, body.uptime_ms])) :]
        return plain[:2] + b"\xcf" + body.uptime_ms.to_bytes(8, "big") + rest

    patch.setattr(cardlink, "encode_body", encode)


def forgeries_are_life(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, now: float) -> None:
        device.link._received_at = now
        old(frame, now)

    wrap(device.link, "_take_sealed", take)


def remembers_ids_of_the_link_before(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def become(old: Callable[..., None], *given: Any) -> None:
        answers = dict(device.link._answers)
        old(*given)
        device.link._answers.update(answers)

    wrap(device.link, "_become_active", become)


def answer_without_number(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def send(old: Callable[..., None], kind: FrameKind, now: float, body: bytes, **named: Any) -> None:
        old(kind, now, body, **({"number": 0} if kind == FrameKind.ANSWER else named))

    wrap(device.link, "_send", send)


def two_at_a_time(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def why_not(old: Callable[[AnyCommand], str], command: AnyCommand) -> str:
        moving, device.mechanism.moving = device.mechanism.moving, False
        try:
            return old(command)
        finally:
            device.mechanism.moving = moving

    wrap(device.mechanism, "why_not", why_not)


def ends_by_a_damaged_frame(link: Any) -> None:
    if link._reader.corrupt or link._reader.overlong:
        link._forget_link()


def a_counter_again(link: Any) -> None:
    """Reuse a counter in every tenth frame."""
    sealer = link._channel._sealer
    sealer.counter -= sealer.counter % 10 == 9


def unsent(kind: FrameKind) -> Break:
    """Never send the frames of a sealed kind."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def send(old: Callable[..., None], sent: FrameKind, *given: Any, **named: Any) -> None:
            if sent != kind:
                old(sent, *given, **named)

        wrap(device.link, "_send", send)

    return breaks


def status_without_number(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def send(old: Callable[..., None], kind: FrameKind, now: float, body: bytes, **named: Any) -> None:
        old(kind, now, body, **({"number": 0} if kind == FrameKind.STATUS else named))

    wrap(device.link, "_send", send)


def answers_echoes(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, now: float) -> None:
        if frame.kind == FrameKind.STATUS:
            device.link._send(FrameKind.SEALED_REJECT, now, messages.encode_body(messages.RejectBody("message")))
        old(frame, now)

    wrap(device.link, "_take", take)


def reads_one_card_three_times(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def report(old: Callable[..., int], made: messages.ReportBody, now: float) -> int:
        if isinstance(made, messages.SetDispensedReport):
            made = msgspec.structs.replace(made, cards=[made.cards[0]] * len(made.cards))
        return old(made, now)

    wrap(device.link, "report", report)


def clock_goes_back(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def report(old: Callable[..., int], made: messages.ReportBody, now: float) -> int:
        return old(msgspec.structs.replace(made, uptime_ms=1000 - device.link.last_number), now)

    wrap(device.link, "report", report)


def takes_one_proof(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, candidate: Any, now: float) -> None:
        if not candidate.proven:
            old(frame, candidate, now)

    wrap(device.link, "_take_proof", take)


def keeps_old_keys(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    old_channels: list[Any] = []

    def take(old: Callable[..., None], frame: Any, now: float) -> None:
        before = device.link._channel
        for channel in old_channels:
            opened = channel.open(frame)
            if opened is not None:
                device.link._take_opened(opened, now)
        old(frame, now)
        if before is not None and device.link._channel is not before:
            old_channels.append(before)

    wrap(device.link, "_take_sealed", take)


def takes_commands_of_a_candidate(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, now: float) -> None:
        candidate = device.link._candidate
        if frame.kind == FrameKind.COMMAND and candidate is not None and candidate.proven:
            of_host, of_device = frame_keys(device.link._key, *candidate.nonces, candidate.hello, candidate.identity)
            opened = SealedChannel(of_device, of_host).open(frame)
            if opened is not None:
                device.link._take_command(opened, now)
        old(frame, now)

    wrap(device.link, "_take_sealed", take)


def resumes_once(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: OpenedFrame, now: float) -> None:
        if frame.kind != FrameKind.RESUME:
            old(frame, now)

    wrap(device.link, "_take_opened", take)


def resume_covers_nothing(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: OpenedFrame, now: float) -> None:
        resume = messages.ResumeBody(0, 0)
        old(msgspec.structs.replace(frame, body=messages.encode_body(resume)), now)

    wrap(device.link, "_take_resume", take)


def rejects_no_bad_body(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def send(old: Callable[..., None], kind: FrameKind, body: messages.Body) -> None:
        if not (isinstance(body, messages.RejectBody) and body.code == "message"):
            old(kind, body)

    wrap(device.link, "_send_clear", send)


def takes_any_proof(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sealing, "is_valid", lambda claimed, expected: True)


def takes_acks_unread(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: OpenedFrame, now: float) -> None:
        if frame.kind == FrameKind.ACK:
            device.link._take_ack(frame.boot, frame.number, now)
        old(frame, now)

    wrap(device.link, "_take_opened", take)


def deaf_after_an_over_long_frame(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, now: float) -> None:
        if not device.link._reader.overlong:
            old(frame, now)

    wrap(device.link, "_take", take)


def refuses(when: Callable[[OpenedFrame], bool]) -> Break:
    """Treat some sealed frames as not understood."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def take(old: Callable[..., None], frame: OpenedFrame, now: float) -> None:
            if when(frame):
                raise ValueError("a frame of a kind that it does not know")
            old(frame, now)

        wrap(device.link, "_take_opened", take)

    return breaks


def reads_flags_of_clear_frames(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def take(old: Callable[..., None], frame: Any, now: float) -> None:
        if not (frame.kind == FrameKind.HELLO and frame.flags):
            old(frame, now)

    wrap(device.link, "_take", take)


def answers_with_the_newest_number(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def send(old: Callable[..., None], kind: FrameKind, now: float, body: bytes, **named: Any) -> None:
        old(kind, now, body, **({} if kind == FrameKind.ANSWER else named))

    wrap(device.link, "_send", send)


def forgets_the_last_command_with_the_link(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def become(old: Callable[..., None], *given: Any) -> None:
        device.mechanism.last_command = 0
        old(*given)

    wrap(device.link, "_become_active", become)


def forgets_its_command_with_the_link(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def become(old: Callable[..., None], *given: Any) -> None:
        for task in device._tasks:
            task.cancel()
        old(*given)

    wrap(device.link, "_become_active", become)


def takes_any_version(link: Any) -> None:
    link._versions = range(256)
    opener = link._channel._opener

    def open_any(old: Callable[..., Any], frame: Any) -> Any:
        opener._version = frame.version
        return old(frame)

    wrap(opener, "open", open_any)


def silent_while_it_shuffles(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def send(old: Callable[..., None], kind: FrameKind, *given: Any, **named: Any) -> None:
        shuffles = device.mechanism.moving and not device.mechanism.status(0).shuffle
        if not (kind == FrameKind.STATUS and shuffles):
            old(kind, *given, **named)

    wrap(device.link, "_send", send)


def never_waits_for_a_set(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SimulatedDevice, "_forms_set", property(lambda _: False, lambda _, forms: None), raising=False)


def answers_on_any_link(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    def answer(old: Callable[..., None], command_id: int, done: bool, reason: str = "") -> None:
        device.link._answers.setdefault(command_id, (0, b""))
        old(command_id, done, reason)

    wrap(device.link, "answer", answer)


def works(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
    """Change nothing essential: the device works, but perhaps slowly."""


def names(*versions: int, speaks: tuple[int, ...] = ()) -> Break:
    """Let the identity name these versions, while the device speaks them or others."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        before("_answer_to", lambda link: setattr(link, "_versions", versions))(device, patch)
        after("_answer_to", lambda link: setattr(link, "_versions", speaks or versions))(device, patch)

    return breaks


def attests(digest: Callable[[messages.ChallengeBody, bytes], bytes]) -> Break:
    """Answer challenges with another digest; no bytes: with no answer."""

    def breaks(device: SimulatedDevice, patch: pytest.MonkeyPatch) -> None:
        def attest(asked: messages.ChallengeBody, program: bytes, now: float) -> None:
            body = messages.AttestationBody(asked.salt, digest(asked, program))
            device.link._send(FrameKind.ATTESTATION, now, messages.encode_body(body))

        patch.setattr(device.link, "_attest", attest)

    return breaks


def keyed(asked: messages.ChallengeBody, part: bytes) -> bytes:
    return hmac.digest(asked.salt, part, "sha256")
