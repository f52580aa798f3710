"""Orders of decks as arrays, one row a deck.

`orders[d, j]` is the place in the order in of the card at place j of the order out. Place 0 is the top of the deck, the
card that is dealt first. So an unshuffled order is 0, 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Orders: TypeAlias = npt.NDArray[np.int64]
Counts: TypeAlias = npt.NDArray[np.int64]
"""A number for each deck."""


class OrderError(ValueError):
    """Raised for two orders that are not of the same deck. `code` is for machines."""

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
    """Raise `OrderError` unless both are of one deck. `more` has the numbers of unknown cards in the two orders."""
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
