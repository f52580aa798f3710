"""Describes the next act in sentences for the people at the table, derived from the state, without naming a card.

Open irregularities come first, then a pause or the service, then what the phase waits for. While an irregularity is
open, or play goes on without the device, a device that is disconnected, stopped or not yet compared is named last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controller.games.own_words import DEALER
from controller.games.specification import Kind, StepKind
from controller.roles import Role
from controller.table import operations, settling, starting
from controller.table.admissions import remedy
from controller.table.decision import RefusedError
from controller.table.decks import out_of_use
from controller.table.device_commands import exit_disobeys
from controller.table.events.device_events import INTENDED_ENDS
from controller.table.exposing import examined_due
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import (
    CARDS_ARE_MOVED,
    CARDS_ARE_TURNED,
    in_order,
    place_word,
    question,
)
from controller.table.model import ASIDE, Hand, Pile
from controller.table.operations import AnyOperation
from controller.table.phases import AFTER_DEAL, BETWEEN_ROUNDS, CARDS_LEAVE, DEALING, Phase, Service
from controller.table.settling import difference_due, differences
from controller.table.state import FIRST_CARD_PLACE, TableState
from firmware_bridge.messages import Message, counted, message, sentences

STILL_CONNECTING: Final = INTENDED_ENDS | {""}
CANNOT_SERVE: Final = frozenset(
    {
        "device-damaged-frames", "device-firmware", "device-floods", "device-garbage", "device-message",
        "device-other-serial", "device-proof", "device-rejects-host", "device-unfit", "device-unknown-serial",
        "device-url", "device-version",
    }
)  # fmt: skip
"""Codes of docs/faults.md with which a device stays out of use until a person has acted."""


TWO: Final = 2  # hands that are named even if all are turned over
END: Final = message("End the round.")
CONFIRM_END: Final = message("Confirm to end the round.")
PAY_AND_TAKE: Final = message('Pay and take the bets, then press "Paid".')
TAKE_OR_RETURN: Final = message('Take or return bets, then press "Settled".')
SETTLED_BY: Final = {
    frozenset({"pay"}): message('Pay the bets, then press "Paid".'),
    frozenset({"pay", "return"}): message('Pay and return bets, then press "Paid".'),
    frozenset({"take"}): message('Take the bets, then press "Settled".'),
    frozenset({"return"}): message('Return the bets, then press "Settled".'),
}
"""By the acts that are due; with others the sentences above."""
CHANGED: Final = message('Pay or take back the difference, then press "Paid".')
CALL_PIT_SUPERVISOR: Final = message("Call the pit supervisor to return the table to service.")
ENTERED_BY_SUPERVISOR: Final = message("Call the pit supervisor to enter it.")


def next_step(state: TableState) -> Message:
    """Return the next act in full."""
    return sentences(*next_steps(state))


def next_steps(state: TableState) -> tuple[Message, ...]:
    """Return the next act sentence by sentence: first the act, then what else people have to know about it.

    Between rounds chips that are due come first. If wagers are entered, no round begins before the chips are recorded;
    otherwise they are due until a round begins.
    """
    chips = _chips_due(state) if state.phase in BETWEEN_ROUNDS else ()
    ends = (errors_count(state),) if state.phase is Phase.CONCLUDED and not (chips or state.blocked) else ()
    return (*chips, *(_in_the_way(state) or (() if chips else _act(state))), *ends)


def _chips_due(state: TableState) -> tuple[Message, ...]:
    """Return which chips are returned or moved again: the act, then each bet that moves."""
    if state.round.bets_to_return:
        back = message('Return all bets, then press "Bets are back".')
        if state.round.paid_before:
            back = message('Take back what was paid and return all bets, then press "Bets are back".')
        return (back, *differences(state))
    return (CHANGED, *differences(state)) if difference_due(state) else ()


def _act(state: TableState) -> tuple[Message, ...]:
    """Return what the phase waits for, then the trouble of a device that it does not need."""
    trouble = () if state.service is Service.IN_SERVICE or state.phase in BETWEEN_ROUNDS else _trouble(state)
    acts = BY_PHASE[state.phase](state)
    moved = differences(state) if CHANGED in acts else ()
    ends = (errors_count(state),) if CONFIRM_END in acts else ()
    face_up = _face_up(state) if state.phase in DEALING else ()
    return (*acts, *face_up, *moved, *ends, *trouble)


def _trouble(state: TableState) -> tuple[Message, ...]:
    return device_trouble(state) or waiting(state)


def stub_is_out(state: TableState) -> bool:
    """Return whether the device has no further part in the deal."""
    return state.round.by_hand or state.decks.in_play.stub_out


def goes_on_without_device(state: TableState) -> bool:
    """Return whether the phase's act is accepted while the table is out of service, with the cards on the table."""
    if state.phase in CARDS_LEAVE:
        return stub_is_out(state) or (state.phase is Phase.FIRST_CARD and state.round.first_card is not None)
    gives_stub = state.device.connected and not (state.device.stopped or state.decks.in_play.stub_out)
    waits = (
        state.phase is Phase.SETTLING and not state.round.chips_paid and settling.stub_count_due(state) and gives_stub
    )
    return state.phase in AFTER_DEAL and not waits


