"""Cards that leave the device: each goes to the place that the order of the deal names.

A card that is not due is set aside, and an irregularity is raised with the evidence. I01 to I28 are the irregularities
of docs/readings.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from controller.games.specification import Facts, Kind
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.feature import NOT_HELD, WORDS, OperationRow, just
from controller.table.inference import drawn_together, notice_last_order, raise_drawn_together
from controller.table.inputs import DeviceReported, PersonActed
from controller.table.irregularities.raising import (
    DEVICE,
    INFERENCE,
    already_open,
    known_facts,
    raise_count_in_doubt,
    raise_irregularity,
)
from controller.table.model import HeldCard, Pile
from controller.table.phases import AFTER_DEAL, BETWEEN_ROUNDS, CARDS_LEAVE, DEALING, Phase, Service
from controller.table.power_failures import re_evaluate_interruption
from controller.table.state import TableState
from firmware_bridge import observations
from firmware_bridge.cards import Concealed
from firmware_bridge.commands import Dispense
from firmware_bridge.messages import Message, counted, message

DEALT_BY_HAND: Final = "dealt_by_hand_before"  # a note: reports about cards that people have dealt by hand
Leaving: TypeAlias = observations.CardDrawn | observations.CardsDrawnTogether | observations.SetDispensed


def to_be_dealt(
    decision: Decision, given: DeviceReported, seen: Leaving, reported: tuple[HeldCard, ...]
) -> tuple[HeldCard, ...] | None:
    """Return the reported cards that belong to the deal, or None if none does; then the reason is recorded."""
    by_device = _not_dealt_by_hand(decision, reported)
    if reported and not by_device:
        return None
    cards = _not_reported_before(decision, given, by_device)
    if by_device and not cards:
        return None
    if _take_strays(decision, given, seen, cards) or _take_cards_of_unknown_deck(decision, given, seen, cards):
        return None
    return cards


def is_out(state: TableState, shuffle: int, ordinal: int) -> bool:
    """Return whether the card left the device in this round already, wherever it is; between rounds none did.

    This runs for every card, so it compares numbers and builds nothing.
    """
    if not state.in_round:
        return False
    current = state.round
    held = (current.read, state.decks.tray, state.decks.aside, *current.piles.values())
    for cards in (*held, *[hand.cards for hand in current.hands.values()]):
        for card in cards:
            if card.ordinal == ordinal and card.shuffle == shuffle:
                return True
    return False


def _not_reported_before(
    decision: Decision, given: DeviceReported, cards: tuple[HeldCard, ...]
) -> tuple[HeldCard, ...]:
    """Return the cards that are not outside already: a card counts once, and a second report of it is I04.

    Either the report is repeated, or another card left under the same number. The journal does not know it, so it is
    not dealt; a count of the stub shows it.
    """
    again = tuple(card for card in cards if is_out(decision.state, card.shuffle, card.ordinal))
    twice = tuple(card.ordinal for card in again)
    if twice:
        named = counted("card {numbers:list}", "cards {numbers:list}", len(twice), numbers=twice)
        decision.emit(events.DeviceNoted("reported_again", named))
        note = message(
            "the device reports {cards} again: the report is repeated, or another card left under that number",
            cards=named,
        )
        raise_count_in_doubt(decision, note, report=given, ordinals=twice)
    return tuple(card for card in cards if card not in again)


def _not_dealt_by_hand(decision: Decision, cards: tuple[HeldCard, ...]) -> tuple[HeldCard, ...]:
    """Return the reported cards that were not dealt by hand already; note the others."""
    by_hand = decision.state.round.dealt_by_hand
    late = tuple(card.ordinal for card in cards if card.id in by_hand)
    if late:
        named = counted("card {numbers:list}", "cards {numbers:list}", len(late), numbers=late)
        decision.emit(events.DeviceNoted(DEALT_BY_HAND, named))
    return tuple(card for card in cards if card.id not in by_hand)


def is_about_waiting_deck(state: TableState, deck: int) -> bool:
    """Return whether a report is about the deck that waits for the next round, not about the one in play.

    That deck may lie in a second compartment, or in a shuffler next to the shoe. A report without a deck (0) is about
    the deck in play.
    """
    if state.decks.waiting is not None and deck == state.decks.waiting.deck:
        return deck not in (0, state.decks.in_play.deck)
    return state.in_round and deck not in (0, state.round.deck)


def waiting_deck_is_known(state: TableState, deck: int) -> bool:
    """Return whether this waiting deck was reported as put in."""
    return state.decks.waiting is not None and state.decks.waiting.deck == deck


def _take_strays(decision: Decision, given: DeviceReported, seen: Leaving, cards: tuple[HeldCard, ...]) -> bool:
    """Take cards of the waiting deck as strays, in a round with I01; return False if they belong to the deck in
    play.
    """
    state = decision.state
    if (
        state.decks.waiting is None
        or seen.deck != state.decks.waiting.deck
        or not is_about_waiting_deck(state, seen.deck)
    ):
        return False
    decision.emit(events.CardsStrayed(seen.deck, cards))
    if state.in_round:
        ordinals = tuple(card.ordinal for card in cards)
        note = message(
            "cards from deck {deck} came out; this round is dealt from deck {dealt}",
            deck=seen.deck,
            dealt=state.round.deck,
        )
        raise_irregularity(
            decision, Kind.FOREIGN_CARD, noticed_by=INFERENCE, ordinals=ordinals, report=given, note=note
        )
    return True


def is_of_unknown_deck(state: TableState, deck: int) -> bool:
    """Return whether a report names a deck that was not reported as put in."""
    return is_about_waiting_deck(state, deck) and not waiting_deck_is_known(state, deck)


def _take_cards_of_unknown_deck(
    decision: Decision, given: DeviceReported, seen: Leaving, cards: tuple[HeldCard, ...]
) -> bool:
    """Raise I04 for cards of a deck that was not reported as put in. Return True if they are not the round's.

    If their shuffle is that of the deck in play, they may be its cards: they are set aside until it is decided.
    """
    state = decision.state
    if not is_of_unknown_deck(state, seen.deck):
        return False
    ordinals = tuple(card.ordinal for card in cards)
    note = message(
        "cards came out of deck {deck}, which was not reported as put in; this round is dealt from deck {dealt}",
        deck=seen.deck,
        dealt=state.round.deck,
    )
    raise_count_in_doubt(decision, note, report=given, ordinals=ordinals)
    if seen.shuffle == state.decks.in_play.shuffle:
        return False
    decision.emit(events.CardsStrayed(seen.deck, cards))
    return True


def set_dispensed(decision: Decision, given: DeviceReported, seen: observations.SetDispensed) -> None:
    """Put a set into the tray; it is dealt when it is lifted. A set of the wrong size, or a second set, raises I15."""
    reported = _held_cards(decision, seen.shuffle, seen.ordinal, seen.cards)
    cards = to_be_dealt(decision, given, seen, reported)
    if cards is None:
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
    if not tray_was_empty or len(reported) != ordered:
        _raise_simultaneous(decision, given, order_known=False, cards=decision.state.decks.tray)


def set_removed(decision: Decision, given: DeviceReported, seen: observations.SetRemoved) -> None:
    """Deal the set from the emptied tray to the place whose turn it is, if any."""
    state = decision.state
    if (seen.shuffle, seen.ordinal) in state.round.dealt_by_hand:
        lifted = message("the set that began with card {ordinal} was lifted", ordinal=seen.ordinal)
        decision.emit(events.DeviceNoted(DEALT_BY_HAND, lifted))
        return
    strays = state.round.piles.get(Pile.STRAYS, ())
    if seen.shuffle != state.decks.in_play.shuffle and any(card.shuffle == seen.shuffle for card in strays):
        return  # a set of the waiting deck: its irregularity was raised already
    first = (seen.shuffle, seen.ordinal)
    if state.in_round and all(card.id != first for card in state.decks.tray):
        if is_out(state, *first):
            note = message(
                "the device reports again that the set that began with card {ordinal} was lifted", ordinal=seen.ordinal
            )
            raise_count_in_doubt(decision, note, report=given)
            return
        unknown = message("a set that is not in the journal was taken out of the tray")
        raise_count_in_doubt(decision, unknown, report=given)
    if not state.decks.tray:
        return
    _deal_or_set_aside(decision, given, state.decks.tray, source="tray")


def card_drawn(decision: Decision, given: DeviceReported, seen: observations.CardDrawn) -> None:
    """Deal a card from a shoe to the place whose turn it is, if any.

    A card that follows too soon for a single draw is dealt all the same, and I15 is raised.
    """
    state = decision.state
    together = (
        drawn_together(decision.before, given)
        and not already_open(decision, Kind.SIMULTANEOUS)
        and not is_of_unknown_deck(state, seen.deck)
        and not is_out(state, seen.shuffle, seen.ordinal)
    )
    _draw_card(decision, given, seen, raised_elsewhere=together)
    if together:
        raise_drawn_together(decision, given, seen.ordinal)


def _draw_card(
    decision: Decision, given: DeviceReported, seen: observations.CardDrawn, *, raised_elsewhere: bool
) -> None:
    announced = seen.ordinal in decision.state.decks.in_play.face_up
    card = HeldCard(seen.shuffle, seen.ordinal, seen.card, bool(seen.face_up) or announced)
    if to_be_dealt(decision, given, seen, (card,)) is None:
        return
    _check_count(decision, given, seen.shuffle, seen.ordinal, 1, seen.remaining)
    place = _place_due(decision.state)
    _deal_or_set_aside(decision, given, (card,), source="device", raised_elsewhere=raised_elsewhere)
    if decision.state.in_round:
        _check_faces(decision, given, (card,), seen.foreign)
    if seen.face_up and not announced and decision.state.in_round:
        raise_irregularity(
            decision,
            Kind.FACE_UP_IN_DEVICE,
            noticed_by=DEVICE,
            facts=known_facts(decision.state, place, in_stub=False),  # the face-up card came out
            place=place,
            ordinals=(seen.ordinal,),
            faces_seen=True,
            report=given,
            note=message("the card came out face up"),
        )


def cards_drawn_together(decision: Decision, given: DeviceReported, seen: observations.CardsDrawnTogether) -> None:
    """Set simultaneous cards aside until a person names their order, or confirms the order of the log (I15)."""
    reported = _held_cards(decision, seen.shuffle, seen.ordinal, seen.cards)
    cards = to_be_dealt(decision, given, seen, reported)
    if cards is None:
        return
    first = cards[0].ordinal if cards else seen.ordinal
    _check_count(decision, given, seen.shuffle, first, len(cards), seen.remaining)
    phase = decision.state.phase
    if phase is Phase.FIRST_CARD or (phase in DEALING and decision.state.round.next_place is not None):
        decision.emit(events.CardsSetAside(cards, False, message("drawn together")))
        _raise_simultaneous(decision, given, order_known=seen.order_known, cards=cards)
    else:
        _set_aside(decision, given, cards, from_tray=False)
    if decision.state.in_round:
        _check_faces(decision, given, cards, seen.foreign)


def face_up_found(decision: Decision, given: DeviceReported, seen: observations.FaceUpFound) -> None:
    """Handle a card that is face up in the device (I14). In the stub after the deal it has no effect."""
    if is_about_waiting_deck(decision.state, seen.deck):
        if waiting_deck_is_known(decision.state, seen.deck):
            decision.emit(events.CardFoundFaceUp(seen.ordinal, seen.card, waiting=True))  # no round begins with it
        else:
            note = message("a card lies face up in deck {deck}, which was not reported as put in", deck=seen.deck)
            raise_count_in_doubt(decision, note, report=given)
        return
    before = decision.state
    found = HeldCard(seen.shuffle, seen.ordinal, seen.card, face_up=True)
    decision.emit(events.CardFoundFaceUp(seen.ordinal, seen.card))
    state = decision.state
    if state.in_round:
        _compare_face(decision, given, found, (*before.round.read, *before.decks.in_play.face_up_read))
    if not state.in_round or state.phase in AFTER_DEAL:
        return
    raise_irregularity(
        decision,
        Kind.FACE_UP_IN_DEVICE,
        noticed_by=DEVICE,
        place=_place_to_come(decision, seen.ordinal),
        ordinals=(seen.ordinal,),
        faces_seen=False,
        report=given,
    )
    if seen.foreign:
        _check_faces(decision, given, (), seen.foreign)


def deal_cards_set_aside(decision: Decision) -> None:
    """Deal the cards set aside, which were moved to the places whose turn it is (`moves_due`)."""
    if decision.state.decks.aside and decision.state.burn_due:
        _burn(decision, decision.state.decks.aside, "aside")
    state = decision.state
    if state.decks.aside and state.phase is Phase.FIRST_CARD and state.round.first_card is None:
        decision.emit(events.FirstCardDrawn(state.decks.aside[0], "aside"))
    elif state.decks.aside and state.phase in DEALING and state.round.next_place is not None:
        _deal_to_places(decision, state.decks.aside[: len(state.round.places) - state.round.dealt], "aside")


def deal_without_device(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> None:
    """Record cards that a person dealt without the device. `source`: tray, by_hand."""
    cards = _burn(decision, cards, source)
    if cards and decision.state.phase is Phase.FIRST_CARD:
        _draw_first_card(decision, cards, source)
    elif cards:
        _deal_to_places(decision, cards, source)


def _deal_or_set_aside(
    decision: Decision,
    given: DeviceReported,
    cards: tuple[HeldCard, ...],
    *,
    source: str,
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
        _set_aside(decision, given, cards, from_tray=source == "tray", raised_elsewhere=raised_elsewhere)
        return
    fitting = cards[: len(state.round.places) - state.round.dealt]
    _deal_to_places(decision, fitting, source)
    re_evaluate_interruption(decision)
    if left := cards[len(fitting) :]:
        # More cards came together than must be dealt: I15 was raised for them.
        over = message("left over from cards that came together")
        decision.emit(events.CardsSetAside(left, source == "tray", over))


def _burn(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> tuple[HeldCard, ...]:
    """Burn as many of the cards as are due to be burnt; return the others."""
    due = decision.state.burn_due
    if due and cards:
        decision.emit(events.CardsBurnt(cards[:due], source))
    return cards[due:]


def _draw_first_card(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> None:
    """Take the first card as the First Card; set aside others that came with it, for which I15 was raised."""
    decision.emit(events.FirstCardDrawn(cards[0], source))
    if left := cards[1:]:
        decision.emit(events.CardsSetAside(left, source == "tray", message("came together with the First Card")))


def _deal_to_places(decision: Decision, cards: tuple[HeldCard, ...], source: str) -> None:
    state = decision.state
    places = state.round.places_due[: len(cards)]
    decision.emit(events.CardsDealt(places, cards, source))
    if decision.state.round.next_place is None:
        decision.enter_phase("dealt")


def _set_aside(
    decision: Decision,
    given: DeviceReported,
    cards: tuple[HeldCard, ...],
    *,
    from_tray: bool,
    raised_elsewhere: bool = False,
) -> None:
    """Set aside cards that left the device out of turn; in a round also raise an irregularity with the reason.

    `raised_elsewhere`: the caller raises an irregularity about these cards.
    """
    state = decision.state
    if state.phase in BETWEEN_ROUNDS:
        # The table is being cleared or the device tested: no round is affected, and none begins with this deck.
        why = message("maintenance") if state.phase is Phase.MAINTENANCE else message("no round is in progress")
        decision.emit(events.CardsSetAside(cards, from_tray, why))
        return
    ordinals = tuple(card.ordinal for card in cards)
    if state.phase is Phase.BETTING:
        decision.emit(events.CardsSetAside(cards, from_tray, message('before "No more bets"')))
        note = message(
            'a set left the device before "No more bets"'
            if from_tray
            else 'a card left the device before "No more bets"'
        )
        raise_irregularity(
            decision, Kind.BEFORE_NO_MORE_BETS, noticed_by=DEVICE, ordinals=ordinals, report=given, note=note
        )
        return
    note = _why_not_due(state, of_set=from_tray)
    decision.emit(events.CardsSetAside(cards, from_tray, note))
    too_many = state.round.next_place is None and state.phase is not Phase.FIRST_CARD
    if not raised_elsewhere and (too_many or not _is_in_open_irregularity(decision, ordinals)):
        raise_irregularity(
            decision,
            Kind.OTHER_DEALING_ERROR,
            noticed_by=DEVICE,
            facts=_facts_of_card_not_due(decision),
            ordinals=ordinals,
            report=given,
            note=note,
        )


def _why_not_due(state: TableState, *, of_set: bool) -> Message:
    """Return why the card that left the device was not due; `of_set`: why the set was not."""
    if state.round.by_hand and state.round.next_place is not None:
        return message(
            "a set left the device while the rest is dealt by hand"
            if of_set
            else "a card left the device while the rest is dealt by hand"
        )
    if state.phase is Phase.FIRST_CARD:
        return message(
            "a set was taken before the First Card was shown"
            if of_set
            else "a card was taken before the First Card was shown"
        )
    if state.round.next_place is None:
        return message(
            "one set too many: the deal was complete" if of_set else "one card too many: the deal was complete"
        )
    return message("a set was taken while the deal was held" if of_set else "a card was taken while the deal was held")


def _facts_of_card_not_due(decision: Decision) -> Facts:
    """Return the facts known about a card that was not due.

    Moving hands does not cure one card too many, and only people see whether it is misplaced; any other card came out
    of turn. Before the First Card is shown, people decide whether it makes the sequence wrong (F3 X2).
    """
    state = decision.state
    if state.phase is Phase.FIRST_CARD:
        return known_facts(state, wrong_number=False)
    if state.round.next_place is None:
        return known_facts(state, curable=False)
    return known_facts(state, misplaced=False)


def _place_due(state: TableState) -> Place | None:
    """Return the place of the next card, or None for a card that is burnt."""
    return None if state.burn_due else state.round.next_place


def _is_in_open_irregularity(decision: Decision, ordinals: tuple[int, ...]) -> bool:
    """Return whether an open irregularity is about these cards, so that they may be lifted to be examined."""
    return any(set(ordinals) & set(found.ordinals) for found in decision.state.open)


def _held_cards(
    decision: Decision, shuffle: int, first: int, faces: Sequence[Concealed | None]
) -> tuple[HeldCard, ...]:
    face_up = decision.state.decks.in_play.face_up
    return tuple(HeldCard(shuffle, first + place, face, first + place in face_up) for place, face in enumerate(faces))


def _place_to_come(decision: Decision, ordinal: int) -> str | None:
    """Return the place to which a card still in the device would be dealt."""
    state = decision.state
    position = state.round.dealt + len(state.decks.tray) + ordinal - state.decks.in_play.dispensed - 1 - state.burn_due
    places = (*state.round.places[: state.round.dealt], *state.round.places_due)
    return places[position] if 0 <= position < len(places) else None


def _raise_simultaneous(
    decision: Decision, given: DeviceReported, *, order_known: bool, cards: tuple[HeldCard, ...]
) -> None:
    place = _place_due(decision.state)
    raise_irregularity(
        decision,
        Kind.SIMULTANEOUS,
        noticed_by=DEVICE,
        facts=known_facts(  # only people see whether they were added to a hand
            decision.state,
            place,
            order_known=order_known,
            curable=False,
            one_hand=decision.state.round.go_to_one_hand(len(cards)),
        ),
        place=place,
        ordinals=tuple(card.ordinal for card in cards),
        report=given,
        note=counted("1 card came out", "{count} cards came out together", len(cards)),
    )


def _check_faces(decision: Decision, given: DeviceReported, cards: tuple[HeldCard, ...], foreign: int) -> None:
    """Raise a card of another deck (I01), or one read before in this shuffle (I02), without naming the card."""
    notice_last_order(decision, given, len(cards))
    state = decision.state
    if foreign:
        ordinals = tuple(card.ordinal for card in cards)
        raise_irregularity(decision, Kind.FOREIGN_CARD, noticed_by=DEVICE, ordinals=ordinals, report=given)
    new = {card.id for card in cards}
    read = (*state.round.read, *state.decks.in_play.face_up_read)
    before = [card for card in read if (card.shuffle, card.ordinal) not in new]
    found = {card.id: card for card in state.decks.in_play.face_up_read}
    for card in cards:
        _compare_face(decision, given, card, [*before, found[card.id]] if card.id in found else before)
        before.append(card)


def _compare_face(decision: Decision, given: DeviceReported, card: HeldCard, before: Sequence[HeldCard]) -> None:
    """Compare a face with all faces that the device read earlier in this shuffle.

    The duplicate is raised as soon as the device reads the second card. Nothing is reported about the first: neither
    which card it was nor whether it is face up. A card that was found face up was compared when it was found.
    """
    face = card.face
    if face is None:
        return
    of_shuffle = [other for other in before if other.shuffle == card.shuffle]
    same = [other.face for other in of_shuffle if other.ordinal == card.ordinal]
    if same:
        if not face.is_among(same):
            note = message("the device read card {ordinal} differently before", ordinal=card.ordinal)
            raise_count_in_doubt(decision, note, report=given, ordinals=(card.ordinal,))
    elif face.is_among([other.face for other in of_shuffle]):
        raise_irregularity(
            decision,
            Kind.DECK_COUNT,
            noticed_by=INFERENCE,
            ordinals=(card.ordinal,),
            report=given,
            note=message("the device read a card that it has read before in this shuffle"),
        )


def _check_count(
    decision: Decision, given: DeviceReported, shuffle: int, ordinal: int, count: int, remaining: int
) -> None:
    """Raise I04 if the device's count jumps, since cards may have passed unseen."""
    deck = decision.state.decks.in_play
    expected = deck.dispensed + 1
    left = deck.loaded - ordinal - count + 1
    cards = tuple(range(ordinal, ordinal + count))
    note: Message | None = None
    if shuffle != deck.shuffle:
        decision.emit(events.StatusDiffers("shuffle", deck.shuffle, shuffle))
        note = message(
            "the cards belong to shuffle {shuffle}; the journal expected {journal}",
            shuffle=shuffle,
            journal=deck.shuffle,
        )
    elif ordinal != expected:
        decision.emit(events.StatusDiffers("dispensed", deck.dispensed, ordinal - 1))
        note = message(
            "the device counts card {ordinal}; the journal expected card {expected}", ordinal=ordinal, expected=expected
        )
    elif deck.loaded and remaining != left:
        note = message(
            "the device counts {remaining} cards left and the journal {left}", remaining=remaining, left=left
        )
    if note is not None:
        raise_count_in_doubt(decision, note, report=given, ordinals=cards)


