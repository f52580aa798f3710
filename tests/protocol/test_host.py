"""The host's side of an established link: what it takes, acknowledges and repeats, and when it gives up."""

from __future__ import annotations

import pytest

from firmware_bridge import capabilities, observations
from firmware_bridge.commands import Dispense, HoldExit, ReleaseExit
from firmware_bridge.drivers.base import Answered, Contradicted, Heard, LinkReady, Reported, ReportsGone, StatusHeard
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader
from firmware_bridge.drivers.cardlink.host import CardlinkHost, LinkStep
from firmware_bridge.drivers.cardlink.messages import FrameKind

from .parts import (
    BOOT,
    NEVER,
    BenchDevice,
    converse,
    counters_in,
    frame,
    host_before,
    kinds_in,
    linked,
    make_host,
    only,
    over,
    read_back,
    sealed,
    status,
)

EARLIER = 0xAA


def acks_in(data: bytes) -> list[tuple[int, int]]:
    return [(read.boot, read.number) for read in FrameReader().receive(data) if read.kind == FrameKind.ACK]


def report(by: BenchDevice, *numbers: int, boot: int = BOOT) -> bytes:
    return b"".join(
        sealed(by, FrameKind.REPORT, messages.SetRemovedReport(number, 7, number), boot=boot, number=number)
        for number in numbers
    )


def lost(by: BenchDevice, number: int, first: int, *, boot: int = BOOT, last: int | None = None) -> bytes:
    body = messages.ReportsLostReport(1, boot, first, number if last is None else last)
    return sealed(by, FrameKind.REPORT, body, number=number)


def damaged() -> bytes:
    return frame(FrameKind.STATUS, messages.HelloBody(1, b""))[:-3] + b"\xc0"


def taken(heard: list[Heard]) -> list[tuple[int, int]]:
    return [(thing.boot, thing.number) for thing in heard if isinstance(thing, Reported)]


@pytest.fixture
def device() -> BenchDevice:
    return BenchDevice()


@pytest.fixture
def host(device: BenchDevice) -> CardlinkHost:
    return linked(device)


# -- reports ----------------------------------------------------------------------------------------------------------


def test_a_report_is_acknowledged_when_it_is_durable_and_not_before(host: CardlinkHost, device: BenchDevice) -> None:
    assert taken(list(host.receive(report(device, 1, 2), 0.1))) == [(BOOT, 1), (BOOT, 2)]
    assert host.outgoing() == b""
    host.acknowledge(BOOT, 1, 0.2)
    assert acks_in(host.outgoing()) == [(BOOT, 1)]


def test_the_ack_is_sent_each_second_with_the_durable_number(host: CardlinkHost, device: BenchDevice) -> None:
    host.receive(report(device, 1), 0.5)
    assert host.wake_at() == 1.0
    host.tick(1.0)
    assert acks_in(host.outgoing()) == [(BOOT, 0)]
    host.acknowledge(BOOT, 1, 1.5)
    host.outgoing()
    host.tick(2.4)
    assert host.outgoing() == b""
    host.tick(2.5)
    assert acks_in(host.outgoing()) == [(BOOT, 1)]


def test_an_ack_names_the_highest_counter_that_was_taken(host: CardlinkHost, device: BenchDevice) -> None:
    first, gone, last = report(device, 1), report(device, 2), report(device, 3)
    assert counters_in(first + gone + last) == [2, 3, 4]
    host.receive(first + last + first, 0.1)
    host.tick(1.0)
    (*_, ack) = read_back(host, host.outgoing())
    assert messages.decode_ack(ack.body) == messages.AckBody(4)


def test_a_repeated_or_early_report_is_dropped_and_acknowledged_immediately(
    host: CardlinkHost, device: BenchDevice
) -> None:
    host.receive(report(device, 1), 0.1)
    host.acknowledge(BOOT, 1, 0.1)
    host.outgoing()
    assert host.receive(report(device, 1, 3), 0.2) == []
    assert acks_in(host.outgoing()) == [(BOOT, 1), (BOOT, 1)]
    assert (host.statistics.reports_repeated, host.statistics.reports_out_of_order) == (1, 1)
    assert taken(list(host.receive(report(device, 2), 0.3))) == [(BOOT, 2)]


