"""From the broker to the database: records are stored in batches, and acknowledged once they are committed.

    subscribe ── take what is there ── commit ── acknowledge ──┐
        ^              └───────────────────────────────────────┘
        └── broker gone: reconnect       database gone: the batch waits, and the broker keeps the rest

Consumers of one group share the messages of a subscription. The broker keeps the messages that it assigned to an absent
consumer until that consumer returns under its name. A batch that was not acknowledged is delivered again, and is
recognised by its numbers.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple, TypeAlias

from controller.floor import BrokerError
from controller.floor.address import Broker
from controller.floor.broker import BrokerConnection, BrokerMessage, connected
from controller.floor.store import StoreError
from controller.floor.store.database import Database
from controller.floor.store.meters import StoreMeters
from controller.floor.store.records import LONGEST, Heard, LeftOut, read_message
from controller.floor.store.writing import BatchWritten, Writer
from controller.floor.topics import TopicSubject, topic_filter
from controller.journal.codec import Clock
from firmware_bridge.allowance import Allowance

AT_ONCE: Final = 5000  # records of one table: about two seconds of the store's time
A_SECOND: Final = 1000  # the rate at which a table may send a backlog
MOST_TOPICS: Final = 20_000  # topics that are remembered; a table has two


class TablePace:
    """Limits how many records of one table are stored, so that a flooding table does not delay the records of the
    others. The limit applies to each topic, since a broker lets a table publish only under its own topics.

    Records above it are acknowledged and dropped, with an alarm that names the table. The broker has one queue for all
    tables, so a record that is not taken would delay everything behind it.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._allowances: dict[str, Allowance] = {}  # oldest first

    def admit(self, messages: Sequence[BrokerMessage], now: float) -> tuple[list[BrokerMessage], list[LeftOut]]:
        """Return the messages to store at `now` (in seconds), and the number of dropped messages by topic."""
        stored: list[BrokerMessage] = []
        left_out: Counter[str] = Counter()
        for message in messages:
            if self._allowance(message.topic).take(now):
                stored.append(message)
            else:
                left_out[message.topic] += 1
        return stored, [LeftOut(topic, count) for topic, count in left_out.items()]

    def _allowance(self, topic: str) -> Allowance:
        if topic not in self._allowances:
            if len(self._allowances) >= MOST_TOPICS:
                del self._allowances[next(iter(self._allowances))]
            self._allowances[topic] = Allowance(self._at_once, 1 / A_SECOND)
        return self._allowances[topic]


BATCH: Final = 1000  # messages
UNACKNOWLEDGED: Final = 2 * BATCH  # one batch is received while another is committed
KEPT_FOR: Final = 7 * 86_400  # seconds for which the broker keeps the messages of an absent consumer
TAKES: Final = 4 * LONGEST  # bytes of a message; larger than a record, so that a record that is too long is reported
MOST_BYTES: Final = 8 * LONGEST  # bytes of a batch
LEAST_BETWEEN: Final = 0.02  # seconds between batches; a transaction costs as much as ten records
AGAIN: Final = (0.5, 30.0)  # seconds until the next attempt: the first time, and at most
LOOK_EVERY: Final = 5.0  # seconds
InThread: TypeAlias = Callable[..., Awaitable[Any]]


class Consuming(NamedTuple):
    """The settings of a consumer. `name` is the name by which the broker knows this consumer only; consumers of one
    `group` share their messages.

    `site` and `pit` select the tables; None selects all.
    """

    broker: Broker
    name: str
    group: str
    gap_after: float  # seconds
    site: str | None = None
    pit: str | None = None

    @property
    def filters(self) -> list[str]:
        """Return the topic filters of a keeper of journals."""
        where = self.site or "+", self.pit or "+"
        return [
            f"$share/{self.group}/{topic_filter(subject, *where)}"
            for subject in (TopicSubject.JOURNAL, TopicSubject.KEEPER)
        ]


