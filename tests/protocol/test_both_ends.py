"""Host and device over good and bad lines: every report once and in order, every command once and answered."""

from __future__ import annotations

from typing import Final

import pytest

from firmware_bridge import observations
from firmware_bridge.commands import Dispense
from firmware_bridge.drivers.base import Reported, ReportsGone
from simulators.devices.faulty_line import LineFaults

from .parts import BOOT
from .table import Table, check_commands, check_reports

LINES: Final = {
    "perfect": LineFaults(),
    "one byte at a time": LineFaults(piece=1),
    "lossy": LineFaults(loss=0.15),
    "duplicating": LineFaults(duplicate=0.3),
    "reordering": LineFaults(reorder=0.1),  # no transport does; a sealed link drops what comes after a later frame
    "bit-flipping": LineFaults(flip=0.004),
    "truncating": LineFaults(truncate=0.15, piece=5),
    "stalling": LineFaults(stall=0.2),
    "everything": LineFaults(piece=3, loss=0.04, duplicate=0.05, reorder=0.05, truncate=0.04, stall=0.02, flip=0.0005),
}
SEEDS: Final = (1, 2, 3)
REPORTS: Final = 150

lines = pytest.mark.parametrize("line", LINES)
seeds = pytest.mark.parametrize("seed", SEEDS)


def says_lost(entry: Reported) -> bool:
    return isinstance(entry.observation, observations.ReportsLost)


@lines
@seeds
@pytest.mark.parametrize("slowest_commit", [0.0, 0.02, 1.5])
def test_every_report_once_and_every_command_answered(line: str, seed: int, slowest_commit: float) -> None:
    table = Table(LINES[line], seed, slowest_commit=slowest_commit)
    table.play(REPORTS)
    check_reports(table)
    check_commands(table)
    assert [entry for entry in table.journal if isinstance(entry, ReportsGone)] == []
    assert len(table.journal) == REPORTS
    assert table.answers or table.lapsed, "no command was given"
    account = table.account()
    assert (account["reports made"], account["lost"], account["doubled"]) == (REPORTS, 0, 0)
    if line in ("perfect", "one byte at a time"):
        assert (table.links, table.lapsed) == (1, set())
    table.unplug()
    assert (table.fault_count > 0) == (line not in ("perfect", "one byte at a time"))


@lines
@seeds
def test_links_that_break_again_and_again_lose_nothing(line: str, seed: int) -> None:
    table = Table(LINES[line], seed, restarts=0.05)
    table.play(REPORTS)
    check_reports(table)
    check_commands(table)
    assert len(table.journal) == REPORTS
    assert table.links > 1


@lines
@seeds
def test_a_device_that_keeps_its_reports_through_reboots_loses_nothing(line: str, seed: int) -> None:
    table = Table(LINES[line], seed, restarts=0.02)
    for _ in range(6):
        table.play(20)
        table.reboot(keep_reports=True)
        table.report()
        table.reboot(keep_reports=True)
    table.play(20)
    check_reports(table)
    check_commands(table)
    assert [entry for entry in table.journal if isinstance(entry, ReportsGone)] == []
    assert len(table.journal) == len(table.made)


@lines
@seeds
def test_a_device_that_forgets_its_reports_is_known_to_have_forgotten(line: str, seed: int) -> None:
    table = Table(LINES[line], seed)
    for _ in range(4):
        table.play(20)
        for _ in range(5):
            table.report()
        held = table.journal[-1]
        assert isinstance(held, Reported)
        table.reboot(keep_reports=False)
        table.play(20)
        gone = [entry for entry in table.journal if isinstance(entry, ReportsGone)]
        assert ReportsGone(held.boot, held.number + 1, None) in gone
    check_reports(table)
    check_commands(table)


@lines
@seeds
@pytest.mark.parametrize("slowest_commit", [0.0, 1.0])
def test_a_memory_overflow_is_reported(line: str, seed: int, slowest_commit: float) -> None:
    table = Table(LINES[line], seed, memory=8, restarts=0.05, slowest_commit=slowest_commit, pause=0.01)
    table.play(REPORTS)
    check_reports(table)
    check_commands(table)
    lost = [entry for entry in table.journal if isinstance(entry, Reported) and says_lost(entry)]
    assert lost
    assert [entry for entry in table.journal if isinstance(entry, ReportsGone)] == []


@seeds
def test_a_memory_overflow_without_a_host_and_through_reboots(seed: int) -> None:
    table = Table(LineFaults(), seed, memory=12)
    table.play(10)
    table.unplug()
    for _ in range(3):
        for _ in range(20):
            table.report()
        table.reboot(keep_reports=True)
    for _ in range(7):
        table.report()
    table.settle()
    check_reports(table)
    assert [entry for entry in table.journal if isinstance(entry, ReportsGone)] == []
    for boot in {report.boot for report in table.made}:
        newest = max(report.number for report in table.made if report.boot == boot)
        assert (boot, newest) in {(entry.boot, getattr(entry, "number", 0)) for entry in table.journal}


@seeds
def test_more_reboots_than_a_device_remembers_are_known_as_a_gap(seed: int) -> None:
    table = Table(LineFaults(), seed, memory=100)
    table.play(10)
    table.unplug()
    first_boot = table.device.link.boot
    for _ in range(5):
        for _ in range(3):
            table.report()
        table.reboot(keep_reports=True)
    table.report()
    table.settle()
    gone = [entry for entry in table.journal if isinstance(entry, ReportsGone)]
    assert gone == [ReportsGone(first_boot, 11, None)]
    boots = list(dict.fromkeys(report.boot for report in table.made))
    taken = [entry.boot for entry in table.journal if isinstance(entry, Reported)]
    assert list(dict.fromkeys(taken)) == [first_boot, *boots[-4:]]


def test_a_host_with_an_unknown_boot_continues_and_reports_the_gap() -> None:
    table = Table(LineFaults(), 1, held=(0xABCDEF, 17))
    table.play(5)
    assert table.journal[0] == ReportsGone(0xABCDEF, 18, None)
    assert [entry.number for entry in table.journal[1:] if isinstance(entry, Reported)] == [1, 2, 3, 4, 5]


def test_a_new_host_at_a_device_that_another_host_has_served_sees_the_gap() -> None:
    table = Table(LineFaults(), 1)
    table.play(5)
    table.unplug()
    table._held = (0, 0)
    table.report()
    table.settle()
    assert table.journal[5:6] == [ReportsGone(BOOT, 1, 5)]
    assert isinstance(table.journal[6], Reported)
    assert table.journal[6].number == 6


def test_a_device_that_kept_all_acknowledged_reports_raises_no_alarm() -> None:
    table = Table(LineFaults(), 1)
    table.play(5)
    table.reboot(keep_reports=True)
    table.play(5)
    assert [type(entry) for entry in table.journal] == [Reported] * 10


def test_a_pending_command_of_a_broken_link_is_not_sent_again() -> None:
    table = Table(LineFaults(), 1)
    table.play(1)
    table.device.answers_by_itself = False
    table.command(Dispense(3))
    table.pass_time(3.0)
    (carried_out,) = table.device.carried_out
    table.unplug()
    table.settle()
    assert table.device.carried_out == [carried_out]
    assert table.status is not None
    assert table.status.last_command == carried_out[0]
