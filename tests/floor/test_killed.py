"""The daemon is killed at every step of a record and of the cursor: nothing is lost, and repeats keep their numbers."""

from __future__ import annotations

from random import Random

import pytest

from controller.floor.publisher import CURSOR_NAME, LONGEST_CURSOR
from controller.journal.outbox import PAGE
from tests.end_to_end.child import Fault, Orders
from tests.floor.fault_points import FloorPoint
from tests.floor.reading import repeated
from tests.floor.tables import finish, floor_of_one, play_unheard, until_more
from tests.support import long_forms

pytestmark = pytest.mark.tool("mosquitto")

OF_A_RECORD = (FloorPoint.SENDING, FloorPoint.SENT, FloorPoint.ACKNOWLEDGED)
A_PAGE = 2 * PAGE + 1  # decisions, each with a head at most, and the beginning of a file
AT_ONCE = {"repeat_minutes": 0, "most_per_second": 1000}  # only the cursor determines what is still to be sent


async def kill_at(point: FloorPoint, times: list[int], rounds: int = 1) -> None:
    """Run daemons in sequence, each of which kills itself when it reaches the point for the n-th time."""
    async with floor_of_one(rounds, **AT_ONCE) as (stage, broker, found):
        await play_unheard(stage, broker)
        for nth in times:
            daemon = stage.spawn_daemon(Orders(faults=(Fault(point, nth),), cursor_each_time=True))
            assert await daemon.ended() == -9, daemon.err
        stage.drain_notified()
        await stage.start_daemon()
        await finish(stage, found)
        assert repeated(found.records) <= A_PAGE * len(times)  # what the cursor had not recorded
        left = {path.name: path.stat().st_size for path in stage.journal.glob(f"{CURSOR_NAME}*")}
        assert left[CURSOR_NAME] < LONGEST_CURSOR
        assert len(left) <= 2  # and what a daemon did not rename


@pytest.mark.parametrize("point", list(FloorPoint))
async def test_killed_at_a_step(point: FloorPoint) -> None:
    await kill_at(point, [1, 2])


@pytest.mark.soak
@pytest.mark.parametrize("point", list(FloorPoint))
async def test_repeated_kills_at_a_step(point: FloorPoint) -> None:
    """The backlog has some 250 records, which are four pages."""
    random = long_forms.randomness(point)
    for _ in range(long_forms.count(10)):
        of_records = [random.randint(1, 80) for _ in range(3)]
        await kill_at(point, of_records if point in OF_A_RECORD else random.choice(([1, 1, 1], [1, 2], [3])), rounds=6)


@pytest.mark.parametrize(
    ("times", "rounds"), [(4, 3), pytest.param(long_forms.count(40), 20, marks=pytest.mark.soak, id="often")]
)
async def test_killed_at_any_moment_of_the_rounds(times: int, rounds: int) -> None:
    random = Random(27)
    async with floor_of_one(rounds, **AT_ONCE) as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon(Orders(cursor_each_time=True))
        for _ in range(times):
            await until_more(stage, found, random.randint(1, 60))
            await stage.kill_daemon()
            await stage.start_daemon(Orders(cursor_each_time=True))
        await stage.played()
        await finish(stage, found)
        assert repeated(found.records) <= A_PAGE * times
