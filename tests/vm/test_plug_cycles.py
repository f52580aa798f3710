"""Plugged in and out, many times and at any transfer: no hang, no leak, ready again each time."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import pytest

from simulators.usb.descriptors import BULK_IN, BULK_OUT, INTERRUPT_IN, SERIAL_IN, SERIAL_NOTICES, SERIAL_OUT
from tests.vm.conftest import PLUG_TO_READY, Rig
from tests.vm.image import LINK, SERVICE
from tests.vm.machine import PATIENCE
from tests.vm.test_full_chain import over_each_transport, use_url

LEAKED = 8192  # KiB of memory, over all cycles: more is a leak


class Held(NamedTuple):
    """The daemon's resources. `resident`: KiB of memory."""

    descriptors: int
    threads: int
    resident: int


async def held(rig: Rig) -> Held:
    told = await rig.machine.guest.run(
        f"pid=$(systemctl show {SERVICE} --property MainPID --value); ls /proc/$pid/fd | wc -l; "
        "sed -n 's/^Threads:\\t//p; s/^VmRSS:\\t *\\([0-9]*\\).*/\\1/p' /proc/$pid/status"
    )
    descriptors, resident, threads = map(int, told.split())
    return Held(descriptors, threads, resident)


async def held_at_rest(rig: Rig) -> Held:
    """Return the daemon's resources after pending work has ended, which two equal measurements show."""
    async with asyncio.timeout(PATIENCE):
        before = await held(rig)
        while True:
            await rig.machine.guest.run("sleep 2")
            found = await held(rig)
            if found[:2] == before[:2]:
                return found
            before = found


async def nothing_more_is_held(rig: Rig, before: Held) -> None:
    """Check that the daemon holds nothing more than before. Pending work may end first."""
    async with asyncio.timeout(PATIENCE):
        while (found := await held(rig)).descriptors > before.descriptors or found.threads > before.threads:
            await rig.machine.guest.run("sleep 1")
    assert found.resident - before.resident < LEAKED


async def plug_until_ready(rig: Rig, port: int) -> float:
    """Return the seconds from the moment when the kernel inside took the device to an established link."""
    await rig.cable.plug(port)
    await rig.table.until(lambda view: view.device.connected)
    return asyncio.get_running_loop().time() - rig.cable.plugged_at


async def unplug(rig: Rig) -> None:
    await rig.cable.unplug()
    await until_away(rig)


async def until_away(rig: Rig) -> None:
    await rig.table.until(lambda view: not view.device.connected)
    await rig.machine.guest.until(f"test ! -e {LINK}")


@over_each_transport("plug cycles")
@pytest.mark.parametrize("cycles", [5, pytest.param(100, marks=pytest.mark.soak)])
async def test_plugged_in_and_out_again_and_again(rig: Rig, url: str, cycles: int, record_property: Any) -> None:
    await use_url(rig, url)
    await plug_until_ready(rig, 0)
    await unplug(rig)
    before = await held_at_rest(rig)
    times = []
    for cycle in range(cycles):
        times.append(await plug_until_ready(rig, cycle % 8))
        await unplug(rig)
    record_property(f"{PLUG_TO_READY}{'bulk' if url else 'CDC-ACM'}", times)
    await nothing_more_is_held(rig, before)


def of(endpoint: int) -> Any:
    return lambda transfer: transfer.endpoint == endpoint


def request(kind: int, number: int) -> Any:
    """Return a control request by its first two bytes."""
    return lambda transfer: transfer.setup[:2] == bytes((kind, number))


ON_BOTH = {
    "its descriptors are read": request(0x80, 6),
    "it is configured": request(0x00, 9),
}
ON_SERIAL = {
    "the line is set": request(0x21, 0x20),
    "DTR is raised": request(0x21, 0x22),
    "the port's notices are waited for": of(SERIAL_NOTICES),
    "the port is read": of(SERIAL_IN),
    "the port is written": of(SERIAL_OUT),
}
ON_BULK = {
    "bytes are read": of(BULK_IN),
    "bytes are written": of(BULK_OUT),
    "a status is waited for": of(INTERRUPT_IN),
}


@over_each_transport("transfers")
async def test_unplugged_during_every_kind_of_transfer(rig: Rig, url: str) -> None:
    moments = ON_BULK if url else ON_BOTH | ON_SERIAL
    await use_url(rig, url)
    await plug_until_ready(rig, 0)
    await unplug(rig)
    before = await held_at_rest(rig)
    for so in moments.values():
        happened = rig.cable.unplug_at(so)
        await rig.cable.plug()
        async with asyncio.timeout(PATIENCE):
            await happened.wait()
        await rig.cable.until_noticed()
        await until_away(rig)
        await plug_until_ready(rig, 1)
        await unplug(rig)
        await nothing_more_is_held(rig, before)
