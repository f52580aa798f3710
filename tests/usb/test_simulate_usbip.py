"""`cardshoe simulate --usbip`: a process whose device is attached, loses its cable, and is attached again."""

from __future__ import annotations

import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware_bridge.drivers.cardlink.host import CardlinkHost
from simulators.cli.simulate import simulate
from tests.end_to_end.processes import Child
from tests.support.usbip_client import UsbIpClient

BULK_IN, BULK_OUT = 0x81, 0x01


@asynccontextmanager
async def simulated(folder: Path, *options: str) -> AsyncIterator[tuple[list[str], int]]:
    """Yield the two lines that the process prints, and its port."""
    child = Child(
        "controller", "simulate", "--usbip", "0", "--no-console", "--kind", "shoe",
        "--key-file", str(folder / "keys"), "--link", str(folder / "device"), *options,
    )  # fmt: skip
    try:
        lines = await child.until(lambda: child.out[:2] if len(child.out) > 1 else None)
        assert lines is not None
        found = re.search(r"--tcp-port (\d+)", lines[1])
        assert found is not None, lines
        yield lines, int(found[1])
    finally:
        assert await child.end() == 0


async def attach(port: int) -> UsbIpClient:
    """Attach and configure the device, as soon as it is available."""
    while True:
        client = await UsbIpClient.connect(port)
        if await client.attach() is not None:
            assert (await client.control(0x00, 9, 1)).status == 0
            return client
        await client.close()


def hello() -> bytes:
    """Return the bytes that a host sends first, which the device answers."""
    return CardlinkHost(nonce=bytes(16), key_of=lambda serial: bytes(32), held=(0, 0), now=0.0).outgoing()


async def test_the_output_shows_how_to_open_and_attach_it(tmp_path: Path) -> None:
    async with simulated(tmp_path) as (lines, port):
        assert lines[0] == "usb:///1209:0001/CARDSHOE-SIM-1"
        assert lines[1].endswith(f"usbip --tcp-port {port} attach -r 127.0.0.1 -b 1-1")
        client = await UsbIpClient.connect(port)
        ((record, interfaces),) = await client.list()
        assert (record.vendor, record.product, len(interfaces)) == (0x1209, 1, 3)
        await client.close()


@pytest.mark.parametrize("fault", ["hub-reset@1", "unplug@1"])
async def test_the_cable_is_back_immediately_and_the_device_attached_again(tmp_path: Path, fault: str) -> None:
    async with simulated(tmp_path, "--fault", fault) as (_, port):
        client = await attach(port)
        client.submit(BULK_OUT, data=hello())
        await client.rest()  # the connection ends with the cable
        await client.close()
        client = await attach(port)
        read = client.submit(BULK_IN, length=4096)
        client.submit(BULK_OUT, data=hello())
        assert (await client.done(read)).data.startswith(b"\xc0"), "the device goes on, with the next frame"
        await client.close()


async def test_a_one_way_shoe_is_on_usb_too(tmp_path: Path) -> None:
    async with simulated(tmp_path, "--driver", "bee_tek", "--draw-every", "0.05") as (lines, port):
        assert lines[0].endswith("?driver=bee_tek")
        client = await attach(port)
        assert (await client.done(client.submit(BULK_IN, length=4096))).actual > 0
        await client.close()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--usbip", "--tcp", "4001"], "two places for one device"),
        (["--usbip", "somewhere"], "'somewhere' is not a port"),
        (["--fault", "halt@3"], "Only a device on USB can show halt"),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, options: list[str], sentence: str) -> None:
    given = ["--no-console", "--key-file", str(tmp_path / "keys"), "--link", str(tmp_path / "device"), *options]
    done = CliRunner().invoke(simulate, given)
    assert done.exit_code == 2
    assert sentence in done.output


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        given = ["--no-console", "--key-file", str(tmp_path / "keys"), "--link", str(tmp_path / "d"), "--usbip", place]
        done = CliRunner().invoke(simulate, given)
    assert done.exit_code == 2
    assert f"cannot appear at {place}" in done.output
    assert "Name another port with --usbip." in done.output
