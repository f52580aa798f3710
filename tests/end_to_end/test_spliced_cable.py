"""A box in the cable between a real daemon and its device during a round: nothing that it sends is accepted.

It forwards every frame, and adds what it knows: recordings of either side to either side, frames with a flipped bit and
a correct CRC, clear frames that would have ended a link, and forged ones.
"""

from __future__ import annotations

import asyncio
import os
import pty
import tty
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Final

import pytest

from controller.api.bodies import EventId
from controller.api.client import ApiClient
from controller.games.specification import Unit
from controller.table import operations
from firmware_bridge.cards import DECK
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import Frame, FrameReader, enclose, encode_frame
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind, encode_body
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.pty import PtyFront
from tests.end_to_end.people_at_table import PeopleAtTable
from tests.end_to_end.stage import KINDS, Stage, short_folder

SERIAL: Final = "CARDSHOE-SIM-1"
KEY: Final = bytes(range(1, 33))


class Splice:
    """Two ptys: the daemon opens `towards_host`, and the box opens the device's. `does` returns what it adds to a
    frame.

    `does(frame, from_host)` returns (bytes for the device, bytes for the host), sent after the frame itself.
    """

    def __init__(self, towards_host: Path, device_port: Path) -> None:
        self.does: Callable[[Frame, bool], tuple[bytes, bytes]] = lambda frame, from_host: (b"", b"")
        self.recorded: tuple[list[bytes], list[bytes]] = ([], [])  # of the host, of the device
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        towards_host.symlink_to(os.ttyname(self._slave))
        self._device = os.open(device_port, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self._device)
        self._readers = (FrameReader(), FrameReader())
        for descriptor, from_host in ((self._master, True), (self._device, False)):
            os.set_blocking(descriptor, False)
            asyncio.get_running_loop().add_reader(descriptor, self._pass_on, descriptor, from_host)

    def close(self) -> None:
        for descriptor in (self._master, self._device):
            asyncio.get_running_loop().remove_reader(descriptor)
        for descriptor in (self._master, self._slave, self._device):
            os.close(descriptor)

    def _pass_on(self, descriptor: int, from_host: bool) -> None:
        try:
            data = os.read(descriptor, 65536)
        except OSError:
            return
        for frame in self._readers[not from_host].receive(data):
            whole = enclose(frame.content)
            self._write(from_host, whole)
            to_device, to_host = self.does(frame, from_host)
            self.recorded[not from_host].append(whole)
            self._write(True, to_device)
            self._write(False, to_host)

    def _write(self, to_device: bool, data: bytes) -> None:
        with suppress(BlockingIOError):
            os.write(self._device if to_device else self._master, data)


class Attack:
    """Sends everything together. `tried` counts the frames that it has added."""

    def __init__(self, splice: Splice) -> None:
        self.tried = 0
        self._splice = splice
        self._random = Random(3)
        splice.does = self.beside

    def beside(self, frame: Frame, from_host: bool) -> tuple[bytes, bytes]:
        if frame.kind in CLEAR:  # these answer what it sent itself, and would continue forever
            return b"", b""
        played = [one for each in self._splice.recorded for one in self._random.sample(each, min(2, len(each)))]
        mine = [*played, self._changed(frame), self._forged(frame), *self._clear(frame)]
        self.tried += 2 * len(mine)
        return b"".join(mine), b"".join(mine)

    def _changed(self, frame: Frame) -> bytes:
        """Return the frame with one flipped bit and a correct CRC."""
        content = bytearray(frame.content)
        content[self._random.randrange(len(content))] ^= 1 << self._random.randrange(8)
        return enclose(bytes(content))

    def _forged(self, frame: Frame) -> bytes:
        kind = self._random.choice(
            [
                FrameKind.STATUS,
                FrameKind.REPORT,
                FrameKind.ANSWER,
                FrameKind.COMMAND,
                FrameKind.ACK,
                FrameKind.RESUME,
                0x77,
            ]
        )
        return encode_frame(kind, frame.boot, frame.number, self._random.randbytes(self._random.randint(20, 60)))

    def _clear(self, frame: Frame) -> list[bytes]:
        """Return frames that ended a link, or opened an exit, while frames were clear."""
        release = messages.CommandBody(1 << 40, messages.ReleaseExitOrder())
        return [
            encode_frame(FrameKind.REJECT, frame.boot, 0, encode_body(messages.RejectBody("proof", "go away"))),
            encode_frame(FrameKind.DEVICE_PROOF, frame.boot ^ 1, 0, encode_body(messages.ProofBody(1, bytes(32)))),
            encode_frame(FrameKind.COMMAND, frame.boot, 0, encode_body(release)),
            encode_frame(FrameKind.HOST_PROOF, frame.boot, 0, encode_body(messages.ProofBody(1, bytes(32)))),
        ]


