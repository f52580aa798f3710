"""No exception ends the link keeper: every class, at every call into transport, driver and daemon."""

from __future__ import annotations

import asyncio
import termios
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from typing import Any

import pytest
import serial
import structlog

from firmware_bridge.commands import AnyCommand, HoldExit
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import Driver, Heard, LinkOver, LinkReady, LinkStatistics
from firmware_bridge.errors import BridgeError, TransportLostError, TransportUnavailableError
from firmware_bridge.link_keeper import Health, LinkState
from firmware_bridge.transports.base import OnData, OnLost, Transport

from .parts import BOOT, PATIENCE, Bench, Desk, HandClock, make_cardlink, running

Logs = list[MutableMapping[str, Any]]


@pytest.fixture(autouse=True)
def logs() -> Iterator[Logs]:
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
async def desk() -> Desk:
    return Desk()


@pytest.fixture
async def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


class NobodyExpectedThis(Exception):  # noqa: N818  # represents classes without a special meaning
    pass


EXCEPTIONS: Sequence[Callable[[], BaseException]] = (
    lambda: OSError(5, "Input/output error"),
    lambda: PermissionError(13, "Permission denied"),
    lambda: BrokenPipeError(32, "Broken pipe"),
    lambda: ConnectionResetError(104, "Connection reset"),
    lambda: BlockingIOError(11, "Try again"),
    lambda: InterruptedError(4, "Interrupted"),
    lambda: TimeoutError(),
    lambda: serial.SerialException("device reports readiness to read but returned no data"),
    lambda: serial.PortNotOpenError(),
    lambda: termios.error(5, "Input/output error"),
    lambda: TransportLostError("The way is gone."),
    lambda: TransportUnavailableError("The way cannot be opened."),
    lambda: asyncio.CancelledError(),
    lambda: asyncio.InvalidStateError(),
    lambda: asyncio.IncompleteReadError(b"", 4),
    lambda: StopIteration(),
    lambda: StopAsyncIteration(),
    lambda: EOFError(),
    lambda: MemoryError(),
    lambda: RecursionError(),
    lambda: BufferError(),
    lambda: AssertionError(),
    lambda: AttributeError("fd"),
    lambda: TypeError("an integer is required"),
    lambda: ValueError("file descriptor cannot be a negative integer"),
    lambda: KeyError("port"),
    lambda: IndexError(),
    lambda: ZeroDivisionError(),
    lambda: OverflowError(),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
    lambda: NotImplementedError(),
    lambda: RuntimeError("Event loop is closed"),
    lambda: ReferenceError(),
    lambda: SystemError(),
    lambda: ExceptionGroup("several", [ValueError(), OSError()]),
    lambda: NobodyExpectedThis(),
)


class Trap:
    """Raises once, at the call of that name."""

    def __init__(self, call: str, make: Callable[[], BaseException]) -> None:
        self.call = call
        self.make = make
        self.sprung = False

    def at(self, call: str) -> None:
        if call == self.call and not self.sprung:
            self.sprung = True
            raise self.make()


class TrappedTransport:
    def __init__(self, inner: Transport, trap: Trap) -> None:
        self._inner = inner
        self._trap = trap

    def write(self, data: bytes) -> None:
        self._trap.at("write")
        self._inner.write(data)

    def close(self) -> None:
        self._inner.close()
        self._trap.at("close")


class TrappedDriver:
    def __init__(self, inner: Driver, trap: Trap) -> None:
        self._inner = inner
        self._trap = trap

    @property
    def statistics(self) -> LinkStatistics:
        self._trap.at("statistics")
        return self._inner.statistics

    @statistics.setter
    def statistics(self, value: LinkStatistics) -> None:
        raise AssertionError

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        self._trap.at("receive")
        return self._inner.receive(data, now)

    def tick(self, now: float) -> Sequence[Heard]:
        self._trap.at("tick")
        return self._inner.tick(now)

    def wake_at(self) -> float:
        self._trap.at("wake_at")
        return self._inner.wake_at()

    def outgoing(self) -> bytes:
        self._trap.at("outgoing")
        return self._inner.outgoing()

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        self._trap.at("acknowledge")
        self._inner.acknowledge(boot, number, now)

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        self._trap.at("command")
        self._inner.command(command_id, command, now)

    def is_stale(self, now: float) -> bool:
        self._trap.at("is_stale")
        return self._inner.is_stale(now)


CALLS = (
    *("open", "write", "close", "make_driver", "statistics", "receive", "tick", "wake_at", "outgoing"),
    *("acknowledge", "command", "is_stale", "deliver", "deliver_end", "on_health"),
)


