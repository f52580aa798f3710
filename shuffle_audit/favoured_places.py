"""A procedure that finds a place to which one card comes too often: the fullest cell of cards against places.

With D decks the count of each cell is binomial with chance 1/n. The chance that any of the n^2 cells has m decks or
more is at most their sum (Fuchs and Kenett 1980): p = n^2 P(B >= m). This needs no samples and no seed. Chi-square of
the same table adds up all cells, so it is slow to notice a single one.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from shuffle_audit.exact import Distribution
from shuffle_audit.orders import Counts, Orders, Stored, in_blocks

ID: Final = "favoured-place"
WORDS: Final = "Decks in which the most frequent pair of a card and a place occurred"
SOURCE: Final = "Fuchs, Kenett 1980"
SHARE: Final = 0.02


class FullestCells:
    """The fullest cells of several audits, computed together, with at most 32,767 decks each."""

    def __init__(self, audits: int, cards: int) -> None:
        self._table = np.zeros((audits, cards * cards), np.int16)
        self._most = np.zeros(audits, np.int64)

    def add(self, orders: Orders) -> Counts:
        """Add `orders[audit, deck, place]`, the next decks. Return the fullest cell of each audit after each deck."""
        audits, decks, cards = orders.shape
        row, found = np.arange(audits)[:, None], np.zeros((audits, decks), np.int64)
        for deck in range(decks):
            cells = orders[:, deck] * cards + np.arange(cards)
            filled = self._table[row, cells] + 1
            self._table[row, cells] = filled
            self._most = np.maximum(self._most, filled.max(axis=1))
            found[:, deck] = self._most
        return found


def is_tested(decks: int, cards: int) -> bool:
    """Return whether the test is meaningful: with one deck the fullest cell is always 1."""
    return decks > 1 and cards > 1


def fullest_cell(orders: Stored) -> int:
    """Return the fullest cell of one audit with one deck or more."""
    return int(table_of(orders).max())


def table_of(orders: Stored) -> Counts:
    """Return the number of decks in each cell of cards (rows) and places."""
    cards = orders.shape[1]
    found = np.zeros(cards**2, np.int64)
    for block in in_blocks(orders):
        found += np.bincount((block * cards + np.arange(cards)).ravel(), minlength=cards**2)
    return found.reshape(cards, cards)


@lru_cache(maxsize=128)
def chances(decks: int, cards: int) -> npt.NDArray[np.float64]:
    """Return an upper bound of the chance of m or more decks in the fullest cell, for m = 0, 1, ..."""
    tails = np.cumsum(_one_cell(decks, cards)[::-1])[::-1]
    found: npt.NDArray[np.float64] = np.minimum(1.0, cards**2 * tails)
    return found


@lru_cache(maxsize=128)
def mean_and_deviation(decks: int, cards: int) -> tuple[float, float]:
    """Return mean and deviation for the fullest cell as if cells were independent: nearly exact, for people only."""
    at_most = np.cumsum(_one_cell(decks, cards)).clip(max=1.0) ** (cards**2)
    chance_of = np.diff(at_most, prepend=0.0)
    counts = np.arange(decks + 1)
    mean = float((counts * chance_of).sum())
    return mean, sqrt(float(((counts - mean) ** 2 * chance_of).sum()))


def _one_cell(decks: int, cards: int) -> Distribution:
    """Return the binomial distribution, computed with logarithms, accurate to about twelve digits."""
    ones = np.arange(1, decks + 1)
    rises = np.log((decks - ones + 1) / ones) - log(cards - 1)
    found: Distribution = np.exp(np.concatenate([[0.0], np.cumsum(rises)]) + decks * log(1 - 1 / cards))
    return found
