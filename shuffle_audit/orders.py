"""Orders of decks: as files and devices give them, by the names of cards, and as arrays, one row a deck.

`orders[d, j]` is the place in the order in of the card at place j of the order out. Place 0 is the top of the deck, the
card that is dealt first. So an unshuffled order is 0, 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

Orders: TypeAlias = npt.NDArray[np.int64]
Stored: TypeAlias = npt.NDArray[np.integer[Any]]
"""Orders, or other numbers of cards, a row for each deck, in a type that takes little memory. Read it `in_blocks`."""
Counts: TypeAlias = npt.NDArray[np.int64]
"""A number for each deck."""
Hashes: TypeAlias = npt.NDArray[np.uint64]
"""A hash for each deck."""
IN_A_BLOCK: Final = 1 << 18  # cards


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
        if len(set(cards)) < len(cards):
            twice = sorted({str(card) for card in cards if cards.count(card) > 1})
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


def stored(rows: npt.NDArray[np.integer[Any]], numbers: int) -> Stored:
    """Return rows of numbers from -1 to below `numbers` in the smallest type."""
    return rows.astype(next(one for one in (np.int8, np.int16, np.int32) if numbers <= np.iinfo(one).max))


def in_blocks(rows: Stored, size: int = 0) -> Iterator[Orders]:
    """Yield the rows, some at a time, in the type in which to compute. `size` is the number of cards to reckon with for
    each row, if it is not that of the row itself.
    """
    step = max(1, IN_A_BLOCK // max(1, size or rows.shape[1]))
    for begin in range(0, len(rows), step):
        yield rows[begin : begin + step].astype(np.int64, copy=False)


def hashes_of(rows: Stored) -> Hashes:
    """Return a hash of each row. Different rows have the same hash with a chance of about 1e-19."""
    weights = np.random.default_rng(0).integers(2**64, size=rows.shape[1], dtype=np.uint64)
    found = [(block.astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64) for block in in_blocks(rows)]
    return np.concatenate(found) if found else np.empty(0, np.uint64)


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
