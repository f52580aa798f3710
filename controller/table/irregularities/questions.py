"""Questions about an open irregularity: who is called, and what is asked. Places are named in the document's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from controller.games.specification import FACT_QUESTIONS, KINDS, Choice, Disposition, Facts, Kind, Option, Unit
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.table.irregularities.put_down import becomes, with_clause
from controller.table.irregularities.raising import COUNT_KINDS, DEVICE, INFERENCE
from controller.table.model import ASIDE, DECK, STUB, Hand, Irregularity, Move, Pile, Stage
from controller.table.operations import CountCards, ExposeHand, ShowFirstCard
from controller.table.recall import TRAY
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.messages import SLOT, Argument, Message, counted, message, sentences

PLACE: Final = re.compile(r"D|B[1-9][0-9]?")

PILES: Final[dict[str, Message]] = {
    STUB: message("the stub"),
    TRAY: message("the tray"),
    DECK: message("the whole deck"),
    ASIDE: message("the set-aside cards"),
    Pile.BURNT: message("the burnt cards"),
    Pile.DROPPED: message("the dropped cards"),
    Pile.DISCARDS: message("the discards"),
    Pile.STRAYS: message("the cards of the other deck"),
}

COUNT_BY_HAND: Final = "counted_wrong"  # the fact that only a count shows

COUNT_THE_HAND: Final = message(
    "Count the hand that has too many or too few cards, with a witness, and enter the count."
)
COUNT_THE_STUB: Final = message("Count the stub by hand, with a witness, and enter the count.")
COUNT_THE_DECK: Final = message("Count the whole deck by hand, with a witness, and enter the count.")
CARDS_ARE_MOVED: Final = message('Then press "Cards are moved".')
CARDS_ARE_TURNED: Final = message('Then press "Turned face down".')


class Claim(NamedTuple):
    """A question about one thing that a person sees. `states`: the other facts that a yes answers."""

    question: Message
    states: Facts = Facts()


CLAIMS: Final[dict[Kind, tuple[Claim, ...]]] = {
    Kind.FOREIGN_CARD: (Claim(message("Is there a card from another deck?")),),
    Kind.DECK_COUNT: (
        Claim(message("Is a card missing from the deck?")),
        Claim(message("Is there an extra card in the deck?")),
    ),
    Kind.UNSHUFFLED: (Claim(message("Were the cards dealt without a shuffle?")),),
    Kind.COUNT_IN_DOUBT: (Claim(message("Can cards have left the {device} unseen?")),),
    Kind.WRONG_COUNT: (Claim(message("Does {place} have a wrong number of cards?")),),
    Kind.EXPOSED_CARD: (Claim(message("Was a card of {place} exposed?")),),
    Kind.FACE_UP_IN_DEVICE: (Claim(message("Does a card lie face up?")),),
    Kind.SIMULTANEOUS: (Claim(message("Did these cards come out together?")),),
    Kind.OTHER_DEALING_ERROR: (Claim(message("Was there an error in the deal?")),),
    Kind.TECHNICAL_STOP: (Claim(message("Did the {device} stop?")),),
    Kind.BEFORE_NO_MORE_BETS: (Claim(message('Did a card come out before "No more bets"?')),),
    Kind.WRONG_DISTRIBUTION: (Claim(message("Do cards lie in the wrong place?")),),
    Kind.POWER_FAILURE: (Claim(message("Was there a power failure?")),),
    Kind.CARD_IN_SHUFFLING: (
        Claim(message("Did a card fall during the shuffle?")),
        Claim(message("Was a card exposed during the shuffle?")),
    ),
    Kind.DROPPED_CARD: (Claim(message("Was a card of {place} dropped?")),),
    Kind.LATE_BET: (
        Claim(message('Was a bet placed after "No more bets"?'), Facts(withdrawn=False)),
        Claim(message('Was a bet raised after "No more bets"?'), Facts(withdrawn=False)),
        Claim(message('Was a bet taken away after "No more bets"?'), Facts(withdrawn=True)),
    ),
    Kind.SIDE_WITHOUT_MAIN: (Claim(message("Is there a side bet without a main bet?")),),
    Kind.DEALER_EXPOSED_EARLY: (Claim(message("Was {dealers_hand} turned over too early?")),),
    Kind.WRONG_VIEWER: (Claim(message("Did the wrong person see {place}'s cards?")),),
    Kind.PLAYER_EXPOSED: (
        Claim(message("Did a player drop a card of {place}?"), Facts(dropped=True)),
        Claim(message("Did a player expose a card of {place}?"), Facts(dropped=False)),
    ),
    Kind.OUTSIDE_LIMITS: (
        Claim(message("Is a bet above the maximum?")),
        Claim(message("Is a bet below the minimum?")),
    ),
}
"""Per kind, what a person sees of an irregularity, in the order of looking: the first yes confirms it."""

MAY_CONCERN_BOTH: Final = frozenset({Kind.FOREIGN_CARD, Kind.DECK_COUNT})
"""Kinds of faults of a deck that may also have affected the previous round, which was dealt from it."""

FOLLOWS: Final[dict[Disposition, Message]] = {
    Disposition.VOID: message("the round becomes void"),
    Disposition.STANDS: message("the result stands"),
    Disposition.RESHUFFLE: message("the deck is shuffled again"),
}
"""The consequence of a confirmed count; after other dispositions people decide further."""


def in_order(state: TableState) -> tuple[Irregularity, ...]:
    """Return the open irregularities in the order in which people decide them.

    The first is one for which a void was requested once. A count of the deck comes after a wrong number of cards in a
    hand, which may explain it.
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
    """Return the lowest rank that may take the irregularity's next step."""
    if found.stage in (Stage.CHOOSING, Stage.MOVING):
        return Role.DEALER  # the dealer records the choices, and moves the cards
    return found.row.confirms if found.stage is Stage.CLAIMED else found.row.decides


