"""The question of an open irregularity, as a sentence for the dealer: who is called, and what is asked.

The API and the screens show it unchanged; places are named in the document's own words.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from controller.games.kind_words import KINDS
from controller.games.specification import FACT_QUESTIONS, Choice, Disposition, Facts, Kind, Option, Unit
from controller.messages import Message, message
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.table.irregularities.put_down import becomes
from controller.table.irregularities.raising import COUNT_KINDS, DEVICE, INFERENCE
from controller.table.model import ASIDE, DECK, STUB, Hand, Irregularity, Move, Stage
from controller.table.operations import CountCards, ExposeHand, ShowFirstCard
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE

PLACE: Final = re.compile(r"D|B[1-9][0-9]?")

COUNT_BY_HAND: Final = "counted_wrong"  # the fact that only a count shows

COUNT_THE_HAND: Final = "Count the hand that has too many or too few cards, with a witness, and enter the count."


class Claim(NamedTuple):
    """A question about one thing that a person sees. `states`: what a yes answers besides."""

    question: str
    states: Facts = Facts()


CLAIMS: Final[dict[Kind, tuple[Claim, ...]]] = {
    Kind.FOREIGN_CARD: (Claim("Is there a card that is not of this deck?"),),
    Kind.DECK_COUNT: (Claim("Does the deck lack a card?"), Claim("Has the deck a card too many?")),
    Kind.UNSHUFFLED: (Claim("Were the cards dealt without a shuffle?"),),
    Kind.COUNT_IN_DOUBT: (Claim("Can cards have left the {device} unseen?"),),
    Kind.WRONG_COUNT: (Claim("Does {place} have {counted} cards?"),),
    Kind.EXPOSED_CARD: (Claim("Was a card of {place} exposed?"),),
    Kind.FACE_UP_IN_DEVICE: (Claim("Does a card lie face up?"),),
    Kind.SIMULTANEOUS: (Claim("Did these cards come out together?"),),
    Kind.OTHER_DEALING_ERROR: (Claim("Was there an error in the deal?"),),
    Kind.TECHNICAL_STOP: (Claim("Did the {device} stop?"),),
    Kind.BEFORE_NO_MORE_BETS: (Claim('Did a card come out before "No more bets"?'),),
    Kind.WRONG_DISTRIBUTION: (Claim("Do cards lie at the wrong place?"),),
    Kind.POWER_FAILURE: (Claim("Was there a power failure?"),),
    Kind.CARD_IN_SHUFFLING: (
        Claim("Did a card fall during the shuffle?"),
        Claim("Was a card exposed during the shuffle?"),
    ),
    Kind.DROPPED_CARD: (Claim("Was a card of {place} dropped?"),),
    Kind.LATE_BET: (
        Claim('Was a bet placed after "No more bets"?', Facts(withdrawn=False)),
        Claim('Was a bet raised after "No more bets"?', Facts(withdrawn=False)),
        Claim('Was a bet taken away after "No more bets"?', Facts(withdrawn=True)),
    ),
    Kind.SIDE_WITHOUT_MAIN: (Claim("Is there a side bet without a main bet?"),),
    Kind.DEALER_EXPOSED_EARLY: (Claim("Was the Dealer's hand turned over too early?"),),
    Kind.WRONG_VIEWER: (Claim("Did someone look at the hand of {place} who may not?"),),
    Kind.PLAYER_EXPOSED: (
        Claim("Did a player drop a card of {place}?", Facts(dropped=True)),
        Claim("Did a player expose a card of {place}?", Facts(dropped=False)),
    ),
    Kind.OUTSIDE_LIMITS: (Claim("Is a bet over the maximum?"), Claim("Is a bet under the minimum?")),
}
"""What a person sees of an irregularity, in the order in which it is looked for: the first yes confirms it."""

OF_CARDS: Final[dict[Kind, str]] = {
    Kind.SIMULTANEOUS: "Did {cards} come out together?",
    Kind.OTHER_DEALING_ERROR: "Did {cards} come out of turn?",
}
"""The same where the cards are known that it is about."""
SET_SEEN: Final = "Do you see {cards} for {place}?"  # of a set that the device gave out for a hand

WRONG_NUMBER: Final = "Does {place} have a wrong number of cards?"  # where no count was entered

MAY_CONCERN_BOTH: Final = frozenset({Kind.FOREIGN_CARD, Kind.DECK_COUNT})
"""What is wrong with a deck may have been wrong in the round before, which was dealt from it."""

CHOICES: Final[dict[Choice, str]] = {Choice.CONTINUE: "continue", Choice.WITHDRAW: "withdraw the bets"}

BRINGS: Final[dict[Disposition, str]] = {
    Disposition.VOID: "the round becomes void",
    Disposition.CONTINUE: "play goes on",
    Disposition.STANDS: "the result stands",
    Disposition.RESHUFFLE: "the deck is shuffled again",
}
"""What follows when a count is confirmed; by other dispositions people decide further."""


def in_order(state: TableState) -> tuple[Irregularity, ...]:
    """The open irregularities as people are to decide them.

    First one for which a void was requested once. What a count of the deck is to show comes after a wrong number of
    cards in a hand, which may explain it.
    """
    of_hands = {
        found.round
        for found in state.open
        if found.kind is Kind.WRONG_COUNT or found.counted is not None or found.facts.wrong_number
    }
    return tuple(
        sorted(
            state.open, key=lambda found: (not found.void_asked, found.kind in COUNT_KINDS and found.round in of_hands)
        )
    )


def decider(found: Irregularity) -> Role:
    """The lowest rank that may take the irregularity's next step."""
    if found.stage in (Stage.CHOOSING, Stage.MOVING):
        return Role.DEALER  # who records the choices, and moves the cards
    return found.row.confirms if found.stage is Stage.CLAIMED else found.row.decides


