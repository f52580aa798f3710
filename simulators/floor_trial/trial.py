"""Broker, database, store, page and tables, started one after the other and ended in the other direction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple

from controller.games.specification import Unit
from simulators.demo.processes import Processes
from simulators.demo.stage import Stage, free_port
from simulators.floor_trial.servers import Servers, start_broker, start_database

SITE: Final = "trial"


class TrialTable(NamedTuple):
    name: str
    pit: str
    game: str
    unit: Unit


TABLES: Final = (
    TrialTable("nc-01", "p1", "NC", Unit.SETS),
    TrialTable("tp-02", "p1", "TP", Unit.SINGLES),
    TrialTable("rtp-03", "p2", "RTP", Unit.SETS),
    TrialTable("p3-04", "p2", "P3", Unit.SINGLES),
)
"""Of the shown floor; more of them repeat these under other names."""


class FloorTrial(NamedTuple):
    """What runs. `broker`: its port; `database`: its address for psycopg; `page`: of the pit manager."""

    broker: int
    database: str
    page: str
    tables: tuple[Stage, ...]


@asynccontextmanager
async def floor_trial(
    folder: Path, servers: Servers, *, tables: int, rounds: int, seed: int, fast: bool
) -> AsyncIterator[FloorTrial]:
    """Raises `StageError` where a process fails."""
    async with AsyncExitStack() as stack:
        processes = await stack.enter_async_context(Processes(folder))
        broker = await start_broker(servers.mosquitto, processes)
        database = await start_database(servers.postgres, processes)
        url = f"mqtt://localhost:{broker}"
        await _done(processes, "store-schema", "floor", "store", "--database", database, "--create")
        await processes.start_own("store", ["floor", "store", "--broker", url, "--database", database])
        port = free_port()
        await processes.start_own("serve", ["floor", "serve", "--broker", url, "--listen", str(port)])
        started = [
            await stack.enter_async_context(_table(folder, one, url, rounds, seed + number, fast=fast))
            for number, one in enumerate(_named(tables))
        ]
        yield FloorTrial(broker, database, f"http://localhost:{port}/", tuple(started))


async def _done(processes: Processes, name: str, *arguments: str) -> None:
    process = await processes.start_own(name, arguments)
    await process.communicate()
    if process.returncode:
        processes.fail(name)


def _named(tables: int) -> list[TrialTable]:
    """So many tables, each with a name of its own."""
    found = []
    for number in range(tables):
        one = TABLES[number % len(TABLES)]
        found.append(one._replace(name=f"{one.game.lower()}-{number + 1:02}"))
    return found


def _table(folder: Path, table: TrialTable, broker: str, rounds: int, seed: int, *, fast: bool) -> Stage:
    own = folder / table.name
    own.mkdir()
    section = f'[floor]\nbroker = "{broker}"\nsite = "{SITE}"\npit = "{table.pit}"\n'
    return Stage(
        own,
        unit=table.unit,
        seed=seed,
        rounds=rounds,
        options=["--fast"] if fast else [],
        game_id=table.game,
        name=table.name,
        more=section,
    )