def _in_the_way(state: TableState) -> tuple[Message, ...]:
    """Return what precedes the act of the phase: an open irregularity with the number of others, or device trouble."""
    if blocking := [found for found in in_order(state) if found.blocks]:
        named = blocking[0].kind is Kind.TECHNICAL_STOP and state.device.connected and state.device.stopped
        clears = named and not remedy(state.device)
        trouble = (message("Clear the {device}.", device=state.device.word),) if clears else device_trouble(state)
        return (question(state, blocking[0]), *_more(len(blocking) - 1), *trouble)
    if state.duty.paused:
        paused = message("Paused: {reason}.", reason=state.duty.paused)
        return (sentences(paused, message("Resume when settled.")),)
    if state.moves_due:
        return moves(state)
    idle = state.service is not Service.IN_SERVICE and state.phase is not Phase.MAINTENANCE
    if idle and not goes_on_without_device(state):
        return _trouble(state)
    return ()


def moves(state: TableState) -> tuple[Message, ...]:
    """Return which cards are moved before play goes on, sentence by sentence; the screen shows them with arrows."""
    due, words = state.moves_due, state.game.words
    turned = tuple(dict.fromkeys(move.place for move in due if move.source == move.place))
    back = tuple(dict.fromkeys(move.place for move in due if move.source == Pile.DROPPED))
    laid = [move.place for move in due if move.source == ASIDE]
    whole = [move for move in due if (move.place, move.card, move.ordinal) == (DEALER, 0, 0) and move.source == DEALER]
    single = tuple(place for place in turned if place and not (whole and place == DEALER))
    acts = [message("Turn {hand} face down.", hand=words.dealers_hand)] if whole else []
    acts += [message("Turn the exposed card of {hands} face down.", hands=words.of_all(single))] if single else []
    acts += [message("Turn the exposed card face down.")] if "" in turned else []
    acts += [
        message("Put the dropped card back at {hand}, face down.", hand=words.of_all((place,)))
        if place
        else message("Put the dropped card back at its place, face down.")
        for place in sorted(back, key=lambda place: not place)
    ]
    acts += [_laid(state, place, laid.count(place)) for place in dict.fromkeys(laid)]
    only_turned = all(move.source == move.place for move in due)
    return (*acts, CARDS_ARE_TURNED if only_turned else CARDS_ARE_MOVED)


def _laid(state: TableState, place: str, number: int) -> Message:
    if place == FIRST_CARD_PLACE:
        return message("Use the set-aside card as the First Card.")
    if place == Pile.BURNT:
        return counted("Burn the set-aside card.", "Burn the {count} set-aside cards.", number)
    to = place_word(state, place)
    return counted(
        "Move the set-aside card to {place}.", "Move the {count} set-aside cards to {place}.", number, place=to
    )


def _more(count: int) -> tuple[Message, ...]:
    if not count:
        return ()
    return (counted("One more matter after this.", "{count} more matters after this.", count),)


