"""The device's side of an established link: window, timer, memory, answers, heartbeat, and a lost host."""

from __future__ import annotations

import pytest

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader
from firmware_bridge.drivers.cardlink.host import CardlinkHost, LinkStep
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body

from .parts import (
    BOOT,
    NEVER,
    BenchDevice,
    channel_of,
    counters_in,
    host_before,
    kinds_in,
    linked,
    make_host,
    opened,
    read_back,
    sealed,
    sealed_rejected,
)


@pytest.fixture
def device() -> BenchDevice:
    return BenchDevice()


@pytest.fixture
def host(device: BenchDevice) -> CardlinkHost:
    """Return the host that the device is linked with."""
    return linked(device)


def make_reports(device: BenchDevice, count: int, now: float = 0.0) -> None:
    for _ in range(count):
        device.link.report(messages.PowerLowReport(5), now)


def numbers(data: bytes) -> list[int]:
    """Return the numbers of the reports, from their headers."""
    return [read.number for read in FrameReader().receive(data) if read.kind == FrameKind.REPORT]


def ack(host: CardlinkHost, number: int, boot: int = BOOT, now: float = 0.0, heard: int | None = None) -> bytes:
    """Return an acknowledgement. `heard`: the host's last opened counter by default."""
    body = messages.AckBody(channel_of(host).heard if heard is None else heard)
    return sealed(host, FrameKind.ACK, body, boot=boot, number=number, now=now)


def command(host: CardlinkHost, order: messages.AnyOrder, command_id: int = 5, boot: int = BOOT) -> bytes:
    return sealed(host, FrameKind.COMMAND, messages.CommandBody(command_id, order), boot=boot)


# -- window and timer -------------------------------------------------------------------------------------------------


def test_eight_reports_are_in_flight_and_an_ack_lets_the_next_ones_out(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 12)
    assert numbers(device.link.outgoing()) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers(device.exchange(ack(host, 3), 0.1)) == [9, 10, 11]
    assert numbers(device.exchange(ack(host, 3), 0.1)) == []


def test_the_window_is_sent_again_from_the_oldest_and_the_waits_double(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 2)
    device.link.outgoing()
    times: list[float] = []
    while (now := device.link.wake_at()) < 9.5:
        device.link.receive(ack(host, 0, now=now), now)
        device.link.tick(now)
        data = device.link.outgoing()
        opened(host, data)
        if sent := numbers(data):
            assert sent == [1, 2]
            times.append(round(now, 6))
    assert times == [0.2, 0.6, 1.4, 3.0, 5.0, 7.0, 9.0]
    device.exchange(ack(host, 1, now=9.9), 9.9)
    device.link.tick(10.1)
    assert numbers(device.link.outgoing()) == [2]


def test_a_report_that_is_sent_again_is_sealed_again(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 1)
    first = device.link.outgoing()
    device.link.tick(0.2)
    second = device.link.outgoing()
    assert (counters_in(first), counters_in(second)) == ([2], [3]), "the status was the first"
    assert read_back(device, first)[0].content == read_back(device, second)[0].content


def test_new_reports_do_not_put_the_timer_off(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 1)
    device.link.outgoing()
    make_reports(device, 1, now=0.15)
    device.link.outgoing()
    device.link.tick(0.2)
    assert numbers(device.link.outgoing()) == [1, 2]


def test_a_new_link_begins_with_the_first_wait(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 1)
    device.link.tick(0.2)
    device.link.tick(0.6)
    linked(device, now=1.0)
    device.link.outgoing()
    device.link.tick(1.2)
    assert numbers(device.link.outgoing()) == [1]


@pytest.mark.parametrize(("boot", "number"), [(BOOT, 0), (BOOT, 9), (77, 2), (0, 2)])
def test_an_ack_of_an_unsent_report_covers_nothing(
    device: BenchDevice, host: CardlinkHost, boot: int, number: int
) -> None:
    make_reports(device, 3)
    device.exchange(ack(host, number, boot), 0.1)
    assert device.link.unacknowledged == 3


@pytest.mark.parametrize(("boot", "number"), [(BOOT, 0), (7, 0), (7, 3), (BOOT, 2)])
def test_an_ack_of_an_unknown_report_covers_no_earlier_boot(boot: int, number: int) -> None:
    device = BenchDevice(boot=7)
    make_reports(device, 2)
    device.link.reboot(BOOT, keep_reports=True)
    make_reports(device, 1)
    host = linked(device)
    device.exchange(ack(host, number, boot), 0.1)
    device.exchange(sealed(host, FrameKind.RESUME, messages.ResumeBody(boot, number)), 0.2)
    assert device.link.unacknowledged == 3


def test_an_ack_of_the_running_boot_covers_the_boots_before_it() -> None:
    device = BenchDevice(boot=7)
    make_reports(device, 2)
    device.link.reboot(BOOT, keep_reports=True)
    make_reports(device, 2)
    host = linked(device)
    device.exchange(ack(host, 1), 0.1)
    assert device.link.unacknowledged == 1


