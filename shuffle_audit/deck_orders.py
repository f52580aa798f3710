"""A shuffled deck as files and devices give it: the cards by name, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from shuffle_audit.orders import OrderError, Orders, order_of

UNKNOWN: Final = "?"
"""The name of an unknown card."""


class DeckOrders(msgspec.Struct, frozen=True):
    """The order in and the order out of a deck, from the top, by name (`AS`, `10H` or any other); an unknown card is
    `UNKNOWN`. `before` is empty if nothing of it is known.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether every card of both orders is known."""
        return bool(self.before) and UNKNOWN not in self.before and UNKNOWN not in self.after


def orders_of_decks(decks: Sequence[DeckOrders]) -> Orders:
    """Return the orders as one array. Raise `OrderError`, with the number of the deck, if their sizes differ."""
    found = []
    for number, deck in enumerate(decks, start=1):
        try:
            found.append(order_of(deck.before, deck.after))
        except OrderError as error:
            raise OrderError(error.code, f"Deck {number}: {error}") from error
        if len(found[-1]) != len(found[0]):
            sentence = f"Deck {number} has {len(found[-1])} cards, and deck 1 has {len(found[0])}."
            raise OrderError("mixed-decks", sentence)
    return np.stack(found) if found else np.empty((0, 0), np.int64)
