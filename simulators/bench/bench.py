"""The bench: one device, a link to it, and everything received, for tests that ask and wait."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final, TypeVar

from firmware_bridge.cards import Card
from firmware_bridge.commands import AnyCommand
from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Answered, Driver, Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.registry import load_driver, registered_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.link_keeper import Health, LinkKeeper, LinkState
from firmware_bridge.observations import Observation
from simulators.bench.promise import Measurement
from simulators.bench.recognition import Sample
from simulators.devices.base import DeviceSide
from simulators.ports.pty import PtyFront

T = TypeVar("T")
HeardT = TypeVar("HeardT")
ObservationT = TypeVar("ObservationT", bound=Observation)
PATIENCE: Final = 120.0  # seconds; a real shuffle takes a minute
REACHED_WITHIN: Final = 15.0  # seconds until a device that does not become ready is given up


class BenchError(AssertionError):
    """Raised when the device did not do what the bench waited for."""


class UnreachableError(BenchError):
    """Raised when the device does not become ready. `hint` says what to do."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


class Bench:
    """A link that keeps everything it receives. Reports are acknowledged on arrival unless `acknowledges` is False.

    `draws` is the number of cards that a person draws when `say` asks. With `strict`, a missing capability is a
    failure. `sample` has the decks in a known order that a person draws. `run` runs a test on the bench's loop.
    `unreachable` is set when an attempt to connect has failed.
    """

    def __init__(self, url: DeviceUrl, keys: Mapping[str, bytes], cards: Mapping[str, Card]) -> None:
        self.url = url
        self.run: Callable[[Coroutine[Any, Any, None]], None]
        self.draws = 0
        self.sample: Sample | None = None
        self.say: Callable[[str], None] = lambda sentence: None
        self.strict = False
        self.unreachable = asyncio.Event()
        self.measurements: list[Measurement] = []
        self.received: list[Heard] = []
        self.acknowledges = True
        self._news = asyncio.Event()
        self._held = (0, 0)
        self._next_command = secrets.randbits(40)
        make = load_driver(url.driver)
        memory = LinkMemory()

        def make_driver(now: float) -> Driver:
            nonce, simulated = secrets.token_bytes(16), url.scheme == "sim"
            return make(DriverSetting(nonce, url.line, keys.get, self._held, cards, simulated, memory=memory), now)

        self._clock = asyncio.get_running_loop().time
        self.keeper = LinkKeeper(
            url,
            make_driver=make_driver,
            deliver=self._deliver,
            clock=self._clock,
            random=secrets.SystemRandom(),
            on_health=self._on_health,
        )

    @property
    def held(self) -> tuple[int, int]:
        """The last acknowledged report, as (boot, number)."""
        return self._held

    @property
    def now(self) -> float:
        """The time of a monotonic clock in seconds."""
        return self._clock()

    def measure(self, measured: Measurement) -> None:
        """Keep a measurement. Raise `BenchError` if it exceeds its limit."""
        self.measurements.append(measured)
        if not measured.within:
            raise BenchError(str(measured))

    def measure_all(self, measured: Sequence[Measurement]) -> None:
        """Keep measurements. Raise `BenchError` if any exceeds its limit."""
        self.measurements += measured
        beyond = [str(one) for one in measured if not one.within]
        if beyond:
            raise BenchError("; ".join(beyond))

    async def collect(self, found: Callable[[], Sequence[T]], number: int) -> Sequence[T]:
        """Wait until `number` are found among what was received. When the time is up, return those found so far."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while len(found()) < number:
                    self._news.clear()
                    await self._news.wait()
        return found()

    async def ready(self) -> LinkReady:
        return await self.wait_for(LinkReady)

    def send(self, command: AnyCommand, command_id: int | None = None) -> int:
        """Send a command and return its id. The same id again is the same command."""
        if command_id is None:
            self._next_command += 1
            command_id = self._next_command
        self.keeper.command(command_id, command)
        return command_id

    async def answer_to(self, command: AnyCommand) -> Answered:
        """Send a command and wait for its answer."""
        command_id = self.send(command)
        return await self.wait_for(Answered, lambda answer: answer.command_id == command_id)

    async def report(self, kind: type[ObservationT], after: int = 0) -> ObservationT:
        """Wait for the first report of a kind, from index `after` of what was received."""
        found = await self.wait_for(Reported, lambda report: isinstance(report.observation, kind), after)
        assert isinstance(found.observation, kind)
        return found.observation

    async def wait_for(
        self, kind: type[HeardT], matches: Callable[[HeardT], bool] = lambda thing: True, after: int = 0
    ) -> HeardT:
        """Wait for the first matching item at or after index `after`. Raise `BenchError` if it does not come."""
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    for thing in self.received[after:]:
                        if isinstance(thing, kind) and matches(thing):
                            return thing
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            health = self.keeper.health
            raise BenchError(f"no {kind.__name__} came: the link is {health.state}. {health.sentence}") from None

    async def make_new_link(self) -> None:
        """End the link and wait until it is up again."""
        place = len(self.received)
        self.keeper.drop("bench", "The bench makes a new link.")
        await self.wait_for(LinkOver, after=place)
        await self.wait_for(LinkReady, after=place)

    def _on_health(self, health: Health) -> None:
        if health.state in (LinkState.ABSENT, LinkState.REFUSED) and health.code:
            self.unreachable.set()

    def _deliver(self, thing: Heard) -> None:
        self.received.append(thing)
        self._news.set()
        if isinstance(thing, Reported) and self.acknowledges:
            self._held = (thing.boot, thing.number)
            self.keeper.acknowledge(*self._held)


@asynccontextmanager
async def open_bench(
    url: str, keys: Mapping[str, bytes], cards: Mapping[str, Card] | None = None
) -> AsyncGenerator[Bench, None]:
    """Open a bench for the device that the URL names. `cards` is keyed by identifier, for a line reader."""
    bench = Bench(parse_device_url(url), keys, cards or {})
    running = asyncio.create_task(bench.keeper.run())
    try:
        yield bench
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def reach(url: str, keys: Mapping[str, bytes], cards: Mapping[str, Card] | None = None) -> LinkReady:
    """Wait a limited time for the device to become ready. Raise `UnreachableError` and `BridgeError`."""
    async with open_bench(url, keys, cards) as made:
        ready = asyncio.ensure_future(made.ready())
        failed = asyncio.ensure_future(made.unreachable.wait())
        done, waiting = await asyncio.wait((ready, failed), timeout=REACHED_WITHIN, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        if ready in done:
            return ready.result()
        health = made.keeper.health
        sentence = f"{url} cannot be put on the bench. {health.sentence or 'It does not answer.'}"
        raise UnreachableError(sentence, str(health.hint))


@asynccontextmanager
async def simulated_device(device: DeviceSide, link: Path, driver: str = DEFAULT_DRIVER) -> AsyncGenerator[str, None]:
    """Put a simulated device on a pty and yield its URL."""
    front = PtyFront(device, link)
    front.plug()
    carrying = asyncio.create_task(front.run())
    try:
        yield str(DeviceUrl("serial", path=str(link), driver=driver, baud=registered_driver(driver).baud))
    finally:
        carrying.cancel()
        with suppress(asyncio.CancelledError):
            await carrying


def seeded(seed: int) -> Random:
    """Return the source of all randomness of a simulated device."""
    return Random(f"{seed}/device")
