"""The device is unplugged in mid-frame repeatedly: the link is restored, and no report is lost or doubled.

Device, pseudo-terminal, link keeper and driver are the product's, in this process. Their clock only advances over the
pauses between two attempts to connect.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random

import pytest

from firmware_bridge.cards import DECK
from firmware_bridge.commands import AnyCommand, Dispense, ReleaseExit, Shuffle
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.base import Answered, Heard, LinkOver, LinkReady, Reported, ReportsGone
from firmware_bridge.drivers.cardlink.framing import encode_frame
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.link_keeper import LinkKeeper, LinkState
from simulators.devices.base import LoggedReport, Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.pty import PtyFront
from tests.end_to_end.stage import short_folder
from tests.link.parts import Changes, HandClock, open_descriptors
from tests.support import long_forms

ENDED = (LinkState.LOST, LinkState.ABSENT)
SERIAL = "SIM-1"
KEY = bytes(range(1, 33))
HELLO_TO_STATUS = 600  # bytes; slightly more than a device sends until its link is established


class Desk:
    """Takes what the keeper delivers, and acknowledges each report as a journal would: after a short delay."""

    def __init__(self, changes: Changes) -> None:
        self.keeper: LinkKeeper | None = None
        self.held = (0, 0)
        self.reports: list[tuple[int, int]] = []
        self.answered: list[int] = []
        self.ready = 0
        self.last_command = 0
        self.over = 0
        self.gone: list[ReportsGone] = []
        self._changes = changes

    def deliver(self, heard: Heard) -> None:
        match heard:
            case LinkReady():
                self.ready += 1
                self.last_command = heard.status.last_command
            case LinkOver():
                self.over += 1
            case ReportsGone():
                self.gone.append(heard)
            case Answered():
                self.answered.append(heard.command_id)
            case Reported():
                asyncio.get_running_loop().call_soon(self._hold, heard.boot, heard.number)
        self._changes.note()

    def _hold(self, boot: int, number: int) -> None:
        assert self.keeper is not None
        if number <= self.held[1]:
            return  # repeated on a link that did not know yet that this report was held
        self.reports.append((boot, number))
        self.held = (boot, number)
        self.keeper.acknowledge(boot, number)
        self._changes.note()


class CutFront(PtyFront):
    """A cable that carries nothing more after a number of bytes from the device."""

    def __init__(self, device: SimulatedDevice, link: Path, changes: Changes) -> None:
        super().__init__(device, link)
        self.left: int | None = None
        self._changes = changes

    def _write(self, data: bytes) -> None:
        if self.left is not None:
            data = data[: self.left]
            self.left -= len(data)
        super()._write(data)
        self._changes.note()


class Motion:
    """A motion of the mechanism that lasts until the test ends it."""

    def __init__(self, changes: Changes) -> None:
        self.on = False
        self._over = asyncio.Event()
        self._changes = changes

    async def wait(self, seconds: float) -> None:
        self._over.clear()
        self.on = True
        self._changes.note()
        await self._over.wait()
        self.on = False

    def finish(self) -> None:
        self._over.set()


class Table:
    """A device on a pseudo-terminal, and a keeper at its other end."""

    def __init__(self, folder: Path, *, lasting: bool = False) -> None:
        self.changes = Changes()
        self.clock = HandClock(self.changes)
        self.motion = Motion(self.changes)
        self.log: list[LoggedReport] = []
        port = folder / "device"
        self.device = SimulatedDevice(
            Profile("shuffler", SERIAL, full_capabilities("shuffler")),
            key=KEY,
            random=Random(7),
            fresh=Random(7),  # repeatable
            clock=self.clock,
            pace=Tempo(1.0 if lasting else 0.0, sleep=self.motion.wait),
            log=self.log.append,
        )
        self.front = CutFront(self.device, port, self.changes)
        self.desk = Desk(self.changes)
        self.keeper = LinkKeeper(
            parse_device_url(f"serial://{port}"),
            make_driver=self._make_driver,
            deliver=self.desk.deliver,
            clock=self.clock,
            wait=self.clock.wait,
            on_health=lambda health: self.changes.note(),
            random=Random(7),  # repeatable
        )
        self.desk.keeper = self.keeper
        self._nonces = Random(8)  # repeatable
        self._last_id = 0

    def _make_driver(self, now: float) -> CardlinkHost:
        nonce = self._nonces.randbytes(16)
        return CardlinkHost(nonce=nonce, key_of={SERIAL: KEY}.get, held=self.desk.held, now=now)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self.keeper.run()), asyncio.create_task(self.front.run())]
        try:
            yield
            assert not any(task.done() for task in tasks)
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def plug_until_ready(self) -> None:
        """Plug in, and wait until the link is established and has carried everything that the device had to report."""
        before = self.desk.ready
        await self.plug()
        await self.changes.until(lambda: self.desk.ready > before)
        await self.until_all_held()

    async def plug(self, *, cut_after: int | None = None) -> None:
        """Plug in, and let the pause pass after which the keeper connects. `cut_after` is in bytes from the device."""
        before = self.desk.ready
        self.front.left = cut_after
        self.front.plug()
        await self.changes.until(lambda: self.desk.ready > before or self.keeper.health.state in ENDED)
        if self.desk.ready == before:
            await self.clock.pass_next_wait()

    async def until_all_held(self) -> None:
        await self.changes.until(lambda: self.all_held)

    @property
    def all_held(self) -> bool:
        return self.desk.held == (self.device.link.boot, self.device.link.last_number)

    async def hang_up(self) -> None:
        """Unplug, and wait until the keeper has noticed."""
        self.front.unplug()
        await self.changes.until(lambda: self.desk.over == self.desk.ready)

    def report(self) -> None:
        """Let the device report something."""
        self.device.mechanism.load(list(DECK), deck=1)

    def command(self, command: AnyCommand) -> int:
        self._last_id += 1
        assert self.keeper.command(self._last_id, command)
        return self._last_id

    def check(self) -> None:
        """Check that every report came once and in order, and that the keeper never reported any as lost."""
        assert self.desk.reports == [(line.boot, line.number) for line in self.log]
        assert self.desk.gone == []


def left_open() -> tuple[int, int, int]:
    return open_descriptors(), threading.active_count(), len(asyncio.all_tasks())


async def test_a_hang_up_after_every_byte_of_a_report() -> None:
    with short_folder() as folder:
        table = Table(folder)
        async with table.running():
            await table.plug_until_ready()
            await table.hang_up()
            before = left_open()
            position, length = 0, 1
            while position <= length:
                await table.plug_until_ready()
                table.report()
                length = len(frame := table.device.link.outgoing())
                table.front.unplug(after=frame[:position])
                await table.hang_up()
                position += 1
            assert length > 20
            await table.plug_until_ready()
            await table.hang_up()
            assert left_open() == before
        table.check()


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in long_forms.some(range(2, 12)))]
)
async def test_a_hundred_hang_ups_at_random_moments(seed: int) -> None:
    """Every other hang-up cuts the line after a number of bytes, perhaps in the handshake; the rest come after all
    reports.
    """
    random = Random(f"{seed}/hang-ups")  # repeatable
    cut = 0
    with short_folder() as folder:
        table = Table(folder)
        async with table.running():
            await table.plug_until_ready()
            await table.hang_up()
            before = left_open()
            for _ in range(50):
                for _ in range(random.randint(0, 10)):  # more than may be in flight together
                    table.report()
                ready = table.desk.ready
                await table.plug(cut_after=random.randint(1, HELLO_TO_STATUS))
                await table.changes.until(
                    lambda: table.front.left == 0 or (table.desk.ready > ready and table.all_held)  # noqa: B023  # awaited
                )
                cut += table.front.left == 0
                if random.random() < 0.3:  # the device also holds half a frame of the host's
                    table.device.receive(
                        encode_frame(FrameKind.ACK, table.device.link.boot, 1)[: random.randint(1, 16)]
                    )
                await table.hang_up()
                await table.plug_until_ready()
                await table.hang_up()
            assert left_open() == before
        table.check()
        assert cut > 40
        assert table.keeper.health.state is not LinkState.READY


@pytest.mark.parametrize("while_unplugged", [True, False])
async def test_hang_ups_while_a_set_is_being_dispensed(while_unplugged: bool) -> None:
    """The set is formed in spite of the unplugged cable, and reported once, under a status that names its command."""
    with short_folder() as folder:
        table = Table(folder, lasting=True)
        async with table.running():
            await table.plug_until_ready()
            table.report()
            await carry_out(table, Shuffle())
            for _ in range(15):
                await carry_out(table, ReleaseExit())
                commanded = table.command(Dispense(3))
                await table.changes.until(lambda: table.motion.on)
                await table.hang_up()
                if while_unplugged:
                    table.motion.finish()
                    await table.changes.until(lambda: not table.motion.on)
                    await table.plug_until_ready()
                    assert table.desk.last_command == commanded
                else:
                    await table.plug_until_ready()
                    assert table.desk.last_command < commanded
                    table.motion.finish()
                    await table.changes.until(lambda: len(table.device.mechanism.tray) == 3)
                await table.until_all_held()
                assert commanded not in table.desk.answered
                assert len(table.device.mechanism.lift_set()) == 3
                await table.until_all_held()
        table.check()
        assert [line.report for line in table.log].count("SetDispensed") == 15


async def carry_out(table: Table, command: AnyCommand) -> None:
    commanded = table.command(command)
    await table.changes.until(lambda: table.motion.on)
    table.motion.finish()
    await table.changes.until(lambda: commanded in table.desk.answered)
