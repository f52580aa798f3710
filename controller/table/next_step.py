"""The next act at the table, as a sentence for the people there: derived from the state, without naming a card.

Open irregularities come first, then a pause or the service, then what the phase waits for. While an irregularity is
open, or play goes on without the device, a device that is disconnected, stopped or not yet compared is named last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controller.games.own_words import DEALER
from controller.games.specification import Kind, StepKind
from controller.roles import Role
from controller.table import operations, rounds
from controller.table.admissions import remedy
from controller.table.decision import RefusedError
from controller.table.device_commands import exit_disobeys
from controller.table.exposing import examined_due
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import in_order, place_word, question
from controller.table.model import ASIDE, Hand, Pile
from controller.table.operations import AnyOperation
from controller.table.payments import difference_due, differences
from controller.table.phases import AFTER_DEAL, BETWEEN_ROUNDS, CARDS_LEAVE, DEALING, Phase, Service
from controller.table.state import FIRST_CARD_PLACE, TableState

STILL_CONNECTING: Final = frozenset({"", "returned-to-service"})
CANNOT_SERVE: Final = frozenset(
    {
        "device-damaged-frames", "device-firmware", "device-floods", "device-garbage", "device-message",
        "device-other-serial", "device-proof", "device-rejects-host", "device-unfit", "device-unknown-serial",
        "device-url", "device-version",
    }
)  # fmt: skip
"""Codes of docs/faults.md with which a device stays out of use until a person has done something about it."""


CONFIRM_END: Final = "Confirm to end the round."
CHANGED: Final = 'Pay or take back the difference, then press "Paid".'


def next_step(state: TableState) -> str:
    """The next act. Between rounds chips that are due come first.

    With wagers entered no round begins before they are recorded; without, they are due until one begins.
    """
    return " ".join(next_steps(state))


def next_steps(state: TableState) -> tuple[str, ...]:
    """The same sentence by sentence: the act comes first, then what else is to be known of it."""
    chips = _chips_due(state) if state.phase in BETWEEN_ROUNDS else ()
    ends = (errors_count(state),) if state.phase is Phase.CONCLUDED and not (chips or state.blocked) else ()
    return (*chips, *(_in_the_way(state) or (() if chips else _act(state))), *ends)


def _chips_due(state: TableState) -> tuple[str, ...]:
    """What is returned or moved once more: the act, then each bet that moves."""
    if state.round.bets_to_return:
        paid = "Take back what was paid and return" if state.round.paid_before else "Return"
        return (f'{paid} all bets, then press "Bets are back".', *differences(state))
    return (CHANGED, *differences(state)) if difference_due(state) else ()


def _act(state: TableState) -> tuple[str, ...]:
    """What the phase waits for; then the trouble of a device without which it is done."""
    trouble = () if state.service is Service.IN_SERVICE or state.phase in BETWEEN_ROUNDS else _trouble(state)
    act = BY_PHASE[state.phase](state)
    moved = differences(state) if act == CHANGED else ()
    ends = (errors_count(state),) if act == CONFIRM_END else ()
    face_up = _face_up(state) if state.phase in DEALING else ()
    return (act, *face_up, *moved, *ends, *trouble)


def _trouble(state: TableState) -> tuple[str, ...]:
    return _device_trouble(state) or (waiting(state),)


def stub_is_out(state: TableState) -> bool:
    """Whether the device has no more part in the deal."""
    return state.round.by_hand or state.decks.in_play.stub_out


def goes_on_without_device(state: TableState) -> bool:
    """Whether the act of the phase is accepted while the table is not in service: the cards are on the table."""
    if state.phase in CARDS_LEAVE:
        return stub_is_out(state) or (state.phase is Phase.FIRST_CARD and state.round.first_card is not None)
    gives_stub = state.device.connected and not (state.device.stopped or state.decks.in_play.stub_out)
    waits = state.phase is Phase.SETTLING and not state.round.chips_paid and rounds.stub_count_due(state) and gives_stub
    return state.phase in AFTER_DEAL and not waits


def _in_the_way(state: TableState) -> tuple[str, ...]:
    """What comes before the act of the phase: an open irregularity with the number of others, the device's trouble."""
    if blocking := [found for found in in_order(state) if found.blocks]:
        named = blocking[0].kind is Kind.TECHNICAL_STOP and state.device.connected and state.device.stopped
        clears = named and not remedy(state.device)
        trouble = (f"Clear the {state.device.word}.",) if clears else _device_trouble(state)
        return (str(question(state, blocking[0])), *_more(len(blocking) - 1), *trouble)
    if state.duty.paused:
        return (f"Resume when it can go on: the table is paused ({state.duty.paused}).",)
    if state.moves_due:
        return moves(state)
    idle = state.service is not Service.IN_SERVICE and state.phase is not Phase.MAINTENANCE
    if idle and not goes_on_without_device(state):
        return _trouble(state)
    return ()


