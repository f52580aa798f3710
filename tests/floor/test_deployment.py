"""The files shipped for the servers of a floor, tried with the real programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from controller.floor import BrokerError
from controller.floor.address import Broker, Credentials
from controller.floor.broker import connected
from controller.floor.store.consumer import TAKES, Consuming
from controller.floor.topics import TablePlace, TopicSubject, topic_filter
from tests.architecture.sources import ROOT
from tests.end_to_end.processes import PATIENCE
from tests.floor.certificates import Authority
from tests.floor.mosquitto import Mosquitto

SHIPPED: Final = ROOT / "deployment" / "mosquitto"
OF_THE_TEST: Final = ("listener", "persistence", "allow_anonymous")  # mosquitto.py sets its own
OWN: Final = TablePlace("vienna", "p1", "nc-07")
OTHER: Final = TablePlace("vienna", "p1", "tp-08")

pytestmark = pytest.mark.tool("mosquitto")


@asynccontextmanager
async def shipped(folder: Path, authority: Authority) -> AsyncIterator[Mosquitto]:
    """Yield the broker with the shipped configuration in another folder."""
    own = authority.sign("broker")
    files = {"authority.pem": own.ca, "broker.crt": own.certificate, "broker.key": own.key}
    files |= {"revoked.pem": authority.revoked_file(), "access.json": SHIPPED / "access.json"}
    lines = (SHIPPED / "cardshoe.conf").read_text("utf-8")
    for name, file in files.items():
        lines = lines.replace(f"/etc/mosquitto/cardshoe/{name}", str(file))
    found = Mosquitto(folder, [line for line in lines.splitlines() if not line.startswith(OF_THE_TEST)], own)
    await found.start()
    try:
        yield found
    finally:
        await found.kill()


def at(broker: Mosquitto, credentials: Credentials) -> Broker:
    return broker.broker._replace(credentials=credentials)


async def refusal(broker: Broker, topic: str, *, retained: bool = True) -> str:
    """Return the code with which a message there is refused, or "" if it is accepted."""
    try:
        async with connected(broker, "writer") as writer:
            await writer.publish(topic, b"{}", retained=retained)
    except BrokerError as error:
        return error.code
    return ""


async def test_a_table_only_writes_its_own_topics_and_the_floor_only_reads(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    table, store = authority.sign("nc-07"), authority.sign("floor-store")
    async with shipped(tmp_path, authority) as broker:
        for subject in TopicSubject:
            assert await refusal(at(broker, table), OWN.topic(subject)) == ""
            assert await refusal(at(broker, table), OTHER.topic(subject)) == "floor-refused"
            assert await refusal(at(broker, store), OWN.topic(subject)) == "floor-refused"
        async with (
            connected(at(broker, store), "reader-of-the-floor", takes=TAKES) as reader,
            connected(at(broker, table), "reader-at-a-table", takes=TAKES) as reads,
        ):
            with pytest.raises(BrokerError) as refused:
                await reads.subscribe("#")
            assert refused.value.code == "floor-refused"
            await reader.subscribe(topic_filter(TopicSubject.TABLE))
            assert (await reader.next()).topic == OWN.topic(TopicSubject.TABLE)
            assert await refusal(at(broker, table), OWN.topic(TopicSubject.TABLE)) == ""
            await reader.next()
        assert any("Sending PUBLISH to reader-of-the-floor" in line for line in broker.said)
        assert not any("Sending PUBLISH to reader-at-a-table" in line for line in broker.said)


async def test_a_certificate_that_was_revoked_is_refused_and_no_other(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    table, other = authority.sign("nc-07"), authority.sign("tp-08")
    authority.revoke(table)
    async with shipped(tmp_path, authority) as broker:
        assert await refusal(at(broker, table), OWN.topic(TopicSubject.TABLE)) == "floor-refused"
        assert await refusal(at(broker, other), OTHER.topic(TopicSubject.TABLE)) == ""


@pytest.mark.parametrize("shares", [True, False], ids=["the store", "another keeper"])
async def test_a_restarted_broker_keeps_messages_for_absent_subscribers(shares: bool, tmp_path: Path) -> None:
    """It refuses what nobody subscribed to. With mosquitto's `acl_file` it accepts that, and drops it."""
    authority = Authority(tmp_path)
    table, store = authority.sign("nc-07"), authority.sign("floor-store")
    journal = OWN.topic(TopicSubject.JOURNAL)
    async with shipped(tmp_path, authority) as broker:
        own = at(broker, store)
        filters = (
            Consuming(own, "keeper", "store", gap_after=60.0).filters
            if shares
            else [topic_filter(TopicSubject.JOURNAL)]
        )
        async with connected(own, "keeper", keeps=3600, takes=TAKES) as connection:
            await connection.subscribe(*filters)
        await broker.stop()
        await broker.start()
        refused = await refusal(at(broker, table), journal, retained=False)
        assert refused in ("", "floor-unread")
        async with connected(own, "keeper", keeps=3600, takes=TAKES) as connection, asyncio.timeout(PATIENCE):
            await connection.subscribe(*filters)
            if refused:
                assert await refusal(at(broker, table), journal, retained=False) == ""
            assert (await connection.next()).topic == journal
