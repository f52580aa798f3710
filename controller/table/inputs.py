"""Everything that can happen to a table, one type an origin. The journal keeps each as it came."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from controller.roles import Role
from controller.table.operations import AnyOperation
from controller.table.settings import Settings
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import Evidence
from firmware_bridge.observations import AnyObservation


class Input(msgspec.Struct, frozen=True, tag_field="input"):
    """Base of all inputs."""


class DaemonStarted(Input, frozen=True, tag="daemon_started"):
    """The daemon began, with this configuration. What it knew of the device before is in doubt.

    `host_boot` names the PC's own start, so that a PC without power is told from a daemon that only began anew; empty:
    nobody knows.
    """

    table: str
    simulated: bool
    settings: Settings
    start: str
    host_boot: str = ""


class DeviceConnected(Input, frozen=True, tag="device_connected"):
    identity: DeviceIdentity
    status: DeviceStatus


class DeviceGone(Input, frozen=True, tag="device_gone"):
    """The link to a device that was ready is over; `refused`: it must not be used."""

    code: str
    sentence: str
    refused: bool = False


class DeviceReported(Input, frozen=True, tag="device_reported"):
    """A numbered report, in order and once. `uptime_ms` is the device's clock."""

    boot: int
    number: int
    uptime_ms: int | None
    observation: AnyObservation
    evidence: Evidence


class ReportsMissing(Input, frozen=True, tag="reports_missing"):
    """The device no longer has these reports; `last` None: nobody knows how many."""

    boot: int
    first: int
    last: int | None


class StatusReceived(Input, frozen=True, tag="status_received"):
    """A heartbeat. Journaled only when it decides something."""

    status: DeviceStatus


class CommandAnswered(Input, frozen=True, tag="command_answered"):
    command_id: int
    done: bool
    reason: str = ""


class PersonActed(Input, frozen=True, tag="person_acted"):
    """An operation with the person and the role that the daemon looked up. `round`: the one the person looked at."""

    operation_id: str
    person: str
    role: Role
    round: int
    operation: AnyOperation


AnyInput: TypeAlias = (
    DaemonStarted
    | DeviceConnected
    | DeviceGone
    | DeviceReported
    | ReportsMissing
    | StatusReceived
    | CommandAnswered
    | PersonActed
)
