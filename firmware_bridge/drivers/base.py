"""What every driver is to the link keeper: bytes in, bytes out, and what was heard.

A driver has no sockets, threads, clocks or randomness. Times are seconds of one monotonic clock, handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import msgspec

from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import AnyObservation


class DeviceReady(msgspec.Struct, frozen=True):
    """The device is who it should be and the link stands."""

    identity: DeviceIdentity
    status: DeviceStatus


class Reported(msgspec.Struct, frozen=True):
    """A report, in order and once. To be acknowledged by (boot, number) when the journal holds it, not before.

    `uptime_ms` is the device's own clock; drivers without one give None.
    """

    boot: int
    number: int
    uptime_ms: int | None
    observation: AnyObservation
    evidence: Evidence


class ReportsGone(msgspec.Struct, frozen=True):
    """Reports that the device no longer has: cards may have passed unseen. `last` None: nobody knows how many."""

    boot: int
    first: int
    last: int | None


class StatusHeard(msgspec.Struct, frozen=True):
    status: DeviceStatus


class Answered(msgspec.Struct, frozen=True):
    """The device carried a command out (`done`), or refused it with a reason."""

    command_id: int
    done: bool
    reason: str = ""


class LinkOver(msgspec.Struct, frozen=True):
    """This link is at its end. `refused`: the device must not be used, and connecting again will not mend it alone."""

    code: str
    sentence: str
    refused: bool = False


Heard: TypeAlias = DeviceReady | Reported | ReportsGone | StatusHeard | Answered | LinkOver


class LinkStatistics(msgspec.Struct):
    """Counters of one link, for the log line that a maintainer asks for."""

    bytes_in: int = 0
    bytes_out: int = 0
    frames_in: int = 0
    frames_corrupt: int = 0
    frames_overlong: int = 0
    reports_repeated: int = 0
    reports_out_of_order: int = 0
    frames_resent: int = 0


class Driver(Protocol):
    """One link's worth of conversation. Made anew by the link keeper for every connection."""

    statistics: LinkStatistics

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        """Take what came. Never raises, whatever the bytes."""

    def tick(self, now: float) -> Sequence[Heard]:
        """Let time pass: resend what is due, notice silence."""

    def wake_at(self) -> float:
        """When `tick` wants to be called next, on the same clock."""

    def outgoing(self) -> bytes:
        """What is to be written now; asking takes it."""

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        """The journal holds every report up to this one."""

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        """Tell the device something. The same id within a link is one command."""

    def is_stale(self, now: float) -> bool:
        """Whether a sign of life is overdue. Always False where silence proves nothing."""
