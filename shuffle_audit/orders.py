"""Orders of decks as arrays, one row a deck.

`orders[d, j]` is the place in the order in of the card that lies at place j of the order out; 0 is the top of the deck,
the card that is dealt first. So an order that was not shuffled is 0, 1, 2, ...
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
    """Two orders that are not of the same deck. `code` for machines."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def order_of(before: Sequence[Hashable], after: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    """The order of one deck. Raises `OrderError`, with the cards that are at fault.

    >>> order_of("abcd", "badc").tolist()
    [1, 0, 3, 2]
    """
    verify_same_deck(before, after)
    place = {card: at for at, card in enumerate(before)}
    return np.array([place[card] for card in after], np.int64)


def verify_same_deck(before: Sequence[Hashable], after: Sequence[Hashable], more: tuple[int, int] = (0, 0)) -> None:
    """`more`: how many further cards, which are not known, the two orders have. Raises `OrderError`."""
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
    """`inverse(orders)[d, i]`: where the card lies now that lay at place i."""
    places = np.empty_like(orders)
    np.put_along_axis(places, orders, np.arange(orders.shape[1], dtype=orders.dtype)[None], axis=1)
    return places


def one_after_the_other(first: Orders, then: Orders) -> Orders:
    """What two shuffles make, deck by deck."""
    return np.take_along_axis(first, then, axis=1)