@pytest.mark.parametrize(
    "body",
    [b"", b"\x91\x01", b"\x92\xcc\xc8\x01", b"\xc4\x02ab", b"\x97\x06\x01\x01\x01\x01\x01\x91\xcd\x01\x00"],
    ids=["empty", "too short", "unknown tag", "no array", "card number too large"],
)
def test_an_unknown_report_is_accepted_with_its_bytes(host: CardlinkHost, device: BenchDevice, body: bytes) -> None:
    sent = sealed(device, FrameKind.REPORT, body, number=1)
    reported = only(host.receive(sent, 0.1))
    assert isinstance(reported, Reported)
    assert isinstance(reported.observation, observations.NotUnderstood)
    assert reported.observation.reason
    assert reported.uptime_ms is None
    assert reported.evidence.open() == FrameReader().receive(frame(FrameKind.REPORT, body, number=1))[0].content
    assert taken(list(host.receive(report(device, 2), 0.2))) == [(BOOT, 2)]


def test_fields_that_a_newer_device_adds_are_ignored(host: CardlinkHost, device: BenchDevice) -> None:
    reported = only(host.receive(sealed(device, FrameKind.REPORT, b"\x95\x07\x01\x05\x09\xa3new", number=1), 0.1))
    assert isinstance(reported, Reported)
    assert reported.observation == observations.SetRemoved(5, 9)


def test_reports_lost_covers_all_that_were_not_taken_before(host: CardlinkHost, device: BenchDevice) -> None:
    host.receive(report(device, 1, 2), 0.1)
    reported = only(host.receive(lost(device, 6, 1), 0.2))
    assert isinstance(reported, Reported)
    assert reported.number == 6
    assert reported.observation == observations.ReportsLost(BOOT, 3, 6)
    assert taken(list(host.receive(report(device, 7), 0.3))) == [(BOOT, 7)]


def test_reports_lost_that_begins_too_late_is_not_due(host: CardlinkHost, device: BenchDevice) -> None:
    assert host.receive(lost(device, 6, 2), 0.2) == []
    assert host.statistics.reports_out_of_order == 1


@pytest.mark.parametrize(
    "strange",
    [(BOOT, 40, 1), (77, 1, 1), (77, 1, 9), (BOOT, 1, 99)],
    ids=["from after its end", "of another boot", "of another boot and further", "further than itself"],
)
def test_a_strange_reports_lost_is_never_resent_for_ever(
    host: CardlinkHost, device: BenchDevice, strange: tuple[int, int, int]
) -> None:
    boot, first, last = strange
    assert taken(list(host.receive(lost(device, 1, first, boot=boot, last=last), 0.1))) == [(BOOT, 1)]
    assert taken(list(host.receive(report(device, 2), 0.2))) == [(BOOT, 2)]


def test_the_link_ends_when_the_report_due_does_not_come_and_later_ones_do(
    host: CardlinkHost, device: BenchDevice
) -> None:
    for tenth in range(50):
        now = 1 + tenth / 10
        device.exchange(host.outgoing(), now)
        heard = host.receive(report(device, 2) + status(device, last_report=2), now)
        assert [type(thing) for thing in heard] == [StatusHeard]
        assert list(host.tick(now)) == []
    assert host.wake_at() == 6.0
    end = over(host.tick(6.0))
    assert (end.code, end.refused) == ("device-reports", False)
    assert "report 1," in str(end.sentence)


def test_the_report_due_may_come_late(host: CardlinkHost, device: BenchDevice) -> None:
    host.receive(report(device, 2), 1.0)
    device.exchange(host.outgoing(), 3.9)
    host.receive(status(device), 3.9)
    host.receive(report(device, 1), 5.9)
    host.receive(report(device, 3), 6.9)
    assert list(host.tick(7.0)) == []


