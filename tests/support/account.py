"""When the account of a deck may come to more than 52 cards."""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE

SAYS_SO: Final = frozenset({Kind.DECK_COUNT, Kind.COUNT_IN_DOUBT, Kind.WRONG_COUNT})


def has_too_many(state: TableState) -> bool:
    """Whether an open irregularity says that the deck has too many cards, or the device counted them when it came."""
    return state.decks.in_play.loaded > DECK_SIZE or any(
        found.kind in SAYS_SO or found.counted is not None for found in state.open
    )
