"""Decides which of the cards that a device reports belong to the deal.

Cards that were dealt by hand, cards of another deck, and cards that were reported before do not.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from controller.games.specification import Kind
from controller.table import events
from controller.table.decision import Decision
from controller.table.inputs import DeviceReported
from controller.table.irregularities.raising import INFERENCE, raise_count_in_doubt, raise_irregularity
from controller.table.model import HeldCard
from controller.table.state import TableState
from firmware_bridge import observations
from firmware_bridge.messages import counted, message

DEALT_BY_HAND: Final = "dealt_by_hand_before"  # a note: reports of cards that people dealt by hand before
Leaving: TypeAlias = observations.CardDrawn | observations.CardsDrawnTogether | observations.SetDispensed


def to_be_dealt(
    decision: Decision, given: DeviceReported, seen: Leaving, reported: tuple[HeldCard, ...]
) -> tuple[HeldCard, ...] | None:
    """Return the reported cards that belong to the deal; None if none does, and the reason is recorded."""
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
    current = state.round
    held = (current.read, state.decks.tray, state.decks.aside, *current.piles.values())
    return state.in_round and any(
        card.ordinal == ordinal and card.shuffle == shuffle
        for cards in (*held, *(hand.cards for hand in current.hands.values()))
        for card in cards
    )


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

    That deck may lie in a second compartment, or in a shuffler beside. A report without a deck (0) is about the deck in
    play.
    """
    if state.decks.waiting is not None and deck == state.decks.waiting.deck:
        return deck not in (0, state.decks.in_play.deck)
    return state.in_round and deck not in (0, state.round.deck)


def waiting_deck_is_known(state: TableState, deck: int) -> bool:
    """Return whether this waiting deck was reported as put in."""
    return state.decks.waiting is not None and state.decks.waiting.deck == deck


def _take_strays(decision: Decision, given: DeviceReported, seen: Leaving, cards: tuple[HeldCard, ...]) -> bool:
    """Take cards of the waiting deck as strays, in a round with I01; return False if they are of the deck in play."""
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
        "cards came out from deck {deck}, which was not reported as put in; this round is dealt from deck {dealt}",
        deck=seen.deck,
        dealt=state.round.deck,
    )
    raise_count_in_doubt(decision, note, report=given, ordinals=ordinals)
    if seen.shuffle == state.decks.in_play.shuffle:
        return False
    decision.emit(events.CardsStrayed(seen.deck, cards))
    return True
