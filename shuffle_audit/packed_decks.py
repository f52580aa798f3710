"""Decks in little memory: a number for each card, one row for each deck, and the names of the numbers.

A million decks of 52 cards take 104 MB. They are read in blocks (`orders.in_blocks`), so that what is computed from
them takes little memory, too.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import UNKNOWN, Counts, DeckOrders, OrderError, Stored, in_blocks
from shuffle_audit.partial_orders import order_in_part

NOT_SHOWN: Final = 0
"""The number of an unknown card."""
_TYPES: Final = "BHI"


class PackedDecks(Sequence[DeckOrders]):
    """Decks of one size. `names[number]` is the name of a card. A row of `before` is all `NOT_SHOWN` if `has_before` is
    false: nothing of the order in is known.
    """

    def __init__(self, names: Sequence[str], before: Stored, after: Stored, has_before: npt.NDArray[np.bool_]) -> None:
        self.names = tuple(names)
        self.before = before
        self.after = after
        self.has_before = has_before

    def __len__(self) -> int:
        return len(self.after)

    @overload
    def __getitem__(self, at: int) -> DeckOrders: ...
    @overload
    def __getitem__(self, at: slice) -> PackedDecks: ...
    def __getitem__(self, at: int | slice) -> DeckOrders | PackedDecks:
        if isinstance(at, slice):
            return PackedDecks(self.names, self.before[at], self.after[at], self.has_before[at])
        before = self._named(self.before[at]) if self.has_before[at] else ()
        return DeckOrders(before, self._named(self.after[at]))

    def _named(self, row: npt.NDArray[np.integer[Any]]) -> tuple[str, ...]:
        return tuple(self.names[number] for number in row.tolist())

    @property
    def cards(self) -> int:
        """The number of cards of a deck."""
        return int(self.after.shape[1])

    @cached_property
    def whole(self) -> Counts:
        """The decks of which every card of both orders is known, by their index."""
        found = self.has_before.copy()
        for rows in (self.before, self.after):
            known = [(block != NOT_SHOWN).all(axis=1) for block in in_blocks(rows)]
            found &= np.concatenate(known) if known else found
        return np.flatnonzero(found)

    @property
    def continued(self) -> int:
        """The number of whole decks that went in as the previous deck came out."""
        later = self.whole[self.whole > 0]
        pairs = zip(in_blocks(self.before[later]), in_blocks(self.after[later - 1]), strict=True)
        return sum(int((before == after).all(axis=1).sum()) for before, after in pairs)


class DeckPacker:
    """Packs decks of one size. Raise `OrderError` for a deck that cannot be packed."""

    def __init__(self) -> None:
        self._numbers = _Numbers({UNKNOWN: NOT_SHOWN})
        self._before, self._after = array(_TYPES[0]), array(_TYPES[0])
        self._has_before = bytearray()
        self._size = 0

    def __len__(self) -> int:
        return len(self._has_before)

    def add(self, deck: DeckOrders) -> tuple[int, ...]:
        """Add a deck whose orders have the same number of cards. Return its row: the order in, then the order out."""
        if not self._has_before:
            self._size = len(deck.after)
        number = self._numbers.__getitem__
        after = tuple(map(number, deck.after))
        before = tuple(map(number, deck.before)) if deck.before else (NOT_SHOWN,) * self._size
        if len(after) != self._size or len(before) != self._size:
            sentence = f"Deck {len(self) + 1} has {len(deck.after)} cards, and deck 1 has {self._size}."
            raise OrderError("mixed-decks", sentence)
        if len(self._numbers) > 1 << (8 * self._after.itemsize):
            wider = _TYPES[_TYPES.index(self._after.typecode) + 1]
            self._before, self._after = array(wider, self._before), array(wider, self._after)
        self._before.extend(before)
        self._after.extend(after)
        self._has_before.append(bool(deck.before))
        return before + after

    def row(self, at: int) -> tuple[int, ...]:
        """Return the row of a deck as `add` did."""
        cards = slice(at * self._size, (at + 1) * self._size)
        return (*self._before[cards], *self._after[cards])

    def packed(self) -> PackedDecks:
        """Return the decks. No more can be added then."""
        shape = len(self), self._size
        before, after = (
            np.frombuffer(one, one.typecode).reshape(shape) if len(one) else np.empty(shape, np.uint8)
            for one in (self._before, self._after)
        )
        return PackedDecks(tuple(self._numbers), before, after, np.frombuffer(self._has_before, np.bool_))


class _Numbers(dict[str, int]):
    """The number of each name. A new name gets the next one."""

    def __missing__(self, name: str) -> int:
        self[name] = found = len(self)
        return found


def packed(decks: Iterable[DeckOrders]) -> PackedDecks:
    """Return the decks packed. Raise `OrderError`, with the number of the deck, if their sizes differ or two orders do
    not belong to one deck.
    """
    if isinstance(decks, PackedDecks):
        return decks
    packer = DeckPacker()
    for number, deck in enumerate(decks, start=1):
        if deck.before and len(deck.before) != len(deck.after):
            _verify(deck, number)
        packer.add(deck)
    return packer.packed()


def _verify(deck: DeckOrders, number: int) -> None:
    try:
        order_in_part(deck)
    except OrderError as error:
        raise OrderError(error.code, f"Deck {number}: {error}") from error