class Consumer:
    """Stores records while `run` runs. `ready` is called once it is subscribed and the database can be used."""

    def __init__(
        self,
        consuming: Consuming,
        database: Database,
        writer: Writer,
        meters: StoreMeters,
        clock: Clock,
        random: Random,
        ready: Callable[[], None],
        log: Any,
    ) -> None:
        self._consuming = consuming
        self._database = database
        self._writer = writer
        self._meters = meters
        self._clock = clock
        self._random = random
        self._ready = ready
        self._log = log
        self._why = ""
        self._batches = 0
        self._pace = TablePace()

    async def run(self) -> None:
        with ThreadPoolExecutor(1, "store") as thread:
            in_thread: InThread = partial(asyncio.get_running_loop().run_in_executor, thread)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._keep_consuming(in_thread))
                    both.create_task(self._keep_looking(in_thread))
            finally:
                self._database.interrupt()
                await asyncio.shield(in_thread(self._database.close))

    async def _keep_consuming(self, in_thread: InThread) -> None:
        wait = AGAIN[0]
        while True:
            consuming, batches = self._consuming, self._batches
            try:
                async with connected(
                    consuming.broker, consuming.name, keeps=KEPT_FOR, unacknowledged=UNACKNOWLEDGED, takes=TAKES
                ) as connection:
                    await connection.subscribe(*consuming.filters)
                    self._log.info("store.connected", broker=str(consuming.broker.address), name=consuming.name)
                    self._meters.connected("broker", True)
                    await self._check_database(in_thread, connection)
                    await self._consume(in_thread, connection)
            except BrokerError as error:
                self._fail(error)
            finally:
                self._meters.connected("broker", False)
            wait = AGAIN[0] if self._batches > batches else min(2 * wait, AGAIN[1])
            await asyncio.sleep(wait * self._random.uniform(0.5, 1.0))

    async def _check_database(self, in_thread: InThread, connection: BrokerConnection) -> None:
        await self._until_done(connection, partial(in_thread, self._database.check))
        self._ready()

    async def _consume(self, in_thread: InThread, connection: BrokerConnection) -> None:
        """Store batches until the connection to the broker ends, which raises `BrokerError`."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            first = await connection.next()
            await asyncio.sleep(max(0.0, due - loop.time()))
            messages = [first, *connection.waiting(BATCH - 1, MOST_BYTES)]
            due = loop.time() + LEAST_BETWEEN
            stored, left_out = self._pace.admit(messages, self._clock.now().boottime_ns / 1e9)
            written: BatchWritten = await self._until_done(
                connection, partial(in_thread, self._write, stored, left_out)
            )
            for message in messages:
                connection.acknowledge(message)
            self._batches += 1
            self._meters.take(written, self._clock.now().utc_ns)

    def _write(self, messages: Sequence[BrokerMessage], left_out: Sequence[LeftOut]) -> BatchWritten:
        journals = [one for one in messages if not one.topic.endswith(TopicSubject.KEEPER)]
        heard: list[Heard] = [*(read_message(one.topic, one.payload) for one in journals), *left_out]
        return self._writer.write(heard) if heard else BatchWritten()

    async def _until_done(self, connection: BrokerConnection, work: Callable[[], Awaitable[Any]]) -> Any:
        """Repeat `work` while the database is unavailable. Raise `BrokerError` once the broker is gone too."""
        wait = AGAIN[0]
        while True:
            try:
                done = await work()
            except StoreError as error:
                self._fail(error)
            else:
                self._succeed()
                return done
            await asyncio.wait({connection.ended}, timeout=wait * self._random.uniform(0.5, 1.0))
            connection.check()
            wait = min(2 * wait, AGAIN[1])

    async def _keep_looking(self, in_thread: InThread) -> None:
        while True:
            try:
                opened: dict[str, int] = await in_thread(self._writer.look, self._consuming.gap_after)
            except StoreError as error:
                self._fail(error)
            else:
                for kind, count in self._meters.alarms(opened).items():
                    self._log.warning("store.alarm", kind=kind, open=count)
            self._meters.connected("database", self._database.is_connected)
            await asyncio.sleep(LOOK_EVERY)

    def _fail(self, error: BrokerError | StoreError) -> None:
        """Log a failure once, until its sentence changes."""
        if str(error) != self._why:
            self._log.warning("store.away", code=error.code, sentence=str(error), hint=error.hint)
        self._why = str(error)

    def _succeed(self) -> None:
        if self._why:
            self._log.info("store.back")
        self._why = ""
