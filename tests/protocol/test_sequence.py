"""The report from which a host resumes, for every contradiction between its journal and the device's memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.drivers.base import ReportsGone
from firmware_bridge.drivers.cardlink.messages import KeptReports
from firmware_bridge.drivers.cardlink.reports import ReportSequence

OLD, MIDDLE, RUNNING = 0xA, 0xB, 0xC


def kept(*parts: tuple[int, int, int]) -> list[KeptReports]:
    return [KeptReports(*part) for part in parts]


@pytest.mark.parametrize(
    ("held", "listed", "expected", "gone"),
    [
        ((0, 0), kept((RUNNING, 1, 4)), (RUNNING, 1), []),
        ((0, 0), kept((RUNNING, 3, 4)), (RUNNING, 3), [ReportsGone(RUNNING, 1, 2)]),
        ((0, 0), kept((OLD, 6, 5), (RUNNING, 1, 1)), (RUNNING, 1), []),
        ((0, 0), kept((OLD, 4, 5), (RUNNING, 1, 1)), (OLD, 4), [ReportsGone(OLD, 1, 3)]),
        ((RUNNING, 4), kept((RUNNING, 5, 4)), (RUNNING, 5), []),
        ((RUNNING, 4), kept((RUNNING, 2, 9)), (RUNNING, 5), []),
        ((RUNNING, 4), kept((RUNNING, 7, 9)), (RUNNING, 7), [ReportsGone(RUNNING, 5, 6)]),
        ((RUNNING, 4), [], (RUNNING, 5), []),
        ((OLD, 5), kept((OLD, 6, 5), (RUNNING, 1, 1)), (RUNNING, 1), []),
        ((OLD, 5), kept((OLD, 6, 8), (RUNNING, 1, 1)), (OLD, 6), []),
        ((OLD, 9), kept((OLD, 6, 8), (RUNNING, 1, 1)), (RUNNING, 1), []),
        ((OLD, 5), kept((OLD, 7, 8), (RUNNING, 1, 1)), (OLD, 7), [ReportsGone(OLD, 6, 6)]),
        ((OLD, 5), kept((RUNNING, 1, 1)), (RUNNING, 1), [ReportsGone(OLD, 6, None)]),
        (
            (OLD, 5),
            kept((MIDDLE, 3, 2), (RUNNING, 2, 2)),
            (RUNNING, 2),
            [ReportsGone(OLD, 6, None), ReportsGone(RUNNING, 1, 1)],
        ),
        (
            (OLD, 5),
            kept((OLD, 6, 8), (MIDDLE, 3, 4), (RUNNING, 2, 2)),
            (OLD, 6),
            [ReportsGone(MIDDLE, 1, 2), ReportsGone(RUNNING, 1, 1)],
        ),
        ((MIDDLE, 4), kept((OLD, 6, 8), (MIDDLE, 5, 4), (RUNNING, 1, 0)), (RUNNING, 1), []),
    ],
)
def test_it_continues_after_the_held_reports_and_reports_the_loss(
    held: tuple[int, int], listed: list[KeptReports], expected: tuple[int, int], gone: list[ReportsGone]
) -> None:
    sequence = ReportSequence(held, listed, RUNNING)
    assert (sequence.boot, sequence.number) == expected
    assert sequence.gone == gone


def test_a_running_boot_behind_the_held_reports_is_a_contradiction() -> None:
    with pytest.raises(ValueError, match=r"names 3 as the last report of boot .*, but report 4 was taken"):
        ReportSequence((RUNNING, 4), kept((RUNNING, 1, 3)), RUNNING)


def test_it_crosses_from_boot_to_boot() -> None:
    sequence = ReportSequence((OLD, 1), kept((OLD, 2, 3), (MIDDLE, 5, 4), (RUNNING, 1, 1)), RUNNING)
    assert not sequence.accept(RUNNING, 1, 1)
    assert not sequence.is_repeat(RUNNING, 1)
    assert sequence.accept(OLD, 2, 2)
    assert sequence.is_repeat(OLD, 2)
    assert sequence.accept(OLD, 3, 3)
    assert not sequence.accept(OLD, 3, 3)
    assert sequence.is_repeat(OLD, 3)
    assert sequence.is_repeat(MIDDLE, 4)
    assert sequence.accept(RUNNING, 1, 1)
    assert sequence.accept(RUNNING, 2, 2)
    assert [sequence.may_come_from(boot) for boot in (OLD, MIDDLE, RUNNING, 0xD)] == [True, True, True, False]


numbers = st.integers(1, 6)
parts = st.builds(
    lambda boot, oldest, size: KeptReports(boot, oldest, oldest + size - 1),
    st.integers(1, 5),
    numbers,
    st.integers(0, 4),
)


@given(st.tuples(st.integers(0, 5), st.integers(0, 8)), st.lists(parts, max_size=5), st.integers(1, 5))
def test_a_host_finds_a_position_in_any_list_of_a_device(
    held: tuple[int, int], listed: list[KeptReports], running: int
) -> None:
    """This includes lists that no correct device sends: a boot twice, the running one in the middle."""
    try:
        sequence = ReportSequence(held, listed, running)
    except ValueError:
        assert any(part.boot == running == held[0] and part.newest < held[1] for part in listed)
        return
    assert sequence.may_come_from(sequence.boot)
    for boot in {part.boot for part in listed} | {running}:
        sequence.is_repeat(boot, 1)
    for _ in range(40):
        boot, number = sequence.boot, sequence.number
        assert sequence.accept(boot, number, number)
        assert sequence.is_repeat(boot, number) or boot in [part.boot for part in listed]
    assert sequence.boot == running