def moves(state: TableState) -> tuple[str, ...]:
    """Which cards are moved before play goes on, sentence by sentence; the screen shows them with arrows."""
    due = state.moves_due
    turned = tuple(dict.fromkeys(move.place for move in due if move.source == move.place))
    back = tuple(dict.fromkeys(move.place for move in due if move.source == Pile.DROPPED))
    laid = [move.place for move in due if move.source == ASIDE]
    whole = [move for move in due if (move.place, move.card, move.ordinal) == (DEALER, 0, 0) and move.source == DEALER]
    acts = [f"Turn {state.game.words.dealers_hand} face down."] if whole else []
    single = tuple(place for place in turned if place and not (whole and place == DEALER))
    acts += [f"Turn the exposed card of {state.game.words.of_all(single)} face down."] if single else []
    acts += ["Turn the exposed card face down."] if "" in turned else []
    acts += [f"Put the dropped card back at {state.game.words.of_all((place,))}, face down." for place in back if place]
    acts += ["Put the dropped card back at its place, face down."] if "" in back else []
    acts += [_laid(state, place, laid.count(place)) for place in dict.fromkeys(laid)]
    return (*acts, 'Then press "Cards are moved".')


def _laid(state: TableState, place: str, number: int) -> str:
    if place == FIRST_CARD_PLACE:
        return "Use the set-aside card as the First Card."
    cards = "the set-aside card" if number == 1 else f"the {number} set-aside cards"
    if place == Pile.BURNT:
        return f"Burn {cards}."
    return f"Move {cards} to {place_word(state, place)}."


def _more(count: int) -> tuple[str, ...]:
    return () if not count else ("One more matter after this." if count == 1 else f"{count} more matters after this.",)


def device_trouble(state: TableState) -> str:
    """What to do about a device that is disconnected, has come back or has stopped; empty when it runs."""
    return " ".join(_device_trouble(state))


def _device_trouble(state: TableState) -> tuple[str, ...]:
    device = state.device.word
    if not state.device.connected:
        return _not_connected(state)
    if how := remedy(state.device):
        return (f"The {device} has stopped ({state.device.stopped}): {how}.",)
    if state.device.stopped:
        how = "have it repaired and put the deck in again" if exit_disobeys(state) else "clear it"
        return (f"The {device} has stopped ({state.device.stopped}): {how}.",)
    if state.service is Service.RECONCILING and state.in_round:
        if not state.device.status_agrees:
            return (f"The {device} is back; wait until it is compared with the screen.",)
        return (f"The {device} is back: compare the table with the screen, then continue the round.",)
    return ()


def _not_connected(state: TableState) -> tuple[str, ...]:
    """A cable that came out is put in again; what the program refused, or could not read, a supervisor sees to."""
    device, code = state.device.word, state.device.lost_code
    due = state.phase in CARDS_LEAVE and not stub_is_out(state)
    by_hand = ("Or call the pit supervisor to deal by hand.",) if due else ()
    if code in STILL_CONNECTING:
        return (f"Wait until the {device} is connected.", *by_hand)
    if code in CANNOT_SERVE:
        return (f"Call the pit supervisor: the {device} cannot be used.", f"{_cause(state)}.")
    return (f"The {device} is not connected: check its power and its cable.", *by_hand)


def _cause(state: TableState) -> str:
    return state.service_cause.rstrip(".")


def waiting(state: TableState) -> str:
    """What a table that is not in service waits for, where it is not its device."""
    if state.service is Service.RECONCILING:
        return f"Wait until the {state.device.word} is compared with the screen."
    return f"Call the pit supervisor to return the table to service ({_cause(state)})."


def _first_refusal(state: TableState, operation: AnyOperation, otherwise: str) -> str:
    """The sentence with which the operation would be refused now, else `otherwise`."""
    verifies: dict[type[operations.Operation], Callable[..., None]] = {
        operations.PlaceYourBets: rounds.verify_place_your_bets,
        operations.NoMoreBets: rounds.verify_no_more_bets,
        operations.RecordSettled: rounds.verify_settled,
        operations.ConcludeRound: rounds.verify_conclude,
    }
    try:
        verifies[type(operation)](state, PersonActed("", "", Role.DEALER, state.round.number, operation), operation)
    except RefusedError as refused:
        return str(refused)
    return otherwise


