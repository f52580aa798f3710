"""The single entry point: every input is decided here, by the module that its type names.

    PersonActed         perform.py: is the operation permitted now? then the feature that has its row
    DeviceReported      device_reports.py; cards that leave the device: dealing.py
    CommandAnswered     device_reports.py
    DeviceConnected, DeviceGone, StatusReceived, ReportsMissing
                        reconciliation.py: does the device's status agree with the journal?
    DeviceContradicted  device_reports.py; with each status: does the device do what was ordered?
    PinTried, RefusedAtDoor
                        screens.py
    DaemonStarted, ConfigurationRead, FilesExpired, DamageFound
                        here

After each of them device_commands.py adds the commands that the device needs now. No clock, no I/O, no randomness: the
same state and input give the same events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from controller.table import device_reports, events, inputs, perform, power_failures, reconciliation, screens
from controller.table.decision import Decided, Decision
from controller.table.device_commands import issue_commands
from controller.table.inputs import AnyInput
from controller.table.record import ConfigurationRecord
from controller.table.starting import choose_game
from controller.table.state import TableState
from firmware_bridge.messages import message


def decide(state: TableState, given: AnyInput) -> Decided:
    """Return the events that follow from an input. Every input has an outcome in every state; none raises."""
    decision = Decision(state)
    _HANDLERS[type(given)](decision, given)
    if decision.events:
        issue_commands(decision)
    return decision.done()


def _daemon_started(decision: Decision, given: inputs.DaemonStarted) -> None:
    before = decision.state
    wait = given.settings if before.window_open and before.settings != given.settings else None
    decision.emit(events.TableBegan(given.table, given.simulated, given.start, wait, given.host_boot))
    if given.configuration is not None:
        _record(decision, given.configuration)
    if given.doubt:
        decision.emit(events.JournalDoubted(given.doubt, given.doubt_sentence, given.doubt_keys))
    if wait is None and decision.state.settings != given.settings:
        choose_game(decision, given.settings)
    reconciliation.lapse_commands(decision)
    decision.change_service("link_lost", message("the daemon has started and looks for the device"))
    power_failures.host_started(decision, before, given)


def _record(decision: Decision, configuration: ConfigurationRecord) -> None:
    if configuration != decision.state.configuration:
        decision.emit(events.ConfigurationRecorded(configuration))


def _configuration_read(decision: Decision, given: inputs.ConfigurationRead) -> None:
    state = decision.state
    _record(decision, given.configuration)
    if given.settings is None:
        return
    if state.window_open:
        wait = None if state.settings == given.settings else given.settings
        if state.settings_wait != wait:
            decision.emit(events.SettingsDeferred(wait))
    elif state.settings != given.settings or state.settings_wait is not None:
        choose_game(decision, given.settings)


def _files_expired(decision: Decision, given: inputs.FilesExpired) -> None:
    if given.files:
        decision.emit(events.FilesDeleted(given.files))


def _damage_found(decision: Decision, given: inputs.DamageFound) -> None:
    decision.emit(events.JournalDoubted(given.code, given.sentence, given.keys))


_HANDLERS: Final[dict[type[inputs.Input], Callable[[Decision, Any], None]]] = {
    inputs.DaemonStarted: _daemon_started,
    inputs.ConfigurationRead: _configuration_read,
    inputs.DeviceConnected: reconciliation.device_connected,
    inputs.DeviceGone: reconciliation.device_gone,
    inputs.StatusReceived: reconciliation.status_received,
    inputs.ReportsMissing: reconciliation.reports_missing,
    inputs.DeviceContradicted: device_reports.device_contradicted,
    inputs.CommandAnswered: device_reports.command_answered,
    inputs.DeviceReported: device_reports.device_reported,
    inputs.PersonActed: perform.person_acted,
    inputs.PinTried: screens.pin_tried,
    inputs.RefusedAtDoor: screens.refused_at_door,
    inputs.FilesExpired: _files_expired,
    inputs.DamageFound: _damage_found,
}