def device_trouble(state: TableState) -> tuple[Message, ...]:
    """Return what to do about a device that is disconnected, reconnected or stopped; empty when it runs."""
    device = state.device.word
    if not state.device.connected:
        return _not_connected(state)
    if causes := state.device.stopped:
        repaired = message("have it repaired and put the deck in again")
        clear = repaired if exit_disobeys(state) else message("clear it")
        how = remedy(state.device) or clear
        return (message("The {device} has stopped ({causes}): {how}.", device=device, causes=causes, how=how),)
    if state.service is Service.RECONCILING and state.in_round:
        if not state.device.status_agrees:
            return (message("The {device} is back. Wait until it is compared with the screen.", device=device),)
        return (
            message("The {device} is back. Compare the table with the screen, then continue the round.", device=device),
        )
    return ()


def _not_connected(state: TableState) -> tuple[Message, ...]:
    """Return what to do about a lost link: reconnect a cable; a supervisor handles a refused or unreadable device."""
    device, code = state.device.word, state.device.lost_code
    due = state.phase in CARDS_LEAVE and not stub_is_out(state)
    by_hand = (message("Or call the pit supervisor to deal by hand."),) if due else ()
    if code in STILL_CONNECTING:
        return (message("Wait until the {device} is connected.", device=device), *by_hand)
    if code in CANNOT_SERVE:
        return (message("Call the pit supervisor: the {device} cannot be used.", device=device), _cause(state))
    return (message("The {device} is not connected: check its power and its cable.", device=device), *by_hand)


def _cause(state: TableState) -> Message:
    return message("{cause}.", cause=state.service_cause)


def waiting(state: TableState) -> tuple[Message, ...]:
    """Return what an out-of-service table waits for, if it is not its device."""
    if state.service is Service.RECONCILING:
        return (message("Wait until the {device} is compared with the screen.", device=state.device.word),)
    return (CALL_PIT_SUPERVISOR, _cause(state))


def _first_refusal(state: TableState, operation: AnyOperation, otherwise: Message) -> Message:
    """Return the sentence that would refuse the operation now, else `otherwise`."""
    verifies: dict[type[operations.Operation], Callable[..., None]] = {
        operations.PlaceYourBets: starting.verify_place_your_bets,
        operations.NoMoreBets: starting.verify_no_more_bets,
        operations.RecordSettled: settling.verify_settled,
        operations.ConcludeRound: settling.verify_conclude,
    }
    try:
        verifies[type(operation)](state, PersonActed("", "", Role.DEALER, state.round.number, operation), operation)
    except RefusedError as refused:
        return refused.message
    return otherwise


def _begin(state: TableState) -> tuple[Message, ...]:
    if why := state.decks.quarantine_of(state.decks.coming):
        return (out_of_use(state.decks.coming.label, why),)
    return (_first_refusal(state, operations.PlaceYourBets(), message('Announce "Place your bets".')),)


def _bet(state: TableState) -> tuple[Message, ...]:
    close = message('Announce "No more bets" when all bets are placed.')
    return (_first_refusal(state, operations.NoMoreBets(), close),)


def _first_card(state: TableState) -> tuple[Message, ...]:
    if state.burn_due:
        return _burn(state)
    if state.round.first_card is not None:
        return (message("Turn over the First Card."),)
    if stub_is_out(state):
        return (message("Draw the First Card by hand from the stub."), ENTERED_BY_SUPERVISOR)
    return (*_clear_first(state), message("Draw the First Card."))


def _burn(state: TableState) -> tuple[Message, ...]:
    if stub_is_out(state):
        by_hand = counted(
            "Burn 1 card by hand from the stub.", "Burn {count} cards by hand from the stub.", state.burn_due
        )
        return (by_hand, ENTERED_BY_SUPERVISOR)
    return (*_clear_first(state), counted("Burn 1 card.", "Burn {count} cards.", state.burn_due))


def _deal(state: TableState) -> tuple[Message, ...]:
    if state.burn_due:
        return _burn(state)
    place, due = place_word(state, state.round.next_place), state.round.cards_due
    if stub_is_out(state):
        by_hand = counted(
            "Deal 1 card to {place} by hand from the stub.",
            "Deal {count} cards to {place} by hand from the stub.",
            due,
            place=place,
        )
        return (by_hand, ENTERED_BY_SUPERVISOR)
    return (
        *_clear_first(state),
        counted("Deal 1 card to {place}.", "Deal {count} cards to {place}.", due, place=place),
    )


