"""The machine loses power in the middle of a round, on a disk with a volatile write cache, and boots again."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from controller.api.bodies import EventId
from controller.api.client import ApiClient, TableUnreachableError
from tests.support import long_forms
from tests.vm.image import CONFIGURATION, SERIAL, Image
from tests.vm.machine import PATIENCE, Machine, Parts
from tests.vm.plug import Cable
from tests.vm.table import Table, relay
from tests.vm.volatile_disk import VolatileDisk

MID_ROUND = 4  # cards
WRITES = 60  # of the disk, within which the power fails; to its end a round makes some 106
MORE = [pytest.param(seed, marks=pytest.mark.soak) for seed in long_forms.some(range(2, 12))]


class Cut(NamedTuple):
    """A machine booted after a power cut with what the disk had kept, and what was known before.

    `seen`: every published event. `acknowledged`: the last report that was acknowledged to the device. `playing`: the
    people, who wait for the table.
    """

    machine: Machine
    cable: Cable
    table: Table
    seen: list[dict[str, Any]]
    acknowledged: int
    playing: asyncio.Task[int]

    async def lost(self) -> bool:
        """Return whether anything that was shown or acknowledged is lost."""
        view = await self.table.until(lambda view: True)
        return (await self.table.events())[: len(self.seen)] != self.seen or view.device.last_report < self.acknowledged


async def seen_until_cut(table: Table, seen: list[dict[str, Any]]) -> None:
    """Collect every published event: each is acknowledged, whoever asked for it."""
    with suppress(TableUnreachableError, ConnectionError, TimeoutError):
        async with ApiClient(table.socket) as client:
            async for event in client.events(EventId(entry=0)):
                if event is not None:
                    seen.append(event)


async def cut_in_a_round(
    saved: Image, folder: Path, stack: AsyncExitStack, random: Random, *, lies: bool = False
) -> Cut:
    """Cut the power in a round. With `lies` the disk keeps nothing that it acknowledges from the first bet on."""
    disk = VolatileDisk(saved.disk)
    table = Table(folder / "api.sock", saved.facts.crew)
    seen: list[dict[str, Any]] = []
    drive = disk.drive(folder / "disk.sock")
    resumed = Parts(saved.kernel, saved.initial, drive, saved.memory)
    await stack.enter_async_context(disk.serving(folder / "disk.sock"))
    machine = await stack.enter_async_context(Machine(resumed, new(folder / "before")))
    cable = await stack.enter_async_context(Cable(machine, SERIAL, saved.facts.device_key))
    people = await stack.enter_async_context(asyncio.TaskGroup())
    async with relay(table.socket, await machine.forward()):
        following = people.create_task(seen_until_cut(table, seen))
        await cable.plug()
        await table.until(lambda view: view.device.connected)
        await machine.guest.run("sync")
        disk.lies = lies
        playing = people.create_task(table.play(cable))
        await table.until(lambda view: view.dealt >= MID_ROUND)
        disk.stop_at = disk.operations + random.randint(1, WRITES)
        cut = people.create_task(disk.stopped.wait())
        await asyncio.wait({cut, playing}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED)
        assert disk.stopped.is_set(), "the round ended before the power went"
        acknowledged = cable.device.link.last_number - cable.device.link.unacknowledged
        await machine.cut_power()
    await following
    assert "cards_dealt" in [event["event"] for event in seen]
    assert disk.cut(random)
    booted = Parts(saved.kernel, saved.initial, drive)
    machine = await stack.enter_async_context(Machine(booted, new(folder / "after")))
    await stack.enter_async_context(relay(table.socket, await machine.forward()))
    cable.machine = machine
    return Cut(machine, cable, table, seen, acknowledged, playing)


@pytest.mark.parametrize("seed", [1, *MORE])
async def test_nothing_acknowledged_is_lost_and_the_round_is_concluded(saved: Image, folder: Path, seed: int) -> None:
    async with AsyncExitStack() as stack:
        cut = await cut_in_a_round(saved, folder, stack, Random(f"{seed}/power"))
        assert not await cut.lost()
        await cut.machine.guest.run(f"cardshoe journal verify --config {CONFIGURATION}")
        assert "EXT4-fs error" not in cut.machine.console()
        await cut.machine.guest.run("modprobe vhci-hcd")
        await cut.cable.plug()
        await cut.playing
        assert (await cut.table.view()).phase == "concluded"


async def test_a_disk_that_keeps_nothing_of_its_acknowledged_writes_is_found(saved: Image, folder: Path) -> None:
    """Otherwise the test above would not find any loss."""
    async with AsyncExitStack() as stack:
        cut = await cut_in_a_round(saved, folder, stack, Random("lies"), lies=True)
        assert await cut.lost()
        cut.playing.cancel()


def new(folder: Path) -> Path:
    folder.mkdir()
    return folder
