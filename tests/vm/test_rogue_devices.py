"""Devices with a false identity, at the real kernel, udev and daemon: refused, journaled, and reported."""

from __future__ import annotations

from contextlib import AsyncExitStack

from tests.vm.conftest import Rig
from tests.vm.image import SERIAL, SERVICE
from tests.vm.plug import Cable
from tests.vm.test_full_chain import USB_URL, over_each_transport, use_url

FOREIGN = f"""\
device=$(dirname $(grep --files-with-matches {SERIAL} /sys/bus/usb/devices/*/serial))
for interface in $device/*:1.*; do
    class=$(cat $interface/bInterfaceClass)
    test $class = 03 || continue
    echo $(cat $interface/authorized) $(basename $(readlink $interface/driver || echo none))
done"""


async def codes(rig: Rig) -> list[str]:
    """Return the codes of every ended link and every journaled fault of the device."""
    return [event["code"] for event in await rig.table.events() if event["event"] in ("device_lost", "device_refused")]


@over_each_transport("another key")
async def test_the_right_number_with_another_key_is_refused(rig: Rig, url: str) -> None:
    """The device checks the proof first; `tests/end_to_end/test_which_device.py` has a device that does not."""
    await use_url(rig, url)
    async with Cable(rig.machine, SERIAL, bytes(range(32))) as rogue:
        await rogue.plug()
        view = await rig.table.until_seen(lambda view: view.device.code == "device-rejects-host")
        assert not view.device.connected
        assert "pair the device again" in str(view.device.sentence)
        assert view.service == "out_of_service"
    assert "device-rejects-host" in await codes(rig)


async def test_another_number_is_not_opened(rig: Rig) -> None:
    """It could not be: the table's own udev rule names one number, and other devices belong to another group."""
    await use_url(rig, USB_URL)
    async with Cable(rig.machine, "CARDSHOE-0002", rig.image.facts.device_key) as other:
        await other.plug()
        view = await rig.table.until_seen(lambda view: view.device.code == "usb-permission")
        assert not view.device.connected


@over_each_transport("two devices")
async def test_of_two_with_one_number_neither_is_used_until_one_is_unplugged(rig: Rig, url: str) -> None:
    await use_url(rig, url)
    code = "usb-ambiguous" if url else "port-ambiguous"
    async with AsyncExitStack() as stack:
        twin = await stack.enter_async_context(Cable(rig.machine, SERIAL, rig.image.facts.device_key, seed=8))
        await rig.cable.plug(0)
        await rig.table.until(lambda view: view.device.connected)
        await twin.plug(1)
        await rig.machine.guest.run(f"udevadm settle && systemctl restart {SERVICE}")
        view = await rig.table.until_seen(lambda view: view.device.code == code)
        assert not view.device.connected
        assert code in await codes(rig)
        await twin.unplug()
        await rig.table.until(lambda view: view.device.connected)


async def test_a_keyboard_on_the_same_plug_is_switched_off_and_the_device_is_used(rig: Rig) -> None:
    async with Cable(rig.machine, SERIAL, rig.image.facts.device_key, foreign=("keyboard",)) as device:
        await device.plug()
        await rig.table.until(lambda view: view.device.connected)
        await rig.machine.guest.run("udevadm settle")
        assert await rig.machine.guest.run(FOREIGN) == "0 none"
