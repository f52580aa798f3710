"""Candidates: hellos and proofs at a device that may serve another host, and the nonces that it draws for them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from firmware_bridge.drivers.base import Contradicted, Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader
from firmware_bridge.drivers.cardlink.handshake import PUBLISHED_NONCE, UNPROVEN
from firmware_bridge.drivers.cardlink.host import LinkStep
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from firmware_bridge.drivers.memory import LinkMemory

from .parts import (
    BOOT,
    KEY,
    SERIAL,
    BenchDevice,
    asking,
    channel_of,
    converse,
    counters_in,
    frame,
    fresh_nonce,
    host_before,
    identity_in,
    kinds_in,
    linked,
    make_host,
    only,
    opened,
    over,
    proof_frame,
    rejected,
    sealed,
)

UNPROVEN_STEPS = (LinkStep.IDENTITY, LinkStep.DEVICE_PROOF)


# -- the device's nonce -----------------------------------------------------------------------------------------------


def test_a_device_that_repeats_a_nonce_is_not_linked_with() -> None:
    device, memory = BenchDevice(), LinkMemory()
    host = make_host(memory=memory)
    identity = device.exchange(host.outgoing(), 0.0)
    memory.take_nonce(identity_in(identity).nonce)
    end = over([*host.receive(identity, 0.0), *converse(host, device, 0.0)])
    assert (end.code, end.refused) == ("device-nonce-repeated", True)
    assert SERIAL in str(end.sentence)
    assert str(UNPROVEN) not in str(end.sentence), "the device is proven"
    assert not device.link.linked, "it is not resumed with"


def test_only_the_nonce_of_an_established_link_is_known() -> None:
    device, memory = BenchDevice(), LinkMemory()
    attempt = make_host(memory=memory)
    identity = device.exchange(attempt.outgoing(), 0.0)
    attempt.receive(identity, 0.0)
    attempt.receive(device.exchange(attempt.outgoing(), 0.0), 0.0)
    assert not memory.knows_nonce(identity_in(identity).nonce)
    (ready,) = converse(make_host(memory=memory), device, 1.0)
    assert isinstance(ready, LinkReady)
    assert memory.knows_nonce(ready.nonce)


@pytest.mark.parametrize(("simulated", "codes"), [(False, ["device-nonce-repeated"]), (True, [])])
def test_the_published_nonce_is_for_simulated_devices(simulated: bool, codes: list[str]) -> None:
    """A recording with the nonce of the vectors, made with the table's own key, must not pass for a device."""
    host = make_host()
    hello = host.outgoing()
    said = BenchDevice()._identity(PUBLISHED_NONCE, [messages.KeptReports(BOOT, 1, 0)])
    identity = frame(FrameKind.IDENTITY, replace(said, simulated=simulated))
    assert host.receive(identity, 0.0) == []
    heard = host.receive(proof_frame(FrameKind.DEVICE_PROOF, KEY, b"device", hello, identity), 0.0)
    assert [thing.code for thing in heard if isinstance(thing, LinkOver)] == codes


@pytest.mark.parametrize("random", [b"", bytes(16)], ids=["none", "stuck"])
def test_a_device_without_randomness_repeats_no_nonce(random: bytes) -> None:
    """The device counts its starts, so even a hello that is replayed repeatedly gets new nonces."""
    device = BenchDevice(random=lambda: random)
    hellos = [make_host(nonce=bytes([played]) * 16).outgoing() for played in (1, 2, 1)]
    found = set()
    for boot in range(BOOT, BOOT + 3):
        device.link.reboot(boot, keep_reports=False)
        found |= {identity_in(device.exchange(hello, 0.0)).nonce for hello in hellos}
    assert len(found) == 9


# -- the device's side ------------------------------------------------------------------------------------------------


def test_each_new_hello_gets_a_fresh_nonce_and_the_same_hello_the_same_identity() -> None:
    device = BenchDevice()
    first, second = make_host().outgoing(), make_host().outgoing()
    answers = [device.exchange(hello, 0.0) for hello in (first, first, second, first)]
    assert answers[0] == answers[1]
    assert len({identity_in(answer).nonce for answer in answers}) == 3


def test_only_the_last_hello_has_a_candidate() -> None:
    """The hellos are A, B and A again: a proof for A's first identity is no longer valid."""
    device = BenchDevice()
    one, other = make_host(), make_host()
    hello = one.outgoing()
    first = device.exchange(hello, 0.0)
    device.exchange(other.outgoing(), 0.1)
    second = device.exchange(hello, 0.2)
    assert device.exchange(hello, 0.3) == second
    assert rejected(device.exchange(proof_frame(FrameKind.HOST_PROOF, KEY, b"host", hello, first), 0.4)) == "proof"
    assert one.receive(second, 0.5) == []
    assert isinstance(only(converse(one, device, 0.5)), LinkReady)


def test_another_hello_takes_a_proven_candidates_place() -> None:
    device = BenchDevice()
    host, reply = host_before(LinkStep.DEVICE_PROOF, device)
    host.receive(reply, 0.0)
    device.exchange(make_host().outgoing(), 0.1)
    assert device.exchange(host.outgoing(), 0.2) == b"", "the resume opens with no key that is left"
    assert not device.link.linked


@pytest.mark.parametrize("proven", [False, True])
def test_a_wrong_host_proof_leaves_the_candidate_as_it_was(proven: bool) -> None:
    device = BenchDevice()
    host, reply = host_before(LinkStep.DEVICE_PROOF if proven else LinkStep.IDENTITY, device)
    wrong = frame(FrameKind.HOST_PROOF, messages.ProofBody(1, bytes(32)))
    assert rejected(device.exchange(wrong, 2.0)) == "proof"
    assert device.link.wake_at() == 3.0, "nor does it live any longer"
    assert isinstance(only([*host.receive(reply, 2.1), *converse(host, device, 2.1)]), LinkReady)


