"""Building blocks of these tests: a manual clock, a minimal device, and a pseudo-terminal to plug it into."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Driver, Heard, LinkOver
from firmware_bridge.drivers.cardlink import messages, sealing
from firmware_bridge.drivers.cardlink.framing import HEADER, VERSION, Frame, FrameReader, enclose
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from firmware_bridge.drivers.cardlink.sealing import SealedChannel, frame_keys
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.link_keeper import Health, LinkKeeper, LinkState
from firmware_bridge.transports.base import OnData, OnLost, Transport
from simulators.ports.memory import MemoryTransport, memory_pair

KEY = bytes(range(1, 33))
SERIAL = "SHOE-1"
BOOT = 77
PATIENCE = 600.0  # seconds of real time: a guard against a hang


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def make_cardlink(now: float) -> Driver:
    return CardlinkHost(nonce=os.urandom(16), key_of={SERIAL: KEY}.get, held=(0, 0), now=now)


class Changes:
    """Lets a test wait until a condition is true, without sleeping."""

    def __init__(self) -> None:
        self._happened = asyncio.Event()

    def note(self) -> None:
        self._happened.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._happened.clear()
                await self._happened.wait()


class HandClock:
    """A clock that advances only when the test moves it, with the waits that depend on it."""

    def __init__(self, changes: Changes) -> None:
        self.now = 1000.0
        self.waits: list[float] = []
        self._sleeping: list[tuple[float, asyncio.Event]] = []
        self._changes = changes

    def __call__(self) -> float:
        return self.now

    async def wait(self, event: asyncio.Event, deadline: float) -> None:
        if self.now >= deadline:
            return
        sleeper = (deadline, event)
        self._sleeping.append(sleeper)
        self.waits.append(deadline - self.now)
        self._changes.note()
        try:
            await event.wait()
        finally:
            self._sleeping.remove(sleeper)

    def advance(self, seconds: float) -> None:
        self.now += seconds
        for deadline, event in self._sleeping:
            if self.now >= deadline:
                event.set()

    async def pass_next_wait(self) -> float:
        """Wait for the keeper to wait, let exactly that time pass, and return it."""
        await self._changes.until(lambda: bool(self._sleeping) and not self._sleeping[0][1].is_set())
        deadline = self._sleeping[0][0]
        seconds = deadline - self.now
        self.advance(seconds)
        self.now = deadline
        return seconds


class NotingHost(CardlinkHost):
    """The product's driver, which also notifies a test of received bytes."""

    def __init__(self, changes: Changes, now: float) -> None:
        super().__init__(nonce=os.urandom(16), key_of={SERIAL: KEY}.get, held=(0, 0), now=now)
        self._changes = changes

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        heard = super().receive(data, now)
        self._changes.note()
        return heard


class Desk:
    """Receives what a keeper delivers, for a test to examine."""

    def __init__(self) -> None:
        self.changes = Changes()
        self.heard: list[Heard] = []
        self.healths: list[Health] = []

    def deliver(self, heard: Heard) -> None:
        self.heard.append(heard)
        self.changes.note()

    def on_health(self, health: Health) -> None:
        self.healths.append(health)
        self.changes.note()

    async def until_state(self, *states: LinkState) -> Health:
        await self.changes.until(lambda: bool(self.healths) and self.healths[-1].state in states)
        return self.healths[-1]

    @property
    def ends(self) -> list[LinkOver]:
        return [thing for thing in self.heard if isinstance(thing, LinkOver)]


@contextlib.asynccontextmanager
async def running(keeper: LinkKeeper) -> AsyncIterator[None]:
    """Run a keeper, check that it does not end on its own, and cancel it."""
    task = asyncio.create_task(keeper.run())
    try:
        yield
        assert not task.done()
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def keeper_at(path: Path, desk: Desk, clock: HandClock) -> LinkKeeper:
    """Return a keeper of the serial port at `path`, on a manual clock."""
    return LinkKeeper(
        serial_url(path),
        make_driver=lambda now: NotingHost(desk.changes, now),
        deliver=desk.deliver,
        on_health=desk.on_health,
        clock=clock,
        wait=clock.wait,
        random=Random(7),  # jitter, repeatable
    )


def serial_url(path: Path) -> DeviceUrl:
    return parse_device_url(f"serial://{path}")


