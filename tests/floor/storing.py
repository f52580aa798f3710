"""`cardshoe floor store` as a process of a test, with the messages to it and the waits for its rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager

import msgspec

from controller.floor.address import Broker
from controller.floor.broker import connected
from controller.journal.outbox import Record
from tests.end_to_end.processes import PATIENCE, Child
from tests.floor.mosquitto import Mosquitto
from tests.floor.postgres import Postgres
from tests.floor.stored import TOPIC

LOOKS_EVERY = 0.02  # seconds between two polls; nothing waits for a fixed time
BROKER = ("max_queued_messages 0", "max_inflight_messages 0")
IN_MID_BATCH = """SELECT count(*) FROM pg_stat_activity
WHERE application_name = 'cardshoe floor store' AND wait_event_type = 'Lock'"""


@asynccontextmanager
async def storing(
    broker: Mosquitto, address: str, *options: str, name: str = "one", environment: dict[str, str] | None = None
) -> AsyncIterator[Child]:
    """Run the store until the test is over. Yield the store once it has subscribed."""
    child = start_store(broker, address, *options, name=name, environment=environment)
    try:
        await child.until(lambda: child.logged("store.connected"))
        yield child
    finally:
        child.abandon()


def start_store(
    broker: Mosquitto, address: str, *options: str, name: str = "one", environment: dict[str, str] | None = None
) -> Child:
    url = f"localhost:{broker.port}"
    return Child(
        "controller", "floor", "store", "--broker", url, "--database", address, "--name", name, *options,
        environment=environment,
    )  # fmt: skip


async def send(broker: Broker, records: Iterable[Record], topic: str = TOPIC, name: str = "table") -> None:
    """Send as the publisher does: each one after the one before is acknowledged."""
    async with connected(broker, name) as connection:
        for record in records:
            await connection.publish(topic, msgspec.json.encode(record))


async def until(condition: Callable[[], object], child: Child | None = None) -> None:
    """Poll until the condition is true."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            assert child is None or child.running, child.err
            await asyncio.sleep(LOOKS_EVERY)


class MidBatch:
    """Blocks whoever adds a head, in mid-transaction, until the block ends or the server is killed."""

    def __init__(self, server: Postgres, address: str) -> None:
        self._holding = server.connect_to(address)
        self._looking = server.connect_to(address)

    async def __aenter__(self) -> MidBatch:
        self._holding.autocommit = False
        self._holding.execute("LOCK TABLE cardshoe.head IN EXCLUSIVE MODE")
        return self

    async def reached(self, consumers: int = 1) -> None:
        """Wait until `consumers` consumers are blocked with an uncommitted batch."""
        await until(lambda: self._waiting() >= consumers)

    def _waiting(self) -> int:
        row = self._looking.execute(IN_MID_BATCH.encode()).fetchone()
        assert row is not None
        return int(row[0])

    async def __aexit__(self, *_: object) -> None:
        self._holding.close()
        self._looking.close()
