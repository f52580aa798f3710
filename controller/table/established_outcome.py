"""Determines from the known cards whether a wager has conclusively won or lost already (RTP 5.13, NC 5.4).

The casino chooses which cards count as known (setting `known_cards`). If more cards count as known than are shown, the
answer may reveal something about concealed cards; the casino chose that.

A card is exposed when its hand was turned over, when the device reported it face up, or when people confirmed that it
was exposed, dropped with its face seen, or turned over too early. Its face is the one that people named, or else the
one that the device read. If an exposed card has neither, the table cannot tell, and asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from controller.games.specification import Kind
from controller.rules.dealing_order import DEALER, Place
from controller.rules.established import Sight, Sighting, established, known_under
from controller.rules.law import SettingError
from controller.rules.settlement import bets_in_play
from controller.table.model import NOT_SO, CardId, Hand, HeldCard, Irregularity, Pile, Stage
from controller.table.state import TableState

BASIS: Final = "known_cards"
EXPOSES: Final = frozenset(
    {
        Kind.EXPOSED_CARD,
        Kind.FACE_UP_IN_DEVICE,
        Kind.DROPPED_CARD,
        Kind.DEALER_EXPOSED_EARLY,
        Kind.PLAYER_EXPOSED,
    }
)
"""Irregularities by which people may have seen the face of a card."""


def outcome_established(state: TableState) -> bool | None:
    """Return whether an outcome is established, or None if people have to say.

    People have to say if an exposed card is not known, a reading is not chosen, or a count is wrong. A returned wager
    establishes nothing.
    """
    playing = bets_in_play(
        state.law,
        state.table_rules,
        state.layout,
        removed=state.round.removals,
        withdrawn=state.round.withdrawals,
        rulings=state.round.rulings,
        settled_under_minimum=frozenset(state.round.under_minimum),
    )
    if not playing:
        return False
    basis = state.law.chosen.get(BASIS, Sight.EXPOSED)
    exposed = _exposed(state)
    try:
        known = known_under(basis, _sightings(state, exposed.cards))
        found = established(state.law, [(bet.box, bet.wager) for bet in playing], known)
    except (SettingError, ValueError):
        return None
    assert found is not None, "bets are in play"
    if found.is_established:
        return True
    return None if exposed.unknown and not _all_known(state, Sight(basis), exposed.cards) else False


class ExposedCards(NamedTuple):
    """The exposed cards. `cards`: those exposed before their hand was turned over. `unknown`: a face is not known."""

    cards: frozenset[CardId]
    unknown: bool


def _exposed(state: TableState) -> ExposedCards:
    certain, doubted = _claims(state)
    doubted += [found for found in certain if _perhaps_unseen(found)]
    certain = [found for found in certain if not _perhaps_unseen(found)]
    denied = {
        ordinal
        for ended in state.round.closed
        if ended.outcome in NOT_SO and ended.found.kind is Kind.FACE_UP_IN_DEVICE
        for ordinal in ended.found.ordinals
    }
    cards = {card.id for _, card in _on_table(state) if card.face_up and card.ordinal not in denied}
    unknown = False
    for found in doubted:
        seen = _cards_of(state, found)
        sensed = bool(seen) and {card.id for card in seen} <= cards
        unknown = unknown or not (sensed or _is_named(state, found.place))
    for found in certain:
        seen = _cards_of(state, found)
        cards |= {card.id for card in seen}
        unknown = unknown or not (seen or _is_named(state, found.place))
    for hand in state.round.hands.values():
        seen = [card for card in hand.cards if card.id in cards and (card.face is None or hand.named)]
        unknown = unknown or (not hand.shown and len(hand.named) < len(seen))
    return ExposedCards(frozenset(cards), unknown)


def _perhaps_unseen(found: Irregularity) -> bool:
    """Return whether a card was dropped and nobody stated whether its face was seen."""
    return found.kind is Kind.DROPPED_CARD and found.facts.face_seen is None


def _is_named(state: TableState, place: Place | None) -> bool:
    """Return whether people named the faces of the hand, or turned it over."""
    hand = state.round.hands.get(place or "", Hand())
    return bool(hand.named or hand.shown)


def _claims(state: TableState) -> tuple[list[Irregularity], list[Irregularity]]:
    """Return the irregularities of the round that exposed cards: the confirmed ones and those not decided yet."""
    ended = [one.found for one in state.round.closed if one.outcome not in NOT_SO]
    undecided = (Stage.CLAIMED, Stage.RULING)
    decided = [found for found in state.open if found.stage not in undecided]
    waiting = [found for found in state.open if found.stage in undecided]
    return [*_exposing(state, [*ended, *decided])], [*_exposing(state, waiting)]


def _exposing(state: TableState, found: list[Irregularity]) -> Iterator[Irregularity]:
    for one in found:
        in_round = one.round == state.round.number and not one.waiting and bool(state.round.dealt)
        in_device = one.kind is Kind.FACE_UP_IN_DEVICE and (one.facts.before_close or one.facts.in_stub)
        unseen = one.kind is Kind.DROPPED_CARD and one.facts.face_seen is False
        if one.kind in EXPOSES and in_round and not in_device and not unseen:
            yield one


def _cards_of(state: TableState, found: Irregularity) -> list[HeldCard]:
    """Return the cards that an irregularity is about; none if it is not known which."""
    if found.ordinals:
        return [card for _, card in _on_table(state) if card.ordinal in found.ordinals]
    cards = state.round.hands.get(found.place or "", Hand()).cards
    if found.card is not None:
        return list(cards[found.card - 1 : found.card])
    whole = found.kind is Kind.DEALER_EXPOSED_EARLY or len(cards) == 1
    return list(cards) if whole else []


def _on_table(state: TableState) -> Iterator[tuple[Place | None, HeldCard]]:
    """Return the cards of the round outside the device, each with the place to which it belongs; None: to no hand."""
    for place, hand in state.round.hands.items():
        yield from ((place, card) for card in hand.cards)
    for pile in (Pile.BURNT, Pile.DROPPED, Pile.DISCARDS):
        for card in state.round.piles.get(pile, ()):
            yield state.round.intended.get(card.id) if pile is Pile.DROPPED else None, card


def _all_known(state: TableState, needed: Sight, exposed: frozenset[CardId]) -> bool:
    """Return whether every card on the table counts as known, so that no exposed card is missing.

    The faces that people name are not compared with those that the device read: the answer would reveal a right guess.
    """
    return all(_is_known(state, belongs, card, needed, exposed) for belongs, card in _on_table(state))


def _is_known(
    state: TableState, belongs: Place | None, card: HeldCard, needed: Sight, exposed: frozenset[CardId]
) -> bool:
    hand = state.round.hands.get(belongs or "", Hand())
    if hand.shown or (hand.named and len(hand.named) >= hand.size):
        return True
    seen = Sight.SEEN if hand.viewed else Sight.RECOGNISED
    return card.face is not None and (Sight.EXPOSED if card.id in exposed else seen).reaches(needed)


def _sightings(state: TableState, exposed: frozenset[CardId]) -> Iterator[Sighting]:
    live = {*state.round.live_places, DEALER}
    for place, hand in state.round.hands.items():
        at = place if place in live else None
        yield from ((at, card, Sight.EXPOSED) for card in hand.shown or hand.named)
    for belongs, card in _on_table(state):
        hand = state.round.hands.get(belongs or "", Hand())
        renamed = bool(hand.named) and card.id in exposed  # it counts by the face that people named
        if card.face is not None and not hand.shown and not renamed and card.face.expose() not in hand.named:
            seen = Sight.SEEN if hand.viewed else Sight.RECOGNISED
            sight = Sight.EXPOSED if card.id in exposed else seen
            yield belongs if belongs in live else None, card.face.expose(), sight
    if state.round.first_card is not None and state.round.first_card_shown is not None:
        yield None, state.round.first_card_shown, Sight.EXPOSED
