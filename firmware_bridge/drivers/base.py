"""The interface of every driver: bytes in, bytes out, and what was heard.

A driver has no sockets, threads, clocks or randomness. Times are seconds of one monotonic clock and are passed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus, KeyUsed
from firmware_bridge.cards import Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.messages import AnyText
from firmware_bridge.observations import AnyObservation


class HeardStruct(msgspec.Struct, frozen=True, tag_field="heard"):
    """The base class of what a driver hears. The tags appear in the JSON output of captures."""


class LinkReady(HeardStruct, frozen=True, tag="device_ready", omit_defaults=True):
    """The device is the right one and the link is ready. `nonce` is the device's nonce of this link, `key` which of two
    keys it has, `image` the SHA-256 of the approved program that it has shown to run."""

    identity: DeviceIdentity
    status: DeviceStatus
    nonce: bytes = b""
    key: KeyUsed = ""
    image: str = ""


class Reported(HeardStruct, frozen=True, tag="reported"):
    """A report, in order and exactly once. Acknowledge it by (boot, number) when the journal holds it, not before.

    `uptime_ms` is the device's own clock, or None if the driver has none.
    """

    boot: int
    number: int
    uptime_ms: int | None
    observation: AnyObservation
    evidence: Evidence


class ReportsGone(HeardStruct, frozen=True, tag="reports_gone"):
    """Reports that the device no longer has, so cards may have passed unseen. `last` is None if their number is
    unknown.

    With `withheld`, the device made them and does not send them. `newest` is the last report that it has made.
    """

    boot: int
    first: int
    last: int | None
    withheld: bool = False
    newest: int = 0


class StatusHeard(HeardStruct, frozen=True, tag="status_heard"):
    """The status that the device sent. `unanswered` lists the commands that should have been answered by then.

    `moves_too_long` means that it has reported moving cards for longer than any motion but a shuffle takes.
    """

    status: DeviceStatus
    unanswered: tuple[int, ...] = ()
    moves_too_long: bool = False


class Answered(HeardStruct, frozen=True, tag="answered"):
    """The device carried out a command (`done`), or refused it with a reason."""

    command_id: int
    done: bool
    reason: str = ""


Contradiction: TypeAlias = Literal[
    "report",
    "answer",
    "unknown_answer",
    "forged_frames",
    "acknowledgement",
    "heard",
    "counts",
    "clock",
    "last_command",
    "motion",
]
"""What contradicts what a device sent, or was sent, before.

- `report`: a known number came again with other content
- `answer`: a command was answered in two ways
- `unknown_answer`: the answer is to a command not given on this link
- `forged_frames`: the device did not seal these frames, or they are repeats, so someone may be in the line
- `acknowledgement`: a report comes again although the device has confirmed its acknowledgement
- `heard`: the device confirms a frame that was never sent
- `counts`, `clock`, `last_command`: these fields of its status contradict each other or an earlier status
- `motion`: it reports moving cards for longer than any order takes, and no order was given
"""


class Contradicted(HeardStruct, frozen=True, tag="contradicted"):
    """Something from the device contradicts what was sent before.

    `number` is that of the report or command concerned; it counts the frames that were forged on this link.
    """

    what: Contradiction
    boot: int
    number: int
    evidence: Evidence


class LinkOver(HeardStruct, frozen=True, tag="link_over"):
    """The link has ended. `refused` means that the device must not be used: reconnecting alone does not help.

    `evidence` is the part of the reason that must not be shown.
    """

    code: str
    sentence: AnyText
    refused: bool = False
    evidence: Evidence | None = None


Heard: TypeAlias = LinkReady | Reported | ReportsGone | StatusHeard | Answered | Contradicted | LinkOver


class LinkStatistics(msgspec.Struct):
    """The counters of one link, for the log and for maintenance."""

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
    """The protocol of one link. The link keeper makes a new driver for every connection."""

    statistics: LinkStatistics

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        """Take received bytes. Never raises, whatever they are."""

    def tick(self, now: float) -> Sequence[Heard]:
        """Let time pass: resend what is due, notice silence."""

    def wake_at(self) -> float:
        """Return when `tick` is due next, on the same clock."""

    def outgoing(self) -> bytes:
        """Return the bytes to be written now. Each byte is returned once."""

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        """Note that the journal holds every report up to this one."""

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        """Send a command. The same id within a link is the same command."""

    def is_stale(self, now: float) -> bool:
        """Return whether a sign of life is overdue. Always False where silence proves nothing."""
