"""A place to which one card comes too often: the fullest cell of the table of cards against places.

Of D decks each cell has a binomial number, with the chance 1/n of each deck. The chance that any of the n^2 cells has m
decks or more is at most the sum of theirs (Fuchs and Kenett 1980): p = n^2 P(B >= m). It needs no samples and no seed.
Chi-square of the same table adds up all cells, and so sees a single one late.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from shuffle_audit.exact import Distribution
from shuffle_audit.orders import Counts, Orders

ID: Final = "favoured-place"
WORDS: Final = "Decks in which one card came to one place, of the card and place with the most"
SOURCE: Final = "Fuchs, Kenett 1980"
SHARE: Final = 0.02


class FullestCells:
    """Of several audits at once, deck after deck, of at most 32,767."""

    def __init__(self, audits: int, cards: int) -> None:
        self._table = np.zeros((audits, cards * cards), np.int16)
        self._most = np.zeros(audits, np.int64)

    def add(self, orders: Orders) -> Counts:
        """`orders[audit, deck, place]`: the next decks. The fullest cell of each audit after each of them."""
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
    """Of one deck the fullest cell is always 1."""
    return decks > 1 and cards > 1


def fullest_cell(orders: Orders) -> int:
    """Of one audit with these decks, 1 at least."""
    cards = orders.shape[1]
    return int(np.bincount((orders * cards + np.arange(cards)).ravel()).max())


@lru_cache(maxsize=128)
def chances(decks: int, cards: int) -> npt.NDArray[np.float64]:
    """By 0, 1, ... decks in the fullest cell: an upper bound of the chance that it has so many or more."""
    tails = np.cumsum(_one_cell(decks, cards)[::-1])[::-1]
    found: npt.NDArray[np.float64] = np.minimum(1.0, cards**2 * tails)
    return found


@lru_cache(maxsize=128)
def mean_and_deviation(decks: int, cards: int) -> tuple[float, float]:
    """Of the fullest cell, as if cells did not depend on each other: nearly exact, and for people alone."""
    at_most = np.cumsum(_one_cell(decks, cards)).clip(max=1.0) ** (cards**2)
    chance_of = np.diff(at_most, prepend=0.0)
    counts = np.arange(decks + 1)
    mean = float((counts * chance_of).sum())
    return mean, sqrt(float(((counts - mean) ** 2 * chance_of).sum()))


def _one_cell(decks: int, cards: int) -> Distribution:
    """The binomial distribution, by its logarithms; all is exact to some twelve digits."""
    ones = np.arange(1, decks + 1)
    rises = np.log((decks - ones + 1) / ones) - log(cards - 1)
    found: Distribution = np.exp(np.concatenate([[0.0], np.cumsum(rises)]) + decks * log(1 - 1 / cards))
    return found
