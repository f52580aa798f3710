"""A simulated device behind a TCP port: the keeper finds it, loses it and finds it again, and only one host is admitted
at a time.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random

import pytest

from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.base import LinkReady
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.link_keeper import LinkKeeper, LinkState
from firmware_bridge.transports.registry import open_transport
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.tcp import TcpFront

from .parts import KEY, Changes, Desk, HandClock, open_descriptors, running
from .rigs import SERIAL_NUMBER, Wire


@pytest.fixture
async def desk() -> Desk:
    return Desk()


@pytest.fixture
async def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


@pytest.fixture
async def front(clock: HandClock) -> AsyncIterator[TcpFront]:
    profile = Profile("shoe", SERIAL_NUMBER, full_capabilities("shoe"))
    device = SimulatedDevice(profile, key=KEY, random=Random(1), fresh=Random(2), clock=clock, pace=Tempo(0))
    front = TcpFront(device)
    await front.plug()
    yield front
    await front.unplug()


def keeper_of(front: TcpFront, desk: Desk, clock: HandClock) -> LinkKeeper:
    return LinkKeeper(
        parse_device_url(front.url),
        make_driver=lambda now: CardlinkHost(
            nonce=os.urandom(16), key_of={SERIAL_NUMBER: KEY}.get, held=(0, 0), now=now
        ),
        deliver=desk.deliver,
        on_health=desk.on_health,
        clock=clock,
        wait=clock.wait,
        random=Random(7),  # jitter, repeatable
    )


async def test_unplugged_refused_and_found_again(front: TcpFront, desk: Desk, clock: HandClock) -> None:
    async with running(keeper_of(front, desk, clock)):
        for link in range(1, 6):
            assert (await desk.until_state(LinkState.READY)).link == link
            await front.unplug()
            assert (await desk.until_state(LinkState.LOST)).code == "transport-lost"
            await clock.pass_next_wait()
            assert (await desk.until_state(LinkState.ABSENT)).code == "tcp-refused"
            await front.plug()
            await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
    assert len(desk.ends) == 6
    assert len([thing for thing in desk.heard if isinstance(thing, LinkReady)]) == 6


async def test_a_second_host_is_turned_away_and_the_first_keeps_its_line(
    front: TcpFront, desk: Desk, clock: HandClock
) -> None:
    keeper = keeper_of(front, desk, clock)
    async with running(keeper):
        await desk.until_state(LinkState.READY)
        before = open_descriptors()
        second = Wire(Changes())
        await open_transport(parse_device_url(front.url), on_data=second.on_data, on_lost=second.on_lost)
        await second.changes.until(lambda: bool(second.losses))
        assert not second.data
        assert open_descriptors() == before
        assert keeper.health.state is LinkState.READY


async def test_it_listens_to_this_machine_only(front: TcpFront) -> None:
    assert front.url == f"tcp://127.0.0.1:{front.port}/"
    assert front.port > 0


async def test_plugged_twice_is_plugged_once(front: TcpFront) -> None:
    port, before = front.port, open_descriptors()
    await front.plug()
    assert (front.port, open_descriptors()) == (port, before)


@pytest.mark.parametrize("rounds", range(5), ids="after {} rounds of the loop".format)
async def test_a_host_that_connects_as_the_port_is_unplugged_is_cut_off(front: TcpFront, rounds: int) -> None:
    """asyncio would leave a connection open that it accepts while its server closes."""
    with socket.create_connection(("127.0.0.1", front.port)) as host:
        for _ in range(rounds):
            await asyncio.sleep(0)
        await front.unplug()
        host.setblocking(False)
        with suppress(ConnectionError):  # reset, if the device had not read what it was sent
            assert not await asyncio.get_running_loop().sock_recv(host, 1)
