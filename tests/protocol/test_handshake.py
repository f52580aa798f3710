"""The beginning of a link, and refusals because of wrong keys, because of swapped, reflected or replayed proofs, and
because of other versions.
"""

from __future__ import annotations

from zlib import crc32

import pytest

from firmware_bridge.commands import HoldExit
from firmware_bridge.drivers.base import Answered, Contradicted, Heard, LinkReady, Reported, StatusHeard
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import CRC, HEADER, MAX_DECODED, FrameReader, enclose
from firmware_bridge.drivers.cardlink.handshake import UNPROVEN
from firmware_bridge.drivers.cardlink.host import CardlinkHost, LinkStep
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind, encode_body

from .parts import (
    BOOT,
    KEY,
    NEVER,
    OTHER_KEY,
    SERIAL,
    BenchDevice,
    asking,
    converse,
    counters_in,
    frame,
    host_before,
    host_proof_of,
    kinds_in,
    linked,
    make_host,
    only,
    over,
    proof_frame,
    read_back,
    rejected,
    sealed,
    sealed_rejected,
    spoilt_proof,
    status,
)

NEXT_KEY = bytes(range(100, 132))
UNPROVEN_STEPS = (LinkStep.IDENTITY, LinkStep.DEVICE_PROOF)
STEPS = (*UNPROVEN_STEPS, LinkStep.FIRST_STATUS)


# -- an established link --------------------------------------------------------------------------------------------


def test_the_device_is_ready_when_both_have_proven_themselves() -> None:
    device = BenchDevice()
    ready = only(converse(make_host(), device, 0.0))
    assert isinstance(ready, LinkReady)
    assert (ready.identity.serial, ready.identity.boot, ready.status.boot) == (SERIAL, BOOT, BOOT)
    assert ready.identity.capabilities.retains_reports
    assert not ready.identity.capabilities.senses_tray
    assert device.link.linked


@pytest.mark.parametrize("step", STEPS)
def test_an_unanswered_frame_is_repeated_and_its_answer_continues_the_link(step: LinkStep) -> None:
    """A clear frame is repeated byte for byte, a sealed frame with the same header and body and a new counter."""
    device = BenchDevice()
    host, sent = asking(step, device)
    times, repeats = [], []
    while (now := host.wake_at()) < 2.0:
        assert list(host.tick(now)) == []
        repeats.append(host.outgoing())
        times.append(now)
    assert times == [0.5, 1.5]
    assert host.statistics.frames_resent == 2
    if step is LinkStep.FIRST_STATUS:
        assert [counters_in(data) for data in (sent, *repeats)] == [[1], [2], [3]]
        assert [read_back(host, data) for data in repeats] == 2 * [read_back(host, sent)]
    else:
        assert repeats == [sent, sent]
    heard = [*host.receive(device.exchange(sent + repeats[0], 1.6), 1.6), *converse(host, device, 1.6)]
    assert [type(thing) for thing in heard if not isinstance(thing, StatusHeard)] == [LinkReady]


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
    assert "power" in str(end.sentence)
    assert "driver=" in str(end.sentence)
    assert host.wake_at() == NEVER
    assert not host.is_stale(200.0)


def test_bytes_that_are_never_a_frame_end_the_attempt_with_a_hint_at_the_speed() -> None:
    host = make_host()
    host.receive(b"login: ", 1.0)
    host.receive(b"login: ", 9.0)
    end = over(host.tick(10.0))
    assert (end.code, end.refused) == ("device-garbage", False)
    assert str(end.sentence).startswith("The data from the device contains no cardlink frame")


def test_a_device_that_sends_and_does_not_answer_ends_the_attempt_after_ten_seconds() -> None:
    host = make_host()
    device = BenchDevice()
    for second in range(10):
        assert host.receive(frame(FrameKind.STATUS, device.status()), float(second)) == []
        assert list(host.tick(second + 0.9)) == []
    end = over(host.tick(10.0))
    assert (end.code, end.refused) == ("device-no-answer", False)
    assert "wire" in str(end.sentence)


