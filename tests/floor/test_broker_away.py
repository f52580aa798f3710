"""Whatever happens to the broker, play continues, and the journal arrives complete, without duplicates and in order."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from controller.floor.broker import connected
from controller.floor.follower import REPORTS, TAKES, FollowedPart
from controller.floor.publisher import CURSOR_NAME, read_cursor
from controller.journal.outbox import DecisionMade
from tests.end_to_end.child import Orders
from tests.end_to_end.stage import Stage, short_folder
from tests.floor.certificates import Authority
from tests.floor.mosquitto import mosquitto
from tests.floor.reading import FloorReader, journal_of, reader, repeated
from tests.floor.slow_way import SlowWay
from tests.floor.tables import (
    KEEPS_ALL,
    SOON,
    finish,
    floor_of_one,
    play_unheard,
    section,
    table_with_broker,
    until_more,
)
from tests.support import long_forms

pytestmark = pytest.mark.tool("mosquitto")

A_DAY = 86_400
IMPATIENT = Orders(longest_pause=0.2, due_within=0.5)


@pytest.mark.parametrize("rounds", [4, pytest.param(long_forms.count(60), marks=pytest.mark.soak, id="many")])
async def test_killed_and_started_again_under_load(rounds: int) -> None:
    random = Random(26)
    async with floor_of_one(rounds) as (stage, broker, found):
        await stage.start_device()
        await stage.start_daemon(SOON)
        while stage.device.running:
            await until_more(stage, found, random.randint(1, 60))
            await broker.kill()
            await broker.start()
        await finish(stage, found)


async def test_away_while_the_table_deals_and_is_killed() -> None:
    async with floor_of_one(3) as (stage, broker, found):
        await broker.stop()
        await stage.start_device()
        await stage.start_daemon(SOON)
        await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
        await stage.kill_daemon()
        stage.drain_notified()
        await stage.start_daemon(SOON)
        await stage.played()
        assert not found.records
        await broker.start()
        await finish(stage, found)
        assert [one["code"] for one in stage.daemon.logged("floor.away")] == ["floor-unreachable"]
        assert len(list(stage.journal.glob(f"{CURSOR_NAME}*"))) == 1  # only the journal has grown


def acknowledged(journal: Path) -> int:
    """Return the number of the last entry that the kept cursor calls acknowledged."""
    sent = read_cursor(journal / CURSOR_NAME)
    return sent.acknowledged.number if sent is not None else 0


async def test_messages_lost_by_a_killed_broker_come_again_a_day_later() -> None:
    """The broker had acknowledged everything on behalf of an absent reader, but had written none of it to disk."""
    async with table_with_broker("max_queued_messages 0", "autosave_interval 0", rounds=1) as (stage, broker):
        async with reader(broker.broker):
            await broker.stop()  # the broker writes the reader's subscription
        await broker.start()
        async with reader(broker.broker, "another") as another:
            await stage.start_device()
            await stage.start_daemon(Orders(cursor_each_time=True))
            await stage.played()
            await another.until_whole(stage.journal)
            await stage.daemon.until(lambda: acknowledged(stage.journal) > 100)
            await broker.kill()
        await stage.kill_daemon()
        await broker.start()
        stage.drain_notified()
        await stage.start_daemon(Orders(longest_pause=0.2, ahead=A_DAY))
        async with reader(broker.broker) as found:
            await finish(stage, found)


async def test_a_broker_that_is_silent_in_play() -> None:
    """It accepts connections and answers nothing."""
    async with table_with_broker(rounds=2) as (stage, broker), SlowWay(broker.port) as way:
        stage.configure(law=section(way.port))
        async with reader(broker.broker) as found:
            way.open.clear()
            await stage.start_device()
            await stage.start_daemon(IMPATIENT)
            await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
            await stage.played()
            assert [one["code"] for one in stage.daemon.logged("floor.away")] == ["floor-unreachable"]
            assert not found.records
            assert await stage.daemon.end() == 0  # the daemon ends without waiting for the broker
            way.open.set()
            await stage.start_daemon(IMPATIENT)
            await found.until_count(20)
            way.open.clear()  # in the middle of the backlog
            await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
            way.open.set()
            await finish(stage, found)


async def test_slow() -> None:
    async with table_with_broker(rounds=1) as (stage, broker), SlowWay(broker.port, after=0.005) as way:
        stage.configure(law=section(way.port))
        async with reader(broker.broker) as found:
            await stage.start_device()
            await stage.start_daemon()
            await stage.played()
            await finish(stage, found)
            assert way.connections == 1
            assert repeated(found.records) == 0


async def test_refusing_and_then_not() -> None:
    with short_folder() as folder:
        access, home = folder / "access", folder / "broker"
        home.mkdir()
        access.write_text("topic read #\n")
        async with (
            mosquitto(home, *KEEPS_ALL, f"acl_file {access}") as broker,
            Stage(folder, rounds=1) as stage,
            reader(broker.broker) as found,
        ):
            stage.configure(law=section(broker.port))
            await stage.start_device()
            await stage.start_daemon(SOON)
            await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
            await stage.played()
            assert {one["code"] for one in stage.daemon.logged("floor.away")} == {"floor-refused"}
            await broker.stop()
            broker.lines.remove(f"acl_file {access}")  # an ACL makes it drop messages until the reader is back
            await broker.start()
            await finish(stage, found)


async def test_a_watching_page_does_not_replace_the_store() -> None:
    """A page has subscribed, and the broker has never seen the store, or has forgotten it."""
    async with table_with_broker(rounds=1) as (stage, broker), connected(broker.broker, "page", takes=TAKES) as page:
        await page.subscribe(*FollowedPart().filters(), qos=0)
        await stage.start_device()
        await stage.start_daemon(SOON)
        await stage.played()
        await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
        assert {one["code"] for one in stage.daemon.logged("floor.away")} == {"floor-unread"}
        async with reader(broker.broker) as found:
            await finish(stage, found)


async def test_a_certificate_that_expired_and_was_renewed(tmp_path: Path) -> None:
    """The files are read again for each connection: the daemon continues."""
    authority = Authority(tmp_path)
    with short_folder() as folder:
        (folder / "broker").mkdir()
        own = authority.sign("broker")
        lines = [f"cafile {own.ca}", f"certfile {own.certificate}", f"keyfile {own.key}", "require_certificate true"]
        async with (
            mosquitto(folder / "broker", *KEEPS_ALL, *lines, "allow_anonymous true", credentials=own) as broker,
            Stage(folder, rounds=1) as stage,
            reader(broker.broker) as found,
        ):
            given = authority.sign("nc-07", days=-1)
            files = {"ca_file": given.ca, "certificate_file": given.certificate, "key_file": given.key}
            stage.configure(
                law=f'[floor]\nbroker = "{broker.broker.address}"\nsite = "vienna"\npit = "p1"\n'
                + "".join(f'{name} = "{path}"\n' for name, path in files.items())
            )
            await stage.start_device()
            await stage.start_daemon(SOON)
            await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
            await stage.played()
            (away,) = stage.daemon.logged("floor.away")
            assert (away["code"], "expired on" in away["sentence"]) == ("floor-certificate", True)
            renewed = authority.sign("nc-07")
            given.key.write_bytes(renewed.key.read_bytes())
            given.certificate.write_bytes(renewed.certificate.read_bytes())
            await finish(stage, found)


async def test_a_limited_queue_loses_silently_and_the_gap_is_noticed() -> None:
    """It is the queue of a reader that is away. The broker acknowledges all the same: see docs/floor.md for its
    setting.
    """
    limited = ("max_queued_messages 20", "autosave_interval 1", "log_type all")
    async with table_with_broker(*limited, rounds=1, repeat_minutes=0) as (stage, broker):
        async with reader(broker.broker):
            pass
        await stage.start_device()
        await stage.start_daemon(SOON)
        await stage.played()
        await broker.until(lambda: any("Outgoing messages are being dropped" in line for line in broker.said))
        assert await stage.daemon.end() == 0
        async with reader(broker.broker) as found:
            await stage.start_daemon(SOON)
            await found.until(lambda: bool(gaps(found)))
            assert await stage.daemon.end() == 0
        await broker.stop()
        broker.lines[0] = "max_queued_messages 0"
        await broker.start()
        (stage.journal / CURSOR_NAME).unlink()  # everything comes again
        async with reader(broker.broker, "another") as found:
            await stage.start_daemon(SOON)
            await finish(stage, found)
            assert not gaps(found)


def gaps(found: FloorReader) -> list[DecisionMade]:
    """Return the decisions that do not follow the one that was read before."""
    made = [one for one in found.records if isinstance(one, DecisionMade)]
    return [after for before, after in pairwise(made) if after.first > before.last + 1]


@pytest.mark.tool("faketime")
@pytest.mark.parametrize("days", [-400, 400])
async def test_a_broker_whose_clock_is_wrong(days: int) -> None:
    with short_folder() as folder:
        (folder / "broker").mkdir()
        async with (
            mosquitto(folder / "broker", *KEEPS_ALL, days=days) as broker,
            Stage(folder, rounds=1) as stage,
            reader(broker.broker) as found,
        ):
            stage.configure(law=section(broker.port))
            await play_unheard(stage, broker)
            await stage.start_daemon()
            await found.until_whole(stage.journal)
            ahead = int(broker.said[0].split(":")[0]) * 10**9 - journal_of(stage.journal)[0].utc_ns
            assert abs(ahead / 10**9 / A_DAY - days) < 2
            async with reader(broker.broker, "newcomer") as newcomer:  # retained messages have not expired
                await newcomer.until(lambda: all(newcomer.reports[one] for one in REPORTS))
            await finish(stage, found)