# -- memory -----------------------------------------------------------------------------------------------------------


def kept_by(device: BenchDevice) -> list[tuple[int, int, int, int]]:
    """Return what a new host would be sent first: boot, number, and the numbers that it covers."""
    made: list[tuple[int, int, int, int]] = []
    host = linked(device)
    device.link.tick(0.2)
    for read in opened(host, device.link.outgoing()):
        if read.kind == FrameKind.REPORT:
            body = messages.decode_report(read.body)
            first, last = (
                (body.first, body.last) if isinstance(body, messages.ReportsLostReport) else (read.number,) * 2
            )
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


def test_a_dropped_report_in_the_window_makes_room_for_the_next() -> None:
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
        device.link.report(messages.PowerLowReport(uptime), 0.0)
    host = linked(device)
    device.link.tick(0.2)
    (first, *_) = (read for read in opened(host, device.link.outgoing()) if read.kind == FrameKind.REPORT)
    assert messages.decode_report(first.body) == messages.ReportsLostReport(1, BOOT, 1, 2)


def test_a_memory_smaller_than_the_window_is_refused() -> None:
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


def test_a_command_is_carried_out_once_and_its_answer_sealed_again(device: BenchDevice, host: CardlinkHost) -> None:
    first = device.exchange(command(host, messages.DispenseOrder(3)), 0.1)
    assert kinds_in(first) == [FrameKind.ANSWER]
    make_reports(device, 1)
    device.link.outgoing()
    again = device.exchange(command(host, messages.DispenseOrder(3)), 0.2)
    assert again != first
    (before, after) = opened(host, first + again)
    assert after.content == before.content, "with the number that it had at first"
    assert device.carried_out == [(5, messages.DispenseOrder(3))]


def test_a_busy_device_does_not_answer_a_repeated_command(device: BenchDevice, host: CardlinkHost) -> None:
    device.answers_by_itself = False
    assert device.exchange(command(host, messages.ShuffleOrder()) + command(host, messages.ShuffleOrder()), 0.1) == b""
    device.link.answer(5, True)
    assert kinds_in(device.link.outgoing()) == [FrameKind.ANSWER]
    assert kinds_in(device.exchange(command(host, messages.ShuffleOrder()), 0.3)) == [FrameKind.ANSWER]
    assert len(device.carried_out) == 1


@pytest.mark.parametrize("order", [b"\x91\x63", b"\x92\x01\x06", b"\x92\x01\x00", b"\x91\x01", b"\x2a"])
def test_an_order_it_does_not_know_is_refused_as_unknown(device: BenchDevice, host: CardlinkHost, order: bytes) -> None:
    (read,) = opened(host, device.exchange(sealed(host, FrameKind.COMMAND, b"\x92\x05" + order), 0.1))
    assert messages.decode_answer(read.body) == messages.AnswerBody(5, False, "unknown")
    assert device.carried_out == []


@pytest.mark.parametrize("kind", [FrameKind.COMMAND, FrameKind.ACK, FrameKind.RESUME])
def test_an_invalid_sealed_body_is_rejected_sealed_and_the_link_stays(
    device: BenchDevice, host: CardlinkHost, kind: FrameKind
) -> None:
    """In a command, not even its id can be read."""
    said = device.exchange(sealed(host, kind, encode_body(["five", [1, 3]])), 0.1)
    assert sealed_rejected(device, said) == "message"
    assert kinds_in(device.exchange(command(host, messages.ShuffleOrder()), 0.2)) == [FrameKind.ANSWER]


def test_a_command_for_another_boot_is_ignored_and_a_sign_of_life(device: BenchDevice, host: CardlinkHost) -> None:
    assert device.exchange(command(host, messages.DispenseOrder(3), boot=BOOT + 1), 2.0) == b""
    assert device.carried_out == []
    device.link.tick(4.9)
    assert device.link.linked


def test_an_answer_after_the_end_of_its_link_is_not_sent(device: BenchDevice, host: CardlinkHost) -> None:
    device.answers_by_itself = False
    device.exchange(command(host, messages.ShuffleOrder()), 0.1)
    device.link.tick(3.1)
    device.link.answer(5, True)
    assert device.link.outgoing() == b""


def test_an_answer_of_an_earlier_link_is_not_sent_on_the_new_one(device: BenchDevice, host: CardlinkHost) -> None:
    device.answers_by_itself = False
    device.exchange(command(host, messages.ShuffleOrder()), 0.1)
    device.exchange(command(host, messages.HoldExitOrder(), 6), 0.1)
    device.link.answer(6, True)
    later = linked(device, now=0.5)
    device.link.answer(5, True)
    assert device.link.outgoing() == b""
    device.exchange(command(later, messages.HoldExitOrder(), 6), 0.6)
    assert [done for done, _ in device.carried_out] == [5, 6, 6], "a new link forgets ids"


