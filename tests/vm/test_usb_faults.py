"""Every fault of USB at the real kernel, in a round that is concluded; a bench's device with Debian's own usbip."""

from __future__ import annotations

import asyncio
from pathlib import Path

from simulators.devices.faults import FAULTS
from tests.usb.test_simulate_usbip import simulated
from tests.vm.conftest import Rig
from tests.vm.image import SERIAL
from tests.vm.machine import HOST, PATIENCE
from tests.vm.test_full_chain import over_each_transport, use_url

SHORT, HALT, BABBLE, HUB_RESET, SLOW = "short-packets=7", "halt@3", "babble@3", "hub-reset@3", "slow-enumeration@4"


def test_every_fault_of_usb_is_shown_here() -> None:
    shown = {fault.replace("=", "@").partition("@")[0] for fault in (SHORT, HALT, BABBLE, HUB_RESET, SLOW)}
    assert shown == {fault.name for fault in FAULTS if fault.usb}


@over_each_transport("faults")
async def test_a_round_is_concluded_over_every_fault_of_usb(rig: Rig, url: str) -> None:
    """The hub's reset disconnects the device; at the next plug it enumerates slowly."""
    cable, table = rig.cable, rig.table
    await use_url(rig, url)
    cable.arm(SHORT)
    await cable.plug(0)
    await table.until(lambda view: view.device.connected)
    async with asyncio.TaskGroup() as people:
        playing = people.create_task(table.play(cable))
        await table.until(lambda view: view.dealt > 0)
        for fault in (HALT, BABBLE):
            cable.arm(fault)
            await table.until(lambda view: cable.injector.armed() == [SHORT])
            await table.until(lambda view: view.device.connected)
        cable.arm(HUB_RESET)
        async with asyncio.timeout(PATIENCE):
            await cable.hub_reset.wait()
        await cable.until_noticed()
        cable.arm(SLOW)
        await cable.plug(1)
    assert playing.result()
    view = await table.until(lambda view: view.device.connected)
    assert view.phase == "concluded"
    assert cable.injector.armed() == [SHORT]
    assert cable.device.link.unacknowledged == 0


async def test_a_bench_attaches_the_simulator_by_usbip(rig: Rig, tmp_path: Path) -> None:
    """`cardshoe simulate --usbip` runs as a separate process, as in docs/usb.md."""
    keys = tmp_path / "keys"
    keys.write_text(f"{SERIAL} {rig.image.facts.key}\n")
    keys.chmod(0o600)
    async with simulated(tmp_path, "--kind", "shuffler", "--serial", SERIAL, "--load") as (lines, _):
        command = lines[1].replace("127.0.0.1", HOST)
        await rig.machine.guest.run(command[command.index("usbip") :])
        view = await rig.table.until(lambda view: view.device.connected and view.device.link == "ready")
        assert view.device.serial == SERIAL
        assert "1209:0001" in await rig.machine.guest.run("usbip port")
        await rig.machine.guest.run("usbip detach -p 00")
        await rig.table.until(lambda view: not view.device.connected)
