"""The device shows which program it runs before it is used: docs/cardlink.md, "The program in the device"."""

from __future__ import annotations

from hashlib import sha256

import pytest

from firmware_bridge.commands import ReleaseExit
from firmware_bridge.drivers.base import Heard, LinkOver, LinkReady, Reported, StatusHeard
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.host import ATTESTED_WITHIN, LinkStep

from .parts import BenchDevice, converse, host_before, kinds_in, make_host, only

IMAGE = bytes(range(256)) * 300


def refused(heard: list[Heard], words: str) -> None:
    over = only(heard)
    assert isinstance(over, LinkOver)
    assert (over.code, over.refused) == ("device-firmware", True)
    assert words in str(over.sentence)
    assert 'cardlink, "The program in the device")' in str(over.sentence)


def test_a_device_with_the_approved_program_is_ready() -> None:
    ready = only(converse(make_host(image=IMAGE), BenchDevice(program=IMAGE), 0.0))
    assert isinstance(ready, LinkReady)
    assert ready.image == sha256(IMAGE).hexdigest()
    assert ready.identity.capabilities.attests


def test_nothing_is_asked_without_an_approved_image() -> None:
    ready = only(converse(make_host(), BenchDevice(program=IMAGE), 0.0))
    assert isinstance(ready, LinkReady)
    assert ready.image == ""


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (IMAGE[:-1] + b"x", "is not the approved image"),
        (IMAGE[:-1], "is not the approved image"),
        (None, "does not show which program it runs"),
    ],
    ids=["another program", "a shorter program", "it cannot show any"],
)
def test_a_device_with_another_program_is_refused(program: bytes | None, words: str) -> None:
    refused(converse(make_host(image=IMAGE), BenchDevice(program=program), 0.0), words)


def test_an_attestation_under_another_salt_is_not_an_answer() -> None:
    device = BenchDevice(program=IMAGE)
    host, _ = host_before(LinkStep.ATTESTATION, device)
    device.link._attest(messages.ChallengeBody(bytes(32), 0, len(IMAGE)), IMAGE, 0.1)
    assert list(host.receive(device.link.outgoing(), 0.1)) == []
    device.link._attest(messages.ChallengeBody(bytes(32), 0, len(IMAGE)), IMAGE[1:], 0.1)
    assert list(host.receive(device.link.outgoing(), 0.1)) == []


def test_a_device_that_does_not_answer_is_refused_and_asked_again_until_then() -> None:
    device = BenchDevice(program=IMAGE)
    host, _ = host_before(LinkStep.ATTESTATION, device)
    host.command(5, ReleaseExit(), 0.0)
    asked, now = 0, 0.0
    heard: list[Heard] = []
    while not heard:
        now = min(host.wake_at(), now + 0.5)
        heard = [*host.receive(device.exchange(b"", now), now), *host.tick(now)]
        sent = host.outgoing()
        asked += kinds_in(sent).count(messages.FrameKind.CHALLENGE)
        assert messages.FrameKind.COMMAND not in kinds_in(sent)
        device.link._program = None
        device.link.receive(sent, now)
        device.link.tick(now)
    assert now == ATTESTED_WITHIN
    assert asked >= 4
    refused(heard, "has not shown within 10 s")


def test_what_is_reported_before_the_attestation_is_taken_in_order_after_it() -> None:
    device = BenchDevice(program=IMAGE)
    host = make_host(image=IMAGE)
    for _ in range(3):
        host.receive(device.exchange(host.outgoing(), 0.0), 0.0)
    challenge = host.outgoing()
    for number in range(3):
        device.link.report(messages.StartedReport(number, "power"), 0.1)
    device.link.send_status(0.2)
    assert list(host.receive(device.link.outgoing(), 0.2)) == []
    ready, *rest = host.receive(device.exchange(challenge, 0.3), 0.3)
    assert isinstance(ready, LinkReady)
    assert [type(one) for one in rest] == [Reported, Reported, Reported, StatusHeard]
    assert [one.number for one in rest if isinstance(one, Reported)] == [1, 2, 3]
    assert device.link.unacknowledged == 3
    host.acknowledge(ready.identity.boot, 3, 0.3)
    converse(host, device, 0.3)
    assert device.link.unacknowledged == 0