# -- signs of life ----------------------------------------------------------------------------------------------------


def test_the_status_is_sent_each_second(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 2)
    device.link.outgoing()
    assert kinds_in(device.exchange(ack(host, 2), 0.5)) == []
    device.link.tick(1.0)
    assert kinds_in(device.link.outgoing()) == [FrameKind.STATUS]
    assert device.link.wake_at() == 2.0


def test_a_status_names_the_highest_counter_that_was_taken(device: BenchDevice, host: CardlinkHost) -> None:
    device.exchange(ack(host, 0), 0.5)
    ack(host, 0)  # lost in transit
    last = ack(host, 0)
    device.exchange(last, 0.5)
    device.exchange(last, 0.6)
    device.link.tick(1.0)
    (said,) = read_back(device, device.link.outgoing())
    assert [messages.decode_status(said.body).heard] == counters_in(last)


def test_a_status_is_sent_when_all_kept_reports_are_acknowledged(device: BenchDevice, host: CardlinkHost) -> None:
    make_reports(device, 2)
    later = linked(device, 0.2)
    device.link.outgoing()
    assert kinds_in(device.exchange(ack(later, 1), 0.4)) == []
    assert kinds_in(device.exchange(ack(later, 2), 0.5)) == [FrameKind.STATUS]
    make_reports(device, 1, 0.6)
    device.link.outgoing()
    assert kinds_in(device.exchange(ack(later, 3), 0.7)) == []


def test_a_host_that_is_silent_for_three_seconds_is_lost_once(device: BenchDevice, host: CardlinkHost) -> None:
    device.exchange(ack(host, 0), 1.0)
    device.link.tick(3.9)
    assert device.hosts_lost == 0
    late = ack(host, 1)
    device.link.tick(4.0)
    device.link.outgoing()
    make_reports(device, 1)
    device.link.tick(5.0)
    assert (device.hosts_lost, device.link.linked, device.link.outgoing()) == (1, False, b"")
    assert device.link.wake_at() == NEVER
    assert device.exchange(late, 5.0) == b""
    assert device.link.unacknowledged == 1


@pytest.mark.parametrize(("heard", "lost_at"), [(0, 5.0), (1, 10.0)], ids=["nothing", "the first status"])
def test_a_host_that_names_nothing_new_is_lost_even_if_it_is_heard(heard: int, lost_at: float) -> None:
    """The first status came with the link and is fresh for five seconds; five more seconds without a new status are too
    many.
    """
    device = BenchDevice()
    host, _ = host_before(LinkStep.FIRST_STATUS, device)
    for half in range(1, 2 * int(lost_at)):
        device.exchange(ack(host, 0, heard=heard), half / 2)
        device.link.tick(half / 2)
        assert device.link.linked
    device.link.tick(lost_at)
    assert (device.hosts_lost, device.link.linked) == (1, False)


def test_a_host_that_names_what_it_hears_is_not_lost(device: BenchDevice, host: CardlinkHost) -> None:
    for second in range(1, 30):
        device.link.tick(float(second))
        opened(host, device.exchange(ack(host, 0), float(second)))
    assert device.hosts_lost == 0


def test_a_handshake_that_leads_nowhere_does_not_hide_that_the_host_is_lost(
    device: BenchDevice, host: CardlinkHost
) -> None:
    device.exchange(ack(host, 0), 1.0)
    other = make_host()
    other.receive(device.exchange(other.outgoing(), 2.0), 2.0)
    assert FrameKind.DEVICE_PROOF in kinds_in(device.exchange(other.outgoing(), 2.0))
    device.link.tick(3.9)
    assert device.link.linked
    assert device.link.wake_at() == 4.0
    device.link.tick(4.0)
    assert (device.hosts_lost, device.link.linked) == (1, False)
    assert device.link.wake_at() == 5.0, "the candidate stays for its own three seconds"
    device.link.tick(5.0)
    assert device.link.wake_at() == NEVER


def test_a_new_link_within_three_seconds_loses_no_host(device: BenchDevice, host: CardlinkHost) -> None:
    later = linked(device, now=2.0)
    for second in range(3, 9):
        opened(later, device.exchange(ack(later, 0), float(second)))
        device.link.tick(float(second))
    assert device.hosts_lost == 0


def test_a_restarted_device_knows_no_host(device: BenchDevice, host: CardlinkHost) -> None:
    device.link.reboot(BOOT + 1, keep_reports=False)
    device.link.tick(10.0)
    assert (device.hosts_lost, device.link.wake_at()) == (0, NEVER)


def test_kinds_that_it_does_not_know_are_ignored_and_a_sign_of_life(device: BenchDevice, host: CardlinkHost) -> None:
    newer = sealed(host, 0x77, b"of a newer host")
    assert device.exchange(newer, 2.0) == b""
    device.link.tick(4.9)
    assert device.link.linked
    assert [channel_of(device).heard] == counters_in(newer), "and its counter is used up"
