"""Raw TCP: refused, unreachable and unknown peers are reported in helpful sentences, and a dead peer is noticed."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

import pytest
import pytest_mock

from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.errors import TransportLostError, TransportUnavailableError
from firmware_bridge.transports import tcp
from firmware_bridge.transports.registry import open_transport

from .parts import PATIENCE, Changes, open_descriptors
from .rigs import TcpRig, Wire


@pytest.fixture
async def rig() -> AsyncIterator[TcpRig]:
    rig = TcpRig()
    await rig.begin()
    yield rig
    await rig.end()


async def refusal(url: str) -> TransportUnavailableError:
    """Try to connect to an address that cannot be opened, and return the error. Nothing may be left open."""
    wire, before = Wire(Changes()), open_descriptors()
    with pytest.raises(TransportUnavailableError) as refused:
        await open_transport(parse_device_url(url), on_data=wire.on_data, on_lost=wire.on_lost)
    assert open_descriptors() == before
    assert refused.value.hint
    return refused.value


Addresses: TypeAlias = list[tuple[int, int, int, str, tuple[str, int]]]


def name_server(mocker: pytest_mock.MockerFixture, answer: Callable[[], Addresses]) -> None:
    """Answer every lookup of a host name with this."""
    real = socket.getaddrinfo

    def look_up(host: str, port: int, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> object:  # noqa: A002  # the parameter names of `socket`
        return real(host, port, family, type, proto, flags) if flags else answer()

    mocker.patch.object(socket, "getaddrinfo", side_effect=look_up)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


async def test_no_server_listens() -> None:
    port = free_port()
    refused = await refusal(f"tcp://127.0.0.1:{port}/")
    assert refused.code == "tcp-refused"
    assert f"127.0.0.1:{port}" in str(refused)


async def test_an_unknown_name(mocker: pytest_mock.MockerFixture) -> None:
    def nobody_does() -> Addresses:
        raise socket.gaierror(-2, "Name or service not known")

    name_server(mocker, nobody_does)
    refused = await refusal("tcp://pit7:4001/")
    assert refused.code == "tcp-name"
    assert "pit7" in str(refused)


async def test_a_name_that_cannot_be_one() -> None:
    assert (await refusal("tcp://pit..x:4001/")).code == "tcp-name"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENETUNREACH, "tcp-unreachable"),
        (errno.EHOSTUNREACH, "tcp-unreachable"),
        (errno.ETIMEDOUT, "tcp-unreachable"),
        (errno.ECONNRESET, "tcp-refused"),
        (errno.EACCES, "tcp-failed"),
    ],
)
async def test_errors_of_the_network(mocker: pytest_mock.MockerFixture, number: int, code: str) -> None:
    loop = asyncio.get_running_loop()
    mocker.patch.object(loop, "sock_connect", side_effect=OSError(number, os.strerror(number)))
    assert (await refusal("tcp://192.0.2.9:4001/")).code == code


async def test_the_wait_for_an_answer_is_limited(mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(tcp, "CONNECT_WITHIN", 0.0)
    mocker.patch.object(asyncio.get_running_loop(), "sock_connect", side_effect=_never_taking_anything)
    assert (await refusal("tcp://192.0.2.9:4001/")).code == "tcp-unreachable"


def test_nothing_waits_for_a_silent_name_server(mocker: pytest_mock.MockerFixture) -> None:
    """The attempt, users of the loop's own threads and the end of the program do not wait."""
    ended, outwaited = threading.Event(), []

    def is_silent() -> Addresses:
        if not ended.wait(PATIENCE):
            outwaited.append("something waited for the name server")
        raise socket.gaierror(-3, "Temporary failure in name resolution")

    name_server(mocker, is_silent)
    mocker.patch.object(tcp, "CONNECT_WITHIN", 0.0)
    assert asyncio.run(refusal("tcp://pit7.example:4001/")).code == "tcp-unreachable"
    ended.set()
    assert not outwaited


async def _never_taking_anything(*given: object, **named: object) -> None:
    await asyncio.get_running_loop().create_future()


async def test_cancelled_while_it_connects(mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(asyncio.get_running_loop(), "sock_connect", side_effect=_never_taking_anything)
    before = open_descriptors()
    opening = asyncio.ensure_future(refusal("tcp://192.0.2.9:4001/"))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert open_descriptors() == before


async def test_the_next_address_of_a_name_is_tried(rig: TcpRig, mocker: pytest_mock.MockerFixture) -> None:
    transport = await rig.open()
    transport.close()
    await rig.released()
    loop = asyncio.get_running_loop()
    real: Callable[..., Awaitable[None]] = loop.sock_connect
    tried: list[str] = []

    async def first_fails(connection: socket.socket, address: tuple[str, int]) -> None:
        tried.append(address[0])
        if len(tried) == 1:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        await real(connection, address)

    port = rig.port
    both: Addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")]
    name_server(mocker, lambda: both)
    mocker.patch.object(loop, "sock_connect", side_effect=first_fails)
    before = open_descriptors()
    url = DeviceUrl("tcp", host="pit7", port=port, path="/")
    opened = await open_transport(url, on_data=rig.wire.on_data, on_lost=rig.wire.on_lost)
    assert tried == ["127.0.0.2", "127.0.0.1"]
    opened.close()
    assert open_descriptors() <= before + 1, "only the far end may still be open"


async def test_a_port_connected_to_itself_is_not_a_serial_server(mocker: pytest_mock.MockerFixture) -> None:
    port = free_port()
    real: Callable[..., Awaitable[None]] = asyncio.get_running_loop().sock_connect

    async def from_that_very_port(connection: socket.socket, address: tuple[str, int]) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        connection.bind(address)
        await real(connection, address)

    mocker.patch.object(asyncio.get_running_loop(), "sock_connect", side_effect=from_that_very_port)
    assert (await refusal(f"tcp://127.0.0.1:{port}/")).code == "tcp-refused"


async def test_how_the_connection_is_set(rig: TcpRig, mocker: pytest_mock.MockerFixture) -> None:
    kept: list[socket.socket] = []
    real = tcp._set_up

    def set_up(connection: socket.socket) -> None:
        real(connection)
        kept.append(connection.dup())

    mocker.patch.object(tcp, "_set_up", side_effect=set_up)
    transport = await rig.open()
    (asked,) = kept
    assert asked.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert asked.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
    idle, between, count = (asked.getsockopt(socket.IPPROTO_TCP, option) for option, _ in tcp.KEEP_ALIVE)
    assert idle + between * count <= 10, "a silent peer that is gone is noticed within ten seconds"
    assert asked.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 10_000
    asked.close()
    transport.close()


async def test_a_peer_whose_machine_is_gone_is_lost(rig: TcpRig, mocker: pytest_mock.MockerFixture) -> None:
    """The kernel reports an error if keep-alive gets no answer."""
    await rig.open()
    timed_out = OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    mocker.patch("firmware_bridge.transports.fd.os.read", side_effect=timed_out)
    rig.send(b"x")
    await rig.changes.until(lambda: bool(rig.wire.losses))
    assert [loss.code for loss in rig.wire.losses] == ["transport-lost"]
    assert rig.wire.losses[0].__cause__ is timed_out


async def test_a_peer_that_takes_nothing_is_disconnected(rig: TcpRig) -> None:
    transport = await rig.open()
    rig.stall()
    while not rig.wire.losses:
        transport.write(bytes(32_768))
    assert isinstance(rig.wire.losses[0], TransportLostError)
    rig.resume()
    await rig.released()
    assert isinstance(rig.line_error, ConnectionResetError)
