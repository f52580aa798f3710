"""Riffles after Gilbert, Shannon and Reeds (Bayer and Diaconis 1992).

A deck is cut into two packets of binomial size, and cards drop from either packet by its share of what is left. k
riffles are one riffle of 2^k packets, and an order's probability depends on its rising sequences alone: with r of them
it is C(2^k + n - r, n) / 2^(kn).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb, factorial, inf, log

import numpy as np

from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.orders import Orders, inverse, one_after_the_other, unshuffled
from shuffle_audit.patterns import rising_sequences


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

    No closed form of its distribution is used here.
    """

    def __init__(self, passes: int, share: float) -> None:
        self.passes = passes
        self.share = share

    @property
    def words(self) -> str:
        return f"{Riffle(self.passes).words}, cut at {self.share:.0%}"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = unshuffled(decks, cards)
        for _ in range(self.passes):
            found = one_after_the_other(found, dropped((random.random((decks, cards)) >= self.share).astype(np.int64)))
        return found


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