def _clear_first(state: TableState) -> tuple[Message, ...]:
    """Return the instruction to clear a stopped device before cards are dealt."""
    if not (causes := state.device.stopped):
        return ()
    return (message("Clear the {device} first ({causes}).", device=state.device.word, causes=causes),)


def _face_up(state: TableState) -> tuple[Message, ...]:
    """Return where the face-up card goes if it is one of the cards of the round (NC 5.10)."""
    ahead = state.face_up_ahead
    if not ahead:
        return ()
    due = Pile.BURNT if state.burn_due else state.round.next_place
    goes, card = next((one for one in ahead if one[0] == due), ahead[0])
    if goes == Pile.BURNT:
        return (message("The face-up card is burnt."),)
    if goes != due:
        return (message("The face-up card goes to {hand}.", hand=state.game.words.of_all((goes,))),)
    if state.round.cards_due == 1:
        return (message("It lies face up."),)
    return (message("Card {card} lies face up.", card=card) if card else message("One of them lies face up."),)


def _examine(state: TableState) -> tuple[Message, ...]:
    hand = state.game.words.dealers_hand
    if not state.round.live_places:
        return (message("No hand is in play. Turn over {hand}.", hand=hand),)
    if examined_due(state):
        return (message('When the players have looked at their hands, press "Players have looked".'),)
    if state.round.examined:
        return (message("Turn over {hands}.", hands=hand),)
    if state.game.step(StepKind.RETURNING) is None:
        return (message("When the players have looked at their hands, turn over {hand}.", hand=hand),)
    out = tuple(place for place in state.round.live_places if not state.round.hands.get(place, Hand()).shown)
    if not out:
        return (message("All hands are back. Turn over {hand}.", hand=hand),)
    return (message("Wait for {boxes} to return the cards, then turn them over.", boxes=state.game.words.of_all(out)),)


def _expose(state: TableState) -> tuple[Message, ...]:
    places = (*state.round.live_places, DEALER)
    face_down = tuple(place for place in places if not state.round.hands.get(place, Hand()).shown)
    if face_down == places and len(places) > TWO:
        return (message("Turn over all hands."),)
    if face_down:
        return (message("Turn over {hands}.", hands=state.game.words.of_all(face_down)),)
    return (message("Settle the round."),)


def _settle(state: TableState) -> tuple[Message, ...]:
    changed = difference_due(state)
    if state.round.chips_paid and not changed:
        conclude = CONFIRM_END if state.round.conclusion_asked else END
        return (_first_refusal(state, operations.ConcludeRound(), conclude),)
    acts = frozenset(one.act for one in settling.dues(state))
    usual = TAKE_OR_RETURN if acts and "pay" not in acts else PAY_AND_TAKE
    act = CHANGED if changed else SETTLED_BY.get(acts, usual)
    said = _first_refusal(state, operations.RecordSettled(), act)
    return (said, *settling.half_payments(state)) if said is act else (said,)


def errors_count(state: TableState) -> Message:
    """Return how long an error may change a settled round: each document has its own clauses."""
    if clauses := settling.errors_count_by(state):
        return message(
            'Errors found before "Place your bets" may still change the result ({clauses:list}).', clauses=clauses
        )
    return message("The rules name no error that changes the result later. The shift manager decides.")


BY_PHASE: Final[dict[Phase, Callable[[TableState], tuple[Message, ...]]]] = {
    Phase.CLOSED: lambda state: (message("Open the table."),),
    **dict.fromkeys(BETWEEN_ROUNDS - {Phase.CLOSED, Phase.MAINTENANCE}, _begin),
    Phase.BETTING: _bet,
    Phase.FIRST_CARD: _first_card,
    Phase.DEALING_SETS: _deal,
    Phase.DEALING_SINGLES: _deal,
    Phase.EXAMINING: _examine,
    Phase.EXPOSING: _expose,
    Phase.SETTLING: _settle,
    Phase.MAINTENANCE: lambda state: (message("Under maintenance: instruct the device, or end the maintenance."),),
}


def return_by(role: Role) -> Message:
    """Return what a table waits for that is out of service for its own reason, whatever its device does."""
    return message("Call the {role} to return the table to service.", role=role.named)
