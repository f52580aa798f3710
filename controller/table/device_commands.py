"""The commands that the device needs now, derived from the state after every input.

The exit is open only while cards are due. At most one command that moves cards is open, and only while the table is in
service and not held and the device can carry it out. Under maintenance the table issues none: people instruct the
device.
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import Unit
from controller.table import events
from controller.table.decision import Decision
from controller.table.phases import AFTER_DEAL, BEGINNING, BETWEEN_ROUNDS, DEALING, Phase, Service
from controller.table.state import TableState
from firmware_bridge.commands import (
    AnyCommand,
    Command,
    Dispense,
    HoldExit,
    ReleaseExit,
    RunSelfTest,
    Show,
    Shuffle,
    UnloadStub,
)
from firmware_bridge.messages import Message, message

STUB_UNLOADED = AFTER_DEAL | BEGINNING
STATUSES = 2  # contradicting statuses after an order to the exit that are reported; the first may precede the order

_NAMES: Final[dict[type[Command], Message]] = {
    Dispense: message("dispense"),
    HoldExit: message("lock the exit"),
    ReleaseExit: message("release the exit"),
    RunSelfTest: message("self-test"),
    Show: message("show a text"),
    Shuffle: message("shuffle"),
    UnloadStub: message("unload the stub"),
}


def named(command: AnyCommand) -> Message:
    """Return the name by which people know a command."""
    return _NAMES[type(command)]


def issue_commands(decision: Decision) -> None:
    """Issue the commands that the decided state calls for."""
    state = decision.state
    device = state.device
    if not device.connected or device.capabilities is None or state.service is Service.OUT_OF_SERVICE:
        return
    if state.phase is Phase.MAINTENANCE:
        return
    runs = state.service is Service.IN_SERVICE and not state.held
    due = runs and _cards_are_due(state)
    hold = not due
    if device.capabilities.holds_exit and not device.exit_fails and device.exit_held is not hold:
        decision.emit(events.CommandIssued(HoldExit() if hold else ReleaseExit()))
        return  # commands that move cards wait for its answer
    if not runs or device.open_commands or device.stops:
        return
    command = _moving_command(state, due)
    if command is not None:
        decision.emit(events.CommandIssued(command))


def order_exit_again(decision: Decision) -> None:
    """Order an exit that did not obey to be held once more, because a round or a deck begins, and monitor it again."""
    if decision.state.device.connected and exit_disobeys(decision.state):
        decision.emit(events.CommandIssued(HoldExit()))


def exit_disobeys(state: TableState) -> bool:
    """Return whether the exit order was refused or is not obeyed, which people cannot fix."""
    return state.device.exit_fails or state.device.exit_differs >= STATUSES


def _cards_are_due(state: TableState) -> bool:
    """Return whether a card or set may leave the device now."""
    if state.round.by_hand or state.decks.in_play.stub_out:
        return False
    out = len(state.decks.tray) + len(state.decks.aside)
    if state.phase is Phase.FIRST_CARD:
        return state.burn_due + (state.round.first_card is None) > out
    if state.phase in DEALING:
        return state.burn_due + len(state.round.places) - state.round.dealt > out
    return _may_stage(state)


def _may_stage(state: TableState) -> bool:
    """Return whether the first set may wait in the tray while bets are open, which the device has to support."""
    if state.settings is not None and state.settings.burn:
        return False  # the first cards out are burnt
    if state.phase is not Phase.BETTING or state.decks.tray or state.decks.aside or state.game.first_card is not None:
        return False
    can = state.device.capabilities is not None and state.device.capabilities.stages
    return can and _of_sets(state)


def _of_sets(state: TableState) -> bool:
    return state.settings is not None and state.settings.unit is Unit.SETS


def _moving_command(state: TableState, due: bool) -> AnyCommand | None:
    """Return the command that moves cards now, if any. `due`: cards or a set may leave the device now."""
    capabilities = state.device.capabilities
    assert capabilities is not None
    deck, coming = state.decks.in_play, state.decks.coming
    fresh = coming.deck and not (coming.used or coming.shuffled)
    may_be_waiting_deck = not deck.dispensed and state.decks.waiting is not None  # it might unload the waiting deck
    if (
        state.phase in STUB_UNLOADED
        and capabilities.unloads_stub
        and deck.used
        and deck.stub is None
        and not (deck.stub_out or may_be_waiting_deck)
    ):
        return UnloadStub()
    if state.phase in BETWEEN_ROUNDS and state.device.kind == "shuffler" and fresh:
        return Shuffle()
    if capabilities.dispenses == "on_command" and not state.decks.tray and due:
        burn = state.burn_due - len(state.decks.aside)
        if burn > 0 and _of_sets(state):
            return Dispense(burn)
        if state.phase is Phase.FIRST_CARD and _of_sets(state):
            return Dispense(1)
        if state.phase is Phase.DEALING_SETS:
            return Dispense(state.round.cards_due - len(state.decks.aside))
        if _may_stage(state):
            return Dispense(state.grammar.cards_each)
    return None