class SmallDevice:
    """The device's side of cardlink: handshake, status, answers, acknowledgements. No resending."""

    def __init__(self, key: bytes = KEY, boot: int = BOOT) -> None:
        self.acknowledged: list[int] = []
        self.commands: list[int] = []
        self._key = key
        self._boot = boot
        self._reader = FrameReader()
        self._hello = b""
        self._identity = b""
        self._host_nonce = b""
        self._channel: SealedChannel | None = None

    def receive(self, data: bytes) -> bytes:
        """Return the device's answer to these bytes."""
        return b"".join(self._answer(frame) for frame in self._reader.receive(data))

    def status(self) -> bytes:
        heard = 0 if self._channel is None else self._channel.heard
        return self._sealed(
            FrameKind.STATUS, 0, messages.StatusBody(0, 5000, 0, 52, 0, 52, 0, False, False, False, 0, heard)
        )

    def report(self, number: int, report: messages.ReportBody) -> bytes:
        return self._sealed(FrameKind.REPORT, number, report)

    def _answer(self, frame: Frame) -> bytes:
        match frame.kind:
            case FrameKind.HELLO:
                self._hello, self._host_nonce = frame.content, messages.decode_hello(frame.body).nonce
                self._identity = self._clear(FrameKind.IDENTITY, self._who())
                return enclose(self._identity)
            case FrameKind.HOST_PROOF:
                of_host, of_device = frame_keys(*self._parts())
                self._channel = SealedChannel(of_device, of_host)
                proof = sealing.proof(self._key, sealing.DEVICE_ROLE, *self._parts()[1:])
                return enclose(self._clear(FrameKind.DEVICE_PROOF, messages.ProofBody(sealing.HMAC_SHA256, proof)))
        opened = None if self._channel is None else self._channel.open(frame)
        if opened is None:
            return b""
        match opened.kind:
            case FrameKind.RESUME:
                return self.status()
            case FrameKind.ACK:
                self.acknowledged.append(opened.number)
            case FrameKind.COMMAND:
                command = messages.decode_command(opened.body).command_id
                self.commands.append(command)
                return self._sealed(FrameKind.ANSWER, 0, messages.AnswerBody(command, True))
        return b""

    def _parts(self) -> tuple[bytes, bytes, bytes, bytes, bytes]:
        return self._key, self._host_nonce, bytes(16), self._hello, self._identity

    def _clear(self, kind: FrameKind, body: messages.Body) -> bytes:
        return HEADER.pack(VERSION, kind, 0, self._boot, 0) + encode_body(body)

    def _sealed(self, kind: FrameKind, number: int, body: messages.Body | messages.ReportBody) -> bytes:
        """Seal a frame. Without a link the key does not belong to any link, as in a stranger's frame."""
        channel = self._channel or SealedChannel(bytes(32), bytes(32))
        return channel.seal(kind, self._boot, number, encode_body(body), 0.0)

    def _who(self) -> messages.IdentityBody:
        return messages.IdentityBody(
            version=VERSION,
            kind="shuffler",
            unit="sets",
            maker="Example",
            model="Small",
            serial=SERIAL,
            firmware="1.0",
            firmware_digest="00",
            capabilities=["dispenses_on_command"],
            report_memory=64,
            simulated=True,
            deck_size=52,
            nonce=bytes(16),
            kept=[],
        )


class Pty:
    """A pseudo-terminal under a fixed name, as udev gives one to a device, with or without a device behind it."""

    def __init__(self, name: Path, device: SmallDevice | None = None, changes: Changes | None = None) -> None:
        # The far end stays open here too: a pty that is not open yet reads as hung up.
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self.node = Path(os.ttyname(self.slave))
        self.received = bytearray()
        self._device = device
        self._changes = changes or Changes()
        self._name = name
        name.unlink(missing_ok=True)
        name.symlink_to(self.node)
        asyncio.get_running_loop().add_reader(self.master, self._read)

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def hang_up(self) -> None:
        """Pull the cable."""
        if self.master < 0:
            return
        asyncio.get_running_loop().remove_reader(self.master)
        os.close(self.master)
        os.close(self.slave)
        self.master = -1
        self._name.unlink()

    async def until_received(self, count: int) -> None:
        await self._changes.until(lambda: len(self.received) >= count)

    def _read(self) -> None:
        data = os.read(self.master, 65536)
        self.received += data
        answer = self._device.receive(data) if self._device else b""
        if answer:
            self.send(answer)
        self._changes.note()


class Bench:
    """A keeper whose devices are plugged in from memory. `plan` determines the result of each
    attempt to open a device.
    """

    def __init__(self, desk: Desk, clock: HandClock, **given: Any) -> None:
        self.device = SmallDevice()
        self.ends: list[MemoryTransport] = []
        self.far_ends: list[MemoryTransport] = []
        self.plugged_in = True
        self.seen_by_device = desk.changes
        self.keeper = LinkKeeper(
            DeviceUrl("sim", path="/shuffler"),
            **{
                "make_driver": make_cardlink,
                "deliver": desk.deliver,
                "on_health": desk.on_health,
                "clock": clock,
                "wait": clock.wait,
                "random": Random(7),  # jitter, repeatable
                "open_transport": self.open,
                **given,
            },
        )

    async def open(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        if not self.plugged_in:
            raise TransportUnavailableError("Nothing is plugged in.", "Plug it in.", "port-missing")

        def answer(data: bytes) -> None:
            far.write(self.device.receive(data))
            self.seen_by_device.note()

        near, far = memory_pair(on_data, on_lost, answer, lambda error: None)
        self.ends.append(near)
        self.far_ends.append(far)
        return near

    def unplug(self) -> None:
        self.plugged_in = False
        self.far_ends[-1].close()
