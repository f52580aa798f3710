"""The one door: every input comes here, and what it means is decided here or in the room it is handed to.

    DeviceReported      dealing.py (cards leaving the device), device_reports.py (everything else)
    DeviceConnected,    reconciliation.py (does the device's account agree with the journal?)
    StatusReceived, ...
    PersonActed         perform.py (may they, now?), rounds.py and adjudication.py (what follows)

After each of them `device_orders` adds what the device must be told now. No clock, no I/O, no randomness: the same
state and input give the same events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from controller.table import device_reports, events, inputs, interruptions, perform, reconciliation
from controller.table.decision import Decided, Decision
from controller.table.device_commands import order_device
from controller.table.inputs import AnyInput
from controller.table.rounds import choose_game
from controller.table.state import TableState


def decide(state: TableState, given: AnyInput) -> Decided:
    """What follows from an input. Total: every input has an outcome in every state; none raises."""
    decision = Decision(state)
    _HANDLERS[type(given)](decision, given)
    if decision.events:
        order_device(decision)
    return decision.done()


def _daemon_started(decision: Decision, given: inputs.DaemonStarted) -> None:
    before = decision.state
    wait = given.settings if before.in_round and before.settings != given.settings else None
    decision.emit(events.TableBegan(given.table, given.simulated, given.start, wait, given.host_boot))
    if wait is None and decision.state.settings != given.settings:
        choose_game(decision, given.settings)
    reconciliation.let_lapse(decision)
    decision.change_service("link_lost", "the daemon has started and looks for the device")
    interruptions.host_started(decision, before, given)


_HANDLERS: Final[dict[type[inputs.Input], Callable[[Decision, Any], None]]] = {
    inputs.DaemonStarted: _daemon_started,
    inputs.DeviceConnected: reconciliation.device_connected,
    inputs.DeviceGone: reconciliation.device_gone,
    inputs.StatusReceived: reconciliation.status_received,
    inputs.ReportsMissing: reconciliation.reports_missing,
    inputs.CommandAnswered: device_reports.command_answered,
    inputs.DeviceReported: device_reports.device_reported,
    inputs.PersonActed: perform.person_acted,
}
