"""Orders of decks: as files and devices give them, by the names of cards, and as arrays, one row a deck.

`orders[d, j]` is the place in the order in of the card at place j of the order out. Place 0 is the top of the deck, the
card that is dealt first. So an unshuffled order is 0, 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Orders: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.int64]
"""A number for each deck."""


class OrderError(ValueError):
    """Raised for two orders that do not belong to the same deck. `code` is for machines."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def order_of(before: Sequence[Hashable], after: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    """Return the order of one deck. Raise `OrderError`, with the cards at fault.

    >>> order_of("abcd", "badc").tolist()
    [1, 0, 3, 2]
    """
    verify_same_deck(before, after)
    place = {card: at for at, card in enumerate(before)}
    return np.array([place[card] for card in after], np.int64)


def verify_same_deck(before: Sequence[Hashable], after: Sequence[Hashable], more: tuple[int, int] = (0, 0)) -> None:
    """Raise `OrderError` unless both belong to one deck. `more` has the numbers of unknown cards in the two orders."""
    for name, cards in (("in", before), ("out", after)):
        if twice := sorted({str(card) for card in cards if cards.count(card) > 1}):
            raise OrderError("card-twice", f"In the order {name} there is more than one of {_listed(twice)}.")
    lacking, foreign = (sorted(map(str, set(one) - set(other))) for one, other in ((before, after), (after, before)))
    came = f"What came out has {_listed(foreign)}, which did not go in."
    if len(lacking) > more[1]:
        also = f" {came}" if len(foreign) > more[0] else ""
        raise OrderError("card-missing", f"Of the cards that went in, {_listed(lacking)} did not come out.{also}")
    if len(foreign) > more[0]:
        raise OrderError("card-foreign", came)


def _listed(cards: Sequence[str]) -> str:
    few, more = cards[:5], len(cards) - 5
    return ", ".join(few) + (f" and {more} more" if more > 0 else "")


def unshuffled(decks: int, cards: int) -> Orders:
    return np.tile(np.arange(cards), (decks, 1))


def inverse(orders: Orders) -> Orders:
    """Return `inverse(orders)[d, i]`: the new place of the card that was at place i."""
    places = np.empty_like(orders)
    np.put_along_axis(places, orders, np.arange(orders.shape[1], dtype=orders.dtype)[None], axis=1)
    return places


def one_after_the_other(first: Orders, then: Orders) -> Orders:
    """Return the composition of two shuffles, deck by deck."""
    return np.take_along_axis(first, then, axis=1)


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
