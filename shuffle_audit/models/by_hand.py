"""Shuffles by a dealer's hands: overhand and strip cuts, a cut, a wash on the table."""

from __future__ import annotations

from math import inf, lgamma, log

import numpy as np

from shuffle_audit.models.shuffle_model import LogRatios
from shuffle_audit.orders import Orders, one_after_the_other, unshuffled


class Overhand:
    """An overhand shuffle: packets are slid off the top, each onto the previous ones, which reverses the order of the
    packets and keeps the order within them.

    `breaks` is the chance that a packet ends between two neighbours (Pemantle 1989); a strip cut has few of them. For n
    cards it takes about n^2 log n shuffles until a deck is mixed (Jonasson 2006).

    After a single one the order reveals its packets, since no card follows the next lower one across two: with k
    packets its probability is b^(k-1) (1-b)^(n-k). No closed form is known for several.
    """

    def __init__(self, passes: int, breaks: float, words: str = "overhand shuffles") -> None:
        self.passes = passes
        self.breaks = breaks
        self._name = words

    @property
    def words(self) -> str:
        return f"{self.passes} {self._name}, {self.breaks:.0%} breaks"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = unshuffled(decks, cards)
        for _ in range(self.passes):
            packet = np.cumsum(random.random((decks, cards)) >= 1 - self.breaks, axis=1, dtype=np.int64)
            found = one_after_the_other(found, np.argsort(-packet, axis=1, kind="stable"))
        return found

    def log_ratios(self, orders: Orders) -> LogRatios:
        """Return the log ratios. Raise `ValueError` for more than one shuffle."""
        if self.passes != 1:
            raise ValueError("The distribution after several overhand shuffles is not known.")
        decks, cards = orders.shape
        ends = orders[:, 1:] - orders[:, :-1] != 1
        packet = np.cumsum(np.concatenate([np.zeros((decks, 1), np.int64), ends], axis=1), axis=1)
        # the packet of each card, from the top of the order in
        made = np.take_along_axis(packet, np.argsort(orders, axis=1), axis=1)
        possible = (made[:, 1:] <= made[:, :-1]).all(axis=1)
        by_breaks = np.array(
            [_log_power(self.breaks, k) + _log_power(1 - self.breaks, cards - 1 - k) for k in range(cards)]
        )
        return np.where(possible, by_breaks[ends.sum(axis=1)] + lgamma(cards + 1), -inf)


def strip_cuts(passes: int, cards: int, strips: int = 8) -> Overhand:
    """Return strip cuts of a deck with `strips` packets on average."""
    return Overhand(passes, (strips - 1) / (cards - 1), "strip cuts")


class Cut:
    """One cut at a place that is uniform among all, including no cut at all."""

    words = "a cut alone"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        at = random.integers(cards, size=(decks, 1))
        return (unshuffled(decks, cards) + at) % cards

    def log_ratios(self, orders: Orders) -> LogRatios:
        """Return the log ratios: each of n orders is equally likely."""
        cards = orders.shape[1]
        cut = ((orders - orders[:, :1] - np.arange(cards)) % cards == 0).all(axis=1)
        return np.where(cut, lgamma(cards), -inf)


class Wash:
    """Cards washed on the table: random pairs of cards change places.

    For n cards it takes about n ln(n) / 2 exchanges until a deck is mixed (Diaconis and Shahshahani 1981): 103 for 52.
    After t of them 1 + (n - 1) (1 - 2/n)^t cards lie in place, on average. `seconds` at `exchanges` a second is a rough
    model: there are no measurements of hands.
    """

    def __init__(self, seconds: float, exchanges: float = 5.0) -> None:
        self.seconds = seconds
        self.exchanges = exchanges

    @property
    def words(self) -> str:
        return f"a wash of {self.seconds:g} seconds"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found, row = unshuffled(decks, cards), np.arange(decks)
        for _ in range(round(self.seconds * self.exchanges)):
            one, other = random.integers(cards, size=(2, decks))
            found[row, one], found[row, other] = found[row, other], found[row, one]
        return found


def _log_power(value: float, count: int) -> float:
    """Return the logarithm of a power; 0 to the 0 is 1."""
    if not count:
        return 0.0
    return count * log(value) if value > 0 else -inf
