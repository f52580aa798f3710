"""The cable is pulled at every byte of an exchange: the link is restored in time, and no report is lost or doubled.

The short form cuts a handshake and one set at some of its bytes; the long form cuts a handshake and a round of sets at
every byte:

    python -m pytest -m soak tests/link/test_hang_up.py
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from random import Random

import pytest
import pytest_mock

from firmware_bridge.cards import DECK
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, Shuffle, UnloadStub
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Answered, Driver, Heard, Reported
from firmware_bridge.drivers.cardlink.host import HEARTBEAT, CardlinkHost
from firmware_bridge.link_keeper import FIRST_PAUSE, JITTER, LinkKeeper, LinkState
from firmware_bridge.transports.base import OpenTransport
from firmware_bridge.transports.registry import open_transport
from firmware_bridge.transports.usb import open_usb_device
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.pty import PtyFront
from tests.support import long_forms
from tests.support.usb_backend import SimulatedUsb, UsbGadget
from tests.support.usb_front import front_of

from .parts import KEY, PATIENCE, Changes, Desk, HandClock, open_descriptors, running, serial_url
from .rigs import SERIAL_NUMBER, usb_threads

ENDED = (LinkState.LOST, LinkState.ABSENT)
HEARTBEATS = 20  # heartbeats of some 20 bytes each


class NotingDevice(SimulatedDevice):
    """Notifies a test of each write of the host."""

    def __init__(self, clock: HandClock, changes: Changes) -> None:
        profile = Profile("shuffler", SERIAL_NUMBER, full_capabilities("shuffler"))
        super().__init__(profile, key=KEY, random=Random(1), fresh=Random(2), clock=clock, pace=Tempo(0))
        self.noted = changes

    def receive(self, data: bytes) -> None:
        super().receive(data)
        self.noted.note()


class Plug(ABC):
    """A connection to the device that can be cut at any byte."""

    open_transport: OpenTransport
    url: DeviceUrl

    @abstractmethod
    def cut_after(self, count: int) -> None: ...

    @property
    @abstractmethod
    def plugged(self) -> bool: ...

    @property
    @abstractmethod
    def moved(self) -> int: ...

    @abstractmethod
    def plug(self) -> None: ...

    @abstractmethod
    def held(self) -> int:
        """Return what the host's side holds."""

    @abstractmethod
    async def end(self) -> None: ...


class PtyPlug(Plug):
    def __init__(self, device: SimulatedDevice, folder: Path) -> None:
        self._front = PtyFront(device, folder / SERIAL_NUMBER)
        self._front.plug()
        self._carrying = asyncio.create_task(self._front.run())
        self.open_transport = open_transport
        self.url = serial_url(folder / SERIAL_NUMBER)

    def cut_after(self, count: int) -> None:
        self._front.unplug_after = count

    @property
    def plugged(self) -> bool:
        return self._front.plugged

    @property
    def moved(self) -> int:
        return self._front.moved

    def plug(self) -> None:
        self._front.plug()

    def held(self) -> int:
        return open_descriptors() - (2 if self.plugged else 0)

    async def end(self) -> None:
        self._carrying.cancel()
        with suppress(asyncio.CancelledError):
            await self._carrying


class UsbPlug(Plug):
    def __init__(self, device: SimulatedDevice, folder: Path) -> None:
        self._gadget = UsbGadget(SERIAL_NUMBER)
        self._front = front_of(device, self._gadget)
        self._front.start()
        self.open_transport = partial(open_usb_device, find_backend=lambda: SimulatedUsb(self._gadget))
        self.url = parse_device_url(f"usb:///1209:0001/{SERIAL_NUMBER}")

    def cut_after(self, count: int) -> None:
        self._gadget.change(unplug_after=count)

    @property
    def plugged(self) -> bool:
        return self._gadget.plugged

    @property
    def moved(self) -> int:
        return self._gadget.moved

    def plug(self) -> None:
        self._gadget.plug()

    def held(self) -> int:
        for thread in usb_threads():
            thread.join(PATIENCE)
        return open_descriptors() + len(usb_threads()) + len(self._gadget.handles)

    async def end(self) -> None:
        self._front.stop()


ONE_SET: tuple[AnyCommand, ...] = (Shuffle(), ReleaseExit(), Dispense(3))
ROUND: tuple[AnyCommand, ...] = (*ONE_SET, Dispense(3), Dispense(3), Dispense(3), HoldExit(), UnloadStub())


