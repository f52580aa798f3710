"""The floor gets the whole journal of a real daemon, in order, whatever happens to the broker and to the daemon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from controller.floor.cursor_file import NAME, read_cursor
from controller.floor.topics import Subject
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.reading import FloorReader, check, reader

pytestmark = pytest.mark.tool("mosquitto")


def section(broker: Mosquitto, **more: object) -> str:
    lines = [f"{key} = {value}" for key, value in more.items()]
    return "\n".join(
        ("[floor]", f'broker = "mqtt://localhost:{broker.port}"', 'site = "vienna"', 'pit = "p1"', *lines, "")
    )


@asynccontextmanager
async def floor_of_one(rounds: int = 2, **more: object) -> AsyncIterator[tuple[Stage, Mosquitto, FloorReader]]:
    """A table with its device, a broker, and who reads."""
    with short_folder() as folder:
        (folder / "broker").mkdir()
        async with (
            mosquitto(folder / "broker", "max_queued_messages 0", "autosave_interval 1") as broker,
            Stage(folder, rounds=rounds) as stage,
            reader(broker.broker) as found,
        ):
            stage.configure(law=section(broker, **more))
            yield stage, broker, found


async def test_rounds_arrive_whole_with_the_state_of_table_device_and_service() -> None:
    async with floor_of_one() as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon()
        await stage.played()
        await found.until_whole(stage.journal)
        view = await stage.state()
        await found.until(lambda: found.reports[Subject.TABLE][-1]["entry"] == view.entry)
        table, device, service = (found.reports[one][-1] for one in (Subject.TABLE, Subject.DEVICE, Subject.SERVICE))
        assert (table["phase"], table["round"], table["journal"]) == (view.phase, view.round, view.journal)
        assert table["next_step"] == view.next_step
        assert device["kind"] == "shuffler"
        assert service["status"] == "running"
        assert await stage.daemon.end() == 0
        await found.until(lambda: found.reports[Subject.SERVICE][-1]["status"] == "stopped")
        await stage.start_daemon()  # what was written at the stop is sent at the next start
        await found.until_whole(stage.journal)
        check(found.records, stage.journal)
        assert await stage.daemon.end() == 0


async def test_an_open_irregularity_says_what_where_and_who() -> None:
    async with floor_of_one(9) as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon()
        await found.until(lambda: any(one["irregularities"] for one in found.reports[Subject.TABLE]))
        report = next(one for one in found.reports[Subject.TABLE] if one["irregularities"])
        (one, *_) = report["irregularities"]
        assert one["what"]
        assert one["act"].endswith((".", "?"))
        assert one["who"]
        assert one["since_utc_ns"] > 0
        assert await stage.daemon.end() == 0


async def test_a_broker_that_is_killed_again_and_again() -> None:
    random = Random(26)
    async with floor_of_one(6) as (stage, broker, found):
        await stage.start_device()
        await stage.start_daemon()
        while stage.device.running:
            have = len(found.records)
            target = have + random.randint(1, 40)
            ended = asyncio.ensure_future(stage.device.ended())
            more = asyncio.ensure_future(found.until_count(target))
            await asyncio.wait({ended, more}, return_when=asyncio.FIRST_COMPLETED)
            for waiting in (ended, more):
                waiting.cancel()
            await broker.kill()
            await broker.start()
        await found.until_whole(stage.journal)
        check(found.records, stage.journal)
        assert await stage.daemon.end() == 0


async def test_a_daemon_that_is_killed_goes_on_where_it_was() -> None:
    random = Random(27)
    async with floor_of_one(5, repeat_minutes=0) as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon()
        for _ in range(6):
            target = len(found.records) + random.randint(1, 60)
            ended = asyncio.ensure_future(stage.device.ended())
            more = asyncio.ensure_future(found.until_count(target))
            await asyncio.wait({ended, more}, return_when=asyncio.FIRST_COMPLETED)
            for waiting in (ended, more):
                waiting.cancel()
            await stage.kill_daemon()
            await stage.start_daemon()
        await stage.played()
        await found.until_whole(stage.journal)
        check(found.records, stage.journal)
        assert await stage.daemon.end() == 0
        assert len(found.records) < 2 * len(set(map(repr, found.records)))  # the cursor was kept


async def test_without_a_broker_the_table_deals_and_the_backlog_follows() -> None:
    async with floor_of_one(3) as (stage, broker, found):
        await broker.stop()
        await stage.start_device()
        await stage.start_daemon()
        await stage.played()
        assert not found.records
        assert [one["code"] for one in stage.daemon.logged("floor.away")] == ["floor-unreachable"]
        await broker.start()
        await found.until_whole(stage.journal)
        check(found.records, stage.journal)
        assert await stage.daemon.end() == 0


async def test_what_nobody_reads_stays_with_the_table() -> None:
    with short_folder() as folder:
        (folder / "broker").mkdir()
        async with mosquitto(folder / "broker") as broker, Stage(folder, rounds=1) as stage:
            stage.configure(law=section(broker))
            await stage.start_device()
            await stage.start_daemon()
            await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
            await stage.played()
            assert stage.daemon.logged("floor.away")[0]["code"] == "floor-unread"
            assert read_cursor(stage.journal / NAME) is None
            assert await stage.daemon.end() == 0
            await stage.start_daemon()
            async with reader(broker.broker) as found:
                await found.until_whole(stage.journal)
                check(found.records, stage.journal)
                assert await stage.daemon.end() == 0


@pytest.mark.parametrize("damage", ["lost", "torn", "of another journal"])
async def test_a_cursor_that_is_lost_repeats_what_was_sent(damage: str) -> None:
    async with floor_of_one(1) as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon()
        await stage.played()
        await found.until_whole(stage.journal)
        assert await stage.daemon.end() == 0
        cursor = stage.journal / NAME
        text = cursor.read_bytes()
        if damage == "lost":
            cursor.unlink()
        else:
            cursor.write_bytes(text[:20] if damage == "torn" else text.replace(b'"journal":"', b'"journal":"ff'))
        sent = len(found.records)
        await stage.start_daemon()
        await found.until_whole(stage.journal)
        async with asyncio.timeout(PATIENCE):
            await found.until(lambda: len(found.records) > 2 * sent)
        check(found.records, stage.journal)
        assert await stage.daemon.end() == 0


def test_the_cursor_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert read_cursor(tmp_path / "none") is None
