"""A procedure that finds cards that come out as in an earlier deck: one, two or three decks ago.

A shuffler that remembers decks may hide between two of them, where every order in is the last order out. Under uniform
orders a deck has its distribution whatever came before, so that each count over decks is a sum of independent ones:
how many of the first t cards were among the first t of the earlier deck (hypergeometric), how many are at their place
in it, and how many follow the card that they followed in it. The highest count of one deck is also compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from math import comb
from typing import Final

import numpy as np

from shuffle_audit import exact
from shuffle_audit.cells import Cells
from shuffle_audit.exact import Distribution
from shuffle_audit.orders import Counts, Orders, Stored, in_blocks, inverse
from shuffle_audit.patterns import cards_in_place, kept_pairs
from shuffle_audit.shown import NOT_KNOWN, ShownFaces

ID: Final = "earlier-decks"
WORDS: Final = "Cards that came out as in an earlier deck"
SOURCE: Final = "Montmort 1708"
SHARE: Final = 0.005
LOW: Final = 0.1
LAGS: Final = (1, 2, 3)
TOPS: Final = (5, 10, 20, 26)
"""The numbers of first cards that are compared."""
CELLS: Final = float(2 * len(LAGS) * (len(TOPS) + 2))
"""Counts over all decks, and the highest of a single deck, which shows what happens rarely."""


@cache
def overlap(cards: int, top: int) -> Distribution:
    """Return the distribution of the number of the first `top` cards that are among `top` given ones."""
    return exact.distribution(tuple(comb(top, k) * comb(cards - top, top - k) for k in range(top + 1)))


def cells(shown: ShownFaces) -> Iterator[Cells]:
    """Yield the cells for each number of decks ago and each count. Decks are in the order of time."""
    size = len(shown.names)
    in_place, kept = map(exact.distribution, (exact.in_place_numbers(size), exact.kept_pair_numbers(size)))
    for lag in LAGS:
        earlier, later = shown.cards[:-lag], shown.cards[lag:]
        ago = "the previous deck" if lag == 1 else f"the deck {lag} decks earlier"
        for top in (one for one in TOPS if one <= size // 2):
            common = _counted(earlier[:, :top], later[:, :top], partial(_common, size))
            yield from _cells(overlap(size, top), common, f"cards among the first {top} as in {ago}")
        same = _counted(earlier, later, lambda first, then: cards_in_place(_moved(first, then)))
        yield from _cells(in_place, same, f"cards at their place in {ago}")
        after = _counted(earlier, later, lambda first, then: kept_pairs(_moved(first, then)))
        yield from _cells(kept, after, f"cards that follow the same card as in {ago}")


def _counted(earlier: Stored, later: Stored, counted: Callable[[Orders, Orders], Counts]) -> Counts:
    """Return the counts of the rows that are known in both arrays."""
    found = []
    for first, then in zip(in_blocks(earlier), in_blocks(later), strict=True):
        known = ((first != NOT_KNOWN) & (then != NOT_KNOWN)).all(axis=1)
        found.append(counted(first[known], then[known]))
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _common(cards: int, first: Orders, then: Orders) -> Counts:
    """Count the cards of each row that are in the same row of the other array."""
    among = np.zeros((len(first), cards), bool)
    np.put_along_axis(among, first, values=True, axis=1)
    found: Counts = np.take_along_axis(among, then, axis=1).sum(axis=1, dtype=np.int64)
    return found


def _moved(first: Orders, then: Orders) -> Orders:
    """Return the orders in which cards came out, with the earlier order out as the order in."""
    return np.take_along_axis(inverse(first), then, axis=1)


def _cells(one: Distribution, counts: Counts, name: str) -> Iterator[Cells]:
    """Yield the sum over all decks, and the counts of single decks, of which only many are unusual."""
    decks = len(counts)
    yield Cells(one, decks, counts.sum(keepdims=True), lambda at: name, CELLS, LOW)
    yield Cells(one, 1, counts, lambda at: f"{name}, in one deck", CELLS * decks, 0.0)
