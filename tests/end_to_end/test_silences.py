"""A silent device on a real line, under a real daemon: no silence hides cards while the table seems to be working."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest

from controller.games.specification import Unit
from controller.table import operations
from firmware_bridge.drivers.cardlink.messages import FrameKind
from tests.end_to_end.silent_device import SilentTable, but, damaged, english_of, silent_table
from tests.end_to_end.stage import Stage, short_folder

TIMES = (0.5, pytest.param(5.0, marks=pytest.mark.soak))  # seconds; the second value is the product's


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, unit=Unit.SINGLES, rounds=1) as stage:
            yield stage


@pytest.fixture(params=TIMES)
async def table(request: pytest.FixtureRequest, stage: Stage) -> AsyncIterator[SilentTable]:
    """Yield a table in the deal: two cards are drawn, and the third is due."""
    async with silent_table(stage, request.param) as table:
        await table.until(lambda: "in_service" in [event["service"] for event in table.of("service_changed")])
        await table.do(operations.OpenTable())
        mechanism = table.device.mechanism
        mechanism.load(mechanism.shuffled_by_hand(), deck=1)
        await table.until(lambda: table.count("deck_arrived"))
        await table.do(operations.ShuffledOutside("batch shuffler"))
        await table.do(operations.PlaceYourBets())
        await table.do(operations.OccupyBoxes((1, 3)))
        await table.do(operations.NoMoreBets())
        for number in (1, 2):
            await table.until(lambda: table.count("command_done"))
            await table.settled()
            assert mechanism.draw()
            await table.until(lambda number=number: table.count("cards_dealt") >= number)  # type: ignore[misc]  # a lambda's default
        yield table


async def test_reports_that_are_damaged_for_ever(table: SilentTable) -> None:
    table.side.hand = but(FrameKind.REPORT, damaged)
    assert table.device.mechanism.draw()
    await table.until(lambda: table.raised("I04"))
    assert "cards may have passed unseen" in table.note_of("I04")
    assert [event["code"] for event in table.of("device_lost")] == ["device-damaged-frames"], (
        "the link was made again once, and stays"
    )
    assert (await table.state()).service != "in_service"


async def test_one_withheld_report(table: SilentTable) -> None:
    """The later cards are reported again."""
    withheld = table.device.link.last_number + 1
    table.side.hand = but(FrameKind.REPORT, lambda frame: b"", lambda frame: frame.number == withheld)
    mechanism = table.device.mechanism
    assert mechanism.draw()
    await table.until(lambda: table.raised("I04"))
    assert mechanism.draw(forced=True)
    await table.until(lambda: _last_taken(table) == withheld + 1)


def _last_taken(table: SilentTable) -> int:
    return int(table.of("report_taken")[-1]["number"])


async def test_numbers_that_restart_with_other_content(table: SilentTable) -> None:
    """The device counts its reports from 1 again within its boot, so that each card would be taken for a repeat."""
    table.device.link.last_number = 1
    assert table.device.mechanism.draw()
    await table.until(lambda: table.raised("I04"))
    assert "again with different content" in table.note_of("I04")
    assert len(table.raised("I04")) == 1


async def test_a_hold_without_an_answer(table: SilentTable) -> None:
    """The device neither carries it out nor answers."""
    table.device.link._on_command = lambda command_id, order: None
    await table.do(operations.PauseTable("drop"))
    await table.until(lambda: table.raised("I19"))
    assert len(table.raised("I19")) == 1
    assert 'does not answer the order "lock the exit"' in table.note_of("I19")
    assert "open: cards can leave" in table.note_of("I19")


async def test_a_release_that_is_never_answered(table: SilentTable) -> None:
    await table.do(operations.PauseTable("drop"))
    await table.settled()
    table.device.link._on_command = lambda command_id, order: None
    await table.do(operations.ResumeTable())
    await table.until(lambda: table.raised("I19"))
    assert 'does not answer the order "release the exit"' in table.note_of("I19")
    assert "no card can leave" in table.note_of("I19")


async def test_an_exit_that_only_claims_to_hold(table: SilentTable) -> None:
    """It answers that it holds, and stays open."""

    link = table.device.link
    honest = link._status
    link._status = lambda heard: msgspec.structs.replace(honest(heard), exit_held=False)
    before = len(_holds(table))
    await table.do(operations.PauseTable("drop"))
    await table.until(lambda: table.raised("I19"))
    assert '"lock the exit" was ordered, but the exit is open: cards can leave' in table.note_of("I19")
    assert len(_holds(table)) == before + 2, "ordered once more, under an id of its own"


async def test_a_contradicting_second_answer_is_noted(table: SilentTable) -> None:
    link = table.device.link
    answer = link.answer

    def twice(command_id: int, done: bool, reason: str = "") -> None:
        answer(command_id, done, reason)
        for _ in range(1000):
            answer(command_id, not done, "held")

    link.answer = twice  # type: ignore[method-assign]  # a device that answers twice
    await table.do(operations.PauseTable("drop"))
    await table.until(lambda: _noted(table))
    await table.settled()
    assert len(_noted(table)) == 1
    assert not table.raised("I19")


def _holds(table: SilentTable) -> list[int]:
    return [event["entry"] for event in table.of("command_issued") if event["command"]["command"] == "hold_exit"]


def _noted(table: SilentTable) -> list[str]:
    details = (english_of(event["detail"]) for event in table.of("device_noted"))
    return [detail for detail in details if "two different answers" in detail]
