"""Riffles after Gilbert, Shannon and Reeds (Bayer and Diaconis 1992).

A deck is cut into two packets of binomial size, and a card drops from either packet in proportion to what is left in
it. k riffles equal one riffle of 2^k packets, and an order with r rising sequences has the probability C(2^k + n - r,
n) / 2^(kn).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb, factorial, inf, lgamma, log
from typing import Final

import numpy as np

from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.orders import Counts, Orders, inverse, one_after_the_other, unshuffled
from shuffle_audit.patterns import rising_sequences

MOST_PASSES: Final = 12
"""The largest number of biased riffles whose distribution is computed: 4,096 packets."""


class Riffle:
    """Riffles (`passes` of them) in which each card is equally likely to belong to either packet."""

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

    @property
    def counted(self) -> Callable[[Orders], Counts]:
        return rising_sequences

    def by_count(self, cards: int) -> LogRatios:
        return np.array(_log_ratios(2**self.passes, cards))

    def log_ratios(self, orders: Orders) -> LogRatios:
        found: LogRatios = self.by_count(orders.shape[1])[self.counted(orders)]
        return found


class BiasedRiffle:
    """Riffles (`passes` of them) by a dealer who does not cut in the middle: `share` of the deck is cut off on average.

    They equal one riffle of 2^passes packets of unequal chances. An order's probability is a sum over packets that rise
    with the card, strictly where the next card is above it: a fundamental quasisymmetric function (Stanley 2001).
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
        """Return the log ratios, card by card over the last packet. Raise `ValueError` for more than `MOST_PASSES`."""
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
    """Return the order out, where `packets[d, j]` is the packet from which the card at place j comes."""
    return inverse(np.argsort(packets, axis=1, kind="stable"))


def probability(packets: int, cards: int, sequences: int) -> Fraction:
    """Return the probability of one order with `sequences` rising sequences, after one riffle of `packets` packets."""
    return Fraction(comb(packets + cards - sequences, cards), packets**cards)


@cache
def _log_ratios(packets: int, cards: int) -> tuple[float, ...]:
    """Return log ratios by the number of rising sequences, which is never 0."""
    found = [probability(packets, cards, r) * factorial(cards) for r in range(1, cards + 1)]
    return (-inf, *(log(one.numerator) - log(one.denominator) if one else -inf for one in found))


def _taken_out(row: LogRatios) -> LogRatios:
    """Scale rows to a sum of 1 and return the logarithms of the sums: products of many chances underflow."""
    whole = row.sum(axis=1)
    row /= np.where(whole > 0, whole, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        found: LogRatios = np.log(whole)
    return found
