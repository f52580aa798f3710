"""When the account of a deck may come to more than 52 cards."""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind
from controller.table.model import DENIED, Irregularity
from controller.table.state import TableState
from firmware_bridge.cards import DECK_SIZE

OF_COUNTS: Final = frozenset({Kind.DECK_COUNT, Kind.COUNT_IN_DOUBT, Kind.WRONG_COUNT})


def has_too_many(state: TableState) -> bool:
    """Whether an irregularity that is open, or was decided in this round, says that the deck has too many cards.

    One that was denied says nothing. A device may also have counted more than 52 when the deck was put in.
    """
    decided = (ended.found for ended in state.round.closed if ended.outcome != DENIED)
    return state.decks.in_play.loaded > DECK_SIZE or any(_of_counts(found) for found in (*state.open, *decided))


def _of_counts(found: Irregularity) -> bool:
    return found.kind in OF_COUNTS or found.counted is not None
