"""From boot to a concluded round: daemon, udev, the device's link, the deal, the cable."""

from __future__ import annotations

import asyncio

import pytest

from tests.support import long_forms
from tests.vm.conftest import Rig
from tests.vm.image import CONFIGURATION, HTTP_PORT, LINK, SERIAL, SERVICE, SOCKET

MID_ROUND = 4  # cards
USB_URL = f"usb:///1209:0001/{SERIAL}"


def over_each_transport(of: str) -> pytest.MarkDecorator:
    """Return a mark that sets `url`: a serial port by udev, and bulk transfers. A bounded run takes one of them."""
    urls = [pytest.param("", id="CDC-ACM"), pytest.param(USB_URL, id="bulk")]
    return pytest.mark.parametrize("url", long_forms.half(urls, of))


async def test_after_boot_the_daemon_waits_for_its_device(rig: Rig) -> None:
    guest = rig.machine.guest
    shown = await guest.run(f"systemctl show {SERVICE} --property ActiveState,NRestarts,Result,StatusText,User")
    assert {"ActiveState=active", "NRestarts=0", "Result=success"} <= set(shown.splitlines()), shown
    assert not (await guest.run("systemctl --failed --no-legend")).strip()
    assert (await guest.attempt(f"runuser -u dealer -- cardshoe status --socket {SOCKET}")).code == 1
    view = await rig.table.view()
    assert not view.device.connected
    assert view.service == "out_of_service"
    page = await guest.run(
        f"python3 -c \"from urllib.request import *; print(urlopen('http://127.0.0.1:{HTTP_PORT}/').read(99))\""
    )
    assert "<!doctype html>" in page.lower()


async def test_a_device_that_is_plugged_in_is_named_opened_to_the_daemon_and_ready(rig: Rig) -> None:
    guest = rig.machine.guest
    await rig.cable.plug()
    view = await rig.table.until(lambda view: view.device.connected)
    assert view.device.serial == SERIAL
    owner = await guest.run(f"stat --dereference --format '%a %G' {LINK}")
    daemon = await guest.run(f"systemctl show {SERVICE} --property Group --value")
    assert owner == f"660 {daemon}"
    assert (await guest.run(f"readlink {LINK}")).startswith("../ttyACM")
    node = await guest.run(f"udevadm info --query property {LINK} | sed -n 's/^ID_PATH=//p'")
    assert "vhci_hcd.0-usb-0:1:" in node


@over_each_transport("a round")
async def test_a_round_interrupted_by_the_cable_ends_at_another_port(rig: Rig, url: str) -> None:
    await use_url(rig, url)
    await rig.cable.plug(port=0)
    await rig.table.until(lambda view: view.device.connected)
    async with asyncio.TaskGroup() as people:
        playing = people.create_task(rig.table.play(rig.cable))
        await rig.table.until(lambda view: view.dealt >= MID_ROUND)
        await rig.cable.unplug()
        await rig.table.until(lambda view: not view.device.connected)
        assert (await rig.machine.guest.attempt(f"test -e {LINK}")).code
        await rig.cable.plug(port=3)
    assert playing.result()
    names = [event["event"] for event in await rig.table.events()]
    assert names.count("device_ready") == 2
    assert "status_agrees" in names[names.index("device_lost") :]
    view = await rig.table.view()
    assert view.phase == "concluded"
    where = await rig.machine.guest.run(f"grep --files-with-matches {SERIAL} /sys/bus/usb/devices/*/serial")
    assert where.endswith("-4/serial")  # hubs count from 1


async def use_url(rig: Rig, url: str) -> None:
    """Configure another way for the daemon to find its device."""
    if url:
        await rig.machine.guest.run(
            f"sed -i 's#^url = .*#url = \"{url}\"#' {CONFIGURATION} && systemctl restart {SERVICE}"
        )