def test_reports_that_come_before_the_status_are_dropped_and_come_again() -> None:
    device = BenchDevice()
    device.link.report(messages.StartedReport(1, "power"), 0.0)
    host, reply = host_before(LinkStep.FIRST_STATUS, device)
    assert kinds_in(reply) == [FrameKind.STATUS, FrameKind.REPORT]
    status_frame, report = (b"\xc0" + part + b"\xc0" for part in reply.strip(b"\xc0").split(b"\xc0\xc0"))
    assert host.receive(report, 0.0) == []
    assert host.receive(status_frame, 0.0) == [], "it was sent before the report, so that it may not come after it"
    device.link.tick(0.2)
    assert host.receive(device.link.outgoing(), 0.2) == []
    host.tick(0.5)
    heard = converse(host, device, 0.5)
    assert [type(thing) for thing in heard] == [LinkReady, Reported, Contradicted], "the late status is noted"


# -- keys -----------------------------------------------------------------------------------------------------------


def test_a_device_with_another_key_rejects_the_host() -> None:
    end = over(converse(make_host(), BenchDevice(key=OTHER_KEY), 0.0))
    assert (end.code, end.refused) == ("device-rejects-host", True)
    assert "(proof)" in str(end.sentence)
    assert "pair the device again" in str(end.sentence)
    assert str(end.sentence).endswith(str(UNPROVEN)), "the reject is clear: anyone may have sent it"


@pytest.mark.parametrize(("key", "used"), [(KEY, "old"), (NEXT_KEY, "next")])
def test_while_its_key_is_changed_a_device_may_have_either(key: bytes, used: str) -> None:
    ready = only(converse(make_host(next_key=NEXT_KEY), BenchDevice(key=key), 0.0))
    assert isinstance(ready, LinkReady)
    assert ready.key == used


def test_a_device_with_neither_of_two_keys_is_refused() -> None:
    end = over(converse(make_host(next_key=NEXT_KEY), BenchDevice(key=OTHER_KEY), 0.0))
    assert (end.code, end.refused) == ("device-rejects-host", True)
    assert "neither of its two keys" in str(end.sentence)


def test_a_late_reject_of_the_first_key_is_not_taken_for_one_of_the_next() -> None:
    """The first host proof was repeated, and both were rejected."""
    device, host = BenchDevice(key=NEXT_KEY), make_host(next_key=NEXT_KEY)
    host.receive(device.exchange(host.outgoing(), 0.0), 0.0)
    rejects = device.exchange(host.outgoing(), 0.0)
    assert list(host.tick(0.5)) == []
    rejects += device.exchange(host.outgoing(), 0.5)
    assert kinds_in(rejects) == [FrameKind.REJECT, FrameKind.REJECT]
    assert host.receive(rejects, 0.5) == []
    ready = only(converse(host, device, 0.5))
    assert isinstance(ready, LinkReady)
    assert ready.key == "next"


def test_an_identity_that_replaces_another_is_asked_with_both_keys_again() -> None:
    """The device restarted in the handshake, after it had rejected the first key."""
    host, first, second = make_host(next_key=NEXT_KEY), BenchDevice(key=NEXT_KEY), BenchDevice(key=NEXT_KEY)
    hello = host.outgoing()
    host.receive(first.exchange(hello, 0.0), 0.0)
    host.receive(first.exchange(host.outgoing(), 0.0), 0.0)
    host.outgoing()
    host.receive(second.exchange(hello, 0.0), 0.0)
    assert host.receive(second.exchange(host.outgoing(), 0.0), 0.0) == [], "perhaps the first device's"
    host.tick(0.5)
    ready = only(converse(host, second, 0.5))
    assert isinstance(ready, LinkReady)
    assert ready.key == "next"


def test_a_device_that_only_claims_a_serial_number_is_refused() -> None:
    """It accepts the host without checking, and cannot prove itself."""
    device = BenchDevice()
    host = make_host()
    hello = host.outgoing()
    identity = device.exchange(hello, 0.0)
    host.receive(identity, 0.0)
    end = over(host.receive(proof_frame(FrameKind.DEVICE_PROOF, OTHER_KEY, b"device", hello, identity), 0.0))
    assert (end.code, end.refused) == ("device-proof", True)
    assert str(end.sentence).endswith(str(UNPROVEN))


@pytest.mark.parametrize("spoil", [0, 31])
def test_every_byte_of_a_proof_counts(spoil: int) -> None:
    device = BenchDevice()
    host, reply = host_before(LinkStep.DEVICE_PROOF, device)
    assert rejected(device.exchange(spoilt_proof(host_proof_of(host), spoil), 0.0)) == "proof"
    assert over(host.receive(spoilt_proof(reply, spoil), 0.0)).code == "device-proof"


