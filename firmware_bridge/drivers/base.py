"""The interface of every driver: bytes in, bytes out, and what was heard.

A driver has no sockets, threads, clocks or randomness. Times are seconds of one monotonic clock, passed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import AnyObservation


class HeardStruct(msgspec.Struct, frozen=True, tag_field="heard"):
    """Base of what a driver hears. The tags are in the JSON output of captures."""


class DeviceReady(HeardStruct, frozen=True, tag="device_ready", omit_defaults=True):
    """The device is the right one and the link stands. `nonce`: its own of this link, never used before."""

    identity: DeviceIdentity
    status: DeviceStatus
    nonce: bytes = b""


class Reported(HeardStruct, frozen=True, tag="reported"):
    """A report, in order and once. To be acknowledged by (boot, number) when the journal holds it, not before.

    `uptime_ms` is the device's own clock; drivers without one give None.
    """

    boot: int
    number: int
    uptime_ms: int | None
    observation: AnyObservation
    evidence: Evidence


class ReportsGone(HeardStruct, frozen=True, tag="reports_gone"):
    """Reports that the device no longer has: cards may have passed unseen. `last` None: their number is unknown.

    `withheld`: the device says that it made them, and does not send them. `newest`: the last report that it has made.
    """

    boot: int
    first: int
    last: int | None
    withheld: bool = False
    newest: int = 0


class StatusHeard(HeardStruct, frozen=True, tag="status_heard"):
    """The device's status, as it was sent. `unanswered`: commands that should have been answered by then.

    `moves_too_long`: it has said that cards move for longer than any motion but a shuffle takes.
    """

    status: DeviceStatus
    unanswered: tuple[int, ...] = ()
    moves_too_long: bool = False


class Answered(HeardStruct, frozen=True, tag="answered"):
    """The device carried a command out (`done`), or refused it with a reason."""

    command_id: int
    done: bool
    reason: str = ""


class Contradicted(HeardStruct, frozen=True, tag="contradicted"):
    """What came contradicts what was sent before. `number`: of the report or command that it is about.

    `what`: "report", a number that was taken came again with other content; "answer", a command was answered in two
    ways; "unknown_answer", the answer to a command that it was not given on this link; "forged_frames", frames that the
    device did not seal, or that came before: someone may be in the line, `number` is how many there were on this link.
    """

    what: Literal["report", "answer", "unknown_answer", "forged_frames"]
    boot: int
    number: int
    evidence: Evidence


class LinkOver(HeardStruct, frozen=True, tag="link_over"):
    """This link has ended. `refused`: the device must not be used, and reconnecting alone does not fix that.

    `evidence`: what must not be shown of the reason.
    """

    code: str
    sentence: str
    refused: bool = False
    evidence: Evidence | None = None


Heard: TypeAlias = DeviceReady | Reported | ReportsGone | StatusHeard | Answered | Contradicted | LinkOver


class LinkStatistics(msgspec.Struct):
    """Counters of one link, for the log and for maintenance."""

    bytes_in: int = 0
    bytes_out: int = 0
    frames_in: int = 0
    frames_corrupt: int = 0
    frames_overlong: int = 0
    reports_repeated: int = 0
    reports_out_of_order: int = 0
    frames_resent: int = 0
    frames_forged: int = 0
    frames_repeated: int = 0


class Driver(Protocol):
    """The protocol of one link. The link keeper makes a new one for every connection."""

    statistics: LinkStatistics

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        """Take the bytes received. Never raises, whatever they are."""

    def tick(self, now: float) -> Sequence[Heard]:
        """Let time pass: resend what is due, notice silence."""

    def wake_at(self) -> float:
        """When `tick` wants to be called next, on the same clock."""

    def outgoing(self) -> bytes:
        """The bytes to be written now; the next call does not return them again."""

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        """The journal holds every report up to this one."""

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        """Send a command. The same id within a link is one command."""

    def is_stale(self, now: float) -> bool:
        """Whether a sign of life is overdue. Always False where silence proves nothing."""
