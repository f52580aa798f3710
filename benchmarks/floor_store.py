"""Measures the store: records per second from the broker's queue to committed rows, compared with its libraries alone.

    python -m benchmarks.floor_store [--tables 100] [--rounds 4] [--turns 3] [--folder PLACE]

The records of many tables wait in a real broker for an absent consumer; then `cardshoe floor store` takes them. Floors
with the same records: only receiving and acknowledging them over paho-mqtt; and writing the same rows into the same
tables by psycopg, 1,000 records a transaction, by COPY and by `executemany`. The programs take turns; each figure is
the median. The ratio is to receiving and copying together.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import psycopg

from benchmarks import cpu_of
from benchmarks.floor_tables import DURABLE, SIGNER, season, stores
from controller.floor.address import Broker
from controller.floor.broker import connected
from controller.floor.store.consumer import BATCH, KEPT_FOR, TAKES, UNACKNOWLEDGED
from controller.floor.store.records import at, digest_of, name_of, text_of
from controller.floor.topics import TablePlace, TopicSubject, topic_filter
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Record
from controller.journal.signing import statement
from tests.floor.mosquitto import mosquitto
from tests.floor.postgres import Postgres, postgres
from tests.floor.storing import BROKER

POLL: Final = 0.02  # seconds
SENDERS: Final = 10
FILTER: Final = f"$share/cardshoe-store/{topic_filter(TopicSubject.JOURNAL)}"
_INSERT: Final = """INSERT INTO cardshoe.decision (journal, last, first, file, at, utc_ns, round, hash, before, digest)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
_INSERT_EVENT: Final = """INSERT INTO cardshoe.event (journal, number, decision, at, round, name, body)
VALUES (%s, %s, %s, %s, %s, %s, %s)"""


class ProgramTimes(NamedTuple):
    """Seconds for all records: wall-clock time, and CPU time of the program."""

    wall: float
    cpu: float


class QueuedMessage(NamedTuple):
    topic: str
    payload: bytes
    record: Record
    table: int


def messages(tables: int, rounds: int) -> list[QueuedMessage]:
    """Return the messages in the order of arrival: from all tables in turn."""
    records, found = season(rounds), []
    for record in records:
        for table in range(tables):
            own = of_table(record, table)
            topic = TablePlace("bench", "p1", f"t{table}").topic(TopicSubject.JOURNAL)
            found.append(QueuedMessage(topic, msgspec.json.encode(own), own, table))
    return found


def of_table(record: Record, table: int) -> Record:
    names = {"journal": f"{table:032x}", "file": f"{table:032x}"}
    if isinstance(record, FileBegan):
        return msgspec.structs.replace(record, **names, table=f"t{table}")
    own = msgspec.structs.replace(record, **names)
    if isinstance(own, HeadSigned):
        said = statement(own.journal, own.file, own.head, own.utc_ns)
        return msgspec.structs.replace(own, signature=SIGNER.sign(said).hex())
    return own


async def wait_in(broker: Broker, name: str, sent: Sequence[QueuedMessage]) -> None:
    """Let the broker queue messages for an absent consumer of that name."""
    async with connected(broker, name, keeps=KEPT_FOR, takes=TAKES) as connection:
        await connection.subscribe(FILTER)
    async with asyncio.TaskGroup() as group:
        for sender in range(SENDERS):
            own = [one for one in sent if one.table % SENDERS == sender]
            group.create_task(_send(broker, f"sender-{sender}", own))


async def _send(broker: Broker, name: str, own: Sequence[QueuedMessage]) -> None:
    async with connected(broker, name) as connection:
        for one in own:
            about = [("record", str(one.record.__struct_config__.tag)), ("journal", one.record.journal),
                     ("entries", "1"), ("hash", one.record.hash)]  # fmt: skip
            await connection.publish(one.topic, one.payload, about)


# -- the programs ----------------------------------------------------------------------------------------------------


async def with_store(broker: Broker, address: str, folder: Path, sent: Sequence[QueuedMessage]) -> ProgramTimes:
    await wait_in(broker, "store-0", sent)
    decisions = sum(isinstance(one.record, DecisionMade) for one in sent)
    took = await asyncio.to_thread(_store, broker.address.port, address, folder / "log", decisions)
    await _forget(broker, "store-0")
    return took


def _store(port: int, address: str, log: Path, decisions: int) -> ProgramTimes:
    with (
        closing(psycopg.connect(address, autocommit=True)) as connection,
        stores(port, address, 1, log) as (store,),
    ):
        began, used = time.monotonic(), cpu_of(store.pid)
        had = _count(connection)
        while _count(connection) < decisions:
            assert store.poll() is None, log.read_text()
            time.sleep(POLL)  # another process cannot signal an event to this one, so its rows are counted
        part = decisions / (decisions - had)
        return ProgramTimes(part * (time.monotonic() - began), part * (cpu_of(store.pid) - used))


