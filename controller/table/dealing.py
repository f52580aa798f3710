"""Cards leave the device: where they belong, and what it means when they should not have left.

The dealing order says to which place each card belongs. A card that it does not allow is set aside, never dropped, and
an irregularity is raised with its evidence. Numbers like I28 are those of docs/scenarios.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from controller.games.specification import Facts, Kind
from controller.rules.dealing_order import Place
from controller.table import events
from controller.table.decision import Decision
from controller.table.inference import drawn_together, notice_last_order, raise_drawn_together
from controller.table.inputs import DeviceReported
from controller.table.interruptions import re_evaluate_power_failure
from controller.table.irregularities.raising import (
    DEVICE,
    INFERENCE,
    already_open,
    known_facts,
    raise_count_in_doubt,
    raise_irregularity,
)
from controller.table.model import HeldCard, Pile
from controller.table.phases import AFTER_DEAL, BETWEEN_ROUNDS, DEALING, Phase
from controller.table.state import TableState
from firmware_bridge import observations
from firmware_bridge.cards import Concealed
from firmware_bridge.commands import Dispense

DEALT_BY_HAND: Final = "dealt_by_hand_before"  # what the device tells of cards that people dealt while it was away
Leaving: TypeAlias = observations.CardDrawn | observations.CardsDrawnTogether | observations.SetDispensed


def set_dispensed(decision: Decision, given: DeviceReported, seen: observations.SetDispensed) -> None:
    """A set lies in the tray; it is nobody's until it is lifted. A set of another size, or a second one: I15."""
    told = _held(decision, seen.shuffle, seen.ordinal, seen.cards)
    cards = _news(decision, told)
    if (told and not cards) or _strayed(decision, given, seen, cards):
        return
    first = cards[0].ordinal if cards else seen.ordinal
    _check_count(decision, given, seen.shuffle, first, len(cards), seen.remaining)
    state = decision.state
    tray_was_empty = not state.decks.tray
    moving = state.device.moving
    due = state.burn_due or (1 if state.phase is Phase.FIRST_CARD else state.grammar.cards_each)
    ordered = moving.command.count if moving and isinstance(moving.command, Dispense) else due
    decision.emit(events.SetInTray(cards, seen.remaining))
    if not state.in_round:
        return
    _check_faces(decision, given, cards, seen.foreign)
    if not tray_was_empty or len(told) != ordered:
        _raise_simultaneous(decision, given, order_known=False, cards=decision.state.decks.tray)


def set_removed(decision: Decision, given: DeviceReported, seen: observations.SetRemoved) -> None:
    """The tray was emptied: the set goes to the place whose turn it is, if it is anybody's turn."""
    state = decision.state
    if (seen.shuffle, seen.ordinal) in state.round.dealt_by_hand:
        decision.emit(events.DeviceNoted(DEALT_BY_HAND, f"the set that began with card {seen.ordinal} was lifted"))
        return
    strays = state.round.piles.get(Pile.STRAYS, ())
    if seen.shuffle != state.decks.in_play.shuffle and any(card.shuffle == seen.shuffle for card in strays):
        return  # a set of the waiting deck, of which an irregularity tells
    if not state.decks.tray:
        if state.in_round:
            raise_count_in_doubt(decision, "the tray was emptied of a set that the journal does not know", report=given)
        return
    _give(decision, given, state.decks.tray, source="tray", what="set")


def card_drawn(decision: Decision, given: DeviceReported, seen: observations.CardDrawn) -> None:
    """One card left a shoe: it goes to the place whose turn it is, if it is any place's turn.

    A card so soon after the last one that both left together is dealt all the same, and the two are reported (I15).
    """
    together = drawn_together(decision.before, given) and not already_open(decision, Kind.SIMULTANEOUS)
    _draw_card(decision, given, seen, raised_elsewhere=together)
    if together:
        raise_drawn_together(decision, given, seen.ordinal)


def _draw_card(
    decision: Decision, given: DeviceReported, seen: observations.CardDrawn, *, raised_elsewhere: bool
) -> None:
    announced = seen.ordinal in decision.state.decks.in_play.face_up
    card = HeldCard(seen.shuffle, seen.ordinal, seen.card, bool(seen.face_up) or announced)
    if not _news(decision, (card,)) or _strayed(decision, given, seen, (card,)):
        return
    _check_count(decision, given, seen.shuffle, seen.ordinal, 1, seen.remaining)
    place = _whose(decision.state)
    _give(decision, given, (card,), source="device", what="card", raised_elsewhere=raised_elsewhere)
    if decision.state.in_round:
        _check_faces(decision, given, (card,), seen.foreign)
    if seen.face_up and not announced and decision.state.in_round:
        raise_irregularity(
            decision,
            Kind.FACE_UP_IN_DEVICE,
            noticed_by=DEVICE,
            place=place,
            ordinals=(seen.ordinal,),
            faces_seen=True,
            report=given,
            note="the card came out face up",
        )


