"""The interface between a front end and a simulated device: bytes in, bytes out, and when to ask again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import msgspec

from firmware_bridge.cards import Concealed
from firmware_bridge.observations import AnyObservation
from simulators.devices.mechanism import Mechanism

LONGEST_NAP: Final = 0.5  # seconds; bounds the delay of a resend if the loop's clock is coarse


class DeviceSide(Protocol):
    """The device's end of the wire, whatever carries it."""

    changed: Callable[[], None]
    """Set by the front end, and called when bytes or time may be due."""

    def receive(self, data: bytes) -> None:
        """Take bytes from the host."""

    def outgoing(self) -> bytes:
        """Return the bytes to be written now, each once."""

    def tick(self) -> None:
        """Let time pass."""

    def nap(self) -> float:
        """Return the seconds until `tick` is due."""


class DeviceWithMechanism(DeviceSide, Protocol):
    """A device's side that has a mechanism."""

    mechanism: Mechanism


class LoggedReport(msgspec.Struct, frozen=True):
    """A line of the device's own log: an observation, whether a host received it or not.

    `fields` has the uptime in milliseconds, then those of the observation. A card is its number (1 to 52), or 0 if it
    was not recognised.
    """

    boot: int
    number: int
    report: str
    fields: list[Any]


def recognised(cards: Sequence[Concealed | None], foreign: int) -> Iterator[tuple[Concealed | None, bool]]:
    """Yield each card, and whether the sensor took it for another deck's.

    An observation counts foreign cards without their places: the first unrecognised cards are taken for them.
    """
    for card in cards:
        is_foreign = card is None and foreign > 0
        foreign -= is_foreign
        yield card, is_foreign


def log_line(boot: int, number: int, uptime_ms: int, observation: AnyObservation) -> LoggedReport:
    """Return the log line of an observation. It names cards: the log is the device's own, not a host's."""
    fields = [_logged(value) for value in msgspec.structs.astuple(observation)]
    return LoggedReport(boot, number, type(observation).__name__, [uptime_ms, *fields])


def _logged(value: Any) -> Any:
    return [_number(one) for one in value] if isinstance(value, tuple) else _number(value)


def _number(value: Any) -> Any:
    return value.expose().number if isinstance(value, Concealed) else 0 if value is None else value


class Tempo:
    """Waits for seconds of table time, at most `longest`, scaled. Scale 0 never waits."""

    def __init__(
        self, scale: float, longest: float = 3.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.scale = scale
        self._longest = longest
        self._sleep = sleep

    async def wait(self, seconds: float) -> None:
        if self.scale > 0 and seconds > 0:
            await self._sleep(min(seconds, self._longest) * self.scale)