def _count(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT count(*) FROM cardshoe.decision").fetchone()
    assert row is not None
    return int(row[0])


async def with_paho(broker: Broker, sent: Sequence[QueuedMessage]) -> ProgramTimes:
    """Receive and acknowledge the records."""
    await wait_in(broker, "paho", sent)
    began, used = time.monotonic(), _own_cpu()
    left = len(sent)
    async with connected(broker, "paho", keeps=KEPT_FOR, unacknowledged=UNACKNOWLEDGED, takes=TAKES) as connection:
        while left:
            for one in [await connection.next(), *connection.waiting(BATCH - 1)]:
                connection.acknowledge(one)
                left -= 1
        took = ProgramTimes(time.monotonic() - began, _own_cpu() - used)
    await _forget(broker, "paho")
    return took


async def _forget(broker: Broker, name: str) -> None:
    """Drop the messages that the broker keeps for that name."""
    async with connected(broker, name):
        pass


def with_copy(address: str, sent: Sequence[QueuedMessage]) -> ProgramTimes:
    began, used = time.monotonic(), _own_cpu()
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        connection.execute("SELECT cardshoe.add_month(%s)", (at(sent[0].record.utc_ns).date(),))
        for start in range(0, len(sent), BATCH):
            rows, events = rows_of(sent[start : start + BATCH])
            with connection.transaction(), connection.cursor() as cursor:
                with cursor.copy("COPY cardshoe.decision FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
                with cursor.copy("COPY cardshoe.event FROM STDIN") as copy:
                    for row in events:
                        copy.write_row(row)
    return ProgramTimes(time.monotonic() - began, _own_cpu() - used)


def with_executemany(address: str, sent: Sequence[QueuedMessage]) -> ProgramTimes:
    began, used = time.monotonic(), _own_cpu()
    with closing(psycopg.connect(address, autocommit=True)) as connection:
        connection.execute("SELECT cardshoe.add_month(%s)", (at(sent[0].record.utc_ns).date(),))
        for start in range(0, len(sent), BATCH):
            rows, events = rows_of(sent[start : start + BATCH])
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(_INSERT, rows)
                cursor.executemany(_INSERT_EVENT, events)
    return ProgramTimes(time.monotonic() - began, _own_cpu() - used)


def rows_of(sent: Sequence[QueuedMessage]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    rows, events = [], []
    for one in sent:
        made = one.record
        if not isinstance(made, DecisionMade):
            continue
        moment = at(made.utc_ns)
        rows.append((one.table, made.last, made.first, one.table, moment, made.utc_ns, made.round,
                     bytes.fromhex(made.hash), bytes.fromhex(made.before), digest_of(made)))  # fmt: skip
        for number, event in enumerate(made.events, made.first + 1):
            events.append((one.table, number, made.last, moment, made.round, name_of(event), text_of(event)))
    return rows, events


def _own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# -- in turn ---------------------------------------------------------------------------------------------------------


async def main(tables: int, rounds: int, turns: int, place: Path | None) -> None:
    sent = messages(tables, rounds)
    size = sum(len(one.payload) for one in sent) / len(sent)
    print(f"{len(sent)} records of {tables} tables, {size:.0f} bytes each; "
          f"median of {turns} turns; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    took: dict[str, list[ProgramTimes]] = {}
    numbers = count()
    with tempfile.TemporaryDirectory() as name, postgres(DURABLE, place) as server:
        folder = Path(name)
        async with mosquitto(folder, *BROKER) as found:
            for _ in range(turns):
                for program, work in (
                    ("paho-mqtt alone", lambda address: with_paho(found.broker, sent)),
                    ("psycopg COPY", lambda address: asyncio.to_thread(with_copy, address, sent)),
                    ("psycopg executemany", lambda address: asyncio.to_thread(with_executemany, address, sent)),
                    ("store", lambda address: with_store(found.broker, address, folder, sent)),
                ):
                    took.setdefault(program, []).append(await _in_own_database(server, f"turn_{next(numbers)}", work))
    tell(took, len(sent))


async def _in_own_database(server: Postgres, name: str, work: Any) -> ProgramTimes:
    """Run in a separate database."""
    address = server.make(name)
    try:
        found: ProgramTimes = await work(address)
        return found
    finally:
        server.drop(name)


def tell(took: dict[str, list[ProgramTimes]], records: int) -> None:
    medians = {name: ProgramTimes(*map(statistics.median, zip(*found, strict=True))) for name, found in took.items()}
    for name, one in medians.items():
        print(f"  {name:20} {records / one.wall:8.0f}/s   CPU {1e6 * one.cpu / records:6.1f} us a record")
    floor = [medians["paho-mqtt alone"], medians["psycopg COPY"]]
    wall, cpu = sum(one.wall for one in floor), sum(one.cpu for one in floor)
    print(f"store beside receiving and copying: {medians['store'].wall / wall:.2f}x by the clock, "
          f"{medians['store'].cpu / cpu:.2f}x of the processor")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="benchmarks.floor_store")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="of the database; in memory where there is such a place")
    asked = parser.parse_args()
    asyncio.run(main(asked.tables, asked.rounds, asked.turns, asked.folder))