class Exchange:
    """A keeper and a device, from plugging in to the last card, with one cut or none."""

    def __init__(self, plug: Plug, device: NotingDevice, desk: Desk, clock: HandClock) -> None:
        self.plug = plug
        self.device = device
        self.desk = desk
        self.clock = clock
        self._held = (0, 0)
        self.keeper = LinkKeeper(
            plug.url,
            make_driver=self._make_driver,
            deliver=self._deliver,
            on_health=desk.on_health,
            clock=clock,
            wait=clock.wait,
            random=Random(7),  # jitter, repeatable
            open_transport=plug.open_transport,
        )

    def _make_driver(self, now: float) -> Driver:
        return CardlinkHost(nonce=os.urandom(16), key_of={SERIAL_NUMBER: KEY}.get, held=self._held, now=now)

    def _deliver(self, heard: Heard) -> None:
        self.desk.deliver(heard)
        if isinstance(heard, Reported):
            self._held = (heard.boot, heard.number)
            self.keeper.acknowledge(*self._held)

    async def play(self, commands: tuple[AnyCommand, ...]) -> None:
        """Do the requested acts while the link is up, and lift each set that is formed."""
        await self.desk.until_state(LinkState.READY, *ENDED)
        for command_id, command in enumerate(commands, start=1):
            if not self.keeper.command(command_id, command):
                return
            answered = partial(self._answered, command_id)
            await self.desk.changes.until(lambda: answered() or self.over)  # noqa: B023  # awaited before it changes
            self.device.mechanism.lift_set()
        await self.desk.changes.until(lambda: self.device.idle or self.over)

    def _answered(self, command_id: int) -> bool:
        return any(isinstance(thing, Answered) and thing.command_id == command_id for thing in self.desk.heard)

    @property
    def over(self) -> bool:
        return self.desk.healths[-1].state in ENDED

    async def pass_time_until_cut(self) -> None:
        """Let heartbeats transfer the remaining bytes: an exchange varies by a few bytes and may end before the cut."""
        for _ in range(HEARTBEATS):
            if not self.plug.plugged:
                return
            moved = self.plug.moved
            self.clock.advance(HEARTBEAT)
            await self.desk.changes.until(lambda: self.plug.moved > moved or self.over)  # noqa: B023  # awaited
        raise AssertionError(f"the cable stayed in after {self.plug.moved} bytes")

    async def come_back(self) -> float:
        """Plug the cable in again. Return the seconds from the loss until the link is established."""
        await self.desk.until_state(*ENDED)
        self.plug.plug()
        seconds = await self.clock.pass_next_wait()
        await self.desk.until_state(LinkState.READY)
        await self.desk.changes.until(lambda: self.device.idle)
        return seconds

    def reported(self) -> list[int]:
        return [thing.number for thing in self.desk.heard if isinstance(thing, Reported)]


@asynccontextmanager
async def exchange_over(kind: type[Plug], folder: Path) -> AsyncIterator[Exchange]:
    desk = Desk()
    clock = HandClock(desk.changes)
    device = NotingDevice(clock, desk.changes)
    device.mechanism.load(list(DECK), deck=1)
    plug = kind(device, folder)  # type: ignore[call-arg]  # every plug is made like this
    try:
        yield Exchange(plug, device, desk, clock)
    finally:
        await plug.end()


async def bytes_of(kind: type[Plug], folder: Path, commands: tuple[AnyCommand, ...]) -> int:
    """Return the number of bytes in an undisturbed exchange."""
    async with exchange_over(kind, folder) as exchange:
        async with running(exchange.keeper):
            await exchange.play(commands)
            moved = exchange.plug.moved
        assert exchange.reported() == list(range(1, exchange.device.link.last_number + 1))
        assert exchange.device.mechanism.status(0).sets_dispensed == sum(isinstance(one, Dispense) for one in commands)
    return moved


async def cut_at(place: int, kind: type[Plug], folder: Path, commands: tuple[AnyCommand, ...]) -> None:
    async with exchange_over(kind, folder) as exchange:
        held, tasks = exchange.plug.held(), asyncio.all_tasks()
        exchange.plug.cut_after(place)
        async with running(exchange.keeper):
            await exchange.play(commands)
            await exchange.pass_time_until_cut()
            seconds = await exchange.come_back()
            assert seconds <= FIRST_PAUSE * (1 + JITTER)
            assert exchange.keeper.health.link == 2
        last = exchange.device.link.last_number
        assert exchange.reported() == list(range(1, last + 1)), "a report was lost or doubled"
        assert exchange.plug.held() == held
        assert asyncio.all_tasks() == tasks


@pytest.mark.parametrize("kind", [PtyPlug, UsbPlug])
@pytest.mark.parametrize("part", range(4))
async def test_the_cable_is_pulled_at_some_bytes_of_a_handshake_and_a_set(
    tmp_path: Path, mocker: pytest_mock.MockerFixture, kind: type[Plug], part: int
) -> None:
    total = await bytes_of(kind, tmp_path, ONE_SET)
    for place in range(1 + 11 * part, total, 44):
        await cut_at(place, kind, tmp_path, ONE_SET)


@pytest.mark.soak
@pytest.mark.parametrize("kind", [PtyPlug, UsbPlug])
@pytest.mark.parametrize("part", long_forms.some(range(8)))
async def test_the_cable_is_pulled_at_every_byte_of_a_round(
    tmp_path: Path, mocker: pytest_mock.MockerFixture, kind: type[Plug], part: int
) -> None:
    total = await bytes_of(kind, tmp_path, ROUND)
    for place in range(1 + part, total, 8):
        await cut_at(place, kind, tmp_path, ROUND)
