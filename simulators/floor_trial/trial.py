"""Starts broker, database, store, page and tables one after the other, and ends them in reverse order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import psycopg

from controller.commands.text import write_out
from controller.games.specification import Unit
from simulators.demo.processes import Processes, Result, unless_one_fails
from simulators.demo.stage import DemoStage, free_port
from simulators.floor_trial.servers import POLL_EVERY, Servers, TrialBroker, start_database

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
"""The tables of the trial floor; more tables repeat these under other names."""


class FloorTrial(NamedTuple):
    """A running floor. `database` is its address for psycopg, `page` the pit manager's page."""

    broker: TrialBroker
    database: str
    page: str
    tables: Mapping[str, DemoStage]
    servers: Processes

    async def unless_one_fails(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return what `work` returns. Raise `StageError` as soon as a process other than the broker has ended."""
        tables = (table.until_one_fails() for table in self.tables.values())
        return await unless_one_fails(work, self.broker.keep(write_out), self.servers.until_one_fails(), *tables)


@asynccontextmanager
async def floor_trial(
    folder: Path, servers: Servers, *, tables: int, rounds: int, seed: int, fast: bool
) -> AsyncIterator[FloorTrial]:
    """Run a floor. Raise `StageError` if a process fails."""
    async with AsyncExitStack() as stack:
        processes = await stack.enter_async_context(Processes(folder))
        broker = TrialBroker(servers.mosquitto, processes)
        await broker.start()
        database = await start_database(servers.postgres, processes)
        url = f"mqtt://localhost:{broker.port}"
        await start_store(processes, url, database)
        port = free_port()
        await processes.start_own("serve", ["floor", "serve", "--broker", url, "--listen", str(port)], serves=True)
        started = {
            one.name: await stack.enter_async_context(_table(folder, one, url, rounds, seed + number, fast=fast))
            for number, one in enumerate(named_tables(tables))
        }
        yield FloorTrial(broker, database, f"http://localhost:{port}/", started, processes)


async def start_store(processes: Processes, broker: str, database: str) -> None:
    """Create the schema and start the store. Raise `StageError`."""
    await _done(processes, "store-schema", "floor", "store", "--database", database, "--create")
    await processes.start_own("store", ["floor", "store", "--broker", broker, "--database", database], serves=True)


class Stored(NamedTuple):
    """The content of the store for a table: it is complete up to `entry`. `alarms`: the number of open ones."""

    table: str
    entry: int
    alarms: int


async def stored(database: str) -> list[Stored]:
    """Return what is stored about every known table."""
    return await asyncio.to_thread(_stored, database)


def _stored(database: str) -> list[Stored]:
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "SELECT table_name, coalesce(verified_up_to, -1), alarms_open FROM cardshoe.tables ORDER BY table_name"
        )
        return [Stored(*row) for row in found]


async def until_stored(database: str, ends: Mapping[str, int]) -> list[Stored]:
    """Wait until the store has each table's journal whole up to its entry."""
    while True:
        found = await stored(database)
        entries = {one.table: one.entry for one in found}
        if all(entries.get(table, -1) >= end for table, end in ends.items()):
            return found
        await asyncio.sleep(POLL_EVERY)


async def _done(processes: Processes, name: str, *arguments: str) -> None:
    process = await processes.start_own(name, arguments)
    await process.communicate()
    if process.returncode:
        processes.fail(name)


def named_tables(tables: int) -> list[TrialTable]:
    """Return `tables` tables with distinct names."""
    found = []
    for number in range(tables):
        one = TABLES[number % len(TABLES)]
        found.append(one._replace(name=f"{one.game.lower()}-{number + 1:02}"))
    return found


def _table(folder: Path, table: TrialTable, broker: str, rounds: int, seed: int, *, fast: bool) -> DemoStage:
    own = folder / table.name
    own.mkdir()
    section = f'[floor]\nbroker = "{broker}"\nsite = "{SITE}"\npit = "{table.pit}"\n'
    return DemoStage(
        own,
        unit=table.unit,
        seed=seed,
        rounds=rounds,
        options=["--fast"] if fast else [],
        game_id=table.game,
        name=table.name,
        more=section,
    )
