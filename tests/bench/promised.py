"""The bench's tests of promises on a device in this process, without waiting for its timeouts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from firmware_bridge.cards import DECK
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.transports.base import OnData, OnLost, Transport
from simulators.bench.bench import seeded
from simulators.bench.frames import ASKED_AGAIN, FrameHost
from simulators.bench.promise import KEPT, PromiseTest
from simulators.bench.promises import cards, handshake, life, operator, orders, reports, sealing
from simulators.bench.promises.dealing import DeckDealer, DeckRecord
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.memory import MemoryFront
from tests.support.virtual_time import VirtualTimeLoop

MODULES: Final = (handshake, sealing, reports, life, orders, cards, operator)
KEY: Final = b"bench" + bytes(27)
MakeDevice = Callable[[], SimulatedDevice]


def good_device(kind: Any = "shuffler", pace: float = 0.0) -> SimulatedDevice:
    """Return a good device with a deck in it, on the running loop's time."""
    profile = Profile(kind, "CARDSHOE-BENCH", full_capabilities(kind), program=bytes(range(256)))
    clock = asyncio.get_running_loop().time
    device = SimulatedDevice(profile, key=KEY, random=seeded(1), fresh=seeded(2), clock=clock, pace=Tempo(pace))
    device.mechanism.load(list(DECK), deck=1)
    return device


class Bed:
    """A device with a host connected. `operator`: the seconds for a person, whom the host's `say` asks."""

    def __init__(self, make: MakeDevice, *, operator: int = 0) -> None:
        self.device = make()
        self.front = MemoryFront(self.device)
        self._operator = operator
        self.host = self.another_host()

    def another_host(self) -> FrameHost:
        url, keys = parse_device_url("sim:///bench"), {"CARDSHOE-BENCH": KEY}
        self.host = FrameHost(url, keys, open_with=self._open, operator=self._operator)
        return self.host

    async def _open(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        return self.front.connect(on_data, on_lost)


def in_virtual_time(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(test())


class LateLine:
    """The host's end of a line that carries nothing to the device until some seconds after it was opened."""

    def __init__(self, line: Transport, seconds: float) -> None:
        self._line = line
        self._waiting: list[bytes] = []
        self._loop = asyncio.get_running_loop()
        self._free_at = self._loop.time() + seconds
        self._loop.call_at(self._free_at, self._carry)

    def write(self, data: bytes) -> None:
        if self._waiting or self._loop.time() < self._free_at:
            self._waiting.append(data)
        else:
            self._line.write(data)

    def close(self) -> None:
        self._line.close()

    def _carry(self) -> None:
        """Carry one frame, so that its answer comes before the next frame is carried."""
        if self._waiting:
            self._line.write(self._waiting.pop(0))
            self._loop.call_later(0.01, self._carry)


class LateBed(Bed):
    """The line is opened late, as a pty of an emulator is: the first frame has been sent twice by then."""

    async def _open(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        return LateLine(await super()._open(url, on_data=on_data, on_lost=on_lost), ASKED_AGAIN * 1.5)


def ask(kept: PromiseTest, make: MakeDevice = good_device, bed: type[Bed] = Bed) -> None:
    """Run a test of the bench on a device. Raise `BrokenPromiseError` where it fails."""

    async def run() -> None:
        await _ask(kept, bed(make).host)

    in_virtual_time(run)


def ask_all(every: Sequence[PromiseTest], make: MakeDevice = good_device) -> None:
    """Run tests in sequence on one device, each with a new host. Raise `BrokenPromiseError` where one fails."""

    async def run() -> None:
        bed = Bed(make)
        for kept in every:
            await _ask(kept, bed.another_host())
            await host_is_gone()

    in_virtual_time(run)


async def host_is_gone() -> None:
    """Wait until the other end in memory has noticed, in the loop's next turn."""
    await asyncio.get_running_loop().create_task(_nothing())
    await asyncio.get_running_loop().create_task(_nothing())


async def _nothing() -> None:
    pass


async def _ask(kept: PromiseTest, host: FrameHost) -> None:
    await host.open()
    try:
        if kept.needs == ("dealt",):
            dealt: DeckRecord = await DeckDealer(host).deal()
            await kept.judged(None, dealt)
        else:
            await kept.judged(owner(kept), host)
    finally:
        host.close()


def owner(kept: PromiseTest) -> object:
    """Return an object of the class that has the test."""
    for module in MODULES:
        for thing in vars(module).values():
            if isinstance(thing, type) and kept.name in vars(thing):
                return thing()
    raise LookupError(kept.name)


def kept_named(name: str) -> PromiseTest:
    return KEPT[f"test_{name}"]
