"""A real table with a real broker, and who reads what it sends."""

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
    """`[floor]`, of a broker on this machine."""
    lines = [f"{key} = {value}" for key, value in more.items()]
    return "\n".join(("[floor]", f'broker = "mqtt://localhost:{port}"', 'site = "vienna"', 'pit = "p1"', *lines, ""))


@asynccontextmanager
async def table_with_broker(*lines: str, rounds: int = 2, **more: int) -> AsyncIterator[tuple[Stage, Mosquitto]]:
    """`lines`: of the broker's configuration. `more`: of the table's."""
    with short_folder() as folder:
        (folder / "broker").mkdir()
        async with mosquitto(folder / "broker", *(lines or KEEPS_ALL)) as broker, Stage(folder, rounds=rounds) as stage:
            stage.configure(law=section(broker.port, **more))
            yield stage, broker


@asynccontextmanager
async def floor_of_one(rounds: int = 2, **more: int) -> AsyncIterator[tuple[Stage, Mosquitto, FloorReader]]:
    """A table with its device, a broker, and who reads."""
    async with table_with_broker(rounds=rounds, **more) as (stage, broker), reader(broker.broker) as found:
        yield stage, broker, found


async def play_unheard(stage: Stage, broker: Mosquitto) -> None:
    """The rounds are played while the broker is away, and the daemon is stopped: all is still to be sent."""
    await broker.stop()
    await stage.start_device()
    await stage.start_daemon(SOON)
    await stage.played()
    assert await stage.daemon.end() == 0
    await broker.start()


async def until_more(stage: Stage, found: FloorReader, records: int) -> None:
    """Until so many more were read, or the rounds are over."""
    ended = asyncio.ensure_future(stage.device.ended())
    more = asyncio.ensure_future(found.until_count(len(found.records) + records))
    try:
        await asyncio.wait({ended, more}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiting in (ended, more):
            waiting.cancel()


async def finish(stage: Stage, found: FloorReader) -> None:
    """All that the journal holds has arrived, in its order; the daemon stops in order."""
    await found.until_whole(stage.journal)
    check(found.records, stage.journal)
    assert await stage.daemon.end() == 0
