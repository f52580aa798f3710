"""Measures many tables through a broker into the store: delay until the row, and processor time of each part.

    python -m benchmarks.floor_tables [--tables 50 100 250 500] [--seconds 20] [--backlog-minutes 2] [--consumers 1]

Each table sends the records of a journal of simulated rounds, at one card per second, as the publisher does: each
record when the last one is acknowledged. mosquitto, `cardshoe floor store`, PostgreSQL and the generator are processes;
the generator has a few connections for all tables.

The delay is from sending a record until PostgreSQL commits its row, by its own commit times. Then a backlog of some
minutes of all tables is sent as fast as it is acknowledged, at most 200 records per second for each table: the program
prints how long that takes, and what follows for an hour.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple

import msgspec
import psycopg

from benchmarks import cpu_of
from controller.floor.address import Address, Broker
from controller.floor.broker import BrokerConnection, connected
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.outbox import DecisionMade, HeadSigned, Record
from controller.journal.signing import SigningKey, statement
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.postgres import Postgres, postgres
from tests.floor.reading import journal_of
from tests.floor.storing import BROKER
from tests.journal.table_journals import KEY, PlayedTable

CARDS: Final = 27  # cards in a round with nine hands
CONNECTIONS: Final = 25
MOST_PER_SECOND: Final = 200  # records of a backlog; a publisher's default
POLL: Final = 0.05  # seconds
SIGNER: Final = SigningKey(KEY)
DURABLE: Final = ("fsync=on", "track_commit_timestamp=on")
_WHOLE: Final = "SELECT count(*) FROM cardshoe.journal WHERE site = %s AND number >= %s"
_DELAYS: Final = """SELECT percentile_cont(ARRAY[0.5, 0.99, 1.0]) WITHIN GROUP (ORDER BY
extract(epoch FROM pg_xact_commit_timestamp(d.xmin)) - utc_ns / 1e9)
FROM cardshoe.decision d JOIN cardshoe.journal j ON j.id = d.journal WHERE j.site = %s"""


class FloorPart(NamedTuple):
    """The seconds of the processor, by part."""

    generator: float
    broker: float
    store: float
    database: float


class FloorResult(NamedTuple):
    """A result: `records` were sent in `seconds`. `delays` are p50, p99 and the longest, in seconds."""

    tables: int
    records: int
    seconds: float
    delays: Sequence[float]
    cpu: FloorPart


def season(rounds: int) -> list[Record]:
    """Return the records of `rounds` rounds."""
    with tempfile.TemporaryDirectory() as name:
        table = PlayedTable(Path(name) / "journal")
        with closing(table.journal):
            table.play(rounds)
        return journal_of(Path(name) / "journal")


class SendingTable:
    """Sends the records of a season as those of its own journal."""

    def __init__(self, site: str, number: int, records: Sequence[Record]) -> None:
        place = TablePlace(site, f"p{number // 20}", f"t{number}")
        self.topic = place.topic(TopicSubject.JOURNAL)
        self._journal = Random(f"{site}/{number}").randbytes(16).hex()
        self._file = Random(f"{site}/{number}/file").randbytes(16).hex()
        self._table = place.table
        self.records = records

    async def send(self, connection: BrokerConnection, record: Record) -> None:
        own = msgspec.structs.replace(
            record, journal=self._journal, file=self._file, utc_ns=time.time_ns(),
            **({"table": self._table} if hasattr(record, "table") else {}),
        )  # fmt: skip
        if isinstance(own, HeadSigned):
            said = statement(own.journal, own.file, own.head, own.utc_ns)
            own = msgspec.structs.replace(own, signature=SIGNER.sign(said).hex())
        number = f"{own.first}-{own.last}" if isinstance(own, DecisionMade) else str(own.number)
        kind = str(own.__struct_config__.tag)
        about = [("record", kind), ("journal", own.journal), ("entries", number), ("hash", own.hash)]
        await connection.publish(self.topic, msgspec.json.encode(own), about)


# -- the generator's process -----------------------------------------------------------------------------------------


async def generate(port: int, site: str, tables: int, every: float, rounds: int, count: int) -> None:
    """Send `count` records for each table, one every `every` seconds."""
    records = season(rounds)[:count]
    broker = Broker(Address("localhost", port, False), None)
    found = [SendingTable(site, number, records) for number in range(tables)]
    print("ready", flush=True)
    sys.stdin.readline()
    async with asyncio.TaskGroup() as group:
        for part in range(CONNECTIONS):
            group.create_task(_send_tables(broker, f"{site}-{part}", found[part::CONNECTIONS], every))
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(usage.ru_utime + usage.ru_stime, flush=True)


async def _send_tables(broker: Broker, name: str, tables: Sequence[SendingTable], every: float) -> None:
    async with connected(broker, name) as connection, asyncio.TaskGroup() as group:
        random = Random(name)
        for table in tables:
            group.create_task(_send_table(connection, table, every, random.random() * every))


async def _send_table(connection: BrokerConnection, table: SendingTable, every: float, first: float) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time() + first
    for record in table.records:
        await asyncio.sleep(max(0.0, due - loop.time()))
        await table.send(connection, record)
        due += every


# -- the measurement -------------------------------------------------------------------------------------------------


class RunningFloor:
    """Running broker, database and store."""

    def __init__(
        self, broker: Mosquitto, server: Postgres, address: str, stores: Sequence[subprocess.Popen[bytes]]
    ) -> None:
        self._broker, self._server, self._stores = broker, server, stores
        self._connection = psycopg.connect(address, autocommit=True)

    def run(self, site: str, tables: int, every: float, rounds: int, count: int) -> FloorResult:
        """Send and store all records, and return the result."""
        arguments = [str(one) for one in (self._broker.port, site, tables, every, rounds, count)]
        generator = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.floor_tables", "--generate", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert generator.stdin is not None
        assert generator.stdout is not None
        generator.stdout.readline()
        used, began = self._used(), time.monotonic()
        own = cpu_of(generator.pid)
        generator.stdin.write(b"\n")
        generator.stdin.flush()
        last = max(one.last for one in season(rounds)[:count] if isinstance(one, DecisionMade))
        while self._ask(_WHOLE, site, last) < tables:
            assert all(store.poll() is None for store in self._stores), "the store ended"
            time.sleep(POLL)  # another process cannot signal an event to this one, so its rows are counted
        seconds = time.monotonic() - began
        cpu = [after - first for after, first in zip(self._used(), used, strict=True)]
        generated = float(generator.stdout.readline()) - own
        generator.communicate()
        delays = self._connection.execute(_DELAYS, (site,)).fetchone()
        assert delays is not None
        return FloorResult(tables, tables * count, seconds, delays[0], FloorPart(generated, *cpu))

    def alarms(self) -> int:
        return self._ask("SELECT count(*) FROM cardshoe.alarm")

    def close(self) -> None:
        self._connection.close()

    def _ask(self, query: str, *values: Any) -> int:
        row = self._connection.execute(query.encode(), values or None).fetchone()
        assert row is not None
        return int(row[0])

    def _used(self) -> tuple[float, float, float]:
        """Return the processor time of broker, store and database in seconds."""
        main = self._server.pid
        children = [int(pid) for pid in Path(f"/proc/{main}/task/{main}/children").read_text().split()]
        database = cpu_of(main, with_ended=True) + sum(cpu_of(pid) for pid in children)
        return cpu_of(self._broker.pid), sum(cpu_of(store.pid) for store in self._stores), database


@contextmanager
def stores(port: int, address: str, consumers: int, log: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    running = []
    with log.open("wb") as errors:
        for number in range(consumers):
            command = [sys.executable, "-m", "controller", "floor", "store", "--broker", f"mqtt://localhost:{port}",
                       "--database", address, "--name", f"store-{number}"]  # fmt: skip
            running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors))
        try:
            while log.read_bytes().count(b"store.connected") < consumers:
                assert all(one.poll() is None for one in running), log.read_text()
                time.sleep(POLL)  # another process has no event here, so its log is read
            yield running
        finally:
            for one in running:
                one.terminate()
                one.wait()


def report(result: FloorResult) -> str:
    rate = result.records / result.seconds
    p50, p99, longest = (1000 * seconds for seconds in result.delays)
    shares = "  ".join(f"{name} {100 * value / result.seconds:5.1f} %" for name, value in result.cpu._asdict().items())
    each = "  ".join(f"{name} {1e6 * value / result.records:4.0f}" for name, value in result.cpu._asdict().items())
    return (
        f"{result.tables:4} tables {rate:6.0f} records/s   delay ms p50 {p50:7.1f} p99 {p99:8.1f} max {longest:8.1f}\n"
        f"     CPU of a core: {shares}\n     us a record:   {each}"
    )


async def main(tables: Sequence[int], seconds: float, minutes: float, consumers: int, place: Path | None) -> None:
    per_round = len(season(11)) - len(season(10))
    every = CARDS / per_round
    print(f"{per_round} records a round of {CARDS} cards: {1 / every:.2f} records/s a table; {consumers} consumers")
    with tempfile.TemporaryDirectory() as name, postgres(DURABLE, place) as server:
        address = server.make("floor")
        async with mosquitto(Path(name), *BROKER) as broker:
            with stores(broker.port, address, consumers, Path(name) / "log") as running:
                await asyncio.to_thread(
                    _measure, RunningFloor(broker, server, address, running), tables, seconds, minutes, every
                )


def _measure(floor: RunningFloor, tables: Sequence[int], seconds: float, minutes: float, every: float) -> None:
    count = round(seconds / every)
    with closing(floor):
        for number in tables:
            print(report(floor.run(f"s{number}", number, every, round(seconds / CARDS) + 2, count)), flush=True)
        if minutes:
            count = round(60 * minutes / every)
            result = floor.run("backlog", tables[-1], 1 / MOST_PER_SECOND, round(60 * minutes / CARDS) + 2, count)
            print(f"backlog of {minutes:g} minutes of {tables[-1]} tables: {result.seconds:.0f} s\n{report(result)}")
            rate, new = result.records / result.seconds, tables[-1] / every
            print(f"an hour's backlog at that rate: {3600 * new / rate / 60:.0f} min without new records, "
                  f"{3600 * new / max(1.0, rate - new) / 60:.0f} min beside them")  # fmt: skip
        print(f"alarms: {floor.alarms()}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="benchmarks.floor_tables")
    parser.add_argument("--tables", type=int, nargs="+", default=[50, 100, 250, 500])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--backlog-minutes", type=float, default=2.0)
    parser.add_argument("--consumers", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="of the database; in memory where there is such a place")
    parser.add_argument("--generate", nargs=6, help=argparse.SUPPRESS)
    asked: Any = parser.parse_args()
    if asked.generate:
        port, site, number, every, rounds, count = asked.generate
        asyncio.run(generate(int(port), site, int(number), float(every), int(rounds), int(count)))
    else:
        asyncio.run(main(asked.tables, asked.seconds, asked.backlog_minutes, asked.consumers, asked.folder))
