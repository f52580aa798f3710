"""Riffles after Gilbert, Shannon and Reeds (Bayer and Diaconis 1992).

A deck is cut into two packets of binomial size, and cards drop from either packet by its share of what is left. k
riffles are one riffle of 2^k packets, and an order's probability depends on its rising sequences alone: with r of them
it is C(2^k + n - r, n) / 2^(kn).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb, factorial, inf, lgamma, log
from typing import Final

import numpy as np

from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.orders import Orders, inverse, one_after_the_other, unshuffled
from shuffle_audit.patterns import rising_sequences

MOST_PASSES: Final = 12
"""Of riffles with a biased cut of which the distribution is computed: 4,096 packets."""


class Riffle:
    """`passes` riffles, each with an even chance for every card to belong to either packet."""

    def __init__(self, passes: int) -> None:
        self.passes = passes

    @property
    def name(self) -> str:
        return f"riffle:{self.passes}"

    @property
    def words(self) -> str:
        return "one riffle" if self.passes == 1 else f"{self.passes} riffles"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        return dropped(random.integers(2**self.passes, size=(decks, cards)))

    def log_ratios(self, orders: Orders) -> LogRatios:
        return np.array(_log_ratios(2**self.passes, orders.shape[1]))[rising_sequences(orders)]


class BiasedRiffle:
    """`passes` riffles of a dealer who cuts off another part than a half: `share` of the deck on average.

    As one riffle of 2^passes packets of unequal chances. An order's probability is a sum over packets that rise with
    the card, strictly where the next card lies above it: a fundamental quasisymmetric function (Stanley 2001).
    """

    def __init__(self, passes: int, share: float) -> None:
        self.passes = passes
        self.share = share

    @property
    def words(self) -> str:
        return f"{Riffle(self.passes).words}, cut at {self.share * 100:g}%"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = unshuffled(decks, cards)
        for _ in range(self.passes):
            found = one_after_the_other(found, dropped((random.random((decks, cards)) >= self.share).astype(np.int64)))
        return found

    def log_ratios(self, orders: Orders) -> LogRatios:
        """Card by card, the packet of the last one. Raises `ValueError` for more than `MOST_PASSES`."""
        if self.passes > MOST_PASSES:
            raise ValueError(
                f"The distribution after more than {MOST_PASSES} riffles with a biased cut is not computed."
            )
        chances = np.array([1.0])
        for _ in range(self.passes):
            chances = np.concatenate([chances * self.share, chances * (1 - self.share)])
        places = inverse(orders)
        row: LogRatios = np.tile(chances, (len(orders), 1))
        found: LogRatios = np.full(len(orders), lgamma(orders.shape[1] + 1))
        for card in range(1, orders.shape[1]):
            found += _taken_out(row)
            up_to = np.cumsum(row, axis=1)
            above = (places[:, card] < places[:, card - 1])[:, None]
            row = np.where(above, up_to - row, up_to) * chances
        return found + _taken_out(row)


def dropped(packets: Orders) -> Orders:
    """The order out where `packets[d, j]` says from which packet the card at place j comes."""
    return inverse(np.argsort(packets, axis=1, kind="stable"))


def probability(packets: int, cards: int, sequences: int) -> Fraction:
    """Of one order with so many rising sequences, after one riffle of so many packets."""
    return Fraction(comb(packets + cards - sequences, cards), packets**cards)


@cache
def _log_ratios(packets: int, cards: int) -> tuple[float, ...]:
    """By rising sequences; element 0 is no order."""
    found = [probability(packets, cards, r) * factorial(cards) for r in range(1, cards + 1)]
    return (-inf, *(log(one.numerator) - log(one.denominator) if one else -inf for one in found))


def _taken_out(row: LogRatios) -> LogRatios:
    """The logarithms of the rows' sums, which become 1: products of many chances are too small for a float."""
    whole = row.sum(axis=1)
    row /= np.where(whole > 0, whole, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        found: LogRatios = np.log(whole)
    return found
