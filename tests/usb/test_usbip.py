"""The USB/IP server, tested with an independent client, with Debian's tool, and with random bytes."""

from __future__ import annotations

import asyncio
import errno
import re
import shutil
import struct
from collections.abc import AsyncIterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.messages import AnyText
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports import usbip
from simulators.ports.usbip import LONGEST_TRANSFER, MOST_CONNECTIONS, MOST_TRANSFERS, UsbipConnection, UsbIpFront
from simulators.usb.descriptors import BULK_IN, BULK_OUT, INTERRUPT_IN, UsbDescription
from simulators.usb.usb_device import UsbDeviceSide
from simulators.usb.usb_front import UsbFront
from tests.link.parts import KEY, Changes
from tests.link.rigs import SERIAL_NUMBER
from tests.support.usbip_client import UsbIpClient

HEAD = struct.pack(">IIIII", 1, 1, 0x10002, 0, 1)


class Server(UsbIpFront):
    """A server on a free port of the host. `said`: its log. `echoes`: written data comes back."""

    def __init__(self) -> None:
        profile = Profile("shoe", SERIAL_NUMBER, full_capabilities("shoe"))
        device = SimulatedDevice(
            profile, key=KEY, random=Random(1), fresh=Random(2), clock=lambda: 0.0, pace=Tempo(0)
        )  # fmt: skip
        usb = UsbDeviceSide(UsbDescription(SERIAL_NUMBER))
        self.said: list[str] = []
        self.heard = Changes()
        super().__init__(UsbFront(device, usb), usb, port=0, say=self._note)

    def _note(self, line: AnyText) -> None:
        self.said.append(str(line))
        self.heard.note()

    def ended(self, connection: UsbipConnection) -> None:
        super().ended(connection)
        self.heard.note()

    def echo(self) -> None:
        self.usb.on_out = lambda endpoint, data: self.usb.send(data[::-1], endpoint | 0x80)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    await server.listen()
    await server.plug()
    yield server
    await server.close()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[UsbIpClient]:
    """Yield a client that has attached the device and configured it."""
    client = await UsbIpClient.connect(server.port)
    assert await client.attach() is not None
    assert (await client.control(0x00, 9, 1)).status == 0
    yield client
    await client.close()


# -- the list of devices ------------------------------------------------------------------------------------------


async def test_it_lists_its_device(server: Server) -> None:
    ((record, interfaces),) = await (client := await UsbIpClient.connect(server.port)).list()
    assert (record.busid, record.speed) == ("1-1", 2)
    assert (record.vendor, record.product, record.triple) == (0x1209, 1, (0xEF, 2, 1))
    assert interfaces == [(0xFF, 0, 0), (2, 2, 0), (10, 0, 0)]
    await client.close()
    await server.unplug()
    client = await UsbIpClient.connect(server.port)
    assert await client.list() == []
    await client.close()


@pytest.mark.tool("usbip")
async def test_debians_own_tool_lists_it(server: Server) -> None:
    tool = shutil.which("usbip")
    assert tool is not None
    process = await asyncio.create_subprocess_exec(
        tool, f"--tcp-port={server.port}", "list", "-r", "127.0.0.1", stdout=asyncio.subprocess.PIPE
    )
    said = (await process.communicate())[0].decode()
    assert process.returncode == 0
    assert re.search(r"1-1: .*1209:0001", said)
    assert "Vendor Specific Class" in said


async def test_one_client_has_it_at_a_time(server: Server, client: UsbIpClient) -> None:
    for busid in ("1-1", "1-2", ""):
        other = await UsbIpClient.connect(server.port)
        assert await other.attach(busid) is None
        assert await other.rest() == b""
        await other.close()
    assert (await client.control(0x80, 8, length=1)).data == b"\1"


async def test_the_next_client_finds_it_as_freshly_plugged_in(server: Server) -> None:
    for _ in range(3):
        client = await UsbIpClient.connect(server.port)
        assert await client.attach() is not None
        assert (await client.control(0x80, 8, length=1)).data == b"\0", "not configured"
        assert (await client.control(0x00, 9, 1)).status == 0
        server.usb.send(b"for the first alone", BULK_IN)
        await client.close()
        await server.heard.until(lambda: server.owner is None)
        assert not server.usb.waiting(BULK_IN)


