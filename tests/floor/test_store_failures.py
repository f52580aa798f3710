"""A database that refuses, is full, is read-only or has another schema: a sentence, a code, and nothing lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from controller.floor.store import StoreError
from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.journal.outbox import DecisionMade, HeadSigned, Record
from tests.end_to_end.browser import free_port
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.postgres import SUPERUSER, TOOL, WITH_PASSWORD, Postgres
from tests.floor.stored import Rows, heard
from tests.floor.storing import BROKER, send, start_store, storing, until
from tests.support.small_disk import fill, make_room, small_disk

pytestmark = [pytest.mark.tool("mosquitto"), pytest.mark.tool(TOOL)]
NOBODY_LISTENS = "host=127.0.0.1 port={port} dbname=floor user=floor"


@asynccontextmanager
async def a_broker(folder: Path) -> AsyncIterator[Mosquitto]:
    (folder / "broker").mkdir()
    async with mosquitto(folder / "broker", *BROKER) as found:
        yield found


def last(records: list[Record]) -> int:
    return max(one.last for one in records if isinstance(one, DecisionMade))


class Trouble(NamedTuple):
    """A failure of the database. `{name}` becomes its name; the statements run in the database `where`."""

    code: str
    breaks: str
    mends: str
    where: str = ""


WHILE_IT_RUNS = {
    "read only": Trouble(
        "store-read-only",
        "ALTER DATABASE {name} SET default_transaction_read_only = on",
        "ALTER DATABASE {name} RESET default_transaction_read_only",
        "postgres",
    ),
    "another schema": Trouble(
        "store-schema",
        "UPDATE cardshoe.schema_version SET version = 99",
        "UPDATE cardshoe.schema_version SET version = 1",
    ),
    "another password": Trouble(
        "store-refused",
        f"ALTER ROLE {WITH_PASSWORD} PASSWORD 'other'",
        f"ALTER ROLE {WITH_PASSWORD} PASSWORD 'right'",
    ),
    "no rights": Trouble(
        "store-refused",
        f"REVOKE cardshoe_writer FROM {WITH_PASSWORD}",
        f"GRANT cardshoe_writer TO {WITH_PASSWORD}",
    ),
    "no table": Trouble(
        "store-schema", "ALTER TABLE cardshoe.head RENAME TO gone", "ALTER TABLE cardshoe.gone RENAME TO head"
    ),
}


@pytest.mark.parametrize("trouble", WHILE_IT_RUNS.values(), ids=list(WHILE_IT_RUNS))
async def test_trouble_while_it_runs_loses_nothing(
    server: Postgres, own_role: str, rows: Rows, records: list[Record], tmp_path: Path, trouble: Trouble
) -> None:
    ((name,),) = rows.ask("SELECT current_database()")
    async with a_broker(tmp_path) as broker, storing(broker, own_role) as store:
        await send(broker.broker, records[:5])
        await until(lambda: rows.count("decision") > 0, store)
        server.do(trouble.breaks.format(name=name), trouble.where or name)
        rows.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", WITH_PASSWORD)
        await send(broker.broker, records[5:])
        said = await store.until(lambda: [one for one in store.logged("store.away") if one["code"] == trouble.code])
        assert said[0]["sentence"].endswith(".")
        assert said[0]["hint"]
        assert rows.verified() < last(records)
        server.do(trouble.mends.format(name=name), trouble.where or name)
        await until(lambda: rows.verified() == last(records), store)
        assert rows.alarms() == {}
        await store.until(lambda: store.logged("store.back"))  # logged after the commit
        assert await store.end() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="a small disk can be mounted by root alone")
async def test_a_full_disk_loses_nothing(server: Postgres, records: list[Record], tmp_path: Path) -> None:
    with small_disk(server.folder / "disk", 40) as disk:
        place = disk / "rows"
        place.mkdir()
        shutil.chown(place, SUPERUSER)
        server.do(f"CREATE TABLESPACE small LOCATION '{place}'")
        try:
            await _fill_and_mend(server, disk, records, tmp_path)
        finally:
            server.drop("small")
            server.do("DROP TABLESPACE small")


async def _fill_and_mend(server: Postgres, disk: Path, records: list[Record], folder: Path) -> None:
    server.do("CREATE DATABASE small TABLESPACE small")
    address = server.address("small")
    with closing(Database(address)) as database:
        database.make_schema()
    async with a_broker(folder) as broker, storing(broker, address) as store:
        with closing(Rows(address)) as rows:
            await send(broker.broker, records[:3])
            await until(lambda: rows.count("decision") > 0, store)
            fill(disk)
            for number in range(40):  # the following records must need another page
                await send(broker.broker, of_journal(records, number), name=f"table-{number}")
            await store.until(lambda: "store-full" in [one["code"] for one in store.logged("store.away")])
            make_room(disk)
            wanted = 41 * len([one for one in records if isinstance(one, DecisionMade)])
            await send(broker.broker, records)
            await until(lambda: rows.count("decision") == wanted, store)
            assert rows.alarms() == {}


def of_journal(records: list[Record], number: int) -> list[Record]:
    """Return the same records as another journal, without heads, whose signatures belong to one journal."""
    return [replace(one, journal=f"{number:032x}") for one in records if not isinstance(one, HeadSigned)]


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        (" password=wrong", "store-refused", "password authentication failed"),
        (" dbname=no_such_database", "store-refused", "does not exist"),
        (" dbname=postgres", "store-schema", "does not have the store's schema"),
        (" host=/nowhere", "store-unreachable", "No such file"),
    ],
)
def test_why_a_database_cannot_be_used(own_role: str, changes: str, code: str, says: str) -> None:
    with closing(Database(own_role + changes)) as database, pytest.raises(StoreError) as found:
        database.check()
    assert found.value.code == code
    assert says in str(found.value)
    assert "right" not in str(found.value) + str(found.value.hint), "no password"
    assert found.value.hint


def test_an_invalid_address() -> None:
    with pytest.raises(StoreError) as found:
        Database("postgresql://[")
    assert found.value.code == "store-refused"


async def test_a_problem_that_needs_a_person_ends_the_start(own_role: str, rows: Rows, tmp_path: Path) -> None:
    rows.do("UPDATE cardshoe.schema_version SET version = 99")
    async with a_broker(tmp_path) as broker:
        for address, says in ((own_role, "of version 99; this program has 1"), (f"{own_role} password=no", "password")):
            child = start_store(broker, address)
            assert await child.ended() == 78
            assert says in "".join(child.err)
            child.abandon()


async def test_it_waits_for_a_database_that_is_not_up_yet(tmp_path: Path) -> None:
    async with a_broker(tmp_path) as broker:
        child = start_store(broker, NOBODY_LISTENS.format(port=free_port()))
        await child.until(lambda: child.logged("store.away"))
        assert child.logged("store.away")[0]["code"] == "store-unreachable"
        assert await child.end() == 0


async def test_it_waits_for_a_broker_that_is_not_up_yet(address: str, tmp_path: Path) -> None:
    (tmp_path / "broker").mkdir()
    broker = Mosquitto(tmp_path / "broker", BROKER)
    child = start_store(broker, address)
    try:
        await child.until(lambda: child.logged("store.away"))
        assert child.logged("store.away")[0]["code"] == "floor-unreachable"
        await broker.start()
        await child.until(lambda: child.logged("store.connected"))
        assert await child.end() == 0
    finally:
        child.abandon()
        await broker.kill()


def test_rows_deleted_by_hand_stop_nothing(database: Database, rows: Rows, records: list[Record]) -> None:
    """The same happens where an older copy of the database replaces it."""
    writer = Writer(database)
    writer.write(heard(records))
    rows.empty()
    with pytest.raises(StoreError):
        writer.write(heard(records))
    assert writer.write(heard(records)).new == len(records)
