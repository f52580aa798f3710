"""The consumer process with a real broker and database: each record is stored once, whatever is killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.floor import BrokerError
from controller.floor.address import Broker
from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.journal.outbox import HeadSigned, Record
from tests.end_to_end.browser import free_port
from tests.end_to_end.stage import Stage, short_folder
from tests.floor.certificates import Authority
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.postgres import TOOL, Postgres, postgres
from tests.floor.reading import journal_of
from tests.floor.stored import TOPIC, Rows, heard
from tests.floor.storing import BROKER, MidBatch, send, start_store, storing, until
from tests.floor.test_broker import encrypted
from tests.journal_commands.made import evening

pytestmark = [pytest.mark.tool("mosquitto"), pytest.mark.tool(TOOL)]


@pytest.fixture(scope="session", name="records")
def records_of_an_evening(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    folder = tmp_path_factory.mktemp("evening") / "journal"
    evening(folder).journal.close()
    return journal_of(folder)


@asynccontextmanager
async def broker_in(folder: Path) -> AsyncIterator[Mosquitto]:
    (folder / "broker").mkdir()
    async with mosquitto(folder / "broker", *BROKER) as found:
        yield found


def as_one_batch(address: str, rows: Rows, records: list[Record]) -> dict[str, list[str]]:
    with closing(Database(address)) as database:
        Writer(database).write(heard(records))
    wanted = rows.all()
    rows.empty()
    return wanted


async def whole(rows: Rows, wanted: dict[str, list[str]]) -> None:
    await until(lambda: rows.count("decision") == len(wanted["decision"]) and rows.all() == wanted)


async def test_sent_records_are_stored_and_acknowledged(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    wanted, port = as_one_batch(address, rows, records), free_port()
    async with broker_in(tmp_path) as broker:
        async with storing(broker, address) as store:
            await send(broker.broker, records[:-1])
            await until(lambda: rows.count("decision") >= len(wanted["decision"]) - 1)
            assert await store.end() == 0
        async with storing(broker, address, "--metrics", str(port)) as store:
            await send(broker.broker, records[-1:])
            await whole(rows, wanted)
            page = await metrics(port)
            assert await store.end() == 0
    assert page['cardshoe_store_records_total{came="new"}'] == 1
    assert page['cardshoe_store_records_total{came="again"}'] == 0, "what came before was acknowledged"


async def test_killed_in_mid_batch_it_stores_everything_once(
    server: Postgres, address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    wanted = as_one_batch(address, rows, records)
    async with broker_in(tmp_path) as broker:
        for _ in range(3):
            async with MidBatch(server, address) as held, storing(broker, address) as store:
                await send(broker.broker, records)
                await held.reached()
                assert rows.count("decision") == 0
                store.signal(signal.SIGKILL)
                assert await store.ended() == -signal.SIGKILL
        assert rows.count("decision") == rows.count("event") == 0
        async with storing(broker, address):
            await whole(rows, wanted)


async def test_killed_at_any_moment_it_stores_everything_once(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    wanted, random = as_one_batch(address, rows, records), Random(4)
    async with broker_in(tmp_path) as broker:
        async with storing(broker, address):
            pass  # the broker knows the subscription from here on
        sending = asyncio.create_task(send(broker.broker, records))
        for _ in range(4):
            async with storing(broker, address) as store:
                count = min(rows.count("decision") + random.randint(1, 30), len(wanted["decision"]))
                await until(lambda: rows.count("decision") >= count)  # noqa: B023  # awaited here
                store.signal(signal.SIGKILL)
        await sending
        async with storing(broker, address):
            await whole(rows, wanted)


async def test_two_share_the_records_and_one_is_killed(
    server: Postgres, address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    wanted, ports = as_one_batch(address, rows, records), [free_port(), free_port()]
    async with broker_in(tmp_path) as broker:
        async with (
            storing(broker, address, "--metrics", str(ports[0]), name="one"),
            storing(broker, address, "--metrics", str(ports[1]), name="two"),
        ):
            await send(broker.broker, records)
            await whole(rows, wanted)
            counts = [(await metrics(port))['cardshoe_store_records_total{came="new"}'] for port in ports]
            assert min(counts) > 0
            assert sum(counts) == len(records)
        rows.empty()
        async with storing(broker, address, name="one"):
            async with MidBatch(server, address) as held, storing(broker, address, name="two") as two:
                await send(broker.broker, records)
                await held.reached(1)  # one of them waits for the other's lock, or both for this one
                two.signal(signal.SIGKILL)
                assert await two.ended() == -signal.SIGKILL
            async with storing(broker, address, name="two"):
                await whole(rows, wanted)


async def metrics(port: int) -> dict[str, float]:
    import aiohttp

    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as answer:
        assert answer.status == 200
        lines = (await answer.text()).splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if not line.startswith("#")}


async def test_the_page_for_prometheus(address: str, rows: Rows, records: list[Record], tmp_path: Path) -> None:
    port = free_port()
    async with (
        broker_in(tmp_path) as broker,
        storing(broker, address, "--metrics", str(port), "--gap-minutes", "0") as store,
    ):
        await send(broker.broker, [one for at, one in enumerate(records) if at != 20])
        await until(lambda: rows.count("decision") > 100)
        await store.until(lambda: store.logged("store.alarm"))
        page = await metrics(port)
    assert page['cardshoe_store_records_total{came="new"}'] == len(records) - 1
    assert page['cardshoe_store_alarms_open{kind="gap"}'] == 1
    assert page['cardshoe_store_connected{to="broker"}'] == page['cardshoe_store_connected{to="database"}'] == 1
    assert page["cardshoe_store_delay_seconds"] != 0


async def test_postgresql_killed_in_mid_batch_loses_nothing(records: list[Record], tmp_path: Path) -> None:
    """Committed records were acknowledged to the broker and are in the database; the others are delivered again."""
    with postgres(("fsync=on",)) as server:
        address = server.make("floor")
        with closing(Rows(address)) as rows:
            wanted = as_one_batch(address, rows, records)
        async with broker_in(tmp_path) as broker, storing(broker, address) as store:
            for _ in range(2):
                async with MidBatch(server, address) as held:
                    await send(broker.broker, records)
                    await held.reached()
                    server.kill()
                await store.until(lambda: store.logged("store.away"))
                server.start()
                with closing(Rows(address)) as rows:
                    await whole(rows, wanted)
                    rows.empty()
                store.err.clear()
            assert await store.end() == 0


async def test_a_broker_that_is_killed_and_a_real_table(address: str, rows: Rows) -> None:
    """The table sends again what the broker had acknowledged and lost."""
    with short_folder() as folder:
        async with broker_in(folder) as broker, Stage(folder, rounds=3) as stage, storing(broker, address) as store:
            section = f'[floor]\nbroker = "mqtt://localhost:{broker.port}"\nsite = "vienna"\npit = "p1"\n'
            stage.configure(law=section)
            await stage.start_device()
            await stage.start_daemon()
            for count in (20, 60):
                await until(lambda: rows.count("decision") >= count, store)  # noqa: B023  # awaited here
                await broker.kill()
                await broker.start()
            await stage.played()
            assert await stage.daemon.end() == 0
            await stage.start_daemon()  # sends what the stop wrote
            kinds = ("decision", "head", "journal_file")
            await until(lambda: sum(map(rows.count, kinds)) == len(journal_of(stage.journal)), store)
            audit = stage.start("floor", "audit", "vienna/p1/T-1", "--config", str(stage.configuration), "--database",
                                address)  # fmt: skip
            assert await audit.ended() == 0, audit.out
            assert audit.out[-1] == "The store and the journal are the same."
            assert rows.alarms() == {}
            assert await stage.daemon.end() == 0


async def test_it_notifies_the_service_manager(address: str, tmp_path: Path, service_manager: Any) -> None:
    async with broker_in(tmp_path) as broker:
        environment = {"NOTIFY_SOCKET": service_manager.path, "WATCHDOG_USEC": "3000000"}
        async with storing(broker, address, environment=environment) as store:
            assert await service_manager.next() in ("READY=1", "WATCHDOG=1")
            said = {await service_manager.next() for _ in range(2)}
            assert said <= {"READY=1", "WATCHDOG=1"}
            assert await store.end() == 0


async def test_the_stop_ends_a_wait_for_a_lock(
    server: Postgres, address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    async with broker_in(tmp_path) as broker:
        async with MidBatch(server, address) as held, storing(broker, address) as store:
            await send(broker.broker, records)
            await held.reached()
            assert await store.end() == 0
        assert rows.count("decision") == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--broker", "10.0.0.1"), "is not encrypted"),
        (("--broker", "broker.example", "--ca", "a.pem"), "TLS needs three files"),
        (("--group", "a/b"), "is not a valid name of a group"),
        (("--metrics", "http"), "is not an address"),
    ],
)
async def test_options_that_cannot_be(address: str, options: tuple[str, ...], says: str, tmp_path: Path) -> None:
    async with broker_in(tmp_path) as broker:
        child = start_store(broker, address, *options)
        assert await child.ended() == 2
        assert says in child.err[0]
        child.abandon()


async def test_with_a_certificate_and_an_access_list(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    broker = encrypted(tmp_path, authority)
    (tmp_path / "acl").write_text("pattern write cardshoe/1/+/+/%u/#\nuser floor-store\ntopic read cardshoe/1/#\n")
    await broker.start()
    try:
        own = authority.sign("floor-store")
        files = ("--ca", str(own.ca), "--certificate", str(own.certificate), "--key", str(own.key))
        async with storing(broker, address, *files) as store:
            await send(Broker(broker.broker.address, authority.sign("BAC-07")), records)
            await until(lambda: rows.count("head") == sum(isinstance(one, HeadSigned) for one in records), store)
            assert rows.alarms() == {}
            assert await store.end() == 0
    finally:
        await broker.kill()


async def test_a_store_of_one_pit_leaves_the_others(
    address: str, rows: Rows, records: list[Record], tmp_path: Path
) -> None:
    async with broker_in(tmp_path) as broker, storing(broker, address, "--site", "vienna", "--pit", "p2") as store:
        with pytest.raises(BrokerError) as unread:
            await send(broker.broker, records[:1])
        assert unread.value.code == "floor-unread"
        await send(broker.broker, records, TOPIC.replace("/p1/", "/p2/"))
        await until(lambda: rows.count("head") == sum(isinstance(one, HeadSigned) for one in records), store)
        assert rows.ask("SELECT pit FROM cardshoe.tables") == [("p2",)]
