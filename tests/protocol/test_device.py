"""The device's side of a link that stands: window, timer, memory, answers, heartbeat, and a host that is lost."""

from __future__ import annotations

import pytest

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader, encode_frame
from firmware_bridge.drivers.cardlink.messages import Kind, encode_body

from .parts import BOOT, NEVER, BenchDevice, frame, kinds_in, linked, make_host, rejected


@pytest.fixture
def device() -> BenchDevice:
    device = BenchDevice()
    linked(device)
    return device


def make_reports(device: BenchDevice, count: int, now: float = 0.0) -> None:
    for _ in range(count):
        device.link.report(messages.PowerLow(5), now)


def numbers(data: bytes) -> list[int]:
    return [read.number for read in FrameReader().receive(data) if read.kind == Kind.REPORT]


def ack(number: int, boot: int = BOOT) -> bytes:
    return frame(Kind.ACK, boot=boot, number=number)


def command(order: messages.AnyOrder, command_id: int = 5, boot: int = BOOT) -> bytes:
    return frame(Kind.COMMAND, messages.CommandBody(command_id, order), boot=boot)


# -- window and timer -------------------------------------------------------------------------------------------------


def test_eight_reports_are_in_flight_and_an_ack_lets_the_next_ones_out(device: BenchDevice) -> None:
    make_reports(device, 12)
    assert numbers(device.link.outgoing()) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers(device.exchange(ack(3), 0.1)) == [9, 10, 11]
    assert numbers(device.exchange(ack(3), 0.1)) == []


def test_the_window_is_sent_again_from_the_oldest_and_the_waits_double(device: BenchDevice) -> None:
    make_reports(device, 2)
    device.link.outgoing()
    times: list[float] = []
    while (now := device.link.wake_at()) < 9.5:
        device.link.receive(ack(0), now)
        device.link.tick(now)
        if sent := numbers(device.link.outgoing()):
            assert sent == [1, 2]
            times.append(round(now, 6))
    assert times == [0.2, 0.6, 1.4, 3.0, 5.0, 7.0, 9.0]
    device.exchange(ack(1), 9.9)
    device.link.tick(10.1)
    assert numbers(device.link.outgoing()) == [2]


def test_new_reports_do_not_put_the_timer_off(device: BenchDevice) -> None:
    make_reports(device, 1)
    device.link.outgoing()
    make_reports(device, 1, now=0.15)
    device.link.outgoing()
    device.link.tick(0.2)
    assert numbers(device.link.outgoing()) == [1, 2]


def test_a_new_link_begins_with_the_first_wait(device: BenchDevice) -> None:
    make_reports(device, 1)
    device.link.tick(0.2)
    device.link.tick(0.6)
    linked(device, now=1.0)
    device.link.outgoing()
    device.link.tick(1.2)
    assert numbers(device.link.outgoing()) == [1]


@pytest.mark.parametrize(("boot", "number"), [(BOOT, 0), (BOOT, 9), (77, 2), (0, 2)])
def test_an_ack_of_what_was_never_sent_covers_nothing(device: BenchDevice, boot: int, number: int) -> None:
    make_reports(device, 3)
    device.exchange(ack(number, boot), 0.1)
    assert device.link.unacknowledged == 3


def test_an_ack_of_the_running_boot_covers_the_boots_before_it() -> None:
    device = BenchDevice(boot=7)
    make_reports(device, 2)
    device.link.reboot(BOOT, keep_reports=True)
    make_reports(device, 2)
    linked(device)
    device.exchange(ack(1), 0.1)
    assert device.link.unacknowledged == 1


# -- memory -----------------------------------------------------------------------------------------------------------


def kept_by(device: BenchDevice) -> list[tuple[int, int, int, int]]:
    """What a host that is new would be sent first: boot, number, and the numbers that it stands for."""
    made: list[tuple[int, int, int, int]] = []
    linked(device)
    device.link.tick(0.2)
    for read in FrameReader().receive(device.link.outgoing()):
        if read.kind == Kind.REPORT:
            body = messages.decode_report(read.body)
            first, last = (body.first, body.last) if isinstance(body, messages.ReportsLost) else (read.number,) * 2
            made.append((read.boot, read.number, first, last))
    return made


