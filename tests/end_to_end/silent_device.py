"""A simulated device on a real pseudo-terminal whose frames the test may change or drop, and the people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from random import Random
from typing import Any, Final, TypeAlias

import msgspec

from controller.api.bodies import OperationAnswer
from controller.api.client import ApiClient
from controller.api.view import TableView
from controller.table.operations import AnyOperation
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink.framing import Frame, FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.messages import AnyText
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewClient, CrewMember
from simulators.ports.pty import PtyFront
from tests.end_to_end.child import Orders
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import KINDS, Stage

SERIAL: Final = "SILENT-1"
KEY: Final = bytes(range(1, 33))
Hand: TypeAlias = Callable[[Frame], bytes]


class Handled:
    """A device's side. `hand` gets each frame that the device sends, and returns what is sent instead."""

    def __init__(self, device: SimulatedDevice) -> None:
        self.device = device
        self.hand: Hand = whole
        self.changed: Callable[[], None] = lambda: None
        self.received: Callable[[], None] = lambda: None
        device.changed = lambda: self.changed()

    def receive(self, data: bytes) -> None:
        self.device.receive(data)
        self.received()

    def outgoing(self) -> bytes:
        return b"".join(self.hand(frame) for frame in FrameReader().receive(self.device.outgoing()))

    def tick(self) -> None:
        self.device.tick()

    def nap(self) -> float:
        return self.device.nap()


def english_of(text: Any) -> str:
    """Return the English text of a field of an event."""
    return str(msgspec.convert(text, AnyText))


def whole(frame: Frame) -> bytes:
    return enclose(frame.content)


def damaged(frame: Frame) -> bytes:
    """Return the frame with a changed byte in its body and the old CRC."""
    sent = enclose(frame.content)
    return sent[:12] + bytes([sent[12] ^ 1]) + sent[13:]


def but(kind: FrameKind, hand: Hand, among: Callable[[Frame], bool] = lambda frame: True) -> Hand:
    """Return a `hand` that leaves every other kind of frame alone."""
    return lambda frame: hand(frame) if frame.kind == kind and among(frame) else whole(frame)


class SilentTable:
    """The daemon, its device on a pty, and people who act through the API."""

    def __init__(self, stage: Stage, device: SimulatedDevice, side: Handled, client: ApiClient) -> None:
        self.stage = stage
        self.device = device
        self.side = side
        self.events: list[dict[str, Any]] = []
        self._client = client
        self._voice = CrewClient(client, Random(5))
        self._news = asyncio.Event()
        side.received = self._news.set

    async def follow(self) -> None:
        async for event in self._client.events():
            if event is not None:
                self.events.append(event)
                self._news.set()

    async def until(self, found: Callable[[], Any]) -> Any:
        """Wait for changes until the condition is true."""
        async with asyncio.timeout(PATIENCE):
            while not (what := found()):
                self._news.clear()
                await self._news.wait()
        return what

    async def until_so(self, found: Callable[[], Awaitable[bool]]) -> None:
        """Wait until the condition is true. It asks the daemon, so it is only checked after a change."""
        while True:
            self._news.clear()
            if await found():
                return
            await self._news.wait()

    async def do(self, operation: AnyOperation, member: CrewMember = CREW[0]) -> None:
        answer = await self._say(operation, member)
        assert answer.accepted, answer.sentence

    async def is_accepted(self, operation: AnyOperation) -> bool:
        return (await self._say(operation, CREW[0])).accepted

    async def _say(self, operation: AnyOperation, member: CrewMember) -> OperationAnswer:
        view = await self.state()
        return await self._voice.send(self._voice.request(member, view.round, operation))

    async def state(self) -> TableView:
        return await self._client.state()

    async def settled(self) -> None:
        """Wait until the table has everything that the device reported and no command is open."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self._news.clear()
                idle = self.device.idle
                view = await self.state()
                if idle and view.device.connected and not view.device.open_commands:
                    return
                await self._news.wait()

    def raised(self, row: str) -> list[dict[str, Any]]:
        return [event for event in self.of("irregularity_raised") if event["row"]["id"] == row]

    def note_of(self, row: str) -> str:
        """Return the English note of the first irregularity of that row."""
        return english_of(self.raised(row)[0]["note"])

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == kind]

    def count(self, kind: str) -> int:
        return len(self.of(kind))


@asynccontextmanager
async def silent_table(stage: Stage, due_within: float) -> AsyncIterator[SilentTable]:
    """Yield a table whose device deals until the test sets its `hand`."""
    kind = KINDS[stage.unit]
    loop = asyncio.get_running_loop()
    device = SimulatedDevice(
        Profile(kind, SERIAL, full_capabilities(kind, stages=False)),  # type: ignore[arg-type]  # one of two kinds
        key=KEY, random=Random(1), fresh=Random(2), clock=loop.time, pace=Tempo(0),
    )  # fmt: skip
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    side = Handled(device)
    front = PtyFront(side, stage.port)
    front.plug()
    carrying = asyncio.create_task(front.run())
    try:
        await stage.start_daemon(Orders(due_within=due_within))
        async with ApiClient(stage.socket) as client:
            table = SilentTable(stage, device, side, client)
            following = asyncio.create_task(table.follow())
            try:
                yield table
            finally:
                await _cancel(following)
    finally:
        await _cancel(carrying)


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