def test_the_hosts_own_proof_sent_back_is_refused() -> None:
    host, reply = host_before(LinkStep.IDENTITY, BenchDevice())
    host.receive(reply, 0.0)
    (ours,) = FrameReader().receive(host.outgoing())
    reflected = frame(FrameKind.DEVICE_PROOF, messages.decode_proof(ours.body))
    end = over(host.receive(reflected, 0.0))
    assert (end.code, end.refused) == ("device-proof", True)


def test_a_proof_of_the_devices_role_makes_no_host() -> None:
    device = BenchDevice()
    hello = make_host().outgoing()
    identity = device.exchange(hello, 0.0)
    wrong_role = proof_frame(FrameKind.HOST_PROOF, KEY, b"device", hello, identity)
    assert rejected(device.exchange(wrong_role, 0.0)) == "proof"
    assert not device.link.linked


@pytest.mark.parametrize("type_", [0, 2])
def test_a_proof_of_another_type_is_refused_by_both(type_: int) -> None:
    device = BenchDevice()
    host = make_host()
    hello = host.outgoing()
    identity = device.exchange(hello, 0.0)
    assert (
        rejected(device.exchange(proof_frame(FrameKind.HOST_PROOF, KEY, b"host", hello, identity, type_), 0.0))
        == "proof"
    )
    host.receive(identity, 0.0)
    end = over(host.receive(proof_frame(FrameKind.DEVICE_PROOF, KEY, b"device", hello, identity, type_), 0.0))
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


def recorded_link(host: CardlinkHost, device: BenchDevice) -> list[bytes]:
    """Return what the host sent until the link was established."""
    recorded = []
    while data := host.outgoing():
        recorded.append(data)
        host.receive(device.exchange(data, 0.0), 0.0)
    return recorded


def test_a_recording_of_a_host_is_rejected_once_the_link_is_over() -> None:
    device = BenchDevice()
    hello, proof, *rest = recorded_link(make_host(), device)
    device.link.tick(3.0)
    assert kinds_in(device.exchange(hello, 5.0)) == [FrameKind.IDENTITY]
    assert rejected(device.exchange(proof, 5.0)) == "proof"
    assert device.exchange(b"".join(rest), 5.0) == b""
    assert not device.link.linked


def test_a_recording_of_the_active_link_has_no_effect_on_it() -> None:
    host, device = make_host(), BenchDevice()
    recorded = recorded_link(host, device)
    for data in recorded:
        assert device.exchange(data, 1.0) == b"", "its hello is ignored, and so is all that follows"
    host.receive(status(device), 2.9)
    assert list(host.tick(3.1)) == []
    device.exchange(host.outgoing(), 3.1)
    device.link.tick(3.1)
    assert device.link.linked


def test_a_recording_of_a_host_that_never_came_to_its_end_is_rejected_too() -> None:
    device = BenchDevice()
    hello = make_host().outgoing()
    first = device.exchange(hello, 0.0)
    proof = proof_frame(FrameKind.HOST_PROOF, KEY, b"host", hello, first)
    assert kinds_in(device.exchange(proof, 2.0)) == [FrameKind.DEVICE_PROOF]
    assert device.exchange(hello, 2.5) == first
    assert device.link.wake_at() == 5.5
    device.link.tick(5.5)
    assert device.link.wake_at() == NEVER
    assert device.exchange(hello, 5.6) != first
    assert rejected(device.exchange(proof, 5.6)) == "proof"


def test_an_identity_altered_on_its_way_is_rejected() -> None:
    device = BenchDevice()
    host, reply = host_before(LinkStep.IDENTITY, device)
    (read,) = FrameReader().receive(reply)
    assert read.content.count(b"Bench") == 1
    host.receive(enclose(read.content.replace(b"Bench", b"Bunch")), 0.0)
    end = over(converse(host, device, 0.0))
    assert end.code == "device-rejects-host"


def test_a_device_without_a_key_here_is_refused_by_its_serial_number() -> None:
    end = over(converse(make_host(serial="CARDSHOE-0001"), BenchDevice(), 0.0))
    assert (end.code, end.refused) == ("device-unknown-serial", True)
    assert SERIAL in str(end.sentence)


# -- versions and messages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", UNPROVEN_STEPS)
def test_a_frame_of_another_version_is_refused_by_the_host(step: LinkStep) -> None:
    host, _ = host_before(step, BenchDevice())
    end = over(host.receive(enclose(HEADER.pack(2, FrameKind.STATUS, 0, BOOT, 0)), 0.0))
    assert (end.code, end.refused) == ("device-version", True)
    assert "cardlink 2" in str(end.sentence)
    assert str(end.sentence).endswith(str(UNPROVEN))