def cards_drawn_together(decision: Decision, given: DeviceReported, seen: observations.CardsDrawnTogether) -> None:
    """Two or more at once: nobody's until a person has named their order, or the log's is accepted (I15)."""
    told = _held(decision, seen.shuffle, seen.ordinal, seen.cards)
    cards = _news(decision, told)
    if (told and not cards) or _strayed(decision, given, seen, cards):
        return
    first = cards[0].ordinal if cards else seen.ordinal
    _check_count(decision, given, seen.shuffle, first, len(cards), seen.remaining)
    phase = decision.state.phase
    if phase is Phase.FIRST_CARD or (phase in DEALING and decision.state.round.next_place is not None):
        decision.emit(events.CardsSetAside(cards, False, "drawn together"))
        _raise_simultaneous(decision, given, order_known=seen.order_known, cards=cards)
    else:
        _set_aside(decision, given, cards, from_tray=False, what="card")
    if decision.state.in_round:
        _check_faces(decision, given, cards, seen.foreign)


def face_up_found(decision: Decision, given: DeviceReported, seen: observations.FaceUpFound) -> None:
    """A card lies face up in the device (I14). In the stub, after the deal, it has no effect."""
    if waits(decision.state, seen.deck):
        if is_known(decision.state, seen.deck):
            decision.emit(events.CardFoundFaceUp(seen.ordinal, seen.card, waiting=True))  # no round can begin from it
        else:
            note = f"a card lies face up in deck {seen.deck}, of which nothing is known"
            raise_count_in_doubt(decision, note, report=given)
        return
    decision.emit(events.CardFoundFaceUp(seen.ordinal, seen.card))
    state = decision.state
    if not state.in_round or state.phase in AFTER_DEAL:
        return
    raise_irregularity(
        decision,
        Kind.FACE_UP_IN_DEVICE,
        noticed_by=DEVICE,
        place=_place_of_ordinal(decision, seen.ordinal),
        ordinals=(seen.ordinal,),
        faces_seen=False,
        report=given,
    )
    if seen.foreign:
        _check_faces(decision, given, (), seen.foreign)


def deal_aside(decision: Decision) -> None:
    """Give cards that were held back to the places whose turn it is, once nothing blocks."""
    if decision.state.decks.aside and decision.state.burn_due and not decision.state.held:
        _burn(decision, decision.state.decks.aside, "aside")
    state = decision.state
    if state.decks.aside and state.phase is Phase.FIRST_CARD and state.round.first_card is None and not state.held:
        decision.emit(events.FirstCardDrawn(state.decks.aside[0], "aside"))
    elif state.decks.aside and state.phase in DEALING and not state.held and state.round.next_place is not None:
        _deal(decision, state.decks.aside[: len(state.round.places) - state.round.dealt], "aside")