# -- reports of earlier boots -----------------------------------------------------------------------------------------


@pytest.fixture
def rebooted() -> BenchDevice:
    """Return a device that kept reports 1 and 2 of an earlier boot and has made one since."""
    device = BenchDevice(boot=EARLIER)
    device.link.report(messages.SetRemovedReport(1, 7, 1), 0.0)
    device.link.report(messages.SetRemovedReport(2, 7, 2), 0.0)
    device.link.reboot(BOOT, keep_reports=True)
    device.link.report(messages.StartedReport(3, "power"), 0.0)
    return device


def test_reports_of_an_earlier_boot_come_first_and_are_acknowledged_under_it(rebooted: BenchDevice) -> None:
    host = make_host()
    assert taken(converse(host, rebooted, 0.0)) == [(EARLIER, 1), (EARLIER, 2), (BOOT, 1)]
    host.acknowledge(EARLIER, 2, 0.1)
    data = host.outgoing()
    assert acks_in(data) == [(EARLIER, 2)]
    rebooted.exchange(data, 0.1)
    assert rebooted.link.unacknowledged == 1


def test_a_late_repeat_from_an_earlier_boot_is_a_repeat_and_no_reboot(rebooted: BenchDevice) -> None:
    host = make_host()
    converse(host, rebooted, 0.0)
    assert host.receive(report(rebooted, 2, boot=EARLIER), 0.3) == []
    assert host.statistics.reports_repeated == 1
    assert acks_in(host.outgoing()) == [(BOOT, 0)]


def test_a_report_of_the_running_boot_before_its_time_is_too_soon(rebooted: BenchDevice) -> None:
    host = make_host()
    host.receive(rebooted.exchange(host.outgoing(), 0.0), 0.0)
    host.receive(rebooted.exchange(host.outgoing(), 0.0), 0.0)
    first, *_, last = rebooted.exchange(host.outgoing(), 0.0).strip(b"\xc0").split(b"\xc0\xc0")
    host.receive(b"\xc0" + first + b"\xc0" + last + b"\xc0", 0.0)
    assert host.statistics.reports_out_of_order == 1


def test_a_report_of_a_boot_that_the_identity_did_not_name_ends_the_link(
    host: CardlinkHost, device: BenchDevice
) -> None:
    assert over(host.receive(report(device, 1, boot=EARLIER), 0.1)).code == "device-rebooted"


def test_a_host_with_none_of_the_boots_reports_the_loss(rebooted: BenchDevice) -> None:
    ready, *rest = converse(make_host(held=(0x99, 4)), rebooted, 0.0)
    assert isinstance(ready, LinkReady)
    assert rest[0] == ReportsGone(0x99, 5, None)
    assert taken(rest[1:]) == [(EARLIER, 1), (EARLIER, 2), (BOOT, 1)]


# -- commands ---------------------------------------------------------------------------------------------------------


def test_a_command_is_repeated_under_its_id_until_it_is_answered(host: CardlinkHost, device: BenchDevice) -> None:
    device.answers_by_itself = False
    host.command(9, Dispense(3), 0.0)
    sent = host.outgoing()
    host.command(9, Dispense(3), 0.1)
    assert host.outgoing() == b""
    (first,) = read_back(host, sent)
    host.receive(report(device, 1), 0.2)
    host.acknowledge(BOOT, 1, 0.2)  # it changes no header of the command
    times = []
    for now in (0.5, 1.0, 1.5, 2.0, 2.9):
        host.receive(device.exchange(sent, now) or status(device), now)
        host.tick(now)
        sent = host.outgoing()
        repeated = [read for read in read_back(host, sent) if read.kind == FrameKind.COMMAND]
        if repeated:
            assert repeated == [first]
            times.append(now)
    assert times == [0.5, 1.5]
    assert device.carried_out == [(9, messages.DispenseOrder(3))]
    device.link.answer(9, True)
    heard = list(host.receive(device.link.outgoing(), 3.0))
    assert [thing for thing in heard if isinstance(thing, Answered)] == [Answered(9, True)]
    host.tick(3.6)
    assert kinds_in(host.outgoing()) == []
    host.tick(3.9)
    assert kinds_in(host.outgoing()) == [FrameKind.ACK]