def place_word(state: TableState, place: Place | None) -> Message:
    """Return a place in the document's own words. Anything that is not a place stays as it was entered."""
    if not place:
        return message("a hand")
    return state.game.words.of(place) if PLACE.fullmatch(place) else message("{entered}", entered=place)


def entry_in_doubt(state: TableState, found: Irregularity) -> ExposeHand | ShowFirstCard | None:
    """The faces that a person entered, where it is known from them alone, and nobody has said more since."""
    if found.stage is not Stage.CLAIMED or found.facts != found.first_facts or found.round != state.round.number:
        return None
    said = next((one.operation for one in state.round.entered if one.entry == found.origin), None)
    return said if isinstance(said, ExposeHand | ShowFirstCard) else None


def _check_entry(state: TableState, said: ExposeHand | ShowFirstCard) -> str:
    where = state.game.words.of_all([said.place]) if isinstance(said, ExposeHand) else "the First Card"
    return f"Check your entry of {where}: is it right?"


def waits_for_hand_count(found: Irregularity) -> bool:
    """Whether a hand has a wrong number of cards, and it was not entered yet which one and how many."""
    return bool(found.row.when.wrong_number and found.facts.wrong_number) and found.counted is None


def question(state: TableState, found: Irregularity) -> str:
    """The act or the answer that the irregularity waits for, and who is called for it."""
    return _with_rounds(state, found, _question(state, found))


def claims(state: TableState, found: Irregularity) -> tuple[Claim, ...]:
    """The questions whether it is so; empty where nobody is asked: only a count shows it, or it is decided.

    Who answers them has read nothing yet of what follows.
    """
    if said := entry_in_doubt(state, found):
        return (Claim(_check_entry(state, said)),)
    if found.stage is not Stage.CLAIMED or COUNT_BY_HAND in found.asks or waits_for_hand_count(found):
        return ()
    if _counted(state, found):
        return (Claim(_with_rounds(state, found, _count_again(state, found))),)
    own = state.game.words.own
    return tuple(Claim(_with_rounds(state, found, own(one.question)), one.states) for one in _claims(state, found))