@pytest.mark.parametrize("step", [LinkStep.FIRST_STATUS, LinkStep.READY])
@pytest.mark.parametrize("kind", [*sorted(CLEAR), FrameKind.STATUS])
@pytest.mark.parametrize("version", [1, 2])
def test_after_the_proof_clear_frames_and_other_versions_are_ignored(
    step: LinkStep, kind: FrameKind, version: int
) -> None:
    """They are not examined, and are not signs of life."""
    host, _ = host_before(step, BenchDevice())
    host.outgoing()
    junk = enclose(HEADER.pack(version, kind, 0, BOOT + 1, 0) + encode_body(messages.RejectBody("proof")))
    assert host.receive(junk, 2.9) == []
    assert host.outgoing() == b""
    assert over(host.tick(3.0)).code == "device-silent"


def test_an_identity_of_another_version_is_refused() -> None:
    end = over(converse(make_host(), BenchDevice(version=3), 0.0))
    assert (end.code, end.refused) == ("device-version", True)
    assert "cardlink 3" in str(end.sentence)
    assert str(end.sentence).endswith(str(UNPROVEN))


@pytest.mark.parametrize(
    ("of_host", "of_device", "chosen"),
    [((1,), (1, 2), 1), ((1, 2), (1,), 1), ((1, 2), (2, 1), 2), ((1, 2, 3), (2, 3, 9), 3)],
)
def test_the_link_has_the_highest_version_that_both_speak(
    of_host: tuple[int, ...], of_device: tuple[int, ...], chosen: int
) -> None:
    """Hello and identity have version 1; 2, 3 and 9 are versions for this test."""
    host, device = make_host(versions=of_host), BenchDevice(versions=of_device)
    sent: list[int] = []
    heard: list[Heard] = []
    while data := host.outgoing():
        reply = device.exchange(data, 0.0)
        sent += [one.version for one in FrameReader().receive(data + reply)]
        heard += host.receive(reply, 0.0)
    assert isinstance(only(heard), LinkReady)
    assert sent[:2] == [1, 1]
    assert set(sent[2:]) == {chosen}
    host.command(1, HoldExit(), 0.1)
    assert Answered(1, True) in converse(host, device, 0.1)
    assert device.link.linked


def test_a_device_that_speaks_none_of_our_versions_is_refused_with_both_named() -> None:
    end = over(converse(make_host(), BenchDevice(versions=(2, 3)), 0.0))
    assert (end.code, end.refused) == ("device-version", True)
    assert "speaks cardlink 2, 3, and this program speaks cardlink 1: update the older" in str(end.sentence)


@pytest.mark.parametrize("kind", [FrameKind.IDENTITY, FrameKind.HOST_PROOF])
def test_nobody_in_the_line_can_make_both_speak_an_older_version(kind: FrameKind) -> None:
    """The proofs cover what the identity names, and the seal covers the version of each later frame."""
    host, device = make_host(versions=(1, 2)), BenchDevice(versions=(1, 2))

    def spoilt(data: bytes) -> bytes:
        changed = b""
        for one in FrameReader().receive(data):
            content = one.content
            if one.kind == kind == FrameKind.IDENTITY:
                content = content.replace(b"\x92\x01\x02", b"\x92\x01\x01")
                assert content != one.content
            elif one.kind == kind:
                content = b"\x01" + content[1:]
            changed += enclose(content)
        return changed

    heard: list[Heard] = []
    while data := host.outgoing():
        heard += host.receive(spoilt(device.exchange(spoilt(data), 0.0)), 0.0)
    assert not any(isinstance(one, LinkReady) for one in heard)
    assert not device.link.linked


def test_a_hello_of_another_version_is_rejected_with_any_content() -> None:
    device = BenchDevice()
    assert rejected(device.exchange(enclose(HEADER.pack(2, FrameKind.HELLO, 0, 0, 0) + b"?"), 0.0)) == "version"
    for body in (messages.HelloBody(2, bytes(16)), b"\x91\x02", b"\x92\x02\xc0"):
        assert rejected(device.exchange(frame(FrameKind.HELLO, body, boot=0), 0.0)) == "version"
    assert device.exchange(enclose(HEADER.pack(2, FrameKind.ACK, 0, BOOT, 0)), 0.0) == b""