def test_a_command_that_is_repeated_has_another_counter(host: CardlinkHost) -> None:
    host.command(9, Dispense(3), 0.0)
    first = host.outgoing()
    host.tick(0.5)
    assert [counters_in(first), counters_in(host.outgoing())] == [[3], [4]], "after resume and ack"


def test_several_commands_are_open_side_by_side(host: CardlinkHost, device: BenchDevice) -> None:
    host.command(1, Dispense(3), 0.0)
    host.command(2, HoldExit(), 0.1)
    host.command(3, ReleaseExit(), 0.2)
    assert host.wake_at() == 0.5
    heard = converse(host, device, 0.3)
    assert heard == [Answered(1, True), Answered(2, True), Answered(3, True)]


def test_an_answer_to_nothing_answers_nothing(host: CardlinkHost, device: BenchDevice) -> None:
    noted = only(host.receive(sealed(device, FrameKind.ANSWER, messages.AnswerBody(4, False, "held")), 0.1))
    assert isinstance(noted, Contradicted)
    assert (noted.what, noted.number) == ("unknown_answer", 4)


def test_a_refusal_comes_with_its_reason(host: CardlinkHost, device: BenchDevice) -> None:
    device.answers_by_itself = False
    host.command(1, Dispense(3), 0.0)
    device.exchange(host.outgoing(), 0.0)
    device.link.answer(1, False, "held")
    assert list(host.receive(device.link.outgoing(), 0.1)) == [Answered(1, False, "held")]


def test_no_command_is_sent_before_the_link_is_ready_or_after_it() -> None:
    host = make_host()
    host.outgoing()
    host.command(1, HoldExit(), 0.0)
    host.acknowledge(BOOT, 3, 0.0)
    assert host.outgoing() == b""
    host.tick(10.0)
    host.command(1, HoldExit(), 11.0)
    assert host.outgoing() == b""


# -- signs of life ----------------------------------------------------------------------------------------------------


def test_a_silent_device_is_stale_and_then_lost(host: CardlinkHost, device: BenchDevice) -> None:
    assert only(host.receive(status(device), 4.0)) == StatusHeard(
        capabilities.DeviceStatus(BOOT, 0, 1000, 7, 52, 0, 52, 0, False, False, False, 0)
    )
    assert not host.is_stale(5.4)
    assert host.is_stale(5.5)
    assert list(host.tick(6.9)) == []
    end = over(host.tick(7.0))
    assert (end.code, end.refused) == ("device-silent", False)
    assert host.wake_at() == NEVER
    assert host.receive(status(device), 7.1) == []


def test_any_frame_that_opens_is_a_sign_of_life_and_damaged_ones_are_not(
    host: CardlinkHost, device: BenchDevice
) -> None:
    assert host.receive(sealed(device, 0x77, b"of a newer version"), 1.0) == []
    host.receive(damaged(), 2.9)
    assert host.statistics.frames_corrupt == 1
    assert list(host.tick(3.9)) == []
    assert over(host.tick(4.0)).code == "device-silent"


@pytest.mark.parametrize(("heard", "ends"), [(0, 5.0), (1, 10.0)], ids=["nothing", "the resume"])
def test_a_device_that_names_nothing_new_gets_everything_too_late(heard: int, ends: float) -> None:
    """The resume, sent at the beginning, counts as new for five seconds. After five more seconds without a new frame
    the link ends.
    """
    device = BenchDevice()
    host, _ = host_before(LinkStep.FIRST_STATUS, device)
    for half in range(2 * int(ends)):
        host.receive(sealed(device, FrameKind.STATUS, device.status(heard)), half / 2)
        assert list(host.tick(half / 2)) == []
    assert host.wake_at() == ends
    end = over(host.tick(ends))
    assert (end.code, end.refused) == ("device-delayed", False)
    assert "arrives late or not at all" in str(end.sentence)