# -- transfers ----------------------------------------------------------------------------------------------------


async def test_descriptors_are_transferred_unchanged(client: UsbIpClient) -> None:
    device = await client.control(0x80, 6, 0x0100, length=64)
    assert device.data[:2] == b"\x12\1"
    assert device.data[8:12] == bytes.fromhex("09120100")
    head = await client.control(0x80, 6, 0x0200, length=9)
    whole = await client.control(0x80, 6, 0x0200, length=struct.unpack_from("<H", head.data, 2)[0])
    assert len(whole.data) == struct.unpack_from("<H", head.data, 2)[0]
    assert (await client.control(0x80, 6, 0x0303, 0x0409, length=255)).data[2:].decode("utf-16-le") == SERIAL_NUMBER
    assert (await client.control(0x80, 6, 0x0600, length=10)).status == -errno.EPIPE, "no high speed, no qualifier"


@pytest.mark.parametrize("length", [1, 63, 64, 65, 128, 4096])
async def test_bytes_out_and_in_again(server: Server, client: UsbIpClient, length: int) -> None:
    server.echo()
    data = bytes(range(256)) * 16
    asked = client.submit(BULK_IN, length=8192)
    out = await client.done(client.submit(BULK_OUT, data=data[:length]))
    assert out == (0, length, b"")
    assert (await client.done(asked)).data == data[:length][::-1]


async def test_a_buffer_that_is_full_ends_a_transfer(server: Server, client: UsbIpClient) -> None:
    server.usb.send(b"x" * 200, BULK_IN)
    for length, part in ((64, 64), (128, 128), (64, 8)):
        assert (await client.done(client.submit(BULK_IN, length=length))).actual == part


async def test_a_transfer_that_is_unlinked_has_no_other_answer(server: Server, client: UsbIpClient) -> None:
    asked = client.submit(INTERRUPT_IN, length=64)
    assert await client.unlinked(client.unlink(asked)) == -errno.ECONNRESET
    server.usb.send(b"status", INTERRUPT_IN)
    later = client.submit(INTERRUPT_IN, length=64)
    assert (await client.done(later)).data == b"status"
    assert await client.unlinked(client.unlink(later)) == 0, "it has ended"
    assert await client.unlinked(client.unlink(4711)) == 0


async def test_a_halted_endpoint_is_cleared(server: Server, client: UsbIpClient) -> None:
    server.usb.halt(BULK_IN)
    server.usb.send(b"after", BULK_IN)
    assert (await client.done(client.submit(BULK_IN, length=64))).status == -errno.EPIPE
    assert (await client.done(client.submit(BULK_IN, length=64))).status == -errno.EPIPE, "until it is cleared"
    assert (await client.control(0x82, 0, index=BULK_IN, length=2)).data == b"\1\0"
    assert (await client.control(0x02, 1, 0, BULK_IN)).status == 0
    assert (await client.done(client.submit(BULK_IN, length=64))).data == b"after"


async def test_a_packet_that_is_too_long(server: Server, client: UsbIpClient) -> None:
    server.usb.babble(b"x", BULK_IN)
    assert await client.done(client.submit(BULK_IN, length=4096)) == (-errno.EOVERFLOW, 0, b"")


async def test_the_cable_is_pulled_in_mid_transfer(server: Server, client: UsbIpClient) -> None:
    client.submit(BULK_IN, length=64)
    client.submit(INTERRUPT_IN, length=64)
    server.usb.send(b"x" * 64, BULK_IN)
    assert (await client.control(0x80, 8, length=1)).status == 0
    await server.unplug()
    assert await client.rest() == b""


# -- invalid messages ---------------------------------------------------------------------------------------------


async def refused(server: Server, *pieces: bytes) -> str:
    """Return the log of a connection that sends this, and check that the server then serves the next."""
    before = len(server.said)
    client = await UsbIpClient.connect(server.port)
    for piece in pieces:
        client.write(piece)
    await client.rest()
    await client.close()
    await server.heard.until(lambda: len(server.said) > before)
    (line,) = server.said[before:]
    assert len(line) < 200
    assert "\n" not in line
    client = await UsbIpClient.connect(server.port)
    assert len(await client.list()) == 1
    await client.close()
    return line