def _begin(state: TableState) -> str:
    if why := state.decks.quarantine_of(state.decks.coming):
        named = f"Deck {state.decks.coming.label}" if state.decks.coming.label else "The deck"
        return f"{named} is out of use ({why}): put another one in, or call the pit supervisor to release it."
    return _first_refusal(state, operations.PlaceYourBets(), 'Announce "Place your bets".')


def _bet(state: TableState) -> str:
    return _first_refusal(state, operations.NoMoreBets(), 'Announce "No more bets" when all bets are placed.')


def _first_card(state: TableState) -> str:
    if state.burn_due:
        return f"Burn {_cards(state.burn_due)}{_how(state)}."
    return f"Draw the First Card{_how(state)}." if state.round.first_card is None else "Turn over the First Card."


def _deal(state: TableState) -> str:
    if state.burn_due:
        return f"Burn {_cards(state.burn_due)}{_how(state)}."
    return f"Deal {_cards(state.round.cards_due)} to {place_word(state, state.round.next_place)}{_how(state)}."


def _face_up(state: TableState) -> tuple[str, ...]:
    """Where the card goes that lies face up in the device, if it is one of the cards of the round (NC 5.10)."""
    ahead = state.face_up_ahead
    if not ahead:
        return ()
    due = Pile.BURNT if state.burn_due else state.round.next_place
    goes, card = next((one for one in ahead if one[0] == due), ahead[0])
    if goes == Pile.BURNT:
        return ("The face-up card is burnt.",)
    if goes != due:
        return (f"The face-up card goes to {state.game.words.of_all((goes,))}.",)
    if state.round.cards_due == 1:
        return ("It lies face up.",)
    return (f"Card {card} lies face up." if card else "One of them lies face up.",)


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards"


def _how(state: TableState) -> str:
    """How the cards are dealt: by hand once the stub was taken out; a stopped device is cleared first."""
    if stub_is_out(state):
        return " by hand from the stub, and call the pit supervisor to enter it"
    return f"; first clear the {state.device.word} ({state.device.stopped})" if state.device.stopped else ""


def _examine(state: TableState) -> str:
    if not state.round.live_places:
        return f"No hand is in play any more: turn over {state.game.words.dealers_hand}."
    if examined_due(state):
        return 'When the players have looked at their hands, press "Players have looked".'
    if state.round.examined:
        return f"Turn over {state.game.words.dealers_hand}."
    if state.game.step(StepKind.RETURNING) is None:
        return f"When the players have looked at their hands, turn over {state.game.words.dealers_hand}."
    waiting = tuple(place for place in state.round.live_places if not state.round.hands.get(place, Hand()).shown)
    if not waiting:
        return f"All hands are back: turn over {state.game.words.dealers_hand}."
    return f"Wait for {state.game.words.of_all(waiting)} to return the cards, and turn them over."


def _expose(state: TableState) -> str:
    places = (*state.round.live_places, DEALER)
    waiting = tuple(place for place in places if not state.round.hands.get(place, Hand()).shown)
    return f"Turn over {state.game.words.of_all(waiting)}." if waiting else "Settle the round."


def _settle(state: TableState) -> str:
    changed = difference_due(state)
    if state.round.chips_paid and not changed:
        conclude = CONFIRM_END if state.round.conclusion_asked else "End the round."
        return _first_refusal(state, operations.ConcludeRound(), conclude)
    act = CHANGED if changed else 'Pay and take the bets, then press "Paid".'
    return _first_refusal(state, operations.RecordSettled(), act)


def errors_count(state: TableState) -> str:
    """Until when an error of a round that is settled may change it: each document has its own clauses."""
    if clauses := rounds.errors_count_by(state):
        return f'Errors found before "Place your bets" may still change it ({", ".join(clauses)}).'
    return "The rules name no error that changes it later: the shift manager decides."


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
    Phase.MAINTENANCE: lambda state: "Under maintenance: instruct the device, or end the maintenance.",
}


def return_by(role: Role) -> str:
    """What a table waits for that is out of service for a reason of its own, whatever its device does."""
    return f"The table is out of service. Call the {role.word} to return it to service."
