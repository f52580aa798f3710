"""What the device must be told now, read off the state: whoever changes the state need not think of the device.

The exit is open only while cards are due. One command that moves cards is open at a time, and only when nothing is
held, the table is in service and the device can. Under maintenance people alone say what it does.
"""

from __future__ import annotations

from controller.games.specification import Unit
from controller.table import events
from controller.table.decision import Decision
from controller.table.phases import AFTER_DEAL, BEGINNING, BETWEEN_ROUNDS, DEALING, Phase, Service
from controller.table.state import TableState
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, Shuffle, UnloadStub

STUB_WANTED = AFTER_DEAL | BEGINNING


def order_device(decision: Decision) -> None:
    """Add the commands that the state as decided calls for."""
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
        return  # a command that moves cards waits until the exit has answered
    if not runs or device.open_commands or device.stops:
        return
    command = _moving_command(state, due)
    if command is not None:
        decision.emit(events.CommandIssued(command))


def _cards_are_due(state: TableState) -> bool:
    """Whether a card or set may leave the device now."""
    if state.round.by_hand or state.decks.in_play.stub_out:
        return False
    out = len(state.decks.tray) + len(state.decks.aside)
    if state.phase is Phase.FIRST_CARD:
        return state.burn_due + (state.round.first_card is None) > out
    if state.phase in DEALING:
        return state.burn_due + len(state.round.places) - state.round.dealt > out
    return _may_stage(state)


def _may_stage(state: TableState) -> bool:
    """A first set may wait in the tray while bets are open, where the device can and the deal begins with sets."""
    if state.settings is not None and state.settings.burn:
        return False  # the first cards out are burnt
    if state.phase is not Phase.BETTING or state.decks.tray or state.decks.aside or state.game.first_card is not None:
        return False
    can = state.device.capabilities is not None and state.device.capabilities.stages
    return can and _of_sets(state)


def _of_sets(state: TableState) -> bool:
    return state.settings is not None and state.settings.unit is Unit.SETS


def _moving_command(state: TableState, due: bool) -> AnyCommand | None:
    """`due`: cards or a set may leave the device now."""
    capabilities = state.device.capabilities
    assert capabilities is not None
    deck, coming = state.decks.in_play, state.decks.coming
    fresh = coming.deck and not (coming.used or coming.shuffled)
    spoilt_beside = not deck.dispensed and state.decks.waiting is not None  # what came out might be the deck that waits
    if (
        state.phase in STUB_WANTED
        and capabilities.unloads_stub
        and deck.used
        and deck.stub is None
        and not (deck.stub_out or spoilt_beside)
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