ATTACH = bytes.fromhex("0111800300000000") + b"1-1".ljust(32, b"\0")


def submit(length: int, packets: int = -1, *, direction: int = 0, endpoint: int = 1, setup: bytes = bytes(8)) -> bytes:
    head = struct.pack(">IIIII", 1, 1, 0x10002, direction, endpoint)
    return head + struct.pack(">Iiiii8s", 0, length, 0, packets, 0, setup)


CONFIGURE = submit(0, endpoint=0, setup=bytes((0, 9, 1, 0, 0, 0, 0, 0)))


@pytest.mark.parametrize(
    ("pieces", "why"),
    [
        ((b"GET / HTTP/1.0\r\n\r\n",), "version 0x4745"),
        ((bytes.fromhex("0111800700000000"),), "no operation 0x8007"),
        ((ATTACH, bytes(48)), "no command 0"),
        ((ATTACH, submit(LONGEST_TRANSFER + 1)), "transfer of 1048577 bytes"),
        ((ATTACH, submit(-1)), "transfer of -1 bytes"),
        ((ATTACH, submit(8, endpoint=16)), "endpoint 16"),
        ((ATTACH, submit(8, direction=2)), "direction 2"),
        ((ATTACH, submit(8, packets=4)), "isochronous"),
        ((ATTACH, submit(8, endpoint=0, setup=b"\x80" + bytes(7)) + bytes(8)), "another direction"),
        ((ATTACH, CONFIGURE, submit(64, direction=1), submit(64, direction=1)), "transfer 1 is already under way"),
    ],
)
async def test_invalid_usbip_is_refused_in_one_line(server: Server, pieces: tuple[bytes, ...], why: str) -> None:
    assert why in await refused(server, *pieces)


async def test_more_parallel_transfers_than_the_limit(server: Server, client: UsbIpClient) -> None:
    for _ in range(MOST_TRANSFERS + 1):
        client.submit(BULK_IN, length=64)
    await client.rest()
    await server.heard.until(lambda: bool(server.said))
    assert str(MOST_TRANSFERS) in server.said[0]


async def test_more_connections_than_the_limit(server: Server) -> None:
    clients = [await UsbIpClient.connect(server.port) for _ in range(MOST_CONNECTIONS + 1)]
    await server.heard.until(lambda: bool(server.said))
    assert "too many connections" in server.said[0]
    for client in clients:
        await client.close()


async def test_a_silent_connection_is_ended(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(usbip, "SAYS_WITHIN", 0.0)
        client = await UsbIpClient.connect(server.port)
        assert await client.rest() == b""
        await client.close()
    assert "sent no request" in server.said[0]


@given(st.data())
@settings(max_examples=60)
def test_random_bytes_end_one_connection_and_nothing_else(data: st.DataObject) -> None:
    """The input is messages with random numbers, cut anywhere, or noise, both with the device and without it."""
    command = st.builds(
        lambda head, about: struct.pack(">IIIII", *head) + about,
        st.tuples(*[st.sampled_from([0, 1, 2, 3, 15, 16, 2**31, 2**32 - 1])] * 5),
        st.binary(min_size=28, max_size=28)
        | st.just(bytes.fromhex("000000000000004000000000ffffffff00000000") + bytes(8)),
    )
    pieces = data.draw(st.lists(st.just(ATTACH) | command | st.binary(max_size=64), max_size=8))
    cut = data.draw(st.integers(0, 3))

    async def attack() -> None:
        server = Server()
        await server.listen()
        await server.plug()
        client = await UsbIpClient.connect(server.port)
        for piece in pieces:
            client.write(piece[: len(piece) - cut])
        client.finish()
        await client.rest()
        await client.close()
        assert len(server.said) <= 1
        other = await UsbIpClient.connect(server.port)
        assert len(await other.list()) == 1
        await other.close()
        await server.close()

    asyncio.run(attack())
