"""Any input, at any step: no exception, valid answers, and recovery at the next good frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firmware_bridge.commands import Dispense
from firmware_bridge.drivers.base import Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import END
from firmware_bridge.drivers.cardlink.host import CardlinkHost, LinkStep

from .independent_decoder import decode_frames
from .page import golden_rows
from .parts import NEVER, BenchDevice, converse, host_before, linked, make_host, only
from .strategies import SealedFrame, raw, sealed_frames, whole_frames

STEPS: Final = (LinkStep.IDENTITY, LinkStep.DEVICE_PROOF, LinkStep.FIRST_STATUS, LinkStep.ATTESTATION, LinkStep.READY)
PROGRAM: Final = b"of the device"
HOST_KINDS: Final = {0x01, 0x03, 0x05, 0x10, 0x30, 0x40}
DEVICE_KINDS: Final = {0x02, 0x04, 0x06, 0x07, 0x20, 0x21, 0x31, 0x41}

steps = st.sampled_from(STEPS)
frames = st.lists(whole_frames(), min_size=1, max_size=5)


def check_host(host: CardlinkHost, heard: Sequence[Heard]) -> bool:
    """Check a host's invariants. Return whether the link is over."""
    assert all(isinstance(thing, get_args(Heard)) for thing in heard)
    ends = [place for place, thing in enumerate(heard) if isinstance(thing, LinkOver)]
    assert ends in ([], [len(heard) - 1]), "something was heard after the end"
    data = host.outgoing()
    assert {frame.kind for frame in decode_frames(data)} <= HOST_KINDS
    assert (host.wake_at() == NEVER) == bool(ends)
    return bool(ends)


@given(steps, raw)
def test_a_host_survives_noise_and_reads_the_next_good_frame(step: LinkStep, noise: bytes) -> None:
    assume(not decode_frames(noise + END))
    device = BenchDevice(program=PROGRAM)
    host, reply = host_before(step, device)
    assert host.receive(noise, 0.1) == []
    heard = [*host.receive(reply, 0.2), *converse(host, device, 0.2)]
    assert step is LinkStep.READY or isinstance(only(heard), LinkReady)
    device.link.report(messages.StartedReport(1, "power"), 0.3)
    report = only(host.receive(device.link.outgoing(), 0.3))
    assert isinstance(report, Reported)
    assert report.number == 1


@given(steps, frames, st.integers(1, 4096), st.booleans())
def test_a_host_survives_any_frames_at_any_step(step: LinkStep, sent: list[bytes], size: int, busy: bool) -> None:
    host, _ = host_before(step, BenchDevice(program=PROGRAM))
    if busy:
        host.command(5, Dispense(3), 0.0)
    host.outgoing()
    data = b"".join(sent)
    for start in range(0, len(data), size):
        if check_host(host, host.receive(data[start : start + size], 0.1)):
            break
    else:
        if not check_host(host, host.tick(host.wake_at())):
            host.acknowledge(7, 7, 1.0)
            assert check_host(host, host.tick(20.0)), "twenty seconds of silence end every link"
    assert host.receive(data, 30.0) == []
    assert list(host.tick(30.0)) == []
    assert host.outgoing() == b""


@given(st.sampled_from(STEPS[2:]), st.lists(sealed_frames, min_size=1, max_size=5), st.booleans())
def test_a_host_survives_anything_that_its_device_seals(step: LinkStep, sent: list[SealedFrame], busy: bool) -> None:
    device = BenchDevice(program=PROGRAM)
    host, _ = host_before(step, device)
    if busy:
        host.command(5, Dispense(3), 0.0)
    host.outgoing()
    heard = [thing for one in sent for thing in host.receive(one.by(device), 0.1)]
    if not check_host(host, heard):
        assert host.statistics.frames_forged == 0
        assert check_host(host, host.tick(20.0)), "twenty seconds of silence end every link"


def device_before(step: LinkStep) -> BenchDevice:
    device = BenchDevice(program=PROGRAM)
    host_before(step, device)
    return device


@given(steps, raw)
def test_a_device_survives_noise_and_reads_the_next_good_frame(step: LinkStep, noise: bytes) -> None:
    assume(not decode_frames(noise + END))
    device = BenchDevice(program=PROGRAM)
    host, reply = host_before(step, device)
    assert device.exchange(noise, 0.1) == b""
    heard = [*host.receive(reply, 0.2), *converse(host, device, 0.2)]
    if step is LinkStep.READY:
        host.command(3, Dispense(3), 0.2)
        converse(host, device, 0.2)
        assert [command for command, _ in device.carried_out] == [3]
    else:
        assert isinstance(only(heard), LinkReady)


@given(steps, frames, st.integers(1, 4096))
def test_a_device_survives_any_frames_at_any_step(step: LinkStep, sent: list[bytes], size: int) -> None:
    device = device_before(step)
    data = b"".join(sent)
    for start in range(0, len(data), size):
        answers = decode_frames(device.exchange(data[start : start + size], 0.1))
        assert {answer.kind for answer in answers} <= DEVICE_KINDS
    device.link.tick(device.link.wake_at())
    device.link.outgoing()
    # A valid frame of another link may have ended the device's link; a new host finds the device as ready as before.
    host = make_host(now=60.0)
    assert any(isinstance(thing, LinkReady) for thing in converse(host, device, 60.0))


@given(st.lists(sealed_frames, min_size=1, max_size=5))
def test_a_device_survives_anything_that_its_host_seals(sent: list[SealedFrame]) -> None:
    device = BenchDevice(program=PROGRAM)
    host = linked(device)
    answers = decode_frames(b"".join(device.exchange(one.by(host), 0.1) for one in sent))
    assert {answer.kind for answer in answers} <= DEVICE_KINDS
    device.link.tick(device.link.wake_at())
    device.link.outgoing()
    again = make_host(now=60.0)
    assert any(isinstance(thing, LinkReady) for thing in converse(again, device, 60.0))


def test_nothing_is_carried_out_that_no_proven_host_ordered() -> None:
    for step in (LinkStep.IDENTITY, LinkStep.DEVICE_PROOF):
        device = device_before(step)
        for row in golden_rows():
            device.exchange(row.frame, 0.1)
        assert device.carried_out == []
        assert not device.link.linked


@pytest.mark.parametrize("step", STEPS)
def test_an_echo_is_not_a_device(step: LinkStep) -> None:
    """The host's own frames never count as signs of life, so the link ends as if the device were silent."""
    host, _ = host_before(step, BenchDevice(program=PROGRAM))
    now = 0.0
    while True:
        now = host.wake_at()
        heard = [*host.tick(now), *host.receive(host.outgoing(), now)]
        if heard:
            break
    over = only(heard)
    assert isinstance(over, LinkOver)
    if step is LinkStep.IDENTITY:
        assert (over.code, now) == ("device-garbage", 10.0)
        assert "echoes" in str(over.sentence)
    else:
        assert (over.code, now) == ("device-silent", 3.0)