def place_word(state: TableState, place: Place | None) -> Message:
    """Return a place or a pile in the document's words. Any other text stays as it was entered."""
    if not place:
        return message("a hand")
    if place in PILES:
        return PILES[place]
    return state.game.words.of(place) if PLACE.fullmatch(place) else message("{entered}", entered=place)


def pile_word(state: TableState, place: str) -> Message:
    """Return what is counted: a pile, or the hand at a place."""
    return state.game.words.of_all([place]) if PLACE.fullmatch(place) else place_word(state, place)


def entry_in_doubt(state: TableState, found: Irregularity) -> ExposeHand | ShowFirstCard | None:
    """Return the faces that a person entered, if only that entry shows it and nobody has stated more since."""
    if found.stage is not Stage.CLAIMED or found.facts != found.first_facts or found.round != state.round.number:
        return None
    said = next((one.operation for one in state.round.entered if one.entry == found.origin), None)
    return said if isinstance(said, ExposeHand | ShowFirstCard) else None


def _check_entry(state: TableState, said: ExposeHand | ShowFirstCard) -> Message:
    where = state.game.words.of_all([said.place]) if isinstance(said, ExposeHand) else message("the First Card")
    return message("Is your entry of {hand} right?", hand=where)


def waits_for_hand_count(found: Irregularity) -> bool:
    """Return whether a hand has a wrong number of cards, while which hand and how many cards is not entered yet."""
    return bool(found.row.when.wrong_number and found.facts.wrong_number) and found.counted is None


def question(state: TableState, found: Irregularity) -> Message:
    """Return the act or the answer that the irregularity waits for, and who is called for it."""
    return _with_rounds(state, found, *_question(state, found))


def claims(state: TableState, found: Irregularity) -> tuple[Claim, ...]:
    """Return the questions whether the irregularity occurred; none if only a count shows it, or it is decided.

    The person who answers has not yet read what follows.
    """
    if said := entry_in_doubt(state, found):
        return (Claim(_check_entry(state, said)),)
    if found.stage is not Stage.CLAIMED or COUNT_BY_HAND in found.asks or waits_for_hand_count(found):
        return ()
    if _counted(state, found):
        return (Claim(_count_again(state, found)),)
    return _claims(state, found)


def _with_rounds(state: TableState, found: Irregularity, *question: Message | None) -> Message:
    """Return the text with its round, unless that is in progress, and with the other round that it may concern."""
    said = sentences(*question, round_before(state, found))
    if found.round == state.round.number or found.waiting:
        return said
    return message("Round {round}: {question}", round=found.round, question=said)


Sentences = tuple[Message | None, ...]


