"""A real table with a real broker, and a reader of what it sends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.end_to_end.child import Orders
from tests.end_to_end.stage import Stage, short_folder
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.reading import FloorReader, check, reader

KEEPS_ALL = ("max_queued_messages 0", "autosave_interval 1")
SOON = Orders(longest_pause=0.2)
"""A daemon that soon looks again for a broker that is away."""


def section(port: int, **more: int) -> str:
    """Return the `[floor]` section for a broker on this machine."""
    lines = [f"{key} = {value}" for key, value in more.items()]
    return "\n".join(("[floor]", f'broker = "mqtt://localhost:{port}"', 'site = "vienna"', 'pit = "p1"', *lines, ""))


@asynccontextmanager
async def table_with_broker(*lines: str, rounds: int = 2, **more: int) -> AsyncIterator[tuple[Stage, Mosquitto]]:
    """Yield a table and its broker. `lines` are for the broker's configuration, `more` for the table's."""
    with short_folder() as folder:
        (folder / "broker").mkdir()
        async with mosquitto(folder / "broker", *(lines or KEEPS_ALL)) as broker, Stage(folder, rounds=rounds) as stage:
            stage.configure(law=section(broker.port, **more))
            yield stage, broker


@asynccontextmanager
async def floor_of_one(rounds: int = 2, **more: int) -> AsyncIterator[tuple[Stage, Mosquitto, FloorReader]]:
    """Yield a table with its device, a broker and a reader."""
    async with table_with_broker(rounds=rounds, **more) as (stage, broker), reader(broker.broker) as found:
        yield stage, broker, found


async def play_unheard(stage: Stage, broker: Mosquitto) -> None:
    """Play the rounds while the broker is away, and stop the daemon: everything is still to be sent."""
    await broker.stop()
    await stage.start_device()
    await stage.start_daemon(SOON)
    await stage.played()
    assert await stage.daemon.end() == 0
    await broker.start()


async def until_more(stage: Stage, found: FloorReader, records: int) -> None:
    """Wait until `records` more records have been read, or the rounds are over."""
    ended = asyncio.ensure_future(stage.device.ended())
    more = asyncio.ensure_future(found.until_count(len(found.records) + records))
    try:
        await asyncio.wait({ended, more}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in (ended, more):
            waiting.cancel()


async def finish(stage: Stage, found: FloorReader) -> None:
    """Wait until everything in the journal has arrived in order, then stop the daemon."""
    await found.until_whole(stage.journal)
    check(found.records, stage.journal)
    assert await stage.daemon.end() == 0