def test_a_device_that_names_what_it_hears_keeps_the_link(host: CardlinkHost, device: BenchDevice) -> None:
    for second in range(1, 30):
        assert list(host.tick(float(second))) == []
        device.exchange(host.outgoing(), float(second))
        host.receive(status(device), float(second))


def test_a_device_whose_frames_arrive_damaged_is_not_called_silent(host: CardlinkHost) -> None:
    for second in (0.5, 1.5, 2.5):
        host.receive(damaged(), second)
    end = over(host.tick(3.0))
    assert (end.code, end.refused) == ("device-damaged-frames", False)
    assert "3 of 6 frames" in str(end.sentence)
    assert "cable" in str(end.sentence)


@pytest.mark.parametrize("taken_out", [0x11, 0x13])
def test_software_flow_control_is_named_where_frames_are_damaged(host: CardlinkHost, taken_out: int) -> None:
    """A serial server with XON/XOFF takes these two bytes out of the data."""
    frames = [frame(FrameKind.STATUS, messages.HelloBody(1, b""), number=number) for number in range(64)]
    lacking = [one.replace(bytes([taken_out]), b"") for one in frames if one.count(taken_out) == 1][:3]
    assert lacking
    for second, one in enumerate(2 * lacking):
        host.receive(one, 0.5 + second / 10)
    end = over(host.tick(4.0))
    assert end.code == "device-damaged-frames"
    assert "XON/XOFF" in str(end.sentence)


@pytest.mark.parametrize(
    ("byte", "becomes"), [(b"\xff", b"\xff\xff"), (b"\r", b"\r\0"), (b"\r", b"\r\n"), (b"\n", b"\r\n")]
)
def test_telnet_is_named_where_frames_are_damaged(host: CardlinkHost, byte: bytes, becomes: bytes) -> None:
    """A serial server may offer both Telnet and raw TCP."""
    frames = [frame(FrameKind.STATUS, messages.HelloBody(1, b""), number=number) for number in range(1024)]
    changed = [one.replace(byte, becomes) for one in frames if byte in one and b"\r\n" not in one][:3]
    for second, one in enumerate(2 * changed):
        host.receive(one, 0.5 + second / 10)
    end = over(host.tick(4.0))
    assert end.code == "device-damaged-frames"
    assert "raw TCP" in str(end.sentence)


def test_damage_before_the_last_good_frame_is_of_the_past(host: CardlinkHost, device: BenchDevice) -> None:
    host.receive(2 * damaged(), 0.5)
    host.receive(sealed(device, 0x77, b"of a newer version"), 1.0)
    assert over(host.tick(4.0)).code == "device-silent"


@pytest.mark.parametrize("kind", [FrameKind.STATUS, FrameKind.ANSWER])
def test_a_frame_that_is_not_a_message_ends_the_link(host: CardlinkHost, device: BenchDevice, kind: FrameKind) -> None:
    end = over(host.receive(sealed(device, kind, messages.RejectBody("x")) + report(device, 1), 0.1))
    assert (end.code, end.refused) == ("device-message", False)


def test_the_statistics_count_every_frame(host: CardlinkHost, device: BenchDevice) -> None:
    before = host.statistics.bytes_in
    first = report(device, 1)
    data = b"\xc0" + b"\x01" * 600 + b"\xc0" + first + first + report(make_linked(), 1)
    host.receive(data, 0.1)
    assert host.statistics.bytes_in == before + len(data)
    assert host.statistics.frames_overlong == 1
    assert host.statistics.frames_in == 4
    assert (host.statistics.frames_repeated, host.statistics.frames_forged) == (1, 1)
    assert host.statistics.bytes_out > 0


def make_linked() -> BenchDevice:
    """Return a device that another host is linked with."""
    device = BenchDevice()
    linked(device)
    return device