def hand_out(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> None:
    """Cards that a person dealt, with the device out of play. `source`: tray, by_hand."""
    cards = _burn(decision, cards, source)
    if cards and decision.state.phase is Phase.FIRST_CARD:
        _draw_first_card(decision, cards, source)
    elif cards:
        _deal(decision, cards, source)


def _news(decision: Decision, cards: tuple[HeldCard, ...]) -> tuple[HeldCard, ...]:
    """Those of which nothing was known. What was dealt by hand already is noted: the device only comes late with it."""
    by_hand = decision.state.round.dealt_by_hand
    late = [str(card.ordinal) for card in cards if card.id in by_hand]
    if late:
        decision.emit(events.DeviceNoted(DEALT_BY_HAND, f"cards {', '.join(late)}"))
    return tuple(card for card in cards if card.id not in by_hand)


def _give(
    decision: Decision,
    given: DeviceReported,
    cards: tuple[HeldCard, ...],
    *,
    source: str,
    what: str,
    raised_elsewhere: bool = False,
) -> None:
    state = decision.state
    free = not (state.holds_cards or state.decks.aside or state.round.by_hand)
    if state.burn_due and free:
        cards = _burn(decision, cards, source)
        state = decision.state
        if not cards:
            return
    if state.phase is Phase.FIRST_CARD and state.round.first_card is None and free:
        _draw_first_card(decision, cards, source)
        return
    if state.phase not in DEALING or state.round.next_place is None or not free:
        _set_aside(decision, given, cards, from_tray=source == "tray", what=what, raised_elsewhere=raised_elsewhere)
        return
    fitting = cards[: len(state.round.places) - state.round.dealt]
    _deal(decision, fitting, source)
    re_evaluate_power_failure(decision)
    if left := cards[len(fitting) :]:
        # More came together than the deal had room for: I15 was raised when they came.
        decision.emit(events.CardsSetAside(left, source == "tray", "left over from cards that came together"))


def _burn(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> tuple[HeldCard, ...]:
    """The first of them go to the burnt pile, as many as are due there; returns the others."""
    due = decision.state.burn_due
    if due and cards:
        decision.emit(events.CardsBurnt(cards[:due], source))
    return cards[due:]


def _draw_first_card(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> None:
    """What came with it waits for the deal: I15 was raised when they came together."""
    decision.emit(events.FirstCardDrawn(cards[0], source))
    if left := cards[1:]:
        decision.emit(events.CardsSetAside(left, source == "tray", "came together with the First Card"))


def _deal(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> None:
    state = decision.state
    places = state.round.places[state.round.dealt : state.round.dealt + len(cards)]
    decision.emit(events.CardsDealt(places, cards, source))
    if decision.state.round.next_place is None:
        decision.enter_phase("dealt")


def _set_aside(
    decision: Decision,
    given: DeviceReported,
    cards: tuple[HeldCard, ...],
    *,
    from_tray: bool,
    what: str,
    raised_elsewhere: bool = False,
) -> None:
    """Cards left the device out of turn: they wait, and the irregularity says why.

    `raised_elsewhere`: the caller raises it.
    """
    state = decision.state
    if state.phase in BETWEEN_ROUNDS:
        # Clearing up, or trying the device: no round is concerned, and this deck cannot begin one any more.
        why = "maintenance" if state.phase is Phase.MAINTENANCE else "no round is in progress"
        decision.emit(events.CardsSetAside(cards, from_tray, why))
        return
    ordinals = tuple(card.ordinal for card in cards)
    if state.phase is Phase.BETTING:
        decision.emit(events.CardsSetAside(cards, from_tray, 'before "No more bets"'))
        raise_irregularity(
            decision, Kind.BEFORE_NO_MORE_BETS, noticed_by=DEVICE, ordinals=ordinals, report=given,
            note=f'a {what} left the device before "No more bets"',
        )  # fmt: skip
        return
    if state.round.by_hand and state.round.next_place is not None:
        note = f"a {what} left the device while the rest is dealt by hand"
    elif state.phase is Phase.FIRST_CARD:
        note = f"a {what} was taken before the First Card was shown"
    elif state.round.next_place is None:
        note = f"one {what} too many: the deal was complete"
    else:
        note = f"a {what} was taken while the deal was held"
    decision.emit(events.CardsSetAside(cards, from_tray, note))
    too_many = state.round.next_place is None and state.phase is not Phase.FIRST_CARD
    if not raised_elsewhere and (too_many or not _is_about(decision, ordinals)):
        raise_irregularity(
            decision,
            Kind.OTHER_DEALING_ERROR,
            noticed_by=DEVICE,
            facts=_of_a_card_unasked_for(decision),
            ordinals=ordinals,
            report=given,
            note=note,
        )


def _of_a_card_unasked_for(decision: Decision) -> Facts:
    """One too many is a wrong number, in no hand that could be moved; else only the moment was wrong."""
    if decision.state.round.next_place is None and decision.state.phase is not Phase.FIRST_CARD:
        return known_facts(decision, misplaced=True, curable=False)
    return known_facts(decision, misplaced=False)


def _whose(state: TableState) -> Place | None:
    """The place that the next card comes to; a card that is burnt comes to none."""
    return None if state.burn_due else state.round.next_place


def waits(state: TableState, deck: int) -> bool:
    """Whether the device speaks of the deck that waits for the next round, not of the one in play.

    It may be a second compartment, or a shuffler outside. Where it cannot tell which deck it is (0), it is the one in
    play that is meant.
    """
    if state.decks.waiting is not None and deck == state.decks.waiting.deck:
        return deck not in (0, state.decks.in_play.deck)
    return state.in_round and deck not in (0, state.round.deck)


def is_known(state: TableState, deck: int) -> bool:
    """Whether the waiting deck that the device speaks of was put in; of another that is in doubt."""
    return state.decks.waiting is not None and state.decks.waiting.deck == deck


def _strayed(decision: Decision, given: DeviceReported, seen: Leaving, cards: tuple[HeldCard, ...]) -> bool:
    """Cards of the waiting deck left the device: in a round they are another deck's, and nobody's (I01)."""
    state = decision.state
    if state.decks.waiting is None or seen.deck != state.decks.waiting.deck or not waits(state, seen.deck):
        return False
    decision.emit(events.CardsStrayed(seen.deck, cards))
    if state.in_round:
        ordinals = tuple(card.ordinal for card in cards)
        note = f"cards of deck {seen.deck} came out; this round is dealt from deck {state.round.deck}"
        raise_irregularity(
            decision, Kind.FOREIGN_CARD, noticed_by=INFERENCE, ordinals=ordinals, report=given, note=note
        )
    return True


def _is_about(decision: Decision, ordinals: tuple[int, ...]) -> bool:
    """Whether an open irregularity is about these cards already: they may be lifted to be looked at."""
    return any(set(ordinals) & set(found.ordinals) for found in decision.state.open)


def _held(decision: Decision, shuffle: int, first: int, faces: Sequence[Concealed | None]) -> tuple[HeldCard, ...]:
    face_up = decision.state.decks.in_play.face_up
    return tuple(HeldCard(shuffle, first + place, face, first + place in face_up) for place, face in enumerate(faces))


def _place_of_ordinal(decision: Decision, ordinal: int) -> str | None:
    """The place that a card still in the device will come to, if nothing else goes wrong."""
    state = decision.state
    position = state.round.dealt + len(state.decks.tray) + ordinal - state.decks.in_play.dispensed - 1 - state.burn_due
    return state.round.places[position] if 0 <= position < len(state.round.places) else None


def _raise_simultaneous(
    decision: Decision, given: DeviceReported, *, order_known: bool, cards: tuple[HeldCard, ...]
) -> None:
    place = _whose(decision.state)
    raise_irregularity(
        decision,
        Kind.SIMULTANEOUS,
        noticed_by=DEVICE,
        facts=known_facts(decision, place, order_known=order_known, curable=False),  # they lie in no hand yet
        place=place,
        ordinals=tuple(card.ordinal for card in cards),
        report=given,
        note=f"{len(cards)} cards came out together",
    )


def _check_faces(decision: Decision, given: DeviceReported, cards: tuple[HeldCard, ...], foreign: int) -> None:
    """A card of another deck (I01), or one that has left this shuffle before (I02). Which card it is stays untold."""
    notice_last_order(decision, given, len(cards))
    state = decision.state
    if foreign:
        ordinals = tuple(card.ordinal for card in cards)
        raise_irregularity(decision, Kind.FOREIGN_CARD, noticed_by=DEVICE, ordinals=ordinals, report=given)
    read = state.round.read
    for card in cards:
        earlier = [other.face for other in read if other.ordinal < card.ordinal and other.shuffle == card.shuffle]
        if card.face is not None and card.face.is_among(earlier):
            raise_irregularity(
                decision,
                Kind.DECK_COUNT,
                noticed_by=INFERENCE,
                ordinals=(card.ordinal,),
                report=given,
                note="the device read a card that it has read before in this shuffle",
            )


def _check_count(
    decision: Decision, given: DeviceReported, shuffle: int, ordinal: int, count: int, remaining: int
) -> None:
    """A jump in the device's count means that cards may have passed unseen (I04)."""
    deck = decision.state.decks.in_play
    expected = deck.dispensed + 1
    left = deck.loaded - ordinal - count + 1
    cards = tuple(range(ordinal, ordinal + count))
    note = ""
    if shuffle != deck.shuffle:
        decision.emit(events.StatusDiffers("shuffle", deck.shuffle, shuffle))
        note = f"the cards are of shuffle {shuffle}, the journal's is {deck.shuffle}"
    elif ordinal != expected:
        decision.emit(events.StatusDiffers("dispensed", deck.dispensed, ordinal - 1))
        note = f"the device counts card {ordinal}, the journal expected card {expected}"
    elif deck.loaded and remaining != left:
        note = f"the device says that {remaining} cards remain, the journal {left}"
    if note:
        raise_count_in_doubt(decision, note, report=given, ordinals=cards)