@pytest.mark.parametrize("step", UNPROVEN_STEPS)
@pytest.mark.parametrize("boot", [BOOT, BOOT + 1])
def test_a_host_reports_the_reason_of_a_rejection(step: LinkStep, boot: int) -> None:
    host, _ = host_before(step, BenchDevice())
    reject = messages.RejectBody("version", "this device speaks cardlink 9")
    end = over(host.receive(frame(FrameKind.REJECT, reject, boot=boot), 0.0))
    assert (end.code, end.refused) == ("device-rejects-host", True)
    assert str(end.sentence) == f"The device refused this host (version): this device speaks cardlink 9. {UNPROVEN}"


@pytest.mark.parametrize("step", [LinkStep.FIRST_STATUS, LinkStep.READY])
@pytest.mark.parametrize("boot", [BOOT, BOOT + 1])
def test_after_the_proof_only_a_sealed_reject_rejects(step: LinkStep, boot: int) -> None:
    device = BenchDevice()
    host, _ = host_before(step, device)
    reject = messages.RejectBody("message", "a frame could not be read")
    end = over(host.receive(sealed(device, FrameKind.SEALED_REJECT, reject, boot=boot), 0.0))
    assert (end.code, end.refused) == ("device-rejects-host", True)
    assert str(end.sentence) == "The device refused this host (message): a frame could not be read."


@pytest.mark.parametrize("step", UNPROVEN_STEPS)
def test_before_the_proof_no_sealed_frame_is_examined(step: LinkStep) -> None:
    """It may belong to the link and boot before; it still shows that a device is there."""
    host, reply = host_before(step, BenchDevice())
    for kind in (FrameKind.SEALED_REJECT, FrameKind.STATUS, FrameKind.REPORT, FrameKind.ANSWER, 0x77):
        assert host.receive(frame(kind, messages.RejectBody("message"), boot=BOOT + 1), 2.0) == []
    assert list(host.tick(4.9)) == []
    assert host.receive(reply, 4.9) == []


@pytest.mark.parametrize("size", [0, 15, 17])
def test_nonces_have_sixteen_bytes(size: int) -> None:
    device = BenchDevice()
    assert (
        rejected(device.exchange(frame(FrameKind.HELLO, messages.HelloBody(1, bytes(size)), boot=0), 0.0)) == "message"
    )
    end = over(make_host().receive(frame(FrameKind.IDENTITY, device._identity(bytes(size), [])), 0.0))
    assert (end.code, end.refused) == ("device-message", False)
    assert f"not {size}" in str(end.sentence)


def test_an_identity_with_an_unknown_enum_value_is_not_a_message() -> None:
    end = over(converse(make_host(), BenchDevice(kind="toaster"), 0.0))
    assert (end.code, end.refused) == ("device-message", False)
    assert "toaster" in str(end.sentence)


@pytest.mark.parametrize(
    ("kind", "words", "told"),
    [
        ("shuffler", [], "neither"),
        ("shoe", ["card_recognition"], "neither"),
        ("shuffler", ["dispenses_on_command", "dispenses_on_removal"], "both"),
        ("shoe", ["dispenses_on_command", "dispenses_on_removal"], "both"),
        ("shoe", ["dispenses_on_command"], "a shoe cannot form sets on command"),
    ],
)
def test_an_identity_names_one_way_of_dispensing_that_its_kind_has(kind: str, words: list[str], told: str) -> None:
    end = over(converse(make_host(), BenchDevice(kind=kind, capabilities=words), 0.0))
    assert (end.code, end.refused) == ("device-message", False)
    assert told in str(end.sentence)


@pytest.mark.parametrize("kind", ["shuffler", "shoe"])
def test_either_kind_may_dispense_on_removal(kind: str) -> None:
    ready = only(converse(make_host(), BenchDevice(kind=kind, capabilities=["dispenses_on_removal"]), 0.0))
    assert isinstance(ready, LinkReady)
    assert (ready.identity.kind, ready.identity.capabilities.dispenses) == (kind, "on_removal")


