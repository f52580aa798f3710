"""A simulated device on a real pseudo-terminal reports a fault in itself: no round begins until it is cleared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import pytest

from controller.api.bodies import OperationAnswer
from controller.table import operations
from controller.table.operations import AnyOperation, Instruction
from controller.table.phases import Phase
from tests.end_to_end.people_at_table import SUPERVISOR, PeopleAtTable
from tests.end_to_end.stage import Stage, short_folder

ADMITTED: Final = {
    "self-test-failure@1": "self-test failed: exit sensor",
    "low-power@1": "power low",
    "unreadable@9": "cards not read in the shuffle: 1",
    "status-fault@1": "fault: fan",
    "memory-failure@1": "memory check failed",
    "program-failure@1": "program check failed",
}
IN_EVERY_RUN: Final = ("self-test-failure@1", "unreadable@9")
AFTER_SELF_TEST: Final = ("self-test", "power", "memory", "program")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage:
            yield stage


async def begun(people: PeopleAtTable) -> OperationAnswer:
    return await people.say(operations.PlaceYourBets())


@pytest.mark.parametrize(
    "fault", [pytest.param(one, marks=() if one in IN_EVERY_RUN else pytest.mark.exhaustive) for one in ADMITTED]
)
async def test_no_round_begins_with_a_device_that_reports_a_fault(stage: Stage, fault: str) -> None:
    await stage.start_device(dealer=False, load=True, faults=(fault,))
    await stage.start_daemon()
    people = PeopleAtTable(stage)
    await people.until(lambda view: view.device.connected and view.service == "in_service")
    opened = await people.say(operations.OpenTable())
    cause = ADMITTED[fault]
    view = await people.until(lambda view: cause in str(view.device.stopped))
    assert opened.accepted or cause in str(opened.sentence)
    answer = await begun(people) if view.phase == Phase.IDLE else opened
    assert not answer.accepted
    assert cause in str(answer.sentence)
    assert "pit supervisor" in str(answer.sentence)
    assert view.round == 0


async def test_it_plays_again_after_a_self_test_and_a_supervisors_return(stage: Stage) -> None:
    await stage.start_device(dealer=False, load=True, faults=("program-failure@1",))
    await stage.start_daemon()
    people = PeopleAtTable(stage)
    await people.until(lambda view: "program check failed" in str(view.device.stopped))
    refused = await people.say(operations.ReturnToService(), SUPERVISOR)
    assert (refused.code, "self-test" in str(refused.sentence)) == ("unwell", True)
    maintain: tuple[AnyOperation, ...] = (
        operations.BeginMaintenance("its program"),
        operations.InstructDevice(Instruction.RUN_SELF_TEST),
    )
    for operation in maintain:
        await people.do(operation, SUPERVISOR)
    async with asyncio.timeout(30):
        while not (await people.say(operations.ReturnToService(), SUPERVISOR)).accepted:
            pass  # the self-test is still running
    view = await people.until(lambda view: view.service == "in_service" and view.device.connected)
    assert not view.device.stopped
