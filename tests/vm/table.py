"""The people at the table, outside the machine: they act through the table's socket, which a proxy inside forwards.

    people here -- socket -- relay here -- port -- QEMU -- proxy inside, as the user `dealer` -- the table's socket

So the daemon sees a peer that it admits, and the people are the simulators' own, who also handle the device.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

from controller.api.bodies import EventId
from controller.api.client import ApiClient, TableUnreachableError
from controller.api.view import TableView
from controller.games.specification import Unit
from simulators.people.crew import Crew
from simulators.people.dealer import SimulatedDealer
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import plan_rounds
from simulators.ports.tcp import close
from tests.vm.machine import PATIENCE
from tests.vm.plug import Cable

SEED = 7


@asynccontextmanager
async def relay(path: Path, port: int) -> AsyncIterator[None]:
    """Yield a Unix socket that is forwarded to a port of the loopback. Open connections are closed at the end."""
    tasks: set[asyncio.Task[None]] = set()
    opened: list[asyncio.StreamWriter] = []

    def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(writer)
        tasks.add(task := asyncio.create_task(lead(reader, writer)))
        task.add_done_callback(tasks.discard)

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError):
                other, to_other = await asyncio.open_connection("127.0.0.1", port)
                opened.append(to_other)
                await _join(reader, writer, other, to_other)
                to_other.close()
        finally:
            writer.close()

    server = await asyncio.start_unix_server(take, path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # noqa: ASYNC240  # before anything else
        await close(server)
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in opened:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
        await server.wait_closed()


async def _join(
    one: asyncio.StreamReader, to_one: asyncio.StreamWriter, other: asyncio.StreamReader, to_other: asyncio.StreamWriter
) -> None:
    """Carry both directions until one side ends."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()

    ways = [asyncio.create_task(carry(one, to_other)), asyncio.create_task(carry(other, to_one))]
    try:
        await asyncio.wait(ways, return_when="FIRST_COMPLETED")
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


class Table:
    """The people's view and acts. `socket`: the relay's."""

    def __init__(self, socket: Path, crew: Crew) -> None:
        self.socket = socket
        self.crew = crew

    async def view(self) -> TableView:
        async with ApiClient(self.socket) as client:
            return await client.state()

    async def until(self, so: Callable[[TableView], bool]) -> TableView:
        """Wait for the first view that satisfies the condition. While no daemon answers, ask again."""
        last = None

        def seen(view: TableView) -> bool:
            nonlocal last
            last = view
            return so(view)

        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    with suppress(TableUnreachableError):
                        return await self._until(seen)
                    await asyncio.sleep(0.2)
        except TimeoutError as error:
            error.add_note(f"the last view: {last}")
            raise

    async def _until(self, so: Callable[[TableView], bool]) -> TableView:
        async with ApiClient(self.socket) as client:
            view = await client.state()
            stream = client.events(EventId(entry=view.entry))
            try:
                while not so(view):
                    await anext(stream)
                    view = await client.state()
            except StopAsyncIteration as ended:
                raise TableUnreachableError("the events ended") from ended
            finally:
                await stream.aclose()
            return view

    async def until_seen(self, so: Callable[[TableView], bool]) -> TableView:
        """Wait as `until` does, for changes without an event, such as the state of the link."""
        async with asyncio.timeout(PATIENCE):
            while not so(view := await self.until(lambda view: True)):  # noqa: ASYNC110  # another process
                await asyncio.sleep(0.2)
            return view

    async def events(self, after: int = 0) -> list[dict[str, Any]]:
        """Return all events so far after an entry."""
        found: list[dict[str, Any]] = []
        async with ApiClient(self.socket) as client, asyncio.timeout(PATIENCE):
            stream = client.events(EventId(entry=after))
            try:
                while (event := await anext(stream)) is not None:
                    found.append(event)
            finally:
                await stream.aclose()
        return found

    async def play(self, cable: Cable, rounds: int = 1, *, seed: int = SEED) -> int:
        """Play planned rounds with that device's cards to their end, and return the last entry that people saw."""
        plan = plan_rounds(seed, Unit.SETS, rounds)
        physical = PhysicalTable(cable.device.mechanism, cable.pace)
        dealer = SimulatedDealer(cable.device, physical, self.socket, plan, Random(f"{seed}/people"), self.crew)
        async with asyncio.timeout(2 * PATIENCE):
            return await dealer.play()