def test_a_repeated_host_proof_gets_the_same_answer() -> None:
    device = BenchDevice()
    host, proof = asking(LinkStep.DEVICE_PROOF, device)
    first = device.exchange(proof, 0.0)
    assert kinds_in(first) == [FrameKind.DEVICE_PROOF]
    assert device.exchange(proof, 2.0) == first
    assert device.link.wake_at() == 5.0
    assert isinstance(only([*host.receive(first, 2.1), *converse(host, device, 2.1)]), LinkReady)


def test_the_active_link_continues_beside_a_candidate() -> None:
    device = BenchDevice()
    active = linked(device)
    other = make_host(now=1.0)
    order = messages.CommandBody(1, messages.HoldExitOrder())
    for step in UNPROVEN_STEPS:
        other.receive(device.exchange(other.outgoing(), 1.0), 1.0)
        device.link.report(messages.StartedReport(1, "power"), 1.0)
        said = device.link.outgoing() + device.exchange(sealed(active, FrameKind.COMMAND, order), 1.0)
        assert [read.kind for read in opened(active, said)] == [FrameKind.REPORT, FrameKind.ANSWER], step
    device.exchange(sealed(active, FrameKind.ACK, messages.AckBody(channel_of(active).heard), number=2), 1.1)
    assert device.link.unacknowledged == 0
    ready = only(converse(other, device, 1.2))
    assert isinstance(ready, LinkReady)
    assert ready.status.last_command == 1
    assert (
        device.exchange(sealed(active, FrameKind.COMMAND, messages.CommandBody(2, messages.HoldExitOrder())), 1.3)
        == b""
    )
    assert [command for command, _ in device.carried_out] == [1], "once the other link stands"


def test_a_new_link_takes_over_the_unsent_reports() -> None:
    device = BenchDevice()
    before = linked(device)
    host, resume = asking(LinkStep.FIRST_STATUS, device)
    device.link.report(messages.StartedReport(1, "power"), 0.1)
    said = device.exchange(resume, 0.2)
    assert kinds_in(said) == [FrameKind.STATUS, FrameKind.REPORT]
    assert counters_in(said) == [1, 2]
    (noted,) = before.receive(said, 0.2)
    assert isinstance(noted, Contradicted)
    assert (noted.what, noted.number) == ("forged_frames", 2)
    assert [type(thing) for thing in host.receive(said, 0.2)] == [LinkReady, Reported]


def test_a_repeated_resume_restarts_without_reusing_counters() -> None:
    device = BenchDevice()
    device.link.report(messages.StartedReport(1, "power"), 0.0)
    host, first = host_before(LinkStep.FIRST_STATUS, device)
    host.tick(0.5)
    again = host.outgoing()
    assert counters_in(again) == [2]
    second = device.exchange(again, 0.5)
    assert kinds_in(first) == kinds_in(second) == [FrameKind.STATUS, FrameKind.REPORT]
    assert counters_in(first + second) == [1, 2, 3, 4]
    assert device.exchange(again, 0.6) == b"", "a copy of it is not another one"
    heard: list[Heard] = [*host.receive(second, 0.6), *host.receive(first, 0.6)]
    assert [type(thing) for thing in heard] == [LinkReady, Reported, Contradicted], "what is late is dropped and noted"


@pytest.mark.parametrize("step", UNPROVEN_STEPS)
def test_acks_and_commands_before_the_link_is_ready_are_ignored(step: LinkStep) -> None:
    """Unsealed ones are always ignored; correctly sealed ones are ignored until a resume makes the link active."""
    device = BenchDevice()
    device.link.report(messages.StartedReport(1, "power"), 0.0)
    host, reply = host_before(step, device)
    order = messages.CommandBody(1, messages.ShuffleOrder())
    sent = frame(FrameKind.ACK, messages.AckBody(0), number=1) + frame(FrameKind.COMMAND, order)
    if step is LinkStep.DEVICE_PROOF:
        host.receive(reply, 0.0)
        sent += sealed(host, FrameKind.ACK, messages.AckBody(0), number=1) + sealed(host, FrameKind.COMMAND, order)
    assert device.exchange(sent, 0.0) == b""
    assert device.carried_out == []
    assert device.link.unacknowledged == 1


@pytest.mark.parametrize("kind", [FrameKind.HOST_PROOF, FrameKind.RESUME])
def test_a_device_without_a_hello_sends_nothing(kind: FrameKind) -> None:
    body = messages.ResumeBody(0, 0) if kind is FrameKind.RESUME else messages.ProofBody(1, bytes(32))
    assert BenchDevice().exchange(frame(kind, body), 0.0) == b""


def test_an_identity_that_fits_no_frame_is_rejected_and_not_sent() -> None:
    device = BenchDevice(serial="s" * 500)
    hello = frame(FrameKind.HELLO, messages.HelloBody(1, fresh_nonce()), boot=0)
    assert rejected(device.exchange(hello, 0.0)) == "message"


def test_the_encoding_is_that_of_the_page() -> None:
    """The header of a hello has boot 0 and the number that the host holds."""
    (hello,) = FrameReader().receive(make_host(held=(5, 77), nonce=bytes(16)).outgoing())
    assert (hello.boot, hello.number, hello.flags) == (0, 77, 0)
    assert hello.body == encode_body(messages.HelloBody(1, bytes(16)))