def _question(state: TableState, found: Irregularity) -> Sentences:
    if found.void_asked:
        because = state.game.words.own(found.void_because or found.row.because)
        void = message("{because}: the round becomes void.", because=because)
        return void, message("Repeat to confirm, or decide otherwise.")
    if said := entry_in_doubt(state, found):
        return _check_entry(state, said), _noticed(state, found)
    if COUNT_BY_HAND in found.asks:
        return _noticed(state, found), COUNT_THE_DECK if found.waiting else COUNT_THE_STUB
    if found.stage is Stage.CLAIMED and waits_for_hand_count(found):
        return (COUNT_THE_HAND,)
    by = decider(found)
    asked = found.asks and found.stage is Stage.CLAIMED  # anyone may answer; who may confirm is called after that
    call = None if by is Role.DEALER or asked else _call(by)
    return call, *_ASKED[found.stage](state, found)


def _call(by: Role) -> Message:
    return message("Call the {role}.", role=by.named)


def without_calls(said: Message, present: Role) -> Message:
    """Return the text without sentences that call a person of that rank, who is at the table, or of a lower rank."""
    calls = [_call(role) for role in Role if present.reaches(role)]

    def kept(argument: Argument) -> Argument:
        if isinstance(argument, tuple):
            return tuple(kept(one) for one in argument if one not in calls)  # type: ignore[misc]  # no tuple in it
        if isinstance(argument, Message):
            return Message(argument.id, {name: kept(one) for name, one in argument.args.items()}, argument.many)
        return argument

    return kept(said)  # type: ignore[return-value]  # a message stays one


def round_before(state: TableState, found: Irregularity) -> Message | None:
    """Return the note that asks for a report about the previous round too: each round is decided separately."""
    before = state.earlier
    if before is None or not state.in_round or found.kind not in MAY_CONCERN_BOTH or found.waiting:
        return None
    reported = any(other.round == before.number and other.kind is found.kind for other in state.open)
    other_deck = before.label != state.round.label
    if reported or other_deck or found.round != state.round.number or found.facts.counted_wrong is False:
        return None
    return message("If it may concern round {round} too, report it for that round as well.", round=before.number)


def becomes_sentence(state: TableState, found: Irregularity) -> Message | None:
    """Return the result of `becomes` as a separate sentence."""
    said = becomes(state, found)
    return message("{said}.", said=said) if said is not None else None


def question_of(state: TableState, fact: str) -> Message:
    """Return the question about a fact, in the document's own words."""
    return state.game.words.own(FACT_QUESTIONS[fact])


def _noticed(state: TableState, found: Irregularity) -> Message | None:
    """Return the note as a sentence."""
    if not found.note:
        return None
    if found.kind is Kind.TECHNICAL_STOP:
        if state.device.stopped is None:  # it was cleared meanwhile
            return message("The {device} had stopped ({note}).", device=state.device.word, note=found.note)
        return message("The {device} has stopped ({note}).", device=state.device.word, note=found.note)
    return message("{said}.", said=found.note)


def _claims(state: TableState, found: Irregularity) -> tuple[Claim, ...]:
    """Return what a person sees of it, according to its kind, with its place and its cards."""
    place = place_word(state, found.place)
    if found.kind is Kind.WRONG_COUNT and found.counted is not None:
        has = counted("Does {place} have 1 card?", "Does {place} have {count} cards?", found.counted, place=place)
        return (Claim(has),)
    if found.ordinals and found.noticed_by in (DEVICE, INFERENCE) and (of_cards := _of_cards(state, found, place)):
        return (Claim(of_cards),)
    if found.kind is Kind.FACE_UP_IN_DEVICE and state.decks.tray:
        return (Claim(message("Does a card in the tray lie face up?")),)
    words = {"device": state.device.word, "place": place, "dealers_hand": state.game.words.dealers_hand}
    return tuple(Claim(_filled(one.question, words), one.states) for one in CLAIMS[found.kind])


def _filled(said: Message, words: Mapping[str, Message]) -> Message:
    return Message(said.id, {slot: words[slot] for slot, _ in SLOT.findall(said.id)})


def _of_cards(state: TableState, found: Irregularity, place: Message) -> Message | None:
    """Return what a person sees of it if the cards in question are known."""
    number = len(found.ordinals)
    if found.kind is Kind.OTHER_DEALING_ERROR:
        return counted("Did 1 card come out of turn?", "Did {count} cards come out of turn?", number)
    if found.kind is not Kind.SIMULTANEOUS:
        return None
    if found.place and state.grammar.unit is Unit.SETS:  # a set that the device gave out for a hand
        return counted("Do you see 1 card for {place}?", "Do you see {count} cards for {place}?", number, place=place)
    return counted("Did 1 card come out with another?", "Did {count} cards come out together?", number)


