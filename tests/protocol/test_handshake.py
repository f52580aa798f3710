"""How a link begins, and who is refused: wrong keys, swapped, reflected and replayed proofs, other versions."""

from __future__ import annotations

import pytest

from firmware_bridge.drivers.base import DeviceReady, LinkOver, StatusHeard
from firmware_bridge.drivers.cardlink import authentication, messages
from firmware_bridge.drivers.cardlink.framing import HEADER, FrameReader, enclose
from firmware_bridge.drivers.cardlink.host import CardlinkHost, Step
from firmware_bridge.drivers.cardlink.messages import Kind, encode_body

from .parts import (
    BOOT,
    KEY,
    NEVER,
    OTHER_KEY,
    SERIAL,
    BenchDevice,
    converse,
    frame,
    fresh_nonce,
    host_before,
    kinds_in,
    linked,
    make_host,
    only,
    over,
    rejected,
)

STEPS = (Step.IDENTITY, Step.DEVICE_PROOF, Step.FIRST_STATUS)


def content(data: bytes) -> bytes:
    (read,) = FrameReader().receive(data)
    return read.content


def identity_in(data: bytes) -> messages.Identity:
    (read,) = FrameReader().receive(data)
    return messages.decode_identity(read.body)


def proof_frame(kind: Kind, key: bytes, role: bytes, hello: bytes, identity: bytes, type_: int = 1) -> bytes:
    """A proof made with `key`, over two frames as they were sent."""
    nonces = messages.decode_hello(FrameReader().receive(hello)[0].body).nonce, identity_in(identity).nonce
    made = authentication.proof(key, role, *nonces, content(hello), content(identity))
    return frame(kind, messages.Proof(type_, made))


# -- it stands ------------------------------------------------------------------------------------------------------


def test_the_device_is_ready_when_both_have_proven_themselves() -> None:
    device = BenchDevice()
    ready = only(converse(make_host(), device, 0.0))
    assert isinstance(ready, DeviceReady)
    assert (ready.identity.serial, ready.identity.boot, ready.status.boot) == (SERIAL, BOOT, BOOT)
    assert ready.identity.capabilities.retains_reports
    assert not ready.identity.capabilities.senses_tray
    assert device.link.linked


@pytest.mark.parametrize("step", STEPS)
def test_an_unanswered_frame_is_repeated_unchanged_and_the_link_goes_on_from_its_answer(step: Step) -> None:
    device = BenchDevice()
    host = make_host()
    sent = host.outgoing()
    for reached in STEPS:
        if reached is step:
            break
        host.receive(device.exchange(sent, 0.0), 0.0)
        sent = host.outgoing()
    times = []
    while (now := host.wake_at()) < 2.0:
        assert list(host.tick(now)) == []
        assert host.outgoing() == sent
        times.append(now)
    assert times == [0.5, 1.5]
    assert host.statistics.frames_resent == 2
    heard = [*host.receive(device.exchange(sent + sent, 1.6), 1.6), *converse(host, device, 1.6)]
    assert [type(thing) for thing in heard if not isinstance(thing, StatusHeard)] == [DeviceReady]


def test_the_waits_double_up_to_two_seconds_and_end_after_ten() -> None:
    host = make_host(now=100.0)
    hello = host.outgoing()
    times = []
    while not (heard := host.tick(now := host.wake_at())):
        times.append(now)
        assert host.outgoing() == hello
    assert times == [100.5, 101.5, 103.5, 105.5, 107.5, 109.5]
    end = over(heard)
    assert (end.code, end.refused) == ("device-no-answer", False)
    assert "power" in end.sentence
    assert "driver=" in end.sentence
    assert host.wake_at() == NEVER
    assert not host.is_stale(200.0)


def test_bytes_that_are_never_a_frame_end_the_attempt_with_a_hint_at_the_speed() -> None:
    host = make_host()
    host.receive(b"login: ", 1.0)
    host.receive(b"login: ", 9.0)
    end = over(host.tick(10.0))
    assert (end.code, end.refused) == ("device-garbage", False)
    assert end.sentence.startswith("Bytes came from the device, and none")


