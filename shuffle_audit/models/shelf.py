"""Shelf shufflers (Diaconis, Fulman, Holmes 2013).

Each card goes to a random shelf, above or below the cards there with equal chance; then the shelves are stacked. The
probability of an order depends only on its valleys if cards are taken from the bottom of the deck, and only on its
peaks if from the top. With v of them and m shelves it is

    4^(v+1) / (2 (2m)^n)  *  sum over a from 0 to m-1 of  C(n+m-a-1, n) C(n-1-2v, a-v)

Two passes with m and l shelves are one pass with 2ml shelves.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb, factorial, inf, log

import numpy as np

from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.orders import Counts, Orders, one_after_the_other
from shuffle_audit.patterns import peaks, valleys


class Shelves:
    """A machine with `shelves`, through which the deck goes `passes` times, taken `from_top` or from the bottom."""

    def __init__(self, shelves: int, passes: int = 1, *, from_top: bool = False) -> None:
        self.shelves = shelves
        self.passes = passes
        self.from_top = from_top

    @property
    def name(self) -> str:
        passes = "" if self.passes == 1 else f"x{self.passes}"
        return f"shelves:{self.shelves}{passes}{':top' if self.from_top else ''}"

    @property
    def words(self) -> str:
        shelves = f"{self.shelves} shelf" if self.shelves == 1 else f"{self.shelves} shelves"
        passes = "" if self.passes == 1 else f", {self.passes} passes"
        top = ", from the top" if self.from_top else ""
        return f"a shelf shuffler with {shelves}{passes}{top}"

    @property
    def as_one_pass(self) -> int:
        """The number of shelves that gives the same shuffle in one pass."""
        return int(2 ** (self.passes - 1) * self.shelves**self.passes)

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = self._pass(random, decks, cards)
        for _ in range(self.passes - 1):
            found = one_after_the_other(found, self._pass(random, decks, cards))
        return found

    def _pass(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        taken = np.arange(cards)
        shelf = random.integers(self.shelves, size=(decks, cards))
        side = np.where(random.random((decks, cards)) < 0.5, 1 + taken, -1 - taken)  # from the top: negative, above
        lies = np.argsort(shelf * (4 * cards) + side, axis=1)
        return lies if self.from_top else cards - 1 - lies

    @property
    def counted(self) -> Callable[[Orders], Counts]:
        """The compared count. Of two passes from the top, the first leaves peaks and the second reverses nothing."""
        return peaks if self.from_top else valleys

    def by_count(self, cards: int) -> LogRatios:
        return np.array(_log_ratios(self.as_one_pass, cards))

    def log_ratios(self, orders: Orders) -> LogRatios:
        found: LogRatios = self.by_count(orders.shape[1])[self.counted(orders)]
        return found


def probability(shelves: int, cards: int, few: int) -> Fraction:
    """Return the probability of one order with `few` valleys (or peaks), after one pass."""
    ways = sum(comb(cards + shelves - a - 1, cards) * comb(cards - 1 - 2 * few, a - few) for a in range(few, shelves))
    return Fraction(4 ** (few + 1) * ways, 2 * (2 * shelves) ** cards)


@cache
def _log_ratios(shelves: int, cards: int) -> tuple[float, ...]:
    found = [probability(shelves, cards, few) * factorial(cards) for few in range((cards - 1) // 2 + 1)]
    return tuple(log(one.numerator) - log(one.denominator) if one else -inf for one in found)
