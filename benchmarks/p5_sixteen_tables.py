"""P5: the delays of one table, and the memory of all, while sixteen daemons with sixteen devices deal.

    python -m benchmarks.p5_sixteen_tables [--tables 16] [--minutes 10] [--floor]

One table is measured, from the last byte of a report on its pty to its event at a subscriber, and from an operation to
its answer, in turn. It is measured alone, while the others deal, and alone again. Each of the others is a daemon, a
simulated device and its people, at people's pace. With `--floor` all of them report to a broker, from which a store
writes into PostgreSQL on the same machine: one pit on one server.

Floor: the table alone, before and after. Goal: medians at most 1.5 times the floor's, and no daemon with a tenth more
memory at the end than after a tenth of the time. (Its memory of the newest rounds fills within 60,000 entries; half a
million more add nothing.) It exits with 1 if a daemon or a device has ended, or memory grew more.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from benchmarks import percentile, resident
from benchmarks.p2_delay import MeasuredDaemon, daemon
from controller.api.bodies import OperationRequest
from controller.api.client import ApiClient
from controller.table.operations import PauseTable
from simulators.demo.processes import Processes, unless_one_fails
from simulators.demo.stage import DemoStage
from simulators.floor_trial.servers import TrialBroker, find_servers, start_database
from simulators.floor_trial.trial import named_tables, start_store

GAP: Final = 0.1  # seconds from one report, or operation, to the next
WARM: Final = 50  # uncounted reports and operations at the beginning
ALONE: Final = 0.1  # of the time of all tables, for each measurement of the one alone
GROWTH: Final = 1.1
ENDLESS: Final = 100_000  # rounds


class Delays(NamedTuple):
    """Delays in seconds: `events` from a report to its event, `operations` from an operation to its answer."""

    events: list[float]
    operations: list[float]


class MeasuredTable(NamedTuple):
    """The measured table."""

    line: MeasuredDaemon
    client: ApiClient

    async def delays(self, count: int) -> Delays:
        found = Delays([], [])
        for number in range(count):
            found.events.extend(await self.line.delays(1, GAP / 2))
            await asyncio.sleep(GAP / 2)
            began = time.perf_counter()
            answer = await self.client.operate(OperationRequest(str(uuid4()), 0, PauseTable(f"measured {number}")))
            found.operations.append(time.perf_counter() - began)
            assert answer.accepted, answer.sentence
        return found


def count_of(minutes: float) -> int:
    return max(1, round(minutes * 60 / GAP / 1.05))


def cpu_seconds() -> float:
    """Return the seconds for which all processors of this machine have worked."""
    user, nice, system, *_ = map(int, Path("/proc/stat").read_text().split()[1:5])
    return (user + nice + system) / 100


@asynccontextmanager
async def others(folder: Path, tables: int, section: str) -> AsyncIterator[list[DemoStage]]:
    async with AsyncExitStack() as stack:
        found = []
        for number, table in enumerate(named_tables(tables)):
            own = folder / table.name
            own.mkdir()
            more = section.format(pit=table.pit)
            stage = DemoStage(
                own,
                unit=table.unit,
                seed=number,
                rounds=ENDLESS,
                options=[],
                game_id=table.game,
                name=table.name,
                more=more,
            )
            found.append(await stack.enter_async_context(stage))
        yield found


@asynccontextmanager
async def floor(folder: Path) -> AsyncIterator[tuple[str, Processes]]:
    """Run broker, database and store, and yield the `[floor]` section of a table."""
    servers = find_servers()
    async with Processes(folder) as processes:
        broker = TrialBroker(servers.mosquitto, processes)
        await broker.start()
        url = f"mqtt://localhost:{broker.port}"
        await start_store(processes, url, await start_database(servers.postgres, processes))
        yield f'[floor]\nbroker = "{url}"\nsite = "vienna"\npit = "{{pit}}"\n', processes


class PitResult(NamedTuple):
    """The result. `memory` has the MiB of each other daemon at each tenth of the time; `entries` are those of all."""

    alone: Delays
    among: Delays
    memory: list[list[float]]
    entries: int
    cpus: float


async def measure(folder: Path, tables: int, minutes: float, *, with_floor: bool) -> PitResult:
    async with AsyncExitStack() as stack:
        section, failures = "", []
        if with_floor:
            section, processes = await stack.enter_async_context(floor(folder))
            failures.append(processes.until_one_fails())
        own = folder / "measured"
        own.mkdir()
        line = await stack.enter_async_context(daemon(own, None, section.format(pit="p1")))
        client = await stack.enter_async_context(ApiClient(own / "api.sock"))
        table = MeasuredTable(line, client)
        await table.delays(WARM)
        before = await table.delays(count_of(ALONE * minutes))
        async with others(folder, tables - 1, section) as stages:
            failures += [stage.until_one_fails() for stage in stages]
            found = await unless_one_fails(_among(table, stages, minutes), *failures)
        after = await table.delays(count_of(ALONE * minutes))
    alone = Delays(before.events + after.events, before.operations + after.operations)
    return found._replace(alone=alone)


async def _among(table: MeasuredTable, stages: list[DemoStage], minutes: float) -> PitResult:
    """Measure while the others deal; `alone` is filled in later."""
    found = PitResult(Delays([], []), Delays([], []), [], 0, 0.0)
    began, used = time.monotonic(), cpu_seconds()
    for _ in range(10):
        part = await table.delays(count_of(minutes / 10))
        found.among.events.extend(part.events)
        found.among.operations.extend(part.operations)
        found.memory.append([resident(stage.daemon.pid) for stage in stages])
    entries = 0
    for stage in stages:
        async with ApiClient(stage.socket) as client:
            entries += (await client.state()).entry
    return found._replace(entries=entries, cpus=(cpu_seconds() - used) / (time.monotonic() - began))


def growth(samples: list[list[float]]) -> float:
    """Return the largest ratio of a daemon's memory at the end to that after a tenth of the time."""
    return max((last / first for first, last in zip(samples[0], samples[-1], strict=True)), default=1.0)