class SplicedTable(PeopleAtTable):
    """A table whose device is in this process, and the box in its cable."""

    def __init__(self, stage: Stage, device: SimulatedDevice, splice: Splice) -> None:
        super().__init__(stage)
        self.device = device
        self.splice = splice

    async def events(self) -> list[dict[str, Any]]:
        async with ApiClient(self.stage.socket) as client:
            entry = (await client.state()).entry
            found: list[dict[str, Any]] = []
            stream = client.events(EventId(entry=0))
            try:
                async for event in stream:
                    if event is not None:
                        found.append(event)
                        if event["entry"] >= entry:
                            break
            finally:
                await stream.aclose()
            return found

    async def to_dealing(self) -> None:
        mechanism = self.device.mechanism
        shoe = mechanism.profile.kind == "shoe"
        await self.until(lambda view: view.device.status_agrees)
        await self.do(operations.OpenTable())
        mechanism.load(mechanism.shuffled_by_hand() if shoe else list(DECK), deck=1)
        if shoe:
            await self.until(lambda view: view.deck.deck == 1)
            await self.do(operations.ShuffledOutside("batch shuffler"))
        await self.until(lambda view: view.deck.shuffled)
        await self.do(operations.PlaceYourBets())
        await self.do(operations.OccupyBoxes((1, 2)))
        await self.do(operations.NoMoreBets())

    async def deal(self) -> None:
        mechanism = self.device.mechanism
        view = await self.view()
        while view.dealt < view.to_deal:
            dealt = view.dealt
            if mechanism.profile.kind == "shoe":
                await self.until(lambda view: not view.device.exit_held and not view.device.open_commands)
                assert mechanism.draw()
            else:
                await self.until(lambda view: view.tray > 0)
                assert mechanism.lift_set()
            view = await self.until(lambda view, dealt=dealt: view.dealt > dealt)  # type: ignore[misc]  # bound now


@asynccontextmanager
async def spliced(unit: Unit) -> AsyncIterator[SplicedTable]:
    with short_folder() as folder:
        async with Stage(folder, unit=unit) as stage:
            write_device_keys(stage.device_keys, {SERIAL: KEY})
            device = SimulatedDevice(
                Profile(KINDS[unit], SERIAL, full_capabilities(KINDS[unit], stages=False)),  # type: ignore[arg-type]  # one of two kinds
                key=KEY, random=Random(1), fresh=SystemRandom(), clock=asyncio.get_running_loop().time, pace=Tempo(0.0),
            )  # fmt: skip
            front = PtyFront(device, folder / "behind")
            front.plug()
            carrier = asyncio.create_task(front.run())
            splice = Splice(stage.port, folder / "behind")
            try:
                await stage.start_daemon()
                yield SplicedTable(stage, device, splice)
                assert await stage.daemon.end() == 0
            finally:
                splice.close()
                front.unplug()
                carrier.cancel()
                with suppress(asyncio.CancelledError):
                    await carrier


@pytest.mark.parametrize("unit", list(Unit))
async def test_nothing_is_accepted_and_the_round_continues(unit: Unit) -> None:
    async with spliced(unit) as table:
        attack = Attack(table.splice)
        await table.to_dealing()
        await table.deal()
        # The fault comes once, three seconds after the link is established; heartbeats continue meanwhile.
        async with asyncio.timeout(60):
            while not (noted := forgeries(await table.events())):
                await table.until(lambda view: True)
        view = await table.view()
        assert view.irregularities == ()
        assert view.device.connected
        assert view.device.links == 1
        assert len(noted) == 1
        assert attack.tried > 300
        assert table.device.mechanism._dispensed == view.deck.dispensed
        table.splice.does = lambda frame, from_host: (b"", b"")
        await table.do(operations.PauseTable("drop"))
        await table.until(lambda view: bool(view.device.exit_held))
        await table.do(operations.ResumeTable())
        assert not [event for event in await table.events() if event["event"] == "device_lost"]


def forgeries(events: list[dict[str, Any]]) -> list[str]:
    return [event["detail"] for event in events if event.get("what") == "device-forged-frames"]
