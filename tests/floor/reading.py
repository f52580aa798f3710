"""A program of the floor in a test: the records that it received, and their comparison with the table's journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from controller.floor import BrokerError
from controller.floor.address import Broker
from controller.floor.broker import connected
from controller.floor.topics import TopicSubject, read_topic, topic_filter
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Outbox, Record
from tests.end_to_end.processes import PATIENCE

RECORD = msgspec.json.Decoder(Record)
TAKES = 1 << 20  # bytes
KEPT_FOR = 3600  # seconds for which the broker keeps what it did not read


class FloorReader:
    """A reader. `records` are kept as they came, repeats included; `reports` are each table's, by subject.

    It acknowledges what it has; when the broker is gone, it reconnects.
    """

    def __init__(self, broker: Broker, name: str = "reader") -> None:
        self._broker = broker
        self._name = name
        self.records: list[Record] = []
        self.reports: dict[TopicSubject, list[dict[str, Any]]] = {subject: [] for subject in TopicSubject}
        self._news = asyncio.Event()
        self.subscribed = asyncio.Event()

    async def run(self) -> None:
        while True:
            with suppress(BrokerError):
                await self._read()
            await asyncio.sleep(0.02)  # a poll for what comes, not a wait for a time

    async def _read(self) -> None:
        async with connected(self._broker, self._name, keeps=KEPT_FOR, takes=TAKES) as connection:
            await connection.subscribe(*(topic_filter(subject) for subject in TopicSubject))
            self.subscribed.set()
            while True:
                message = await connection.next()
                found = read_topic(message.topic)
                assert found is not None
                if found[1] is TopicSubject.KEEPER:
                    pass
                elif found[1] is TopicSubject.JOURNAL:
                    record = RECORD.decode(message.payload)
                    assert message.about["journal"] == record.journal
                    assert message.about["hash"] == record.hash
                    self.records.append(record)
                else:
                    self.reports[found[1]].append(msgspec.json.decode(message.payload))
                connection.acknowledge(message)
                self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                await self._news.wait()

    async def until_count(self, records: int) -> None:
        await self.until(lambda: len(self.records) >= records)

    async def until_whole(self, folder: Path) -> None:
        """Wait until the reader has everything that the journal holds."""
        while lacking := len(missing(self.records, folder)):
            await self.until_count(len(self.records) + lacking)


@asynccontextmanager
async def reader(broker: Broker, name: str = "reader") -> AsyncIterator[FloorReader]:
    found = FloorReader(broker, name)
    running = asyncio.create_task(found.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await found.subscribed.wait()
        yield found
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def journal_of(folder: Path) -> list[Record]:
    """Return all records of the journal."""
    outbox = Outbox(folder)
    found: list[Record] = []
    cursor = None
    while page := outbox.after(cursor):
        found += [one.record for one in page]
        cursor = page[-1].cursor
    return found


def identity(record: Record) -> tuple[str, str, int, str]:
    number = record.last if isinstance(record, DecisionMade) else record.number
    return str(record.__struct_config__.tag), record.file, number, record.hash


def repeated(records: list[Record]) -> int:
    """Return how many records came more than once."""
    return len(records) - len(set(map(identity, records)))


def missing(records: list[Record], folder: Path) -> list[Record]:
    got = set(map(identity, records))
    return [one for one in journal_of(folder) if identity(one) not in got]


def check(records: list[Record], folder: Path) -> None:
    """Check that nothing is lost, that repeats have the same number and content, and that the order
    is the journal's.
    """
    whole = journal_of(folder)
    assert not missing(records, folder)
    first: dict[tuple[str, str, int, str], Record] = {}
    for record in records:
        assert first.setdefault(identity(record), record) == record
    assert list(first.values()) == whole
    for record in whole:
        assert isinstance(record, FileBegan | DecisionMade | HeadSigned)
