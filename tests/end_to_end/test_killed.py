"""The daemon is killed at every kind of step: it restarts, people continue, and nothing is lost or doubled.

The short form kills it a few times; the long form (`-m "exhaustive or soak"`) at each kind of event and more often.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Final

import pytest

from controller.api.bodies import EventId
from controller.api.client import ApiClient
from controller.games.specification import Unit
from controller.table.events import DeviceReady
from tests.end_to_end.child import HOST_LOST, Fault, Orders, Point
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder

# Seeds whose rounds contain most kinds of irregularities, each once or twice.
PLAYED: Final = {Unit.SETS: (5876, 9), Unit.SINGLES: (3983, 8)}

A_FEW: Final = {"deck_arrived", "deal_began", "cards_dealt", "chips_paid"}
STEPS: Final = {
    "starting and dealing": {
        "table_began", "service_changed", "device_ready", "device_noted", "status_agrees", "game_chosen",
        "deck_arrived", "deck_shuffled", "operation_taken", "phase_entered", "round_began", "boxes_occupied",
        "deal_began", "command_issued", "command_done", "report_taken", "cards_dealt",
    },
    "opening and paying": {
        "cards_handled", "stub_counted", "hand_exposed", "hand_judged", "chips_paid", "conclusion_asked",
        "device_stopped", "device_freed", "cards_counted", "round_voided",
    },
    "deciding": {
        "cards_set_aside", "irregularity_raised", "irregularity_confirmed", "irregularity_resolved", "order_named",
        "option_chosen", "ruled", "hand_counted", "card_found_face_up", "hand_removed",
    },
}  # fmt: skip
IN_MOTION: Final = 0.02  # seconds of table time: motions last some 20 ms, and daemons die in the middle of them
OF_ONE_INPUT: Final = (Point.COMMITTING, Point.COMMITTED, Point.ACKNOWLEDGED, Point.COMMANDING, Point.COMMANDED)
ONLY_OF_SETS: Final = {"set_in_tray", "shuffle_began", "command_refused", "fact_stated"}


async def finish(stage: Stage) -> Evidence:
    """Let the rounds end, stop the daemon, and check everything."""
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    evidence.check(shown)
    return evidence


async def follow_until(stage: Stage, kinds: set[str], after: int) -> tuple[str, int]:
    """Wait for the first event of one of these kinds after an entry; return its kind and entry."""
    async with ApiClient(stage.socket) as client, asyncio.timeout(PATIENCE):
        stream = client.events(EventId(entry=after))
        try:
            async for event in stream:
                if event is not None and event["event"] in kinds:
                    return event["event"], event["entry"]
                assert event is None or event["event"] != "device_lost", f"the rounds ended without {kinds}"
        finally:
            await stream.aclose()
    raise AssertionError(f"the rounds ended before {kinds}; the daemon said {stage.daemon.err}")


@pytest.mark.parametrize("unit", [Unit.SETS, pytest.param(Unit.SINGLES, marks=pytest.mark.exhaustive)])
async def test_killed_when_a_few_kinds_of_event_are_first_seen(unit: Unit) -> None:
    await kill_at(A_FEW, unit, seed=7, rounds=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("unit", list(Unit))
async def test_killed_when_a_kind_of_event_is_first_seen(unit: Unit, steps: str) -> None:
    kinds = STEPS[steps]
    if steps == "deciding" and unit is Unit.SETS:
        kinds = kinds | ONLY_OF_SETS
    seed, rounds = PLAYED[unit]
    await kill_at(kinds, unit, seed, rounds)


async def kill_at(kinds: set[str], unit: Unit, seed: int, rounds: int) -> None:
    """Play rounds, and kill the daemon when each of these kinds of event is seen for the first time."""
    waiting = set(kinds)
    with short_folder() as folder:
        async with Stage(folder, unit=unit, seed=seed, rounds=rounds) as stage:
            await stage.start_device()
            await stage.start_daemon()
            entry = 0
            while waiting:
                seen, entry = await follow_until(stage, waiting, entry)
                await stage.kill_daemon()
                waiting.discard(seen)
                await stage.start_daemon()
            await finish(stage)


@pytest.mark.parametrize(
    ("unit", "pace"),
    [pytest.param(Unit.SETS, IN_MOTION, marks=pytest.mark.soak), (Unit.SINGLES, 0.0)],
    ids=["sets", "singles"],
)
async def test_killed_twice_at_any_moment(unit: Unit, pace: float) -> None:
    await kill_at_any_moment(2, unit, seed=1, rounds=2, pace=pace)


@pytest.mark.soak
@pytest.mark.parametrize("pace", [0.0, IN_MOTION], ids=["at once", "in motion"])
@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("unit", list(Unit))
async def test_killed_ten_times_at_any_moment(unit: Unit, seed: int, pace: float) -> None:
    await kill_at_any_moment(10, unit, seed, rounds=6, pace=pace)


async def kill_at_any_moment(times: int, unit: Unit, seed: int, rounds: int, pace: float) -> None:
    random = Random(f"{seed}/{unit}/kills")  # repeatable moments
    with short_folder() as folder:
        async with Stage(folder, unit=unit, seed=seed, rounds=rounds) as stage:
            await stage.start_device(pace=pace)
            await stage.start_daemon()
            entry = 0
            for _ in range(times):
                entry = await follow_events(stage, entry, random.randint(1, 60))
                await stage.kill_daemon()
                await stage.start_daemon()
            await finish(stage)


@pytest.mark.parametrize("unit", [pytest.param(unit, marks=pytest.mark.exhaustive) for unit in Unit])
async def test_a_daemon_dead_until_the_device_notices(unit: Unit) -> None:
    """After 3 s of silence the device locks its exit by itself; the deal continues afterwards."""
    with short_folder() as folder:
        async with Stage(folder, unit=unit, rounds=2) as stage:
            await stage.start_device()
            await stage.start_daemon()
            await follow_until(stage, {"cards_dealt"}, 0)
            await stage.kill_daemon()
            await stage.device.until(lambda: HOST_LOST in stage.device.out)
            await stage.start_daemon()
            evidence = await finish(stage)
            assert [event.exit_held for event in evidence.of(DeviceReady)][1:] == [True]


async def follow_events(stage: Stage, after: int, count: int) -> int:
    """Wait for `count` events after an entry, or for all that come. Return the entry of the last event."""
    async with ApiClient(stage.socket) as client, asyncio.timeout(PATIENCE):
        stream = client.events(EventId(entry=after))
        try:
            async for event in stream:
                if event is not None:
                    count, after = count - 1, event["entry"]
                    if count == 0 or not stage.device.running:
                        return after
        finally:
            await stream.aclose()
    return after


@pytest.mark.parametrize("point", [Point.COMMITTING, Point.COMMITTED])
async def test_killed_once_between_two_steps_of_one_input(point: Point) -> None:
    await kill_between((3,), Unit.SETS, point, seed=7, rounds=2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("point", OF_ONE_INPUT)
@pytest.mark.parametrize("unit", list(Unit))
async def test_killed_between_two_steps_of_one_input(unit: Unit, point: Point) -> None:
    random = Random(f"{unit}/{point}")  # repeatable moments
    seed, rounds = PLAYED[unit]
    longest = 8 if point in (Point.COMMANDING, Point.COMMANDED) else 40
    await kill_between((1, 2, 3, *(random.randint(4, longest) for _ in range(2))), unit, point, seed, rounds)


async def kill_between(times: tuple[int, ...], unit: Unit, point: Point, seed: int, rounds: int) -> None:
    """Run daemons in sequence, each of which kills itself when it reaches the point for the n-th time."""
    with short_folder() as folder:
        async with Stage(folder, unit=unit, seed=seed, rounds=rounds) as stage:
            await stage.start_device()
            for nth in times:
                daemon = stage.spawn_daemon(Orders(faults=(Fault(point, nth),), page=50))
                assert await daemon.ended() == -9, daemon.err
            await stage.start_daemon(Orders(page=50))
            await finish(stage)
