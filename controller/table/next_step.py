"""What comes next at the table, in one sentence for whoever stands at it: derived from the state, faces apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controller.games.specification import StepKind
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.table import operations, rounds
from controller.table.decision import RefusedError
from controller.table.inputs import PersonActed
from controller.table.irregularities.adjudication import WAITS_FOR
from controller.table.model import Hand, Irregularity, Stage
from controller.table.operations import AnyOperation
from controller.table.phases import BETWEEN_ROUNDS, CARDS_LEAVE, Phase, Service
from controller.table.state import TableState

COUNT_BY_HAND: Final = "counted_wrong"  # the fact that a count tells, and no answer


def decider(found: Irregularity) -> Role:
    """The lowest rank that may take the irregularity's next step."""
    if found.stage is Stage.CHOOSING:
        return Role.DEALER
    return found.row.confirms if found.stage in (Stage.CLAIMED, Stage.MOVING) else found.row.decides


def next_step(state: TableState) -> str:
    """A sentence; places as `B1` and `D`."""
    if state.round.abandon_asked:
        return "The round will be abandoned: say it once more in the same words, or go on."
    if blocking := [found for found in state.open if found.blocks]:
        return _decide(blocking[0], len(blocking) - 1)
    if state.duty.paused:
        return "The table is paused: resume it."
    if state.service is not Service.IN_SERVICE and state.phase is not Phase.MAINTENANCE:
        return _serve(state)
    return BY_PHASE[state.phase](state)


def _decide(found: Irregularity, more: int) -> str:
    others = f" ({more} more after it)" if more else ""
    if found.void_asked:
        return f"{found.row.id} makes the round void: say it once more to do it{others}."
    if COUNT_BY_HAND in found.asks:
        return f"{found.row.id}: count the stub by hand, with a witness, and enter the count{others}."
    by = decider(found)
    who = by.word if by is Role.DEALER or found.stage is Stage.CHOOSING else f"{by.word} or above"
    return f"{found.row.id} waits for {WAITS_FOR[found.stage]}: {who}{others}."


def _serve(state: TableState) -> str:
    cause = state.service_cause.rstrip(".")
    if state.in_round and state.device.connected and state.service is Service.RECONCILING:
        return "Compare the table with this screen; when they agree, continue the round."
    if state.phase in CARDS_LEAVE and not state.device.connected:
        return (
            f"The device is not there ({cause}): bring it back, or let a pit supervisor have the round dealt by hand."
        )
    return f"The table does not stand ready ({cause})."


def _first_refusal(state: TableState, operation: AnyOperation, otherwise: str) -> str:
    """What the operation would be refused for now: it comes first."""
    verifies: dict[type[operations.Operation], Callable[..., None]] = {
        operations.PlaceYourBets: rounds.verify_place_your_bets,
        operations.NoMoreBets: rounds.verify_no_more_bets,
        operations.RecordSettled: rounds.verify_settled,
    }
    try:
        verifies[type(operation)](state, PersonActed("", "", Role.DEALER, state.round.number, operation), operation)
    except RefusedError as refused:
        return refused.sentence
    return otherwise


def _begin(state: TableState) -> str:
    if why := state.decks.quarantine_of(state.decks.coming):
        return f"The deck is out of use ({why}): load another one, or have it released."
    return _first_refusal(state, operations.PlaceYourBets(), 'Announce "Place your bets".')


def _bet(state: TableState) -> str:
    return _first_refusal(state, operations.NoMoreBets(), 'Announce "No more bets" when the bets lie.')


def _first_card(state: TableState) -> str:
    if state.burn_due:
        return f"Burn {_cards(state.burn_due)}{_how(state)}."
    return f"Draw the First Card{_how(state)}." if state.round.first_card is None else "Show the First Card."


def _deal(state: TableState) -> str:
    if state.burn_due:
        return f"Burn {_cards(state.burn_due)}{_how(state)}."
    return f"{_cards(state.round.cards_due)} to {state.round.next_place}{_how(state)}."


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards"


def _how(state: TableState) -> str:
    """The device gives no more out once its stub was taken, or came out of it."""
    if state.round.by_hand or state.decks.in_play.stub_out:
        return " by hand from the stub; a pit supervisor enters it"
    return f"; the device stands still ({state.device.stopped})" if state.device.stopped else ""


def _examine(state: TableState) -> str:
    if state.game.step(StepKind.RETURNING) is not None:
        return "Players look at their hands and return them; then expose the Dealer's hand."
    return "Players look at their hands; then expose the Dealer's hand."


def _expose(state: TableState) -> str:
    waiting = [place for place in (*state.round.live_places, DEALER) if not state.round.hands.get(place, Hand()).shown]
    return f"Open {', '.join(waiting)}." if waiting else "Settle the round."


def _settle(state: TableState) -> str:
    if state.round.conclusion_asked:
        return "Say it once more to conclude the round: what is found later no longer changes it."
    if state.round.chips_paid:
        return "Conclude the round (asked twice)."
    return _first_refusal(state, operations.RecordSettled(), "Pay the chips and record it.")


BY_PHASE: Final[dict[Phase, Callable[[TableState], str]]] = {
    Phase.CLOSED: lambda state: "Open the table.",
    **dict.fromkeys(BETWEEN_ROUNDS - {Phase.CLOSED, Phase.MAINTENANCE}, _begin),
    Phase.BETTING: _bet,
    Phase.FIRST_CARD: _first_card,
    Phase.DEALING_SETS: _deal,
    Phase.DEALING_SINGLES: _deal,
    Phase.EXAMINING: _examine,
    Phase.EXPOSING: _expose,
    Phase.SETTLING: _settle,
    Phase.MAINTENANCE: lambda state: "A pit supervisor instructs the device, or ends the maintenance.",
}