def report(found: PitResult, tables: int) -> None:
    print(f"  {'':<34}{'p50 ms':>9}{'p99 ms':>9}")
    for what, alone, among in (
        ("report to event", found.alone.events, found.among.events),
        ("operation to answer", found.alone.operations, found.among.operations),
    ):
        for which, times in ((f"{what}, alone", alone), (f"{what}, of {tables}", among)):
            print(f"  {which:<34}{statistics.median(times) * 1e3:>9.2f}{percentile(times, 0.99) * 1e3:>9.2f}")
        middle = statistics.median(among) / statistics.median(alone)
        late = percentile(among, 0.99) / percentile(alone, 0.99)
        print(f"  {f'{what}, ratio':<34}{middle:>8.2f}x{late:>8.2f}x")
    first, last = found.memory[0], found.memory[-1]
    if first:
        means = f"{statistics.mean(first):.1f} after a tenth, {statistics.mean(last):.1f} at the end"
        print(f"  memory of a daemon, MiB: {means}; the one that grew most: {growth(found.memory):.3f}x")
    print(f"  the others: {found.entries:,} entries; all programs of this machine: {found.cpus:.2f} cores")


def main() -> int:
    parser = argparse.ArgumentParser(description="P5: sixteen tables on one machine")
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--floor", action="store_true", help="with broker, database and store")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = asyncio.run(measure(Path(name), given.tables, given.minutes, with_floor=given.floor))
    print(f"P5: {given.tables} tables, {given.minutes:g} minutes{', with the floor' if given.floor else ''}")
    report(found, given.tables)
    print("goal: medians at most 1.5x; memory flat")
    return 0 if growth(found.memory) <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