def _with_rounds(state: TableState, found: Irregularity, question: str) -> str:
    """With the round that it is about, where that is not the one in progress, and the other one it may be about."""
    earlier = f"Round {found.round}: " if found.round != state.round.number and not found.waiting else ""
    return f"{earlier}{question}{_round_before(state, found)}"


def _question(state: TableState, found: Irregularity) -> str:
    if found.void_asked:
        because = _capitalised(found.void_because or found.row.because)
        return f"{because}: the round becomes void. Repeat to confirm, or decide otherwise."
    if said := entry_in_doubt(state, found):
        return f"{_check_entry(state, said)} {_noticed(state, found)}".rstrip()
    if COUNT_BY_HAND in found.asks:
        what = "whole deck" if found.waiting else "stub"
        return f"{_noticed(state, found)}Count the {what} by hand, with a witness, and enter the count."
    if found.stage is Stage.CLAIMED and waits_for_hand_count(found):
        return COUNT_THE_HAND
    by = decider(found)
    asked = found.asks and found.stage is Stage.CLAIMED  # anyone may answer; who may confirm is called after that
    call = "" if by is Role.DEALER or asked else _call(by)
    return call + state.game.words.own(_ASKED[found.stage](state, found))


def _call(by: Role) -> str:
    return f"Call the {by.word}. "


def without_calls(question: str, present: Role) -> str:
    """For a person of that rank, who is at the table: nobody of it, or below, is called."""
    for role in Role:
        question = question.removeprefix(_call(role))
        if role is present:
            break
    return question


def _round_before(state: TableState, found: Irregularity) -> str:
    """That it is to be reported for the round before as well: each round is decided for itself."""
    before = state.earlier
    if before is None or not state.in_round or found.kind not in MAY_CONCERN_BOTH or found.waiting:
        return ""
    reported = any(other.round == before.number and other.kind is found.kind for other in state.open)
    other_deck = before.label != state.round.label
    if reported or other_deck or found.round != state.round.number or found.facts.counted_wrong is False:
        return ""
    return f" If it may concern round {before.number} too, report it for that round as well."


def becomes_sentence(state: TableState, found: Irregularity) -> str:
    """The same as a sentence of its own."""
    said = becomes(state, found)
    return f"{_capitalised(said)}." if said else ""


def _capitalised(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count} cards"


def _noticed(state: TableState, found: Irregularity) -> str:
    """The note, as a sentence with a space after it; empty without a note."""
    if found.note and found.kind is Kind.TECHNICAL_STOP:
        return f"The {state.device.word} has stopped ({found.note}). "
    return f"{_capitalised(found.note)}. " if found.note else ""


def _claims(state: TableState, found: Irregularity) -> tuple[Claim, ...]:
    """What a person sees of it, by its kind, with its place and its cards."""
    words = {"device": state.device.word, "place": place_word(state, found.place), "counted": found.counted}
    if found.kind is Kind.WRONG_COUNT and found.counted is None:
        return (Claim(WRONG_NUMBER.format(**words)),)
    if found.ordinals and found.kind in OF_CARDS and found.noticed_by in (DEVICE, INFERENCE):
        of_set = found.kind is Kind.SIMULTANEOUS and state.grammar.unit is Unit.SETS and found.place
        asked = SET_SEEN if of_set else OF_CARDS[found.kind]
        return (Claim(asked.format(cards=_cards(len(found.ordinals)), **words)),)
    return tuple(Claim(one.question.format(**words), one.states) for one in CLAIMS[found.kind])


def _about(state: TableState, found: Irregularity) -> str:
    """What it is about, where something else is asked: the one thing that a person sees, or its kind and place."""
    first, *others = _claims(state, found)
    if not others:
        return first.question
    if found.place is None:
        return f"{_capitalised(KINDS[found.kind])}."
    return f"At {place_word(state, found.place)}: {KINDS[found.kind]}."