def _about(state: TableState, found: Irregularity) -> Message:
    """Return what the question concerns if something else is asked: what a person sees, or the kind and place."""
    first, *others = _claims(state, found)
    if not others:
        return first.question
    kind = state.game.words.own(KINDS[found.kind])
    if found.place is None:
        return message("{said}.", said=kind)
    return message("At {place}: {kind}.", place=place_word(state, found.place), kind=kind)


def _claimed(state: TableState, found: Irregularity) -> Sentences:
    """Return what the last count shows, else the note or the claim; then the first open question."""
    if shown := _counted(state, found):
        return shown, _confirming(found)
    noticed = _noticed(state, found)
    if found.asks:
        return noticed or _about(state, found), question_of(state, found.asks[0])
    return noticed, *(one.question for one in _claims(state, found)), _if_so(state, found)


CERTAIN: Final = frozenset({Disposition.CONTINUE, Disposition.NEXT_CARD, Disposition.STANDS})


def _if_so(state: TableState, found: Irregularity, *, named: bool = True) -> Message | None:
    """Return what happens to the card or the result: immediately, or if people decide to play on."""
    said = becomes(state, found, named=named)
    if said is None:
        return None
    if found.stage is Stage.CLAIMED and found.row.disposition in CERTAIN:
        return message("If so, {becomes}.", becomes=said)
    return message("If play goes on, {becomes}.", becomes=said)


def _count_again(state: TableState, found: Irregularity) -> Message:
    """Ask whether a second person finds what the last count shows."""
    pile, number = _last_count(state, found)
    if not pile:
        wrong = message("Is the number of cards wrong?")
        return wrong if found.facts.counted_wrong else message("Is the deck complete?")
    if pile == STUB:
        return counted("Do you count 1 card in the stub?", "Do you count {count} cards in the stub?", number)
    return counted("Do you count 1 card in the deck?", "Do you count {count} cards in the deck?", number)


def _confirming(found: Irregularity) -> Message:
    confirm = message('If so, press "Confirm".')
    if found.waiting:
        stays = message('If so, press "Confirm": the deck stays out of use.')
        return stays if found.facts.counted_wrong else confirm
    row = found.row
    if row.disposition is Disposition.CONTINUE:
        return message('Press "Play goes on".')
    if row.disposition not in FOLLOWS:
        return confirm
    return message('If so, press "Confirm": {follows}.', follows=with_clause(FOLLOWS[row.disposition], row.clause))


def _counted(state: TableState, found: Irregularity) -> Message | None:
    """Return what the last count by hand says about the deck, with the numbers if they are known."""
    wrong = found.facts.counted_wrong
    if found.kind not in COUNT_KINDS or wrong is None:
        return None
    pile, number = _last_count(state, found)
    due = state.stub_due if pile == STUB else DECK_SIZE
    fits = state.stub_fits(number) if pile == STUB else number == DECK_SIZE
    known = bool(pile) and fits is not wrong  # else another count showed it
    if not wrong:
        if known and pile == STUB:
            return counted(
                "According to the last count, the deck is complete: 1 card is left.",
                "According to the last count, the deck is complete: {count} cards are left.",
                number,
            )
        return message("According to the last count, the deck is complete.")
    if not known:
        return message("By the last count, cards are missing or there are too many.")
    if pile == STUB:
        return counted(
            "By the last count, 1 card is left; there should be {due}.",
            "By the last count, {count} cards are left; there should be {due}.",
            number,
            due=due,
        )
    return counted(
        "By the last count, 1 card is in the deck; there should be {due}.",
        "By the last count, {count} cards are in the deck; there should be {due}.",
        number,
        due=due,
    )


