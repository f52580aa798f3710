"""Viewing and turning over hands, and their outcomes once every hand in play is turned over.

The game decides the order: the Dealer first (NC), the Dealer last (TP 3.6, RTP 3.15, P3 3.7), or all together (F3). The
cards on the table count; those that the device read are compared with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from controller.games.specification import Disposition, Kind, StepKind
from controller.rules import hands as ranking
from controller.rules.dealing_order import DEALER, Place
from controller.rules.layout import viewing_refusal
from controller.rules.payouts import settle
from controller.table import events, operations
from controller.table.betting import settle_wagers
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, CARDS_ON_TABLE, NOT_HELD, SHOWING, Group, OperationRow, group, just
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import place_word
from controller.table.irregularities.raising import INFERENCE, known_facts, raise_irregularity
from controller.table.model import Closed, Hand, Pile
from controller.table.phases import Phase
from controller.table.power_failures import re_evaluate_interruption
from controller.table.state import TableState
from firmware_bridge.cards import DECK as CARDS
from firmware_bridge.cards import Card, Exposed
from firmware_bridge.messages import Message, counted, message

HALF: Final = Fraction(1, 2)
MOST_COMPARED: Final = 3  # wrong entries of hands in a round: repeated attempts are guesses
ENTER_CARDS: Final = "enter-cards"
"""The refusal code of a hand that was to be shown by what the device read, but whose cards must be entered."""
AS_DEALT: Final = frozenset({Disposition.CONTINUE, Disposition.OPTIONS, "ruling"})
"""Outcomes of a wrong distribution after which the cards may lie as they were dealt."""


def verify_handle_cards(state: TableState, given: PersonActed, operation: operations.HandleCards) -> None:
    if operation.place == DEALER or not state.round.hands.get(operation.place, Hand()).cards:
        at = place_word(state, operation.place)
        raise RefusedError("no-cards", "No player has cards at {place}; name a box in play.", place=at)
    if operation.bettor and all(bettor.id != operation.bettor for bettor in state.layout.bettors):
        raise RefusedError(
            "unknown-bettor", "Bettor {bettor} is not entered; enter the bettor first.", bettor=operation.bettor
        )


def handle_cards(decision: Decision, given: PersonActed, operation: operations.HandleCards) -> None:
    """Record the viewing; if the bettor is named and wagers are entered, check whether the bettor may look (I26).

    Looking at a wrong hand counts as well: a bettor may look at one hand only (RTP 3.7).
    """
    state, place = decision.state, operation.place
    hand, box = state.round.hands[place], int(place[1:])
    looks = operation.viewed and bool(operation.bettor) and (operation.bettor, box) not in state.round.viewing
    if looks or not hand.handled or (operation.viewed and not hand.viewed):
        decision.emit(events.CardsHandled(place, operation.viewed, operation.bettor))
    if not looks or not state.layout.bets:
        return
    refusal = viewing_refusal(state.law, state.layout_in_play, operation.bettor, box, state.round.viewed_at)
    if refusal is not None:
        note = message("{bettor} looked; {why}", bettor=operation.bettor, why=refusal.said)
        if refusal.clause:
            note = message("{said} ({clause})", said=note, clause=refusal.clause)
        raise_irregularity(decision, Kind.WRONG_VIEWER, noticed_by=given.person, place=place, note=note)


def verify_examined(state: TableState, given: PersonActed, operation: operations.PlayersExamined) -> None:
    if state.game.step(StepKind.RETURNING) is not None:
        raise RefusedError("returned", "Hands are returned in this game: turn each one over instead.")
    if state.round.examined:
        raise RefusedError(
            "examined",
            "That has already been entered; turn over {dealers_hand}.",
            dealers_hand=state.game.words.dealers_hand,
        )


def record_examined(decision: Decision, given: PersonActed, operation: operations.PlayersExamined) -> None:
    decision.emit(events.HandsExamined(given.person))


def examined_due(state: TableState) -> bool:
    """Return whether the house requires an entry about examined cards before the Dealer's hand is turned over.

    NC 3.13, reading 53.
    """
    required = state.law.chosen.get("examining_entered") == "required"
    due = required and state.phase is Phase.EXAMINING and not state.round.examined
    return due and bool(state.round.live_places)


def verify_expose_hand(state: TableState, given: PersonActed, operation: operations.ExposeHand) -> None:
    """Verify that it is the turn of this hand, and that it is in play, not turned over, and of three known cards."""
    place = operation.place
    hand = state.round.hands.get(place)
    if hand is None:
        raise RefusedError(
            "no-cards",
            "There is no hand at {place}; name a place that has cards.",
            place=place_word(state, place),
        )
    _verify_turn(state, place)
    _verify_nothing_dropped(state, place)
    if hand.shown:
        at = place_word(state, place)
        raise RefusedError(
            "shown", "The hand at {place} is turned over already; correct the entry if it was wrong.", place=at
        )
    if hand.dead:
        raise RefusedError(
            "dead",
            "The hand at {place} is out of play and its bets are returned; turn over the others.",
            place=place_word(state, place),
        )
    if operation.cards is None:
        verify_by_device(state, place)
    elif len(operation.cards) != len(set(operation.cards)) or len(operation.cards) != ranking.HAND_SIZE:
        at = place_word(state, place)
        raise RefusedError(
            "cards", "Enter the {size} different cards that lie at {place}.", size=ranking.HAND_SIZE, place=at
        )


def verify_by_device(state: TableState, place: Place) -> None:
    """Verify that the hand may be opened by what the device read: then the table itself says the faces.

    A person could use this to learn faces before the hand is turned over. It is therefore permitted only by the
    casino's setting, while play is not held (a correction is possible then), and if nothing suggests that other cards
    lie there.
    """
    hand, at = state.round.hands[place], place_word(state, place)
    if state.settings is None or not state.settings.hands_by_device:
        raise RefusedError(
            ENTER_CARDS, "Turn over {hands} and enter its cards.", hands=state.game.words.of_all([place])
        )
    if len(hand.cards) != ranking.HAND_SIZE or hand.surplus:
        raise RefusedError(
            "count",
            "{count} cards are known to lie at {place}; enter the three that it has.",
            count=hand.size,
            place=at,
        )
    if any(card.face is None for card in hand.cards):
        raise RefusedError(
            "unread", "The device did not read every card at {place}; enter the cards that lie there.", place=at
        )
    if _others_may_lie_there(state, place):
        raise RefusedError(
            ENTER_CARDS,
            "The cards at {place} may not be those that the device dealt there: turn the hand over and enter them.",
            place=at,
        )


def may_be_shown_as_read(state: TableState, place: Place) -> bool:
    """Return whether `verify_by_device` may pass by public facts, which exclude whether the device read every card."""
    hand = state.round.hands.get(place, Hand())
    whole = len(hand.cards) == ranking.HAND_SIZE and not hand.surplus
    by_device = state.settings is not None and state.settings.hands_by_device
    return by_device and whole and not _others_may_lie_there(state, place)


def _others_may_lie_there(state: TableState, place: Place) -> bool:
    """Return whether cards other than those dealt to the place may lie at it."""
    misplaced = any(place in where for where in state.round.misplaced.values())
    return state.held or misplaced or _any_left_as_dealt(state) or _is_distribution_open(state)


def _is_distribution_open(state: TableState) -> bool:
    return any(found.kind is Kind.WRONG_DISTRIBUTION and found.round == state.round.number for found in state.open)


def _any_left_as_dealt(state: TableState) -> bool:
    """Return whether a wrong distribution was settled and the cards stay as they were dealt."""
    return any(_left_as_dealt(ended) for ended in state.round.closed)


def _verify_nothing_dropped(state: TableState, place: Place) -> None:
    """Verify that no card was dropped and not found: until then the cards of its hand are not known."""
    for card in state.round.piles.get(Pile.DROPPED, ()):
        if state.round.intended.get(card.id) == place:
            raise RefusedError(
                "dropped",
                "A card from {place} was dropped; first record where it lies now.",
                place=place_word(state, place),
            )


def _verify_turn(state: TableState, place: Place) -> None:
    """Verify that this hand may be turned over first while hands are examined: the Dealer's, or hands that Players
    return."""
    if state.phase is not Phase.EXAMINING:
        return
    if examined_due(state):
        raise RefusedError(
            "not-examined",
            'Wait until the players have looked at their hands, then press "Players have looked" ({clause}).',
            clause=state.game.clauses.exposing,
        )
    returned = state.game.step(StepKind.RETURNING)
    if returned is None and place != DEALER:
        raise RefusedError(
            "dealer-first",
            "Turn over {hand} first ({clause}).",
            hand=state.game.words.dealers_hand,
            clause=state.game.clauses.exposing,
        )
    if returned is not None and place == DEALER:
        for other in state.round.live_places:
            if not state.round.hands[other].shown:
                raise RefusedError(
                    "hands-first",
                    "Wait until the hand at {place} is returned, then turn it over first ({clause}).",
                    place=place_word(state, other),
                    clause=returned.clause,
                )


def verify_name_exposed(state: TableState, given: PersonActed, operation: operations.NameExposed) -> None:
    """Verify that the named faces belong to a hand that is not turned over, and that no named card lies elsewhere."""
    place, cards = operation.place, operation.cards
    hand = state.round.hands.get(place, Hand())
    if not hand.size:
        raise RefusedError(
            "no-cards",
            "There is no hand at {place}; name a place that has cards.",
            place=place_word(state, place),
        )
    if hand.shown:
        at = place_word(state, place)
        raise RefusedError(
            "shown", "The hand at {place} is turned over already; correct the entry if it was wrong.", place=at
        )
    if len(set(cards)) != len(cards) or len(cards) > hand.size:
        at = place_word(state, place)
        lie = counted("1 card lies at {place}", "{count} cards lie at {place}", hand.size, place=at)
        raise RefusedError("cards", "{lie}; name each one that was seen once.", lie=lie)
    for card in cards:
        if elsewhere := _lies_at(state, card, place):
            at = place_word(state, place)
            raise RefusedError(
                "elsewhere",
                "{card} lies at {elsewhere}; name the card that was seen at {place}.",
                card=card.code,
                elsewhere=elsewhere,
                place=at,
            )


def _lies_at(state: TableState, card: Card, besides: Place) -> Message | None:
    """Return the other place where a card was shown or named."""
    if card is state.round.first_card_shown and state.round.first_card is not None:
        return message("the First Card's place")
    for place, hand in state.round.hands.items():
        if place != besides and card in (*hand.shown, *(() if hand.shown else hand.named)):
            return place_word(state, place)
    return None


def name_exposed(decision: Decision, given: PersonActed, operation: operations.NameExposed) -> None:
    """Record the named faces, and judge again whether an outcome is established if that depends on them."""
    decision.emit(events.FacesNamed(operation.place, operation.cards, given.person))
    re_evaluate_interruption(decision)


def expose_hand(decision: Decision, given: PersonActed, operation: operations.ExposeHand) -> None:
    """Turn the hand over. The cards on the table count; those that the device read are compared with them (I16, I02).

    After `MOST_COMPARED` differences nothing is compared: by naming hand after hand a person could learn concealed
    cards.
    """
    place = operation.place
    hand = decision.state.round.hands[place]
    read = tuple(card.face.expose() if card.face else None for card in hand.cards)
    cards = operation.cards if operation.cards is not None else tuple(card for card in read if card)
    compared = operation.cards is None or hand.differed < MOST_COMPARED
    agree = compared and _agree(_comparable(decision.state, place), cards)
    revealed = _opened(hand, cards) if agree else ()
    elsewhere = {card for other in decision.state.round.hands.values() for card in other.shown}
    if decision.state.round.first_card is not None and decision.state.round.first_card_shown is not None:
        elsewhere.add(decision.state.round.first_card_shown)  # the First Card lies next to the hands
    decision.emit(events.HandExposed(place, cards, revealed, given.person if compared and not agree else ""))
    if place == DEALER and decision.state.phase is Phase.EXAMINING:
        decision.enter_phase("expose_dealer", decision.state.game.clauses.exposing)
    if twice := elsewhere & set(cards):
        faces = tuple(sorted(card.code for card in twice))
        note = message("{cards:list} was entered here and also lies elsewhere", cards=faces)
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=INFERENCE, place=place, note=note, entered=True)
    elif not agree:
        note = entered_and_read(decision.state, cards)
        if not compared:
            note = message(
                "{entered} was entered after {most} wrong entries and was not compared with what the device read",
                entered=_codes(cards),
                most=MOST_COMPARED,
            )
        facts = known_facts(decision.state, place, wrong_number=False)  # only people see whether they lie wrong
        kind = Kind.OTHER_DEALING_ERROR
        raise_irregularity(decision, kind, noticed_by=INFERENCE, facts=facts, place=place, note=note, entered=True)
    judge(decision)


def entered_and_read(state: TableState, cards: Sequence[Card], read: Card | None = None) -> Message:
    """Return what a person entered together with what the device read, if `read` is visible on the table.

    The cards that the device read for a hand may lie face down at another place; then they are not named.
    """
    entered, device = _codes(cards), state.device.word
    if read is not None:
        return message(
            "{entered} was entered; the {device} read {read}", entered=entered, device=device, read=read.code
        )
    if len(cards) == 1:
        return message("{entered} was entered; the {device} read another card", entered=entered, device=device)
    return message("{entered} was entered; the {device} read other cards", entered=entered, device=device)


def _codes(cards: Iterable[Card]) -> str:
    return " ".join(card.code for card in cards)


def _opened(hand: Hand, cards: tuple[Card, ...]) -> tuple[Exposed | None, ...]:
    """Return the commitments to open: those to cards dealt there that are among the cards shown.

    A card shown here that was dealt elsewhere stays sealed. If the cards shown differ from those that were read, no
    commitment is opened: a person who only guesses would learn which of them match concealed cards.
    """
    faces = (card.face.expose() if card.face else None for card in hand.cards)
    return tuple(
        Exposed(face, card.shuffle, card.ordinal) if face in cards and face is not None else None
        for card, face in zip(hand.cards, faces, strict=True)
    )


def _comparable(state: TableState, place: Place) -> tuple[Card | None, ...]:
    """Return what the device read of the cards that may lie there, or None for a card that it did not read.

    After a wrong distribution that was not put right, and for which no places were entered, any card of the deal may
    lie there.
    """
    anywhere = not state.round.misplaced and _any_left_as_dealt(state)
    hands = state.round.hands.values() if anywhere else (state.round.hands[place],)
    return tuple(card.face.expose() if card.face else None for hand in hands for card in hand.cards)


def _left_as_dealt(ended: Closed) -> bool:
    reconstructed = any(option.reconstructs for option in ended.found.row.options)
    return ended.found.kind is Kind.WRONG_DISTRIBUTION and ended.outcome in AS_DEALT and not reconstructed


def _agree(read: tuple[Card | None, ...], cards: tuple[Card, ...]) -> bool:
    """Return whether the cards shown can be among those that the device read."""
    known = {card for card in read if card is not None}
    if len(read) <= len(cards):
        return known <= set(cards)
    return len(set(cards) - known) <= read.count(None)


def judge(decision: Decision) -> None:
    """Give every shown hand in play its outcome. When all hands have one, the round is settled."""
    state = decision.state
    if state.phase is not Phase.EXPOSING or state.held:
        return
    dealer = state.round.hands[DEALER].shown
    if not dealer:
        return
    places = state.round.live_places
    if not state.round.hands.keys() >= {*places}:
        return  # a bet without cards, which an old journal may contain: people abandon that round
    for place in places:
        hand = state.round.hands[place]
        if hand.shown and hand.outcome is None:
            decision.emit(_judgement(decision.state, place, hand.shown, dealer))
    if all(decision.state.round.hands[place].outcome is not None for place in places):
        decision.enter_phase("judged")
        settle_wagers(decision)


def _judgement(state: TableState, place: Place, cards: tuple[Card, ...], dealer: tuple[Card, ...]) -> events.HandJudged:
    outcome = ranking.outcome(cards, dealer)
    settling = state.game.step(StepKind.SETTLING)
    main = settle(state.law, next(wager for wager in state.law.wagers if wager.main), cards, dealer)
    return events.HandJudged(
        place=place,
        outcome=outcome,
        hand=ranking.hand_name(cards, state.game.names),
        dealer_hand=ranking.hand_name(dealer, state.game.names),
        half=main.net == HALF,
        clause=settling.clause if settling else main.clause,
    )


def resume_play(decision: Decision) -> None:
    """Give the waiting hands their outcomes when nothing blocks play and no card has to be moved."""
    if not decision.state.held:
        judge(decision)


# -- permissions and offers


def _hands(state: TableState) -> Iterator[Group]:
    """Offer each hand that is not turned over. The sample enters cards, so it never asks for what the device read."""
    for place in (*state.round.live_places, DEALER):
        hand = state.round.hands.get(place)
        if hand is not None and not hand.shown:
            needs = () if may_be_shown_as_read(state, place) else ("cards",)
            yield group(operations.ExposeHand(place, CARDS[:3]), known=("place",), needs=needs)


def _handled(state: TableState) -> Iterator[Group]:
    """Offer the handling or viewing of a hand; if bettors are entered, the one who did it must be named."""
    places = [place for place, hand in state.round.hands.items() if place != DEALER and hand.cards]
    if places:
        yield group(*(operations.HandleCards(place) for place in places))
        looked = (operations.HandleCards(place, viewed=True) for place in places)
        yield group(*looked, known=("viewed",), needs=("bettor",) if state.bettors else ())


def _named(state: TableState) -> Iterator[Group]:
    places = [place for place, hand in state.round.hands.items() if hand.size and not hand.shown]
    if places:
        yield group(*(operations.NameExposed(place, ()) for place in places))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.ExposeHand, message("expose a hand"), message("{who} exposed a hand."), verify_expose_hand,
        expose_hand, SHOWING, NOT_HELD, offers=_hands),
    OperationRow(
        operations.PlayersExamined, message("record that players have examined their cards"),
        message("{who} recorded that players have examined their cards."), verify_examined, record_examined,
        frozenset({Phase.EXAMINING}), NOT_HELD, offers=just(operations.PlayersExamined()),
        where=lambda state: state.game.step(StepKind.RETURNING) is None and not state.round.examined),
    OperationRow(
        operations.HandleCards, message("record that cards were handled"),
        message("{who} recorded that cards were handled."), verify_handle_cards, handle_cards, CARDS_ON_TABLE,
        ALWAYS, offers=_handled),
    OperationRow(
        operations.NameExposed, message("name exposed cards"), message("{who} named the exposed cards."),
        verify_name_exposed, name_exposed, CARDS_ON_TABLE, ALWAYS, offers=_named),
)
# fmt: on
"""The permissions and offers of this feature."""