def test_a_device_that_sends_and_does_not_answer_ends_the_attempt_after_ten_seconds() -> None:
    host = make_host()
    device = BenchDevice()
    for second in range(10):
        assert host.receive(frame(Kind.STATUS, device.status()), float(second)) == []
        assert list(host.tick(second + 0.9)) == []
    end = over(host.tick(10.0))
    assert (end.code, end.refused) == ("device-no-answer", False)
    assert "wire" in end.sentence


def test_reports_that_come_before_the_status_are_not_taken_yet() -> None:
    device = BenchDevice()
    device.link.report(messages.Started(1, "power"), 0.0)
    host, reply = host_before(Step.FIRST_STATUS, device)
    assert kinds_in(reply) == [Kind.STATUS, Kind.REPORT]
    status, report = (b"\xc0" + part + b"\xc0" for part in reply.strip(b"\xc0").split(b"\xc0\xc0"))
    assert host.receive(report, 0.0) == []
    assert isinstance(only(host.receive(status, 0.0)), DeviceReady)


# -- keys -----------------------------------------------------------------------------------------------------------


def test_a_device_with_another_key_rejects_the_host() -> None:
    end = over(converse(make_host(), BenchDevice(key=OTHER_KEY), 0.0))
    assert (end.code, end.refused) == ("device-rejects-host", True)
    assert "(proof)" in end.sentence
    assert "pair them again" in end.sentence


def test_a_device_that_only_claims_a_serial_number_is_refused() -> None:
    """It accepts the host without looking, and cannot prove itself."""
    device = BenchDevice()
    host = make_host()
    hello = host.outgoing()
    identity = device.exchange(hello, 0.0)
    host.receive(identity, 0.0)
    end = over(host.receive(proof_frame(Kind.DEVICE_PROOF, OTHER_KEY, b"device", hello, identity), 0.0))
    assert (end.code, end.refused) == ("device-proof", True)


@pytest.mark.parametrize("spoil", [0, 31])
def test_every_byte_of_a_proof_counts(spoil: int) -> None:
    device = BenchDevice()
    host, reply = host_before(Step.DEVICE_PROOF, device)
    assert rejected(device.exchange(spoilt_proof(host_proof_of(host), spoil), 0.0)) == "proof"
    assert over(host.receive(spoilt_proof(reply, spoil), 0.0)).code == "device-proof"


def host_proof_of(host: CardlinkHost) -> bytes:
    """The host's proof as it goes over the wire; the host repeats it when half a second has passed."""
    host.tick(0.5)
    return host.outgoing()


def spoilt_proof(data: bytes, place: int) -> bytes:
    """The proof in these bytes, with one bit of one byte changed."""
    (read,) = FrameReader().receive(data)
    claimed = bytearray(messages.decode_proof(read.body).proof)
    claimed[place] ^= 1
    return frame(Kind(read.kind), messages.Proof(1, bytes(claimed)))


def test_the_hosts_own_proof_sent_back_is_refused() -> None:
    host, reply = host_before(Step.IDENTITY, BenchDevice())
    host.receive(reply, 0.0)
    (ours,) = FrameReader().receive(host.outgoing())
    reflected = frame(Kind.DEVICE_PROOF, messages.decode_proof(ours.body))
    end = over(host.receive(reflected, 0.0))
    assert (end.code, end.refused) == ("device-proof", True)


def test_a_proof_of_the_devices_role_makes_no_host() -> None:
    device = BenchDevice()
    hello = make_host().outgoing()
    identity = device.exchange(hello, 0.0)
    wrong_role = proof_frame(Kind.HOST_PROOF, KEY, b"device", hello, identity)
    assert rejected(device.exchange(wrong_role, 0.0)) == "proof"
    assert device.exchange(frame(Kind.RESUME, messages.Resume(0, 0)), 0.0) == b""
    assert not device.link.linked


@pytest.mark.parametrize("type_", [0, 2])
def test_a_proof_of_another_type_is_refused_by_both(type_: int) -> None:
    device = BenchDevice()
    host = make_host()
    hello = host.outgoing()
    identity = device.exchange(hello, 0.0)
    assert rejected(device.exchange(proof_frame(Kind.HOST_PROOF, KEY, b"host", hello, identity, type_), 0.0)) == "proof"
    host.receive(identity, 0.0)
    end = over(host.receive(proof_frame(Kind.DEVICE_PROOF, KEY, b"device", hello, identity, type_), 0.0))
    assert end.code == "device-proof"


