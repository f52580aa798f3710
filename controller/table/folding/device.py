"""What the daemon, the device and its commands come to."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import sets, with_deck
from controller.table.model import OpenCommand
from controller.table.phases import Service
from controller.table.state import TableState
from firmware_bridge.commands import HoldExit, ReleaseExit

CARD_DRAWN: Final = "card_drawn"  # the name under which such a report is taken


@sets(events.TableBegan)
def _table_began(state: TableState, event: events.TableBegan, entry: int) -> TableState:
    device = replace(state.device, connected=False, status_agrees=False)
    return replace(
        state,
        table=event.table,
        simulated=event.simulated,
        device=device,
        settings_wait=event.settings_wait,
        host_boot=event.host_boot,
    )


@sets(events.GameChosen)
def _game_chosen(state: TableState, event: events.GameChosen, entry: int) -> TableState:
    return replace(state, settings=event.settings, settings_wait=None)


@sets(events.DeviceReady)
def _device_ready(state: TableState, event: events.DeviceReady, entry: int) -> TableState:
    if event.unfit:
        return state
    identity = event.identity
    device = replace(
        state.device,
        connected=True,
        serial=identity.serial,
        firmware_digest=identity.firmware_digest,
        kind=identity.kind,
        unit=identity.unit,
        running_boot=identity.boot,
        capabilities=identity.capabilities,
        exit_held=event.exit_held,
        exit_fails=False,
        status_agrees=False,
        cards_may_have_passed=event.cards_may_have_passed,
    )
    return replace(state, device=device)


@sets(events.DeviceDiffers)
def _device_differs(state: TableState, event: events.DeviceDiffers, entry: int) -> TableState:
    return state  # told; what the device is now, its readiness says


@sets(events.DeviceLost)
def _device_lost(state: TableState, event: events.DeviceLost, entry: int) -> TableState:
    return replace(state, device=replace(state.device, connected=False, status_agrees=False))


@sets(events.ServiceChanged)
def _service_changed(state: TableState, event: events.ServiceChanged, entry: int) -> TableState:
    told = state.power_failure_told and event.service is not Service.IN_SERVICE  # that interruption is over
    return replace(state, service=event.service, service_cause=event.cause, power_failure_told=told)


@sets(events.StatusAgrees)
def _status_agrees(state: TableState, event: events.StatusAgrees, entry: int) -> TableState:
    return _compared(state)


def _compared(state: TableState) -> TableState:
    return replace(state, device=replace(state.device, status_agrees=True, cards_may_have_passed=False))


@sets(events.StatusDiffers)
def _status_differs(state: TableState, event: events.StatusDiffers, entry: int) -> TableState:
    """From here on the device's own account is what later statuses are compared with."""
    state = _compared(state)
    if event.what == "shuffle":
        return replace(state, deck=replace(state.deck, shuffle=event.device, shuffled=False))
    if event.what == "dispensed":
        return replace(state, deck=replace(state.deck, dispensed=event.device))
    if event.device:
        return replace(state, tray=event.tray)
    return replace(state, tray=(), aside=(*state.aside, *state.tray))


@sets(events.ReportsPassed)
def _reports_passed(state: TableState, event: events.ReportsPassed, entry: int) -> TableState:
    return replace(state, device=replace(state.device, boot=event.boot, last_report=event.number))


@sets(events.ReportTaken)
def _report_taken(state: TableState, event: events.ReportTaken, entry: int) -> TableState:
    device = replace(state.device, last_report=event.number, boot=event.boot, uptime_ms=event.uptime_ms)
    if event.observed == CARD_DRAWN:
        device = replace(device, drawn_boot=event.boot, drawn_ms=event.uptime_ms)
    return replace(state, device=device)


@sets(events.ClockRanBackwards)
def _clock_ran_backwards(state: TableState, event: events.ClockRanBackwards, entry: int) -> TableState:
    return replace(state, device=replace(state.device, clock_doubted=True))


@sets(events.CommandIssued)
def _command_issued(state: TableState, event: events.CommandIssued, entry: int) -> TableState:
    opened = OpenCommand(entry, event.command)
    device = replace(state.device, open_commands=(*state.device.open_commands, opened))
    if isinstance(event.command, HoldExit | ReleaseExit):
        device = replace(device, exit_held=isinstance(event.command, HoldExit))
    return replace(state, device=device)


def _command_closed(state: TableState, event: events.CommandDone, entry: int) -> TableState:
    left = tuple(opened for opened in state.device.open_commands if opened.id != event.command_id)
    return replace(state, device=replace(state.device, open_commands=left))


@sets(events.CommandRefused)
def _command_refused(state: TableState, event: events.CommandRefused, entry: int) -> TableState:
    """An exit that did not move is as it was."""
    refused = next((opened for opened in state.device.open_commands if opened.id == event.command_id), None)
    left = tuple(opened for opened in state.device.open_commands if opened.id != event.command_id)
    device = replace(state.device, open_commands=left)
    if refused is not None and isinstance(refused.command, HoldExit | ReleaseExit):
        device = replace(device, exit_held=isinstance(refused.command, ReleaseExit), exit_fails=True)
    return replace(state, device=device)


for _closing in (events.CommandDone, events.CommandLapsed):
    sets(_closing)(_command_closed)


@sets(events.DeviceStopped)
def _device_stopped(state: TableState, event: events.DeviceStopped, entry: int) -> TableState:
    stops = tuple(dict.fromkeys((*state.device.stops, event.cause)))
    return replace(state, device=replace(state.device, stops=stops))


@sets(events.ShuffleFailed)
def _shuffle_failed(state: TableState, event: events.ShuffleFailed, entry: int) -> TableState:
    return with_deck(state, event.waiting, shuffled=False, used=True)


@sets(events.DeviceFreed)
def _device_freed(state: TableState, event: events.DeviceFreed, entry: int) -> TableState:
    stops = tuple(cause for cause in state.device.stops if cause != event.cause)
    return replace(state, device=replace(state.device, stops=stops))


@sets(events.MaintenanceBegan)
def _maintenance_began(state: TableState, event: events.MaintenanceBegan, entry: int) -> TableState:
    return replace(
        state,
        maintenance=event.reason,
        maintained_closed=event.closed,
        maintained_concluded=event.concluded,
        count_due=True,
    )


@sets(events.MaintenanceEnded)
def _maintenance_ended(state: TableState, event: events.MaintenanceEnded, entry: int) -> TableState:
    deck = replace(state.deck, shuffled=False, used=bool(state.deck.deck))
    return replace(
        state, maintenance="", maintained_closed=False, maintained_concluded=False, count_due=True, deck=deck
    )
