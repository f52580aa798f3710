"""The daemon, the device, and what it is told."""

from __future__ import annotations

from typing import Literal

from controller.games.specification import Kind
from controller.table.events.base import Event
from controller.table.model import HeldCard
from controller.table.phases import Service
from controller.table.settings import Settings
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.commands import AnyCommand


class TableBegan(Event, frozen=True, tag="table_began"):
    """The daemon started; its link is of the past. `settings_wait`: they change after the round in progress."""

    table: str
    simulated: bool
    start: str
    settings_wait: Settings | None = None
    host_boot: str = ""


class GameChosen(Event, frozen=True, tag="game_chosen"):
    """The rules in force, with what the casino chose."""

    title: str
    version: str
    effective: str
    settings: Settings


class DeviceReady(Event, frozen=True, tag="device_ready"):
    """`cards_may_have_passed`: it was away in a round, and cannot tell for certain what it did meanwhile.

    `unfit`: it cannot serve this table; the device that the table knows stays the one before.
    """

    identity: DeviceIdentity
    exit_held: bool
    cards_may_have_passed: bool = False
    unfit: bool = False


class DeviceDiffers(Event, frozen=True, tag="device_differs"):
    """It is not as it was on the link before. `what`: serial (another device) or firmware (its digest)."""

    what: Literal["serial", "firmware"]
    before: str
    now: str


class DeviceLost(Event, frozen=True, tag="device_lost"):
    code: str
    sentence: str


class ServiceChanged(Event, frozen=True, tag="service_changed"):
    service: Service
    cause: str


class StatusAgrees(Event, frozen=True, tag="status_agrees"):
    """The device's account of itself and the journal's are the same."""


class StatusDiffers(Event, frozen=True, tag="status_differs"):
    """They are not: what the journal holds against what the device says.

    `tray`: the cards that must lie in the tray by the device's word, for a difference there.
    """

    what: str
    journal: int
    device: int
    tray: tuple[HeldCard, ...] = ()


class ReportsPassed(Event, frozen=True, tag="reports_passed"):
    """Reports that will never come: the next one expected follows (`boot`, `number`)."""

    boot: int
    number: int
    note: str


class ReportTaken(Event, frozen=True, tag="report_taken"):
    """A report of the device is held durably from here on, whatever it meant."""

    boot: int
    number: int
    uptime_ms: int | None
    observed: str


class ClockRanBackwards(Event, frozen=True, tag="clock_ran_backwards"):
    """Within one start of the device a later report has an earlier time; milliseconds since that start."""

    boot: int
    before_ms: int
    after_ms: int


class CommandIssued(Event, frozen=True, tag="command_issued"):
    """The device is told something. The command's id is this event's entry number."""

    command: AnyCommand


class CommandDone(Event, frozen=True, tag="command_done"):
    command_id: int


class CommandRefused(Event, frozen=True, tag="command_refused"):
    command_id: int
    reason: str


class CommandLapsed(Event, frozen=True, tag="command_lapsed"):
    """The link ended before the device had begun it: it was not carried out and never will be."""

    command_id: int


class DeviceStopped(Event, frozen=True, tag="device_stopped"):
    """The device moves no cards until the cause is gone."""

    cause: str


class DeviceFreed(Event, frozen=True, tag="device_freed"):
    cause: str


class DeviceNoted(Event, frozen=True, tag="device_noted"):
    """Something that the device told and that changes nothing: kept for whoever reads the journal."""

    what: str
    detail: str = ""


class MaintenanceBegan(Event, frozen=True, tag="maintenance_began"):
    """From here on no round is concerned by what the device does. `closed`: the table was; `concluded`: a round
    was, and the next had not begun.
    """

    reason: str
    closed: bool
    concluded: bool = False


class MaintenanceEnded(Event, frozen=True, tag="maintenance_ended"):
    """The deck in the device must not be dealt from; it has to be loaded, shuffled and counted whole before a round."""


class MaintenanceNoted(Event, frozen=True, tag="maintenance_noted"):
    """What would have been an irregularity in a round. It changes nothing."""

    kind: Kind
    noticed_by: str
    note: str = ""