def test_a_recording_of_a_device_is_refused() -> None:
    host, device = make_host(), BenchDevice()
    recorded = []
    while data := host.outgoing():
        recorded.append(device.exchange(data, 0.0))
        host.receive(recorded[-1], 0.0)
    later = make_host(now=9.0)
    heard = [thing for data in recorded for thing in later.receive(data, 9.0)]
    assert (over(heard).code, over(heard).refused) == ("device-proof", True)


def test_a_recording_of_a_host_is_rejected_once_the_link_is_over() -> None:
    host, device = make_host(), BenchDevice()
    recorded = []
    while data := host.outgoing():
        recorded.append(data)
        host.receive(device.exchange(data, 0.0), 0.0)
    device.link.tick(3.0)
    hello, proof, *rest = recorded
    assert kinds_in(device.exchange(hello, 5.0)) == [Kind.IDENTITY]
    assert rejected(device.exchange(proof, 5.0)) == "proof"
    assert device.exchange(b"".join(rest), 5.0) == b""
    assert not device.link.linked


def test_a_recording_of_a_host_that_never_came_to_its_end_is_rejected_too() -> None:
    device = BenchDevice()
    hello = make_host().outgoing()
    first = device.exchange(hello, 0.0)
    proof = proof_frame(Kind.HOST_PROOF, KEY, b"host", hello, first)
    assert kinds_in(device.exchange(proof, 2.0)) == [Kind.DEVICE_PROOF]
    assert device.exchange(hello, 2.5) == first
    assert device.link.wake_at() == 5.5
    device.link.tick(5.5)
    assert device.link.wake_at() == NEVER
    assert device.exchange(hello, 5.6) != first
    assert rejected(device.exchange(proof, 5.6)) == "proof"


def test_an_identity_altered_on_its_way_is_rejected() -> None:
    device = BenchDevice()
    host, reply = host_before(Step.IDENTITY, device)
    (read,) = FrameReader().receive(reply)
    assert read.content.count(b"Bench") == 1
    host.receive(enclose(read.content.replace(b"Bench", b"Bunch")), 0.0)
    end = over(converse(host, device, 0.0))
    assert end.code == "device-rejects-host"


def test_a_device_without_a_key_here_is_refused_by_its_serial_number() -> None:
    end = over(converse(make_host(serial="CARDSHOE-0001"), BenchDevice(), 0.0))
    assert (end.code, end.refused) == ("device-unknown-serial", True)
    assert SERIAL in end.sentence


# -- versions and messages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [*STEPS, Step.READY])
def test_a_frame_of_another_version_is_refused_by_the_host(step: Step) -> None:
    host, _ = host_before(step, BenchDevice())
    end = over(host.receive(enclose(HEADER.pack(2, Kind.STATUS, 0, BOOT, 0)), 0.0))
    assert (end.code, end.refused) == ("device-version", True)
    assert "cardlink 2" in end.sentence


def test_an_identity_of_another_version_is_refused() -> None:
    end = over(converse(make_host(), BenchDevice(version=3), 0.0))
    assert (end.code, end.refused) == ("device-version", True)
    assert "cardlink 3" in end.sentence


def test_a_hello_of_another_version_is_rejected_whatever_it_holds() -> None:
    device = BenchDevice()
    assert rejected(device.exchange(enclose(HEADER.pack(2, Kind.HELLO, 0, 0, 0) + b"?"), 0.0)) == "version"
    assert rejected(device.exchange(frame(Kind.HELLO, messages.Hello(2, bytes(16)), boot=0), 0.0)) == "version"
    assert device.exchange(enclose(HEADER.pack(2, Kind.ACK, 0, BOOT, 0)), 0.0) == b""


def test_a_host_says_what_a_device_rejects_it_for() -> None:
    host, _ = host_before(Step.IDENTITY, BenchDevice())
    end = over(host.receive(frame(Kind.REJECT, messages.Reject("version", "this device speaks cardlink 9")), 0.0))
    assert end == LinkOver(
        "device-rejects-host", "The device refused this host (version). this device speaks cardlink 9", True
    )


