"""Reports and the counter of starts in flash memory: docs/cardlink.md, "Kept", "The device's nonce"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.c_device.conversation import CDevice, EndedError
from tests.c_device.small_host import KEY, REPORT, RESUME, STATUS, Frame, SmallHost
from tests.support import long_forms

pytestmark = pytest.mark.tool("gcc")

LOST = 19
ALL_WRITTEN = 18_000  # more bytes than the run of the power cuts writes and erases
Place = tuple[int, int]  # a boot and a number


def device_with(flash: Path, program: Path, *, random: bool = True) -> CDevice:
    return CDevice(program, "shuffler", "C-1", KEY, 0, virtual=True, flash=flash, random=random)


def make(device: CDevice, count: int, first: int = 0) -> None:
    for place in range(first, first + count):
        device.control("clear" if place % 2 else "jam")


def places(frames: list[Frame]) -> list[Place]:
    return [(frame.boot, frame.number) for frame in frames if frame.kind == REPORT]


def resume_after(host: SmallHost, boot: int, number: int) -> list[Frame]:
    host.say_hello()
    host.prove()
    return host.exchange(host.sealed(RESUME, [boot, number], number=number))


def take_everything(host: SmallHost, frames: list[Frame]) -> dict[Place, Any]:
    """Acknowledge what comes until nothing more comes. Return the bodies."""
    taken: dict[Place, Any] = {}
    while came := [frame for frame in frames if frame.kind == REPORT]:
        taken |= {(frame.boot, frame.number): frame.body for frame in came}
        frames = host.exchange(host.ack(came[-1].number, came[-1].boot))
    return taken


def test_reports_of_an_earlier_boot_come_first_and_in_order(program: Path, tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    with device_with(flash, program) as device:
        before, start = device.boot, device.start
        make(device, 3)
        host = SmallHost(device)
        host.link()
        host.exchange(host.ack(2))
    with device_with(flash, program) as device:
        assert (device.boot != before, device.start) == (True, start + 1)
        host = SmallHost(device)
        frames = resume_after(host, before, 2)
        assert "retains_reports" in host.fields[8]
        assert host.fields[13] == [[before, 3, 4], [device.boot, 1, 1]]
        assert [frame.kind for frame in frames] == [STATUS, REPORT, REPORT, REPORT]
        assert places(frames) == [(before, 3), (before, 4), (device.boot, 1)]
        assert places(host.exchange(host.ack(3, before), ms=200)) == [(before, 4), (device.boot, 1)]
        assert frames[0].number == 1
        (status,) = host.exchange(host.ack(1))  # also covers the earlier boot
        assert status.kind == STATUS
        assert host.exchange(host.ack(4, before)) == []  # nothing is kept from it
    with device_with(flash, program) as device:
        host = SmallHost(device)
        host.say_hello()
        assert [kept[1:] for kept in host.fields[13]] == [[5, 4], [2, 1], [1, 1]]


def test_at_most_four_boots_are_listed_and_the_oldest_goes_with_its_reports(program: Path, tmp_path: Path) -> None:
    boots: list[int] = []
    for count in range(6):
        with device_with(tmp_path / "flash", program) as device:
            boots.append(device.boot)
            make(device, count)
            host = SmallHost(device)
            frames = resume_after(host, 0, 0)
            assert [kept[0] for kept in host.fields[13]] == boots[-4:]
            taken = places(frames)
            assert taken[0] == (boots[-4:][0], 1)


def test_a_full_memory_loses_the_two_oldest_of_one_boot(program: Path, tmp_path: Path) -> None:
    with device_with(tmp_path / "flash", program) as device:
        before = device.boot
    with device_with(tmp_path / "flash", program) as device:
        make(device, 70)
        boot = device.boot
    with device_with(tmp_path / "flash", program) as device:
        host = SmallHost(device)
        frames = resume_after(host, 0, 0)
        assert host.fields[13] == [[before, 1, 1], [boot, 1, 71], [device.boot, 1, 1]]
        taken = take_everything(host, frames)
        assert len(taken) == 64
        assert taken[boot, 10][0] == LOST
        assert taken[boot, 10][2:] == [boot, 1, 10]
        assert list(taken) == [(before, 1), *((boot, number) for number in range(10, 72)), (device.boot, 1)]


def run_until_power_fails(device: CDevice, cut: int) -> tuple[dict[Place, str], list[Place]]:
    """Make, send and acknowledge reports over three starts until so many bytes are written or erased. Return the
    reports that the device made, and the acknowledgements.
    """
    made: dict[Place, str] = {}
    acknowledged: list[Place] = []
    seen = 0

    def note() -> None:
        nonlocal seen
        for place, line in enumerate(device.lines[seen:], seen):
            later = [int(after.split()[1]) for after in device.lines[place:] if after.startswith("boot ")]
            if line.startswith("boot "):
                boots.append(later[0])
            elif line.startswith("report 1 ") and later:  # "started" is printed before its boot
                made[later[0], 1] = line.split(maxsplit=2)[2]
            elif line.startswith("report ") and not line.startswith("report 1 "):
                made[boots[-1], int(line.split()[1])] = line.split(maxsplit=2)[2]
        seen = len(device.lines)

    boots: list[int] = []
    note()
    try:
        device.control(f"cut {cut}")
        for start in range(3):
            host = SmallHost(device, b"nonce of host %02d" % start)
            host.link()
            for turn in range(80):
                make(device, 1, turn)
                note()
                if turn % 5 == 4:
                    acknowledged.append(max(place for place in made if place[0] == device.boot))
                    host.exchange(host.ack(acknowledged[-1][1]))
            device.control("reset")
    except EndedError:
        pass
    note()
    return made, acknowledged


def assert_power_may_fail_after(cut: int, program: Path, flash: Path) -> None:
    with device_with(flash, program) as device:
        start = device.start
        made, acknowledged = run_until_power_fails(device, cut)
        starts = device.start - start
    with device_with(flash, program) as device:
        assert device.start > start + starts
        host = SmallHost(device)
        frames = resume_after(host, *(acknowledged[-1] if acknowledged else (0, 0)))
        held = list(made).index(acknowledged[-1]) + 1 if acknowledged else 0
        taken = take_everything(host, frames)
        due = list(made)[held:]
        assert [place for place in taken if place in made] == due
        for place in due:
            assert str(taken[place][0]) == made[place].split()[0]
            assert str(taken[place][1]) == made[place].split()[1]
        assert len(taken) <= len(due) + 3  # one in the making, and "started" of two boots


@pytest.mark.parametrize("cut", [0, 5, 700, 3500, 6840, 6900, 7300, 13_800, 13_900, 14_500, 16_500, ALL_WRITTEN])
def test_a_power_cut_loses_no_report_and_repeats_no_start(cut: int, program: Path, tmp_path: Path) -> None:
    assert_power_may_fail_after(cut, program, tmp_path / "flash")


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_a_power_cut_at_any_byte(part: int, program: Path, tmp_path: Path) -> None:
    for cut in long_forms.some(range(part * 14, ALL_WRITTEN, 112)):
        flash = tmp_path / "flash"
        assert_power_may_fail_after(cut, program, flash)
        flash.unlink()


def test_a_damaged_record_becomes_reports_lost(program: Path, tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    with device_with(flash, program) as device:
        boot = device.boot
        make(device, 4)
    content = bytearray(flash.read_bytes())
    at = content.index(b"transport")
    content[at] ^= 1
    flash.write_bytes(content)
    with device_with(flash, program) as device:
        host = SmallHost(device)
        taken = take_everything(host, resume_after(host, 0, 0))
        assert list(taken) == [(boot, 1), (boot, 3), (boot, 4), (boot, 5), (device.boot, 1)]
        assert taken[boot, 3][0] == LOST
        assert taken[boot, 3][2:] == [boot, 2, 3]


def test_a_device_without_randomness_counts_its_starts(program: Path, tmp_path: Path) -> None:
    nonces: set[bytes] = set()
    for start in range(1, 4):
        with device_with(tmp_path / "flash", program, random=False) as device:
            assert device.start == start
            host = SmallHost(device)
            host.say_hello()
            nonces.add(host.fields[12])
    assert len(nonces) == 3


def test_it_does_not_link_with_neither_randomness_nor_a_counter(program: Path, tmp_path: Path) -> None:
    flash = tmp_path / "flash"
    with device_with(flash, program):
        pass
    flash.write_bytes(bytes(value ^ 0x55 for value in flash.read_bytes()))
    for _ in range(2):
        with device_with(flash, program, random=False) as device:
            assert SmallHost(device).exchange(SmallHost(device).hello) == []
    with device_with(flash, program) as device:  # randomness makes the nonce new
        assert SmallHost(device).link()[0].kind == STATUS