@pytest.mark.parametrize("size", [MAX_DECODED + 1, 700])
@pytest.mark.parametrize("piece", [1, 4096])
def test_an_identity_that_is_too_long_is_reported_with_its_size(size: int, piece: int) -> None:
    """The line and its speed are good: the CRC is right."""
    content = HEADER.pack(1, FrameKind.IDENTITY, 0, 7, 0).ljust(size - CRC.size, b"x")
    data = b"\xc0" + content + CRC.pack(crc32(content)) + b"\xc0"
    assert (data.count(b"\xc0"), data.count(b"\xdb")) == (2, 0), "nothing to escape"
    host = make_host()
    heard = [thing for start in range(0, len(data), piece) for thing in host.receive(data[start : start + piece], 0.1)]
    end = over(heard)
    assert (end.code, end.refused) == ("device-message", False)
    assert f"a frame of {size} bytes" in str(end.sentence)
    assert "speed" not in str(end.sentence)


@pytest.mark.parametrize("kind", [FrameKind.HELLO, FrameKind.HOST_PROOF])
def test_a_device_rejects_a_clear_body_that_it_does_not_understand(kind: FrameKind) -> None:
    device = BenchDevice()
    linked(device)
    device.exchange(make_host().outgoing(), 0.0)
    assert rejected(device.exchange(frame(kind, messages.RejectBody("")), 0.0)) == "message"
    assert device.link.linked


def test_a_device_rejects_sealed_frames_with_a_sealed_reject() -> None:
    device = BenchDevice()
    host, reply = host_before(LinkStep.DEVICE_PROOF, device)
    host.receive(reply, 0.0)
    said = device.exchange(sealed(host, FrameKind.RESUME, messages.RejectBody("")), 0.0)
    assert sealed_rejected(device, said) == "message"
    assert over(host.receive(said, 0.0)).code == "device-rejects-host"


@pytest.mark.parametrize("kind", [FrameKind.DEVICE_PROOF])
def test_another_boot_in_a_clear_header_ends_the_attempt_before_the_proof(kind: FrameKind) -> None:
    host, _ = host_before(LinkStep.DEVICE_PROOF, BenchDevice())
    end = over(host.receive(frame(kind, boot=BOOT + 1), 0.0))
    assert (end.code, end.refused) == ("device-rebooted", False)


@pytest.mark.parametrize("step", [LinkStep.FIRST_STATUS, LinkStep.READY])
@pytest.mark.parametrize("kind", [FrameKind.STATUS, FrameKind.ANSWER, FrameKind.REPORT, 0x77])
def test_another_boot_in_a_sealed_header_ends_the_link(step: LinkStep, kind: int) -> None:
    device = BenchDevice()
    host, _ = host_before(step, device)
    end = over(host.receive(sealed(device, kind, boot=BOOT + 1), 0.0))
    assert (end.code, end.refused) == ("device-rebooted", False)


def test_a_reused_boot_number_is_refused() -> None:
    device = BenchDevice()
    device.link.report(messages.StartedReport(1, "power"), 0.0)
    end = over(converse(make_host(held=(BOOT, 2)), device, 0.0))
    assert end.code == "device-message"
    assert "it names 1 as the last report of boot" in str(end.sentence)
    assert str(UNPROVEN) not in str(end.sentence)
    assert device.link.unacknowledged == 1


def test_an_identity_for_another_hello_is_replaced_by_the_right_one() -> None:
    """A hello from the previous link lacks its last byte, and the next hello completes it: the device answers both."""
    device = BenchDevice()
    before, host = make_host(), make_host()
    cut = before.outgoing()[:-1]
    assert device.exchange(cut, 0.0) == b""
    reply = device.exchange(host.outgoing(), 0.1)
    assert kinds_in(reply) == [FrameKind.IDENTITY, FrameKind.IDENTITY]
    heard = list(host.receive(reply, 0.1))
    said = host.outgoing()
    assert kinds_in(said) == [FrameKind.HOST_PROOF, FrameKind.HOST_PROOF]
    answers = device.exchange(said, 0.1)
    assert kinds_in(answers) == [FrameKind.REJECT, FrameKind.DEVICE_PROOF]
    heard += [*host.receive(answers, 0.1), *converse(host, device, 0.1)]
    assert isinstance(only(heard), LinkReady)


def test_a_second_reject_does_not_concern_the_replaced_identity() -> None:
    device = BenchDevice(key=OTHER_KEY)
    host = make_host()
    cut = make_host().outgoing()[:-1]
    device.exchange(cut, 0.0)
    host.receive(device.exchange(host.outgoing(), 0.1), 0.1)
    assert over(host.receive(device.exchange(host.outgoing(), 0.1), 0.1)).code == "device-rejects-host"
