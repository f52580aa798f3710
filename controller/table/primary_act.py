"""Chooses the act that comes next as the most prominent button, matching the words of `next_step`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from controller.games.specification import StepKind
from controller.rules.dealing_order import DEALER
from controller.table import operations
from controller.table.exposing import examined_due
from controller.table.irregularities.questions import in_order, waits_for_hand_count, waits_for_places
from controller.table.model import Hand, Irregularity, Stage
from controller.table.next_step import goes_on_without_device, stub_is_out
from controller.table.offered import counts_due, returns_due
from controller.table.operations import Operation
from controller.table.phases import BETWEEN_ROUNDS, Phase, Service
from controller.table.state import TableState


class Act(NamedTuple):
    """An operation, with its required arguments."""

    operation: type[Operation]
    arguments: Mapping[str, Any] = MappingProxyType({})

    def is_met_by(self, operation: str, arguments: Mapping[str, Any]) -> bool:
        same = operation == str(self.operation.__struct_config__.tag)
        return same and all(arguments.get(name) == value for name, value in self.arguments.items())


def primary_act(state: TableState) -> Act | None:
    """Return the act; None if nothing is to be entered next, or people have several equal answers to choose from."""
    blocking = next((found for found in in_order(state) if found.blocks), None)
    if blocking is not None:
        return _about(state, blocking)
    if state.duty.paused:
        return Act(operations.ResumeTable)
    if state.moves_due:
        return Act(operations.Reconstruct)
    idle = state.service is not Service.IN_SERVICE and state.phase is not Phase.MAINTENANCE
    if idle and not goes_on_without_device(state):
        return _without_device(state)
    if state.phase in BETWEEN_ROUNDS and returns_due(state):
        return Act(operations.RecordSettled)
    return BY_PHASE[state.phase](state)


def _about(state: TableState, found: Irregularity) -> Act | None:
    """Return the act for an irregularity, which never proposes the answer to a question."""
    if found.void_asked:
        return None
    if due := counts_due(state):
        return Act(operations.CountCards, {"pile": due})
    if found.stage is Stage.CLAIMED and waits_for_hand_count(found):
        return Act(operations.CountCards)
    if found.stage is Stage.MOVING and waits_for_places(state, found):
        return Act(operations.PlaceCards)
    if found.stage is Stage.MOVING:
        return Act(operations.Reconstruct, {"irregularity": found.id})
    return None


def _without_device(state: TableState) -> Act | None:
    if state.service is Service.OUT_OF_SERVICE:
        return Act(operations.ReturnToService)
    return Act(operations.ContinueRound) if state.in_round else None


def _deal(state: TableState) -> Act | None:
    """Return None while the device deals, or the act by which people deal once its stub is out."""
    return Act(operations.DealByHand) if stub_is_out(state) else None


def _first_card(state: TableState) -> Act | None:
    return Act(operations.ShowFirstCard) if state.round.first_card is not None else _deal(state)


def _expose(state: TableState) -> Act | None:
    """Return the hand to turn over: the Dealer's first unless Players return theirs before, else the Dealer's last."""
    if examined_due(state):
        return Act(operations.PlayersExamined)
    if state.phase is Phase.EXAMINING and state.game.step(StepKind.RETURNING) is None:
        return Act(operations.ExposeHand, {"place": DEALER})
    waiting = (p for p in (*state.round.live_places, DEALER) if not state.round.hands.get(p, Hand()).shown)
    place = next(waiting, None)
    return None if place is None else Act(operations.ExposeHand, {"place": place})


def _settle(state: TableState) -> Act | None:
    if state.round.chips_paid and not returns_due(state):
        return Act(operations.ConcludeRound)
    due = counts_due(state)
    return Act(operations.CountCards, {"pile": due}) if due else Act(operations.RecordSettled)


def _begin(state: TableState) -> Act | None:
    """Return the act that begins a round; a deck that people shuffle is shuffled first."""
    deck = state.decks.coming
    by_people = state.device.kind != "shuffler" and bool(deck.deck) and not (deck.shuffled or deck.used)
    return Act(operations.ShuffledOutside if by_people else operations.PlaceYourBets)


BY_PHASE: Final[dict[Phase, Callable[[TableState], Act | None]]] = {
    Phase.CLOSED: lambda state: Act(operations.OpenTable),
    Phase.IDLE: _begin,
    Phase.BETTING: lambda state: Act(operations.NoMoreBets),
    Phase.FIRST_CARD: _first_card,
    Phase.DEALING_SETS: _deal,
    Phase.DEALING_SINGLES: _deal,
    Phase.EXAMINING: _expose,
    Phase.EXPOSING: _expose,
    Phase.SETTLING: _settle,
    Phase.CONCLUDED: _begin,
    Phase.VOIDED: _begin,
    Phase.MAINTENANCE: lambda state: Act(operations.EndMaintenance),
}