class TrappedBench(Bench):
    def __init__(self, desk: Desk, clock: HandClock, trap: Trap) -> None:
        self.trap = trap
        self.desk = desk
        super().__init__(
            desk,
            clock,
            make_driver=self.make_driver,
            deliver=self.deliver,
            on_health=self.on_health,
            open_transport=self.open_trapped,
        )

    def open_trapped(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Awaitable[Transport]:
        self.trap.at("open")  # not in a coroutine, which would turn a StopIteration into something else
        return self._open_trapped(url, on_data, on_lost)

    async def _open_trapped(self, url: DeviceUrl, on_data: OnData, on_lost: OnLost) -> Transport:
        return TrappedTransport(await self.open(url, on_data=on_data, on_lost=on_lost), self.trap)

    def make_driver(self, now: float) -> Driver:
        self.trap.at("make_driver")
        return TrappedDriver(make_cardlink(now), self.trap)

    def deliver(self, heard: Heard) -> None:
        self.trap.at("deliver_end" if isinstance(heard, LinkOver) else "deliver")
        self.desk.deliver(heard)

    def on_health(self, health: Health) -> None:
        self.desk.on_health(health)
        self.trap.at("on_health")


@pytest.mark.parametrize("call", CALLS)
async def test_no_exception_ends_the_keeper(desk: Desk, logs: Logs, call: str) -> None:
    for make in EXCEPTIONS:
        clock = HandClock(desk.changes)
        bench = TrappedBench(desk, clock, Trap(call, make))
        logs.clear()
        desk.healths.clear()
        desk.heard.clear()
        async with running(bench.keeper):
            await _use_until_sprung(bench, clock)
            await _recover(bench, clock)
            assert all(end.closed for end in bench.ends[:-1]), "a transport was left open"
            _named_in_the_log(logs, make())
        assert all(end.closed for end in bench.ends)
        readies = sum(isinstance(thing, LinkReady) for thing in desk.heard)
        not_taken = (call == "deliver") - (call == "deliver_end")
        assert len(desk.ends) == readies + not_taken, "each ready link has one end"


async def _use_until_sprung(bench: TrappedBench, clock: HandClock) -> None:
    """Use every call of the link. If the link should end, keep the device silent."""
    async with asyncio.timeout(PATIENCE):
        while not bench.trap.sprung:
            await _turn(clock)
            if bench.keeper.health.state in (LinkState.READY, LinkState.STALE):
                bench.keeper.acknowledge(BOOT, 0)
                bench.keeper.command(1, HoldExit())
                if bench.trap.call in ("close", "deliver_end"):
                    clock.advance(4.0)


async def _recover(bench: TrappedBench, clock: HandClock) -> None:
    await _turn(clock)
    async with asyncio.timeout(PATIENCE):
        while bench.keeper.health.state is not LinkState.READY:
            await _turn(clock)


async def _turn(clock: HandClock) -> None:
    """Let everything that is due happen, then a little time pass."""
    for _ in range(20):
        await asyncio.sleep(0)
    clock.advance(0.3)
    for _ in range(20):
        await asyncio.sleep(0)


def _named_in_the_log(logs: Logs, error: BaseException) -> None:
    """Check that the log names it: as a fault with its class, or one of ours as the reason of the link's end."""
    code = error.code if isinstance(error, BridgeError) else None
    assert any(
        (line["event"] == "link.fault" and line["error"] == type(error).__name__) or (code and line.get("code") == code)
        for line in logs
    )


async def test_a_log_that_cannot_be_written_ends_nothing(desk: Desk, clock: HandClock) -> None:
    refused: list[str] = []

    def full(logger: Any, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        refused.append(line["event"])
        raise OSError(28, "No space left on device")

    structlog.get_config()["processors"][:] = [full]  # the fixture restores the list
    bench = Bench(desk, clock)
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        bench.unplug()
        await desk.until_state(LinkState.LOST)
    assert {"link.ready", "link.lost"} <= set(refused)


async def test_a_transport_that_delivers_too_soon(desk: Desk, clock: HandClock) -> None:
    async def hasty(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        if not bench.ends:
            on_data(b"too soon")
            on_data(b"and on")
            on_lost(TransportLostError("And gone again."))
        return await bench.open(url, on_data=on_data, on_lost=on_lost)

    bench = Bench(desk, clock, open_transport=hasty)
    async with running(bench.keeper):
        assert (await desk.until_state(LinkState.LOST)).code == "link-fault"
        assert bench.ends[0].closed
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)


async def test_a_driver_that_asks_for_the_past_does_not_spin(desk: Desk, clock: HandClock) -> None:
    class Hurried(TrappedDriver):
        def wake_at(self) -> float:
            return -1.0

    trap = Trap("", AssertionError)
    bench = Bench(desk, clock, make_driver=lambda now: Hurried(make_cardlink(now), trap))
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        assert await clock.pass_next_wait() >= 0.009