@pytest.mark.parametrize("size", [0, 15, 17])
def test_nonces_have_sixteen_bytes(size: int) -> None:
    device = BenchDevice(nonce=lambda: bytes(size))
    assert rejected(device.exchange(frame(Kind.HELLO, messages.Hello(1, bytes(size)), boot=0), 0.0)) == "message"
    end = over(converse(make_host(), device, 0.0))
    assert (end.code, end.refused) == ("device-message", False)
    assert f"not {size}" in end.sentence


def test_an_identity_with_a_word_that_means_nothing_is_no_message() -> None:
    end = over(converse(make_host(), BenchDevice(kind="toaster"), 0.0))
    assert (end.code, end.refused) == ("device-message", False)
    assert "toaster" in end.sentence


@pytest.mark.parametrize("kind", [Kind.HELLO, Kind.HOST_PROOF, Kind.RESUME])
def test_a_device_rejects_a_body_that_it_does_not_understand(kind: Kind) -> None:
    device = BenchDevice()
    linked(device)
    assert rejected(device.exchange(frame(kind, messages.Reject("")), 0.0)) == "message"


@pytest.mark.parametrize("step", [Step.DEVICE_PROOF, Step.FIRST_STATUS, Step.READY])
@pytest.mark.parametrize("kind", [Kind.IDENTITY, Kind.STATUS, Kind.ANSWER, Kind.REPORT])
def test_another_boot_in_a_header_ends_the_link(step: Step, kind: Kind) -> None:
    host, _ = host_before(step, BenchDevice())
    end = over(host.receive(frame(kind, boot=BOOT + 1), 0.0))
    assert (end.code, end.refused) == ("device-rebooted", False)


def test_a_boot_that_counts_again_under_an_old_number_is_not_linked_with() -> None:
    device = BenchDevice()
    device.link.report(messages.Started(1, "power"), 0.0)
    end = over(converse(make_host(held=(BOOT, 2)), device, 0.0))
    assert end.code == "device-message"
    assert "has come to report 1, and 2 was taken before" in end.sentence
    assert device.link.unacknowledged == 1


# -- the device's side ------------------------------------------------------------------------------------------------


def test_each_new_hello_gets_a_fresh_nonce_and_the_same_hello_the_same_identity() -> None:
    device = BenchDevice()
    first, second = make_host().outgoing(), make_host().outgoing()
    answers = [device.exchange(hello, 0.0) for hello in (first, first, second, first)]
    assert answers[0] == answers[1]
    assert len({identity_in(answer).nonce for answer in answers}) == 3


@pytest.mark.parametrize("step", [Step.IDENTITY, Step.DEVICE_PROOF])
def test_acks_and_commands_before_the_link_is_ready_are_ignored(step: Step) -> None:
    device = BenchDevice()
    device.link.report(messages.Started(1, "power"), 0.0)
    host_before(step, device)
    order = frame(Kind.COMMAND, messages.CommandBody(1, messages.Shuffle()))
    assert device.exchange(frame(Kind.ACK, number=1) + order, 0.0) == b""
    assert device.carried_out == []
    assert device.link.unacknowledged == 1


@pytest.mark.parametrize("kind", [Kind.HOST_PROOF, Kind.RESUME])
def test_a_device_without_a_hello_sends_nothing(kind: Kind) -> None:
    body = messages.Resume(0, 0) if kind is Kind.RESUME else messages.Proof(1, bytes(32))
    assert BenchDevice().exchange(frame(kind, body), 0.0) == b""


def test_a_new_hello_takes_what_was_waiting_to_be_sent() -> None:
    device = BenchDevice()
    linked(device)
    device.link.report(messages.Started(1, "power"), 0.1)
    assert kinds_in(device.exchange(make_host().outgoing(), 0.2)) == [Kind.IDENTITY]


def test_an_identity_that_fits_no_frame_is_rejected_and_not_sent() -> None:
    device = BenchDevice(serial="s" * 500)
    hello = frame(Kind.HELLO, messages.Hello(1, fresh_nonce()), boot=0)
    assert rejected(device.exchange(hello, 0.0)) == "message"


def test_encoding_is_by_the_page() -> None:
    """The header of a hello: boot 0, and the number that the host holds."""
    (hello,) = FrameReader().receive(make_host(held=(5, 77), nonce=bytes(16)).outgoing())
    assert (hello.boot, hello.number, hello.flags) == (0, 77, 0)
    assert hello.body == encode_body(messages.Hello(1, bytes(16)))