def test_the_oldest_reports_are_replaced_by_reports_lost() -> None:
    device = BenchDevice(memory=8)
    make_reports(device, 10)
    assert device.link.unacknowledged == 8
    assert kept_by(device) == [(BOOT, 3, 1, 3), *((BOOT, number, number, number) for number in range(4, 11))]


def test_reports_of_two_boots_are_never_in_one_reports_lost() -> None:
    device = BenchDevice(boot=7, memory=8)
    make_reports(device, 1)
    device.link.reboot(BOOT, keep_reports=True)
    make_reports(device, 9)
    assert kept_by(device) == [
        (7, 1, 1, 1),
        (BOOT, 3, 1, 3),
        *((BOOT, number, number, number) for number in range(4, 10)),
    ]


def test_a_report_in_the_window_that_gives_way_makes_room_for_the_next() -> None:
    device = BenchDevice(memory=8)
    linked(device)
    make_reports(device, 8)
    assert numbers(device.link.outgoing()) == [1, 2, 3, 4, 5, 6, 7, 8]
    make_reports(device, 1)
    assert numbers(device.link.outgoing()) == [9]
    device.link.tick(0.2)
    assert numbers(device.link.outgoing()) == [2, 3, 4, 5, 6, 7, 8, 9]


def test_the_loss_carries_the_time_of_the_last_report_lost() -> None:
    device = BenchDevice(memory=8)
    for uptime in range(9):
        device.link.report(messages.PowerLow(uptime), 0.0)
    linked(device)
    device.link.tick(0.2)
    (first, *_) = (read for read in FrameReader().receive(device.link.outgoing()) if read.kind == Kind.REPORT)
    assert messages.decode_report(first.body) == messages.ReportsLost(1, BOOT, 1, 2)


def test_a_memory_smaller_than_the_window_is_none() -> None:
    with pytest.raises(ValueError, match="at least 8"):
        BenchDevice(memory=7)


def test_a_device_lists_the_running_boot_and_at_most_three_before_it() -> None:
    device = BenchDevice(boot=1)
    for boot in (2, 3, 4, 5):
        make_reports(device, boot)
        device.link.reboot(boot, keep_reports=True)
    (read,) = FrameReader().receive(device.exchange(make_host().outgoing(), 0.0))
    assert messages.decode_identity(read.body).kept == [
        messages.KeptReports(2, 1, 3),
        messages.KeptReports(3, 1, 4),
        messages.KeptReports(4, 1, 5),
        messages.KeptReports(5, 1, 0),
    ]
    assert device.link.unacknowledged == 12


# -- commands ---------------------------------------------------------------------------------------------------------


def test_a_command_is_carried_out_once_and_its_answer_repeated(device: BenchDevice) -> None:
    order = command(messages.Dispense(3))
    first = device.exchange(order, 0.1)
    assert kinds_in(first) == [Kind.ANSWER]
    assert device.exchange(order, 0.2) == first
    assert device.carried_out == [(5, messages.Dispense(3))]


def test_a_device_at_work_is_silent_about_the_command_that_comes_again(device: BenchDevice) -> None:
    device.answers_by_itself = False
    order = command(messages.Shuffle())
    assert device.exchange(order * 2, 0.1) == b""
    device.link.answer(5, True)
    assert kinds_in(device.link.outgoing()) == [Kind.ANSWER]
    assert kinds_in(device.exchange(order, 0.3)) == [Kind.ANSWER]
    assert len(device.carried_out) == 1


