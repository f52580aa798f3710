"""The cards that may be dealt, and when the account of a deck may exceed 52 cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from controller.games.specification import Kind
from controller.rules.dealing_order import Place
from controller.table.model import DENIED, Irregularity
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE

OF_COUNTS: Final = frozenset({Kind.DECK_COUNT, Kind.COUNT_IN_DOUBT, Kind.WRONG_COUNT})


def has_too_many(state: TableState) -> bool:
    """Return whether an irregularity, open or decided in this round, means that the deck has too many cards.

    A denied one does not. A device may also have counted more than 52 when the deck was put in.
    """
    decided = (ended.found for ended in state.round.closed if ended.outcome != DENIED)
    return state.decks.in_play.loaded > DECK_SIZE or any(_of_counts(found) for found in (*state.open, *decided))


def are_due(state: TableState, places: Sequence[Place]) -> bool:
    """Return whether the next cards go to these places, each the next in the order of the deal.

    If cards are misplaced, a place that already has its number of cards may give its turn to a
    place that lacks cards.
    """
    size = {place: hand.size for place, hand in state.round.hands.items()}
    turns = state.round.places[state.round.dealt : state.round.dealt + len(places)]
    for place, turn in zip(places, turns, strict=True):
        if place != turn and not size.get(place, 0) < state.round.places.count(place) <= size.get(turn, 0):
            return False
        size[place] = size.get(place, 0) + 1
    return True


def _of_counts(found: Irregularity) -> bool:
    return found.kind in OF_COUNTS or found.counted is not None
