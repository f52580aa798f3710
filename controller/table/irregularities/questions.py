"""The question of an open irregularity, as a sentence for the dealer: who is called, and what is asked.

The API and the screens show it unchanged; places are named in the document's own words.
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import FACT_QUESTIONS, Choice, Disposition, Kind
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.table.model import Irregularity, Stage
from controller.table.state import TableState

COUNT_BY_HAND: Final = "counted_wrong"  # the fact that only a count shows

COUNT_THE_HAND: Final = "Count the hand that has too many or too few cards, with a witness, and enter the count."

CLAIMS: Final[dict[Kind, str]] = {
    Kind.FOREIGN_CARD: "Is there a card that is not of this deck?",
    Kind.DECK_COUNT: "Is the deck short of cards, or has it too many?",
    Kind.UNSHUFFLED: "Were the cards dealt without a shuffle?",
    Kind.COUNT_IN_DOUBT: "Can cards have left the {device} unseen?",
    Kind.WRONG_COUNT: "Does {place} have {counted} cards?",
    Kind.EXPOSED_CARD: "Was a card of {place} exposed?",
    Kind.FACE_UP_IN_DEVICE: "Did a card come out of the {device} face up?",
    Kind.SIMULTANEOUS: "Did these cards come out together?",
    Kind.OTHER_DEALING_ERROR: "Was there an error in the deal?",
    Kind.TECHNICAL_STOP: "Did the {device} stop?",
    Kind.BEFORE_NO_MORE_BETS: 'Did a card come out before "No more bets"?',
    Kind.WRONG_DISTRIBUTION: "Do cards lie at the wrong place?",
    Kind.POWER_FAILURE: "Was there a power failure?",
    Kind.CARD_IN_SHUFFLING: "Was a card dropped or exposed during the shuffle?",
    Kind.DROPPED_CARD: "Was a card of {place} dropped?",
    Kind.LATE_BET: 'Was a bet placed, raised or taken away after "No more bets"?',
    Kind.SIDE_WITHOUT_MAIN: "Is there a side bet without a main bet?",
    Kind.DEALER_EXPOSED_EARLY: "Was the Dealer's hand turned over too early?",
    Kind.WRONG_VIEWER: "Did someone look at the hand of {place} who may not?",
    Kind.PLAYER_EXPOSED: "Did a player expose or drop a card of {place}?",
    Kind.OUTSIDE_LIMITS: "Is a bet over the maximum or under the minimum?",
}
"""What a person confirms or denies of an irregularity, where nothing more exact was noticed."""

CHOICES: Final[dict[Choice, str]] = {Choice.CONTINUE: "continue", Choice.WITHDRAW: "withdraw the bets"}


def decider(found: Irregularity) -> Role:
    """The lowest rank that may take the irregularity's next step."""
    if found.stage in (Stage.CHOOSING, Stage.MOVING):
        return Role.DEALER  # who records the choices, and moves the cards
    return found.row.confirms if found.stage is Stage.CLAIMED else found.row.decides


def place_word(state: TableState, place: Place | None) -> str:
    """A place in the document's own words; without a place: "a hand"."""
    return "a hand" if place is None else state.game.words.of(place)


def waits_for_hand_count(found: Irregularity) -> bool:
    """Whether a hand has a wrong number of cards, and it was not entered yet which one and how many."""
    return bool(found.row.when.wrong_number and found.facts.wrong_number) and found.counted is None


def question(state: TableState, found: Irregularity) -> str:
    """The act or the answer that the irregularity waits for, and who is called for it."""
    if found.void_asked:
        return f"{_capitalised(found.row.because)}: the round becomes void. Repeat to confirm, or decide otherwise."
    if COUNT_BY_HAND in found.asks:
        return f"{_noticed(state, found)}Count the stub by hand, with a witness, and enter the count."
    if found.stage is Stage.CLAIMED and waits_for_hand_count(found):
        return COUNT_THE_HAND
    by = decider(found)
    asked = found.asks and found.stage is Stage.CLAIMED  # anyone may answer; who may confirm is called after that
    call = "" if by is Role.DEALER or asked else f"Call the {by.word}. "
    return call + state.game.words.own(_ASKED[found.stage](state, found))


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _noticed(state: TableState, found: Irregularity) -> str:
    """The note, as a sentence with a space after it; empty without a note."""
    if found.note and found.kind is Kind.TECHNICAL_STOP:
        return f"The {state.device.word} has stopped ({found.note}). "
    return f"{_capitalised(found.note)}. " if found.note else ""


def _claimed(state: TableState, found: Irregularity) -> str:
    """The note, then the first open question; without either the claim itself."""
    noticed = _noticed(state, found)
    if found.asks:
        return noticed + FACT_QUESTIONS[found.asks[0]]
    if noticed:
        return f"{noticed}Is that so?"
    words = {"device": state.device.word, "place": place_word(state, found.place), "counted": found.counted}
    return CLAIMS[found.kind].format(**words)


def _ordering(state: TableState, found: Irregularity) -> str:
    return f"Which of the {len(found.ordinals)} cards came out first, which next? Name their order."


def _choosing(state: TableState, found: Irregularity) -> str:
    chosen = {(place, bettor) for place, bettor, _ in found.choices}
    due = [chooser for chooser in state.round.choosers if chooser not in chosen]
    bettors = [f"{bettor} at {place_word(state, place)}" for place, bettor in due if bettor]
    boxes = state.game.words.of_all([place for place, bettor in due if not bettor])
    options = " or ".join(CHOICES[option.choice] for option in found.row.options)
    return f"Ask {', '.join([*bettors, *filter(None, [boxes])]) or 'the bettors'}: {options}?"


def _moving(state: TableState, found: Irregularity) -> str:
    if not state.round.out_of_place and state.round.placed_by > found.id:
        return "The cards lie where they belong; confirm it."
    if not state.round.out_of_place and found.counted is None:
        return "Enter which cards lie at the wrong place; then move them as the screen shows."
    return "Move the cards as the screen shows, then confirm."


def _ruling(state: TableState, found: Irregularity) -> str:
    if found.row.disposition is Disposition.SILENT:
        return f"{_noticed(state, found)}The rules are silent: what is decided?"
    return f"{_noticed(state, found)}{_capitalised(found.row.because)}: what is decided?"


_ASKED: Final = {
    Stage.CLAIMED: _claimed,
    Stage.ORDERING: _ordering,
    Stage.CHOOSING: _choosing,
    Stage.MOVING: _moving,
    Stage.RULING: _ruling,
}