def _claimed(state: TableState, found: Irregularity) -> str:
    """What the last count shows, else the note or the claim; then the first open question."""
    if shown := _counted(state, found):
        return f"{shown} {_confirming(found)}"
    noticed = _noticed(state, found)
    if found.asks:
        return f"{noticed or f'{_about(state, found)} '}{FACT_QUESTIONS[found.asks[0]]}"
    return f"{_is_it_so(state, found)}{_if_so(state, found)}"


CERTAIN: Final = frozenset({Disposition.CONTINUE, Disposition.NEXT_CARD, Disposition.STANDS})


def _if_so(state: TableState, found: Irregularity, *, named: bool = True) -> str:
    """What becomes of the card or the result, with a space before it: at once, or where people decide to play on."""
    said = becomes(state, found, named=named)
    at_once = found.stage is Stage.CLAIMED and found.row.disposition in CERTAIN
    if not said:
        return ""
    return f" If so, {said}." if at_once else f" If play goes on, {said}."


def _is_it_so(state: TableState, found: Irregularity) -> str:
    """What was noticed, and whether a person sees it."""
    return f"{_noticed(state, found)}{' '.join(one.question for one in _claims(state, found))}"


def _count_again(state: TableState, found: Irregularity) -> str:
    """Whether a second person finds what the last count shows."""
    pile, number = _last_count(state, found)
    if not pile:
        return "Is the number of cards wrong?" if found.facts.counted_wrong else "Is the deck whole?"
    return f"Do you count {_cards(number)} in the {'stub' if pile == STUB else 'deck'}?"


def _confirming(found: Irregularity) -> str:
    if found.waiting:
        stays = ": the deck stays out of use" if found.facts.counted_wrong else ""
        return f'If that is so, press "Confirm"{stays}.'
    row = found.row
    if row.disposition is Disposition.CONTINUE:
        return 'Press "Play goes on".'
    clause = f" ({row.clause})" if row.clause else ""
    brings = f": {BRINGS[row.disposition]}{clause}" if row.disposition in BRINGS else ""
    return f'If that is so, press "Confirm"{brings}.'


def _counted(state: TableState, found: Irregularity) -> str:
    """What the last count by hand says of the deck, with the numbers where they are known; empty without a count."""
    wrong = found.facts.counted_wrong
    if found.kind not in COUNT_KINDS or wrong is None:
        return ""
    shown = f"By the last count {'cards are missing or too many' if wrong else 'the deck is whole'}"
    pile, number = _last_count(state, found)
    due = state.stub_due if pile == STUB else DECK_SIZE
    fits = state.stub_fits(number) if pile == STUB else number == DECK_SIZE
    if not pile or fits is wrong:  # it was not that count which showed it
        return f"{shown}."
    lie = f"{_cards(number)} {'is' if number == 1 else 'are'} {'left' if pile == STUB else 'in the deck'}"
    return f"{shown}: {lie}{f', {due} should be' if wrong else ''}."


def _last_count(state: TableState, found: Irregularity) -> tuple[str, int]:
    """The pile and number of the last count since the irregularity came up, or with which it did.

    Without one it is the stub as it was counted after the deal; an empty pile: no count is known.
    """
    if found.round != state.round.number:
        return "", 0
    piles = (DECK,) if found.waiting else (STUB, DECK)
    since = (one for one in reversed(state.round.entered) if one.entry >= (found.origin or found.id))
    for one in since:
        if isinstance(one.operation, CountCards) and one.operation.pile in piles:
            return one.operation.pile, one.operation.number
    deck = state.decks.in_play
    known = deck.stub is not None and deck.deck == state.round.deck and not found.waiting
    return (STUB, deck.stub) if known and deck.stub is not None else ("", 0)


