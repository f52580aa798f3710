"""Reports of the device in C: window, timer, acknowledgements, reports lost. docs/cardlink.md, "Reports"."""

from __future__ import annotations

import pytest

from tests.c_device.conversation import CDevice
from tests.c_device.small_host import REPORT, STATUS, Frame, SmallHost

pytestmark = pytest.mark.tool("gcc")

JAMMED, CLEARED, LOST = 12, 13, 19


def numbers(frames: list[Frame]) -> list[int]:
    return [frame.number for frame in frames if frame.kind == REPORT]


def make(device: CDevice, count: int) -> None:
    """Make `count` reports that change nothing else."""
    for place in range(count):
        device.control("clear" if place % 2 else "jam")


def test_a_window_of_eight(shuffler: CDevice) -> None:
    make(shuffler, 12)
    host = SmallHost(shuffler)
    assert numbers(host.link()) == list(range(1, 9))
    assert host.fields[13] == [[shuffler.boot, 1, 13]]
    assert numbers(host.exchange(host.ack(3))) == [9, 10, 11]
    make(shuffler, 2)
    assert numbers(host.read()) == []
    assert numbers(host.exchange(host.ack(13))) == [14, 15]
    shuffler.control("jam")
    assert numbers(host.read()) == [16]


def test_the_window_is_sent_again_later_and_later(shuffler: CDevice) -> None:
    make(shuffler, 2)
    host = SmallHost(shuffler)
    host.link()
    times: list[int] = []
    for ms in range(10, 9010, 10):
        came = host.exchange(*([host.ack()] if ms % 500 == 0 else []), ms=10)
        if numbers(came):
            assert numbers(came) == [1, 2, 3]
            times.append(ms)
    assert times == [200, 600, 1400, 3000, 5000, 7000, 9000]
    assert numbers(host.exchange(host.ack(1), ms=190)) == []
    assert numbers(host.exchange(ms=10)) == [2, 3]
    assert numbers(host.exchange(ms=390)) == []
    assert numbers(host.exchange(ms=10)) == [2, 3]
    assert numbers(host.exchange(host.ack(3), ms=2000)) == []


def test_bodies_stay_the_same_and_are_sealed_again(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    _, first = host.link()
    (again,) = host.exchange(ms=200)
    assert (again.number, again.body) == (first.number, first.body)
    assert again.counter > first.counter


@pytest.mark.parametrize(("boot", "number"), [(0, 0), (0, 3), (1, 3), (None, 0), (None, 4), (None, 2**32 - 1)])
def test_an_ack_that_covers_nothing(shuffler: CDevice, boot: int | None, number: int) -> None:
    make(shuffler, 2)
    host = SmallHost(shuffler)
    host.link()
    host.exchange(host.ack(number, boot if boot != 1 else shuffler.boot ^ 1))
    host.durable = 0
    assert numbers(host.exchange(host.resume())) == [1, 2, 3]
    assert "lost" not in shuffler.tick(2990)  # it was a sign of life


def test_a_resume_is_the_first_ack(shuffler: CDevice) -> None:
    make(shuffler, 3)
    host = SmallHost(shuffler)
    host.durable = 3
    frames = host.link()
    assert [frame.kind for frame in frames] == [STATUS, REPORT]
    assert numbers(frames) == [4]


def test_a_status_follows_when_all_kept_reports_are_acknowledged(shuffler: CDevice) -> None:
    make(shuffler, 2)
    host = SmallHost(shuffler)
    host.link()
    shuffler.control("jam")
    host.read()
    assert host.exchange(host.ack(2)) == []
    (status,) = host.exchange(host.ack(3))
    assert status.status["last_report"] == 4
    assert host.exchange(host.ack(4)) == []


def test_reports_stay_kept_when_the_host_is_lost(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    host.exchange(host.ack(1), ms=3000)
    make(shuffler, 2)
    assert shuffler.read() == b""
    again = SmallHost(shuffler, b"nonce of host 02")
    assert numbers(again.link()) == [2, 3]
    assert again.fields[13] == [[shuffler.boot, 2, 3]]


def test_reports_lost_count_from_the_first_lost(shuffler: CDevice) -> None:
    make(shuffler, 20)
    shuffler.tick(70)
    make(shuffler, 50)
    host = SmallHost(shuffler)
    status, *reports = host.link()
    assert host.fields[13] == [[shuffler.boot, 1, 71]]
    assert status.status["last_report"] == 71
    assert numbers(reports) == list(range(8, 16))
    assert reports[0].body == [LOST, 0, shuffler.boot, 1, 8]
    host.exchange(host.ack(7))  # a number within the lost ones
    assert numbers(host.exchange(host.resume()))[0] == 8
    assert numbers(host.exchange(host.ack(8))) == [16]


def test_reports_lost_in_the_window_is_sent_with_the_next_resend(shuffler: CDevice) -> None:
    make(shuffler, 62)
    host = SmallHost(shuffler)
    assert numbers(host.link()) == list(range(1, 9))
    shuffler.control("jam")
    assert numbers(host.read()) == []
    shuffler.control("clear")
    assert numbers(host.read()) == [9]  # it entered the window
    again = [frame for frame in host.exchange(ms=200) if frame.kind == REPORT]
    assert numbers(again) == list(range(2, 10))
    assert again[0].body[:1] + again[0].body[2:] == [LOST, shuffler.boot, 1, 2]
