"""A table's certificate sends too large messages: the broker or the store refuses them, and the store continues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from controller.floor import BrokerError
from controller.floor.broker import connected
from controller.floor.store.consumer import TAKES
from controller.floor.store.records import LONGEST, MOST_EVENTS
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.outbox import Record
from tests.end_to_end.processes import PATIENCE, Child
from tests.floor.certificates import Authority
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.postgres import TOOL
from tests.floor.stored import Rows
from tests.floor.storing import BROKER, send, storing, until
from tests.floor.test_deployment import OWN, at, shipped

pytestmark = [pytest.mark.tool("mosquitto"), pytest.mark.tool(TOOL)]

THIEF = TablePlace("vienna", "p1", "nc-66").topic(TopicSubject.JOURNAL)
MIB = 1024 * 1024
MOST_MEMORY = 250  # MB of the store's process: the programs that it loads take 70


class Thief:
    """An attacker with a table's certificate and a client without limits."""

    def __init__(self, broker: Mosquitto) -> None:
        self._client = Client(CallbackAPIVersion.VERSION2, "thief", protocol=MQTTv5)
        self._client.connect("localhost", broker.port)
        self._client.loop_start()

    async def send(self, payload: bytes, user_properties: int = 0) -> None:
        """Send until the broker has acknowledged it."""
        about = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        if user_properties:
            about.UserProperty = [("a", "")] * user_properties
        sent = self._client.publish(THIEF, payload, 1, properties=about)
        await asyncio.to_thread(sent.wait_for_publish, PATIENCE)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()


@asynccontextmanager
async def robbed(folder: Path, address: str, *payloads: bytes) -> AsyncIterator[tuple[Mosquitto, Child, Thief]]:
    """Yield a broker without limits, an attacker who sends while the store is away, and the store."""
    async with mosquitto(folder, *BROKER) as broker, AsyncExitStack() as stack:
        async with storing(broker, address) as store:
            assert await store.end() == 0
        thief = Thief(broker)
        stack.callback(thief.close)
        for payload in payloads:
            await thief.send(payload)
        yield broker, await stack.enter_async_context(storing(broker, address)), thief


def most_memory(child: Child) -> float:
    """Return the most MB that the process has used."""
    (line,) = [line for line in Path(f"/proc/{child.pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) / 1024


async def test_a_too_long_record_raises_an_alarm_and_other_tables_are_stored(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    async with robbed(tmp_path, address, *[bytes(2 * LONGEST)] * 200) as (broker, store, _):
        await send(broker.broker, records)
        await until(lambda: rows.count("decision") > 5 and rows.verified() > 5, store)
        await until(lambda: rows.ask("SELECT count FROM cardshoe.alarms") == [(200,)], store)
        assert rows.ask("SELECT kind, topic FROM cardshoe.alarms") == [("unreadable", THIEF)]
        assert most_memory(store) < MOST_MEMORY
        assert await store.end() == 0


async def test_a_record_over_the_stores_limit_stops_nobody(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    """The store announced its limit in CONNECT, and the broker leaves the record out."""
    async with robbed(tmp_path, address, *[bytes(10 * TAKES)] * 5) as (broker, store, _):
        await send(broker.broker, records)
        await until(lambda: rows.count("decision") > 5 and rows.verified() > 5, store)
        assert len(store.logged("store.connected")) == 1
        assert most_memory(store) < MOST_MEMORY


async def test_many_properties_take_the_store_no_time(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    """paho takes quadratic time to read them: minutes for one message."""
    async with robbed(tmp_path, address) as (broker, store, thief):
        await thief.send(b"{}", user_properties=100_000)
        await send(broker.broker, records)
        await until(lambda: rows.count("decision") > 5 and rows.verified() > 5, store)
        assert rows.ask("SELECT count FROM cardshoe.alarms") == [(1,)]


async def test_many_events_in_one_record_are_an_alarm(address: str, rows: Rows, tmp_path: Path) -> None:
    events = b",".join([b'{"event":"a"}'] * (MOST_EVENTS + 1))
    record = b'{"record":"decision","journal":"j","file":"f","first":1,"last":%d,"hash":"%s","before":"%s","utc_ns":1,'
    async with robbed(tmp_path, address) as (_, store, thief):
        await thief.send(record % (MOST_EVENTS + 2, b"ab" * 32, b"ab" * 32) + b'"round":1,"events":[' + events + b"]}")
        await until(lambda: rows.count("alarm") == 1, store)
        assert rows.count("event") == rows.count("journal") == 0


# -- the shipped broker


async def test_the_shipped_broker_refuses_messages_that_no_table_sends(tmp_path: Path) -> None:
    """Our publisher notices it before sending: a broker ends the connection because of it, and would each time."""
    authority = Authority(tmp_path)
    table, store = authority.sign("nc-07"), authority.sign("floor-store")
    async with (
        shipped(tmp_path, authority) as broker,
        connected(at(broker, store), "reader", takes=TAKES) as reader,
        connected(at(broker, table), "writer") as writer,
    ):
        await reader.subscribe(OWN.topic(TopicSubject.JOURNAL))
        with pytest.raises(BrokerError) as refused:
            await writer.publish(OWN.topic(TopicSubject.JOURNAL), bytes(3 * MIB))
        assert refused.value.code == "floor-refused"
        assert "2,097,152" in str(refused.value)
        await writer.publish(OWN.topic(TopicSubject.JOURNAL), b"{}")
        assert (await reader.next()).payload == b"{}"
        writer._largest = 0  # as the attacker's program would
        with pytest.raises(BrokerError) as lost:
            await writer.publish(OWN.topic(TopicSubject.JOURNAL), bytes(3 * MIB))
        assert lost.value.code == "floor-lost"
        assert not reader.ended.done()


async def test_a_table_may_write_only_the_topics_of_this_scheme(tmp_path: Path) -> None:
    """Otherwise it could make the broker retain as many messages as it invents topics."""
    authority = Authority(tmp_path)
    async with shipped(tmp_path, authority) as broker:
        for topic in ("cardshoe/1/vienna/p1/nc-07/mine", "cardshoe/1/vienna/p1/nc-07/table/1"):
            with pytest.raises(BrokerError) as refused:
                async with connected(at(broker, authority.sign("nc-07")), "writer") as writer:
                    await writer.publish(topic, b"{}", retained=True)
            assert refused.value.code == "floor-refused"