@pytest.mark.parametrize("order", [b"\x91\x63", b"\x92\x01\x06", b"\x92\x01\x00", b"\x91\x01", b"\x2a"])
def test_an_order_that_is_not_understood_is_refused_as_unknown(device: BenchDevice, order: bytes) -> None:
    (read,) = FrameReader().receive(device.exchange(encode_frame(Kind.COMMAND, BOOT, 0, b"\x92\x05" + order), 0.1))
    assert messages.decode_answer(read.body) == messages.Answer(5, False, "unknown")
    assert device.carried_out == []


def test_a_command_without_an_id_is_rejected(device: BenchDevice) -> None:
    assert (
        rejected(device.exchange(encode_frame(Kind.COMMAND, BOOT, 0, encode_body(["five", [1, 3]])), 0.1)) == "message"
    )


def test_a_command_for_another_boot_is_ignored(device: BenchDevice) -> None:
    assert device.exchange(command(messages.Dispense(3), boot=BOOT + 1), 0.1) == b""
    assert device.carried_out == []


def test_an_answer_that_comes_after_its_link_is_kept_to_itself(device: BenchDevice) -> None:
    device.answers_by_itself = False
    device.exchange(command(messages.Shuffle()), 0.1)
    device.link.tick(3.1)
    device.link.answer(5, True)
    assert device.link.outgoing() == b""


# -- signs of life ----------------------------------------------------------------------------------------------------


def test_the_status_goes_out_each_second(device: BenchDevice) -> None:
    make_reports(device, 2)
    device.link.outgoing()
    assert kinds_in(device.exchange(ack(2), 0.5)) == []
    device.link.tick(1.0)
    assert kinds_in(device.link.outgoing()) == [Kind.STATUS]
    assert device.link.wake_at() == 2.0


def test_the_status_goes_out_once_more_when_all_that_was_kept_is_acknowledged(device: BenchDevice) -> None:
    make_reports(device, 2)
    linked(device, 0.2)
    device.link.outgoing()
    assert kinds_in(device.exchange(ack(1), 0.4)) == []
    assert kinds_in(device.exchange(ack(2), 0.5)) == [Kind.STATUS]
    make_reports(device, 1, 0.6)
    device.link.outgoing()
    assert kinds_in(device.exchange(ack(3), 0.7)) == []


def test_a_host_that_is_silent_for_three_seconds_is_lost_once(device: BenchDevice) -> None:
    device.exchange(ack(0), 1.0)
    device.link.tick(3.9)
    assert device.hosts_lost == 0
    device.link.tick(4.0)
    device.link.outgoing()
    make_reports(device, 1)
    device.link.tick(5.0)
    assert (device.hosts_lost, device.link.linked, device.link.outgoing()) == (1, False, b"")
    assert device.link.wake_at() == NEVER
    assert device.exchange(ack(1), 5.0) == b""
    assert device.link.unacknowledged == 1


def test_a_hello_that_leads_nowhere_does_not_hide_that_the_host_is_lost(device: BenchDevice) -> None:
    device.exchange(ack(0), 1.0)
    device.exchange(make_host().outgoing(), 2.0)
    assert not device.link.linked
    assert device.link.wake_at() == 4.0
    device.link.tick(4.0)
    assert device.hosts_lost == 1
    assert device.link.wake_at() == 5.0
    device.link.tick(5.0)
    assert device.link.wake_at() == NEVER


def test_a_new_link_within_three_seconds_loses_no_host(device: BenchDevice) -> None:
    linked(device, now=2.0)
    for second in range(3, 9):
        device.exchange(ack(0), float(second))
        device.link.tick(float(second))
    assert device.hosts_lost == 0


def test_a_restarted_device_knows_no_host(device: BenchDevice) -> None:
    device.link.reboot(BOOT + 1, keep_reports=False)
    device.link.tick(10.0)
    assert (device.hosts_lost, device.link.wake_at()) == (0, NEVER)


def test_kinds_that_it_does_not_know_are_ignored(device: BenchDevice) -> None:
    assert device.exchange(encode_frame(0x77, BOOT, 0, b"of a newer host"), 0.1) == b""
