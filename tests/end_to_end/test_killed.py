"""The daemon is killed (SIGKILL) at every kind of step. It starts again, people go on, and nothing is lost or doubled."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from controller.api.client import ApiClient
from controller.games.specification import Unit
from tests.end_to_end.child import Fault, Point
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder

ROUNDS = 8
SEEDS = {Unit.SETS: 7, Unit.SINGLES: 7}


async def finish(stage: Stage) -> Evidence:
    """Let the rounds come to their end, stop the daemon, and check everything."""
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    evidence.check(shown)
    return evidence


@pytest.mark.parametrize("unit", list(Unit))
async def test_plain(unit: Unit) -> None:
    with short_folder() as folder:
        async with Stage(folder, unit=unit, rounds=ROUNDS, seed=SEEDS[unit]) as stage:
            await stage.start_device()
            await stage.start_daemon()
            evidence = await finish(stage)
            from controller.table.events import Event
            print(stage.plan)
            print(sorted({type(e).__name__ for e in evidence.of(Event)}))
