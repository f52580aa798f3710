"""Commands and the mechanism of the device in C: docs/cardlink.md, "Commands", and the reports that they cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.c_device.conversation import CDevice
from tests.c_device.small_host import ANSWER, KEY, REPORT, SEALED_REJECT, STATUS, Frame, SmallHost

pytestmark = pytest.mark.tool("gcc")

DISPENSE, HOLD, RELEASE, SHUFFLE, UNLOAD, SHOW, SELF_TEST = range(1, 8)


def answers(frames: list[Frame]) -> list[Any]:
    return [frame.body for frame in frames if frame.kind == ANSWER]


def reports(frames: list[Frame]) -> list[Any]:
    """Return the reports without their time."""
    return [[frame.body[0], *frame.body[2:]] for frame in frames if frame.kind == REPORT]


def status_of(host: SmallHost) -> dict[str, Any]:
    return host.exchange(host.resume())[0].status


def linked(device: CDevice, *, release: bool = True) -> SmallHost:
    host = SmallHost(device)
    host.link()
    host.exchange(host.ack(1))
    if release:
        assert answers(host.order(1, RELEASE)) == [[1, True, ""]]
    return host


def shuffled(device: CDevice, line: str = "load 52 7") -> tuple[SmallHost, int, int]:
    """Return a host with a shuffled deck, its deck and its shuffle."""
    host = linked(device)
    device.control(line)
    (loaded,) = reports(host.read())
    host.exchange(host.ack(2))
    came = host.order(2, SHUFFLE, ms=1000) + host.keep_up(2000)
    assert answers(came) == [[2, True, ""]]
    started, finished = reports(came)[0], reports(came)[-1]
    assert started == [3, loaded[1]]
    assert finished[:2] == [4, loaded[1]]
    host.exchange(host.ack(4))
    return host, finished[1], finished[2]


def test_a_deal_of_sets(shuffler: CDevice) -> None:
    host, deck, shuffle = shuffled(shuffler)
    dealt: list[int] = []
    for place in range(3):
        moving = host.order(10 + place, DISPENSE, 3, ms=390)
        assert answers(moving) == []
        assert reports(moving) == []
        came = host.exchange(ms=10)
        assert [frame.kind for frame in came if frame.kind != STATUS] == [REPORT, ANSWER]
        (dispensed,) = reports(came)
        assert dispensed[:5] == [6, shuffle, 3 * place + 1, 49 - 3 * place, deck]
        dealt += dispensed[5]
        assert answers(came) == [[10 + place, True, ""]]
        number = next(frame.number for frame in came if frame.kind == REPORT)
        assert next(frame.number for frame in came if frame.kind == ANSWER) == number
        assert status_of(host)["tray"]
        shuffler.control("lift")
        assert reports(host.read())[-1] == [7, shuffle, 3 * place + 1]
        host.exchange(host.ack(number + 1))
    assert len(set(dealt)) == 9
    status = status_of(host)
    assert (status["loaded"], status["dispensed"], status["remaining"], status["sets"]) == (52, 9, 43, 3)
    assert (status["shuffle"], status["last_command"], status["tray"], status["moving"]) == (shuffle, 12, False, False)


def test_a_deck_is_shuffled_again(shuffler: CDevice) -> None:
    host, _, shuffle = shuffled(shuffler)
    assert status_of(host)["shuffle"] == shuffle
    host.order(10, SHUFFLE)
    status = status_of(host)
    assert (status["shuffle"], status["moving"]) == (0, True)
    came = host.keep_up(3000)
    assert answers(came) == [[10, True, ""]]
    assert status_of(host)["shuffle"] == reports(came)[-1][2] != shuffle


def test_the_last_cards(shuffler: CDevice) -> None:
    host, _, shuffle = shuffled(shuffler, "load 4")
    assert answers(host.order(10, DISPENSE, 3, ms=400)) == [[10, True, ""]]
    shuffler.control("lift")
    host.keep_up(500)
    assert answers(host.order(11, DISPENSE, 3)) == [[11, False, "empty"]]
    assert answers(host.order(12, DISPENSE, 1, ms=400)) == [[12, True, ""]]
    assert status_of(host)["last_command"] == 12
    assert shuffle != 0


def test_a_set_with_one_card_more(shuffler: CDevice) -> None:
    host, _, _ = shuffled(shuffler)
    shuffler.control("draw2")
    (dispensed,) = reports(host.order(10, DISPENSE, 3, ms=400))
    assert len(dispensed[5]) == 4
    assert dispensed[3] == 48


def test_a_draw_of_singles(shoe: CDevice) -> None:
    host = linked(shoe, release=False)
    shoe.control("load 52 3")
    ((_, deck, count, shuffle),) = reports(host.read())
    assert count == 52
    assert shuffle != 0
    shoe.control("draw", possible=False)  # the exit is held at the start
    assert answers(host.order(1, RELEASE)) == [[1, True, ""]]
    host.exchange(host.ack(2))
    drawn: list[int] = []
    for place in range(1, 4):
        shoe.control("draw")
        (report,) = reports(host.read())
        assert report[:5] == [8, shuffle, place, 52 - place, deck]
        assert report[6] is False
        drawn.append(report[5])
    shoe.control("faceup")
    shoe.control("draw")
    found, report = reports(host.read())
    assert found == [10, shuffle, 4, deck, report[5]]
    assert report[6] is True
    shoe.control("draw2")
    (together,) = reports(host.read())
    assert together[:6] == [9, shuffle, 5, 46, deck, False]
    assert len({*drawn, report[5], *together[6]}) == 6
    assert answers(host.order(2, HOLD)) == [[2, True, ""]]
    shoe.control("draw", possible=False)
    status = status_of(host)
    assert (status["dispensed"], status["remaining"], status["sets"], status["tray"]) == (6, 46, 0, False)


def test_a_shoe_refuses_impossible_orders(shoe: CDevice) -> None:
    host = linked(shoe)
    orders: list[list[Any]] = [[DISPENSE, 3], [SHUFFLE], [UNLOAD], [SHOW, "x"]]
    for place, order in enumerate(orders, 10):
        assert answers(host.order(place, *order)) == [[place, False, "unable"]]
    came = host.order(20, SELF_TEST, ms=500)
    assert reports(came) == [[15, True, ""]]
    assert answers(came) == [[20, True, ""]]


@pytest.mark.parametrize(
    "order",
    [
        [],
        [0],
        [8],
        [255],
        [DISPENSE],
        [DISPENSE, 0],
        [DISPENSE, 6],
        [DISPENSE, "3"],
        [SHOW],
        [SHOW, "x" * 33],
        [SHOW, b"x"],
        ["x"],
    ],
)
def test_an_unknown_order_is_refused(shuffler: CDevice, order: list[Any]) -> None:
    host = linked(shuffler)
    assert answers(host.order(10, *order)) == [[10, False, "unknown"]]
    assert answers(host.exchange(host.sealed(0x30, [11]))) == [[11, False, "unknown"]]
    assert [frame.kind for frame in host.exchange(host.sealed(0x30, [-1, [HOLD]]))] == [SEALED_REJECT]


def test_reasons_in_the_order_of_the_table(shuffler: CDevice) -> None:
    host = linked(shuffler, release=False)
    assert answers(host.order(10, SHUFFLE)) == [[10, False, "no fresh deck"]]
    assert answers(host.order(11, DISPENSE, 3)) == [[11, False, "held"]]
    assert answers(host.order(12, RELEASE)) == [[12, True, ""]]
    assert answers(host.order(13, DISPENSE, 3)) == [[13, False, "empty"]]
    assert answers(host.order(14, SHOW, "Tisch 7 ✓" + 23 * "✓")) == [[14, False, "unable"]]
    shuffler.control("load")
    assert answers(host.order(15, SHUFFLE)) == []
    assert answers(host.order(16, DISPENSE, 3)) == [[16, False, "busy"]]
    assert answers(host.order(17, HOLD)) == [[17, True, ""]]  # no set is in motion
    said = shuffler.control("jam")
    came = host.read()
    assert [line.split()[2] for line in said if line.startswith("report")] == ["12", "5"]
    assert answers(came) == [[15, False, "jam"]]
    assert answers(host.order(18, DISPENSE, 3)) == [[18, False, "jam"]]
    assert status_of(host)["faults"] == ["jam: transport"]
    assert status_of(host)["last_command"] == 0
    shuffler.control("clear")
    host.keep_up(1000)
    assert answers(host.order(19, SHUFFLE, ms=1000) + host.keep_up(2000)) == [[19, True, ""]]
    host.order(20, RELEASE)
    host.order(21, DISPENSE, 3, ms=400)
    assert answers(host.order(22, DISPENSE, 3)) == [[22, False, "tray"]]
    assert answers(host.order(23, SHUFFLE)) == [[23, False, "no fresh deck"]]
    host.order(24, HOLD)
    assert answers(host.order(25, DISPENSE, 3)) == [[25, False, "held"]]


def test_a_jam_while_a_set_is_in_motion(shuffler: CDevice) -> None:
    host, _, _ = shuffled(shuffler)
    host.order(10, DISPENSE, 3, ms=200)
    shuffler.control("jam")
    came = host.read()
    assert reports(came) == [[12, "transport"]]
    assert answers(came) == [[10, False, "jam"]]
    assert status_of(host)["dispensed"] == 0


def test_hold_is_answered_once_the_moving_set_is_in_the_tray(shuffler: CDevice) -> None:
    host, _, _ = shuffled(shuffler)
    assert answers(host.exchange(host.command(10, DISPENSE, 3), host.command(11, HOLD), ms=390)) == []
    came = host.exchange(ms=10)
    assert [frame.kind for frame in came if frame.kind != STATUS] == [REPORT, ANSWER, ANSWER]
    assert answers(came) == [[10, True, ""], [11, True, ""]]
    assert status_of(host)["exit_held"]
    shuffler.control("lift")


def test_host_lost_finishes_the_set_in_motion_and_keeps_its_report(shuffler: CDevice) -> None:
    host, deck, shuffle = shuffled(shuffler)
    host.exchange(host.ack(), ms=1000)
    for _ in range(3):
        host.exchange(host.ack(heard=0), ms=1000)
    host.exchange(host.ack(heard=0), ms=800)
    host.order(10, DISPENSE, 3)
    assert shuffler.tick(200) == ["lost"]  # 5 s without a fresh `heard`
    shuffler.read()
    (line,) = shuffler.tick(200)
    assert line.split()[:3] == ["report", "5", "6"]
    assert shuffler.read() == b""
    again = SmallHost(shuffler, b"nonce of host 02")
    again.durable = 4
    status, report = again.link()
    assert reports([report])[0][:5] == [6, shuffle, 1, 49, deck]
    assert (status.status["exit_held"], status.status["last_command"], status.status["tray"]) == (True, 10, True)


def test_a_command_is_carried_out_once_and_its_answer_repeated(shuffler: CDevice) -> None:
    host, _, _ = shuffled(shuffler)
    host.order(10, DISPENSE, 3, ms=200)
    assert answers(host.order(10, DISPENSE, 3)) == []  # still being carried out
    (first,) = (frame for frame in host.exchange(ms=200) if frame.kind == ANSWER)
    shuffler.control("lift")
    (again,) = (frame for frame in host.order(10, DISPENSE, 3, ms=500) if frame.kind == ANSWER)
    assert (again.body, again.number) == (first.body, first.number)
    assert status_of(host)["dispensed"] == 3


def test_sixteen_ids_are_remembered_and_lower_ones_ignored(shuffler: CDevice) -> None:
    host = linked(shuffler)
    for command_id in range(10, 27):
        host.order(command_id, HOLD)
    assert answers(host.order(11, RELEASE)) == [[11, True, ""]]
    assert status_of(host)["exit_held"]
    assert answers(host.order(10, RELEASE)) == []
    assert status_of(host)["exit_held"]


def test_an_id_belongs_to_its_link(shuffler: CDevice) -> None:
    linked(shuffler)
    again = SmallHost(shuffler, b"nonce of host 02")
    again.link()
    assert answers(again.order(1, HOLD)) == [[1, True, ""]]
    assert status_of(again)["exit_held"]


def test_an_order_of_an_earlier_link_is_done_without_an_answer(shuffler: CDevice) -> None:
    host, _, _ = shuffled(shuffler)
    host.order(10, DISPENSE, 3, ms=100)
    again = SmallHost(shuffler, b"nonce of host 02")
    again.link()
    assert answers(again.order(10, DISPENSE, 3)) == [[10, False, "busy"]]
    came = again.exchange(again.ack(), ms=300)
    assert [report[0] for report in reports(came)][-1] == 6
    assert answers(came) == []
    assert status_of(again)["last_command"] == 10


def test_a_command_for_another_boot_is_ignored(shuffler: CDevice) -> None:
    host = linked(shuffler)
    shuffler.tick(2000)
    host.read()
    assert host.exchange(host.command(10, HOLD, boot=shuffler.boot ^ 1)) == []
    assert "lost" not in shuffler.tick(2000)


def test_unloading(shuffler: CDevice) -> None:
    host, deck, _ = shuffled(shuffler)
    host.order(10, DISPENSE, 3, ms=400)
    came = host.order(11, UNLOAD, ms=1000)
    assert reports(came)[-1] == [11, deck, 52]
    assert answers(came) == [[11, True, ""]]
    status = status_of(host)
    assert (status["tray"], status["dispensed"], status["remaining"]) == (False, 3, 49)
    shuffler.control("lift", possible=False)
    assert answers(host.order(12, DISPENSE, 3)) == [[12, False, "empty"]]


@pytest.mark.parametrize(("count", "missing", "extra"), [(50, 2, 0), (54, 0, 2)])
def test_an_incomplete_deck(shuffler: CDevice, count: int, missing: int, extra: int) -> None:
    host = linked(shuffler)
    shuffler.control(f"load {count} 5")
    came = host.order(10, SHUFFLE, ms=1000) + host.keep_up(2000)
    (finished,) = {tuple(report) for report in reports(came) if report[0] == 4}
    assert finished[3:] == (count, missing, extra, extra, 0, 0, 0)


def test_decks_and_shuffles_are_never_named_again(program: Path) -> None:
    named: list[str] = []
    for start in (1, 2):
        with CDevice(program, "shoe", "C-2", KEY, start, virtual=True, random=False) as device:
            for _ in range(3):
                (line,) = device.control("load")
                named += [line.split()[4], line.split()[6]]
    assert len(set(named)) == 12