def _last_count(state: TableState, found: Irregularity) -> tuple[str, int]:
    """Return the pile and number of the last count since the irregularity was raised, or of the count that raised it.

    Without one it is the stub as counted after the deal; an empty pile: no count is known.
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
    """Return the cards that are taken out of a hand, or given to it: from those set aside, otherwise from the stub."""
    if found.stage is not Stage.MOVING or found.counted is None or found.place is None:
        return ()
    more = state.round.hands.get(found.place, Hand()).surplus
    lie_aside = min(state.aside_size, max(0, -more))
    taken = (Move(0, found.place, ASIDE),) * more
    return (*taken, *(Move(0, ASIDE if n < lie_aside else STUB, found.place) for n in range(-more)))


def _ordering(state: TableState, found: Irregularity) -> Sentences:
    if not found.ordinals:
        return (
            message("Announce which card counts as the first and which as the next."),
            message('Then press "Set card order".'),
        )
    return (
        message(
            "Decide which of the {number} cards counts as the first, which as the next, and so on.",
            number=len(found.ordinals),
        ),
    )


def _choosing(state: TableState, found: Irregularity) -> Sentences:
    chosen = {(place, bettor) for place, bettor, _ in found.choices}
    due = [chooser for chooser in state.round.choosers if chooser not in chosen]
    asked = [
        message("{bettor} at {place}", bettor=bettor, place=place_word(state, place)) for place, bettor in due if bettor
    ]
    if boxes := [place for place, bettor in due if not bettor]:
        asked.append(state.game.words.of_all(boxes))
    options = tuple(_option(state, option) for option in found.row.options) or (
        message("continue"),
        message("withdraw the bets"),
    )
    whom = tuple(asked) or message("the bettors")
    return message("Ask {whom:list}: {options:or}?", whom=whom, options=options), _if_so(state, found)


def _option(state: TableState, option: Option) -> Message:
    """Return a choice with its clause, and with which hand a bettor continues."""
    if option.choice is Choice.CONTINUE:
        because = state.game.words.own(option.because)
        return message("continue ({clause}: {because})", clause=option.clause, because=because)
    if option.permitted_by is None:
        return message("withdraw the bets ({clause})", clause=option.clause)
    return message(
        "withdraw the bets ({clause}, if a {role} or above permits it)",
        clause=option.clause, role=option.permitted_by.named,
    )  # fmt: skip


def _moving(state: TableState, found: Irregularity) -> Sentences:
    number = _number_put_right(state, found)
    if state.round.out_of_place:
        return message("Move the cards as the screen shows."), number, CARDS_ARE_MOVED
    if number:
        return number, CARDS_ARE_MOVED
    if not waits_for_places(state, found):
        return (message('The cards lie where they belong; press "Cards are moved".'),)
    return (message("Enter which cards lie in the wrong place; then move them as the screen shows."),)


def waits_for_places(state: TableState, found: Irregularity) -> bool:
    """Return whether nobody has yet entered which cards are at the wrong place."""
    return not state.round.out_of_place and found.counted is None and state.round.placed_by <= found.id


def _number_put_right(state: TableState, found: Irregularity) -> Message | None:
    """Return what corrects a wrong number of cards in a hand, or None if none was counted, or the number is right."""
    if found.counted is None or found.place is None:
        return None
    place, more = place_word(state, found.place), state.round.hands.get(found.place, Hand()).surplus
    if not more:
        return None
    if more > 0:
        return counted(
            "Take 1 card out of the hand of {place}, which has {has}.",
            "Take {count} cards out of the hand of {place}, which has {has}.",
            more,
            place=place,
            has=found.counted,
        )
    return counted(
        "Give 1 card to the hand of {place}, which has {has}.",
        "Give {count} cards to the hand of {place}, which has {has}.",
        -more,
        place=place,
        has=found.counted,
    )


def _ruling(state: TableState, found: Irregularity) -> Sentences:
    """Ask for a ruling. The text begins with the subject, so that two matters are distinguished."""
    about = _counted(state, found) or _noticed(state, found) or _about(state, found)
    then = _if_so(state, found, named=bool(found.note))
    if found.row.disposition is Disposition.SILENT:
        return about, message("The rules are silent."), message("What is the ruling?"), then
    because: Message = message("{said}.", said=state.game.words.own(found.row.because))
    if found.row.clause:
        because = message("{said} ({clause}).", said=state.game.words.own(found.row.because), clause=found.row.clause)
    return about, because, message("What is the ruling?"), then


_ASKED: Final[dict[Stage, Callable[[TableState, Irregularity], Sentences]]] = {
    Stage.CLAIMED: _claimed,
    Stage.ORDERING: _ordering,
    Stage.CHOOSING: _choosing,
    Stage.MOVING: _moving,
    Stage.RULING: _ruling,
}
