"""What a front end needs of a simulated device: bytes in, bytes out, and when to ask again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Protocol

import msgspec

from firmware_bridge.cards import Concealed
from firmware_bridge.observations import AnyObservation
from simulators.devices.mechanism import Mechanism

LONGEST_NAP: Final = 0.5  # seconds; a bound on how late a resend may be when the clock of the loop is coarse


class DeviceSide(Protocol):
    """A device's end of the wire, whatever carries it."""

    changed: Callable[[], None]
    """Set by the front end; called whenever bytes or time may be due."""

    def receive(self, data: bytes) -> None:
        """Take what the host sent."""

    def outgoing(self) -> bytes:
        """What is to be written now; asking takes it."""

    def tick(self) -> None:
        """Let time pass."""

    def nap(self) -> float:
        """Seconds until `tick` is due."""


class DeviceWithMechanism(DeviceSide, Protocol):
    """A device's side with a mechanism in it."""

    mechanism: Mechanism


class LoggedReport(msgspec.Struct, frozen=True):
    """A line of the device's own log: what it observed, received by a host or not.

    `fields`: the uptime in milliseconds, then the observation's own; a card is its number (1 to 52), 0 when it was not
    recognised.
    """

    boot: int
    number: int
    report: str
    fields: list[Any]


def recognised(cards: Sequence[Concealed | None], foreign: int) -> Iterator[tuple[Concealed | None, bool]]:
    """Each card, and whether the sensor took it for another deck's.

    An observation counts the foreign ones and does not name their places: the first unrecognised ones are taken for
    them.
    """
    for card in cards:
        is_foreign = card is None and foreign > 0
        foreign -= is_foreign
        yield card, is_foreign


def log_line(boot: int, number: int, uptime_ms: int, observation: AnyObservation) -> LoggedReport:
    """The line of an observation. Cards are named in it: it is the device's log and no host's."""
    fields = [_logged(value) for value in msgspec.structs.astuple(observation)]
    return LoggedReport(boot, number, type(observation).__name__, [uptime_ms, *fields])


def _logged(value: Any) -> Any:
    return [_number(one) for one in value] if isinstance(value, tuple) else _number(value)


def _number(value: Any) -> Any:
    return value.expose().number if isinstance(value, Concealed) else 0 if value is None else value