def begin_deal(decision: Decision, places: tuple[Place, ...]) -> None:
    grammar = decision.state.grammar
    decision.emit(events.DealBegan(grammar.unit, grammar.order, grammar.clause, places))


def verify_deal_by_hand(state: TableState, given: PersonActed, operation: operations.DealByHand) -> None:
    """Verify that the device cannot deal, and that no more cards are entered than are due."""
    able = state.device.connected and not state.device.stopped and not state.decks.in_play.stub_out
    runs = able and state.service is Service.IN_SERVICE
    if runs and not state.round.by_hand:  # a round dealt by hand from the stub stays that way
        raise RefusedError("device", "The device is running; let it deal.")
    if not operation.because.strip():
        raise RefusedError("reason", "Enter why the round continues without the device.")
    due = state.burn_due + len(state.round.places) - state.round.dealt - len(state.decks.aside)
    if state.phase is Phase.FIRST_CARD:
        due = max(0, state.burn_due + (state.round.first_card is None) - len(state.decks.aside))
    if not 1 <= operation.cards <= due:
        raise RefusedError("cards", "{due} cards are due; enter how many of them were dealt by hand.", due=due)


def deal_by_hand(decision: Decision, given: PersonActed, operation: operations.DealByHand) -> None:
    """Deal the cards in the tray first, then those of the stub in their order."""
    deck = decision.state.decks.in_play
    if not decision.state.round.by_hand:
        decision.emit(events.DealtByHand(operation.because))
    waiting = decision.state.decks.tray[: operation.cards]
    first = deck.dispensed + 1
    cards = tuple(HeldCard(deck.shuffle, first + number, None) for number in range(operation.cards - len(waiting)))
    deal_without_device(decision, waiting, "tray")
    deal_without_device(decision, cards, "by_hand")


# -- permissions and offers


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.DealByHand, message("deal by hand"), message("{who} dealt by hand."), verify_deal_by_hand,
        deal_by_hand, CARDS_LEAVE, NOT_HELD, Role.PIT_SUPERVISOR, offers=just(operations.DealByHand(1, WORDS))),
)
# fmt: on
"""The permissions and offers of this feature."""