def number_moves(state: TableState, found: Irregularity) -> tuple[Move, ...]:
    """The cards too many that are taken out of a hand, or those that are given to it: from aside, else the stub."""
    if found.stage is not Stage.MOVING or found.counted is None or found.place is None:
        return ()
    more = state.round.hands.get(found.place, Hand()).surplus
    lie_aside = min(state.aside_size, max(0, -more))
    taken = (Move(0, found.place, ASIDE),) * more
    return (*taken, *(Move(0, ASIDE if n < lie_aside else STUB, found.place) for n in range(-more)))


def _ordering(state: TableState, found: Irregularity) -> str:
    if not found.ordinals:
        return 'Say at the table which card counts as the first and which as the next; then press "Name order".'
    return f"Decide which of the {len(found.ordinals)} cards counts as the first, which as the next, and so on."


def _choosing(state: TableState, found: Irregularity) -> str:
    chosen = {(place, bettor) for place, bettor, _ in found.choices}
    due = [chooser for chooser in state.round.choosers if chooser not in chosen]
    bettors = [f"{bettor} at {place_word(state, place)}" for place, bettor in due if bettor]
    boxes = str(state.game.words.of_all([place for place, bettor in due if not bettor]))
    options = " or ".join(map(_option, found.row.options)) or " or ".join(CHOICES.values())
    asked = f"Ask {', '.join([*bettors, *filter(None, [boxes])]) or 'the bettors'}: {options}?"
    return f"{asked}{_if_so(state, found)}"


def _option(option: Option) -> str:
    """A choice, and with which hand a bettor continues."""
    if option.choice is Choice.CONTINUE:
        return f"{CHOICES[option.choice]} ({option.clause}: {option.because})"
    permitted = f", if a {option.permitted_by.word} or above permits it" if option.permitted_by else ""
    return f"{CHOICES[option.choice]} ({option.clause}{permitted})"


def _moving(state: TableState, found: Irregularity) -> str:
    number = _number_put_right(state, found)
    if state.round.out_of_place:
        also = f" {number}" if number else ""
        return f'Move the cards as the screen shows.{also} Then press "Cards are moved".'
    if number:
        return f'{number} Then press "Cards are moved".'
    if not waits_for_places(state, found):
        return 'The cards lie where they belong; press "Cards are moved".'
    return "Enter which cards lie at the wrong place; then move them as the screen shows."


def waits_for_places(state: TableState, found: Irregularity) -> bool:
    """Whether nobody has entered yet which cards lie at the wrong place."""
    return not state.round.out_of_place and found.counted is None and state.round.placed_by <= found.id


def _number_put_right(state: TableState, found: Irregularity) -> str:
    """What puts a wrong number of cards in a hand right; empty where none was counted, or it is right."""
    if found.counted is None or found.place is None:
        return ""
    place, more = place_word(state, found.place), state.round.hands.get(found.place, Hand()).surplus
    if more > 0:
        return f"Take {_cards(more)} out of the hand of {place}, which has {found.counted}."
    return f"Give {_cards(-more)} to the hand of {place}, which has {found.counted}." if more else ""


def _ruling(state: TableState, found: Irregularity) -> str:
    """What it is about comes first, so that two matters are distinguished."""
    about = _counted(state, found) or _noticed(state, found).rstrip() or _about(state, found)
    then = _if_so(state, found, named=bool(found.note))
    if found.row.disposition is Disposition.SILENT:
        return f"{about} The rules are silent: what is decided?{then}"
    clause = f" ({found.row.clause})" if found.row.clause else ""
    return f"{about} {_capitalised(found.row.because)}{clause}. What is decided?{then}"


_ASKED: Final = {
    Stage.CLAIMED: _claimed,
    Stage.ORDERING: _ordering,
    Stage.CHOOSING: _choosing,
    Stage.MOVING: _moving,
    Stage.RULING: _ruling,
}
