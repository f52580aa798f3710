"""The orders of decks as far as they are known, whole decks apart from those that are known in part.

DeckOrders ──> PackedDecks ──> SeenOrders: whole decks, and others by their number of known cards
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import Counts, DeckOrders, OrderError, Orders, Stored, in_blocks, inverse, stored
from shuffle_audit.packed_decks import NOT_SHOWN, PackedDecks, packed
from shuffle_audit.partial_orders import LEAST_KNOWN, order_in_part


class SeenOrders(NamedTuple):
    """Decks with an order in. `sizes` has the number of known cards of each that counts, in sequence. `whole`: the
    orders of decks known completely. `parts`: the orders of decks known in part, one array for each number of known
    cards. `few`: the decks left out because fewer than `LEAST_KNOWN` of their cards are known, by their index.
    """

    sizes: Counts
    whole: Stored
    parts: tuple[Stored, ...]
    few: Counts

    @property
    def in_sequence(self) -> Iterator[Stored]:
        """Yield the decks in sequence, grouped where neighbours have the same number of cards."""
        rows = {one.shape[1]: one for one in (*self.parts, self.whole)}
        done = dict.fromkeys(rows, 0)
        for size, group in groupby(self.sizes.tolist()):
            begin = done[size]
            done[size] += sum(1 for _ in group)
            yield rows[size][begin : done[size]]

    @property
    def partial(self) -> int:
        """The number of decks known in part."""
        return sum(map(len, self.parts))


class _Block(NamedTuple):
    """Some decks. `came[d, j]` is the place in the order in of the card at place j of the order out, or -1."""

    came: Orders
    known: Counts
    holds: npt.NDArray[np.bool_]


def seen_of(decks: Sequence[DeckOrders]) -> SeenOrders:
    """Return decks whose order in is known. Raise `OrderError`, with the number of the deck, if their sizes differ or
    two orders do not belong to the same deck.
    """
    all_decks = packed(decks)
    size = all_decks.cards
    least = min(size, LEAST_KNOWN)
    sizes: list[Counts] = []
    by_size: dict[int, list[Stored]] = {size: []}
    few: list[Counts] = []
    given = np.flatnonzero(all_decks.has_before)
    for at in in_blocks(given[:, None], max(size, len(all_decks.names))):
        numbers = at.ravel()
        block = _block(all_decks.before[numbers], all_decks.after[numbers], len(all_decks.names))
        for number in numbers[~block.holds].tolist():
            _refuse(all_decks, number)
        counts = block.known >= least
        few.append(numbers[~counts])
        sizes.append(block.known[counts])
        for known in np.unique(sizes[-1]).tolist():
            by_size.setdefault(known, []).append(stored(_relative(block.came[block.known == known], known), size))
    whole = by_size.pop(size)
    return SeenOrders(
        np.concatenate(sizes) if sizes else np.empty(0, np.int64),
        np.concatenate(whole) if whole else np.empty((0, size), np.int8),
        tuple(np.concatenate(by_size[one]) for one in sorted(by_size)),
        np.concatenate(few) if few else np.empty(0, np.int64),
    )


def _block(before: Stored, after: Stored, names: int) -> _Block:
    """Return the places from which cards came. `holds` is false for two orders that cannot be of one deck."""
    before, after = before.astype(np.int64), after.astype(np.int64)
    decks, cards = after.shape
    place = np.full((decks, names), -1)
    np.put_along_axis(place, before, np.arange(cards)[None], axis=1)
    place[:, NOT_SHOWN] = -1
    shows = np.zeros((decks, names), bool)
    np.put_along_axis(shows, after, values=True, axis=1)
    shows[:, NOT_SHOWN] = False
    came = np.take_along_axis(place, after, axis=1)
    known, went, out = (came >= 0).sum(axis=1), (before != NOT_SHOWN).sum(axis=1), (after != NOT_SHOWN).sum(axis=1)
    differ = ((place >= 0).sum(axis=1) == went) & (shows.sum(axis=1) == out)
    return _Block(came, known, differ & (went - known <= cards - out) & (out - known <= cards - went))


def _relative(came: Orders, known: int) -> Orders:
    """Return the relative orders of the known cards, of decks with as many."""
    places = came[came >= 0].reshape(-1, known)
    return places if known == came.shape[1] else inverse(np.argsort(places, axis=1))


def _refuse(decks: PackedDecks, number: int) -> None:
    try:
        order_in_part(decks[number])
    except OrderError as error:
        raise OrderError(error.code, f"Deck {number + 1}: {error}") from error
