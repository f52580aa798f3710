"""Machines with a fault: they do not always shuffle, cards stick together, or a place is favoured.

Each has a known distribution: a mixture of uniform orders of all cards or of fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb, exp, inf, lgamma, log

import numpy as np

from shuffle_audit.models.shuffle_model import UNIFORM, LogRatios
from shuffle_audit.orders import Counts, Orders, unshuffled
from shuffle_audit.patterns import kept_pairs, unchanged


class NotAlways:
    """A machine from which, with this chance, a deck comes out as it went in; otherwise it is uniform."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    @property
    def name(self) -> str:
        return f"not-always:{self.chance:g}"

    @property
    def words(self) -> str:
        return f"{UNIFORM.words} that is left out with a chance of {self.chance * 100:g}%"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        out = random.random((decks, 1)) < self.chance
        return np.where(out, unshuffled(decks, cards), UNIFORM.shuffle(random, decks, cards))

    @property
    def counted(self) -> Callable[[Orders], Counts]:
        return unchanged

    def by_count(self, cards: int) -> LogRatios:
        left_out = np.array([-inf, _log(self.chance) + lgamma(cards + 1)])
        found: LogRatios = np.logaddexp(left_out, _log(1 - self.chance))
        return found

    def log_ratios(self, orders: Orders) -> LogRatios:
        found: LogRatios = self.by_count(orders.shape[1])[self.counted(orders)]
        return found


class StickingPairs:
    """A machine in which each card sticks to the card below it with this chance; the two then move together."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    @property
    def name(self) -> str:
        return f"sticking:{self.chance:g}"

    @property
    def words(self) -> str:
        return f"a uniform shuffle in which neighbours stick with a chance of {self.chance * 100:g}%"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        """Put blocks of sticking cards in a uniform order: all cards in a block share a random key."""
        starts = random.random((decks, cards)) >= self.chance
        starts[:, 0] = True
        block = np.cumsum(starts, axis=1) - 1
        keys = np.take_along_axis(random.random((decks, cards)), block, axis=1)
        return np.argsort(keys, axis=1, kind="stable")

    @property
    def counted(self) -> Callable[[Orders], Counts]:
        return kept_pairs

    def by_count(self, cards: int) -> LogRatios:
        """Return the log ratios, summed over how many of the kept neighbours stuck."""
        return np.array(log_ratios_by_kept_pairs(self.chance, cards))

    def log_ratios(self, orders: Orders) -> LogRatios:
        found: LogRatios = self.by_count(orders.shape[1])[self.counted(orders)]
        return found


class FavouredPlace:
    """A machine that puts, with this chance, the card at place `before` to place `after`, whatever the shuffle did."""

    def __init__(self, chance: float, before: int, after: int) -> None:
        self.chance = chance
        self.before = before
        self.after = after

    @property
    def words(self) -> str:
        moved = f"card {self.before + 1} comes to place {self.after + 1}"
        return f"a uniform shuffle in which {moved} with a chance of {self.chance * 100:g}%"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = UNIFORM.shuffle(random, decks, cards)
        moved = np.flatnonzero(random.random(decks) < self.chance)
        lies = np.argmax(found[moved] == self.before, axis=1)
        found[moved, lies] = found[moved, self.after]
        found[moved, self.after] = self.before
        return found

    def log_ratios(self, orders: Orders) -> LogRatios:
        there = orders[:, self.after] == self.before
        return np.where(there, log(1 - self.chance + self.chance * orders.shape[1]), _log(1 - self.chance))


@cache
def log_ratios_by_kept_pairs(chance: float, cards: int) -> tuple[float, ...]:
    """Return by k kept pairs: log of n! times the sum over i of C(k, i) s^i (1-s)^(n-1-i) / (n-i)!."""
    found = []
    for kept in range(cards):
        parts = [
            log(comb(kept, stuck))
            + stuck * log(chance)
            + _log_power(cards - 1 - stuck, 1 - chance)
            - lgamma(cards - stuck + 1)
            for stuck in range(kept + 1)
        ]
        most = max(parts)
        found.append(most + log(sum(exp(part - most) for part in parts)) + lgamma(cards + 1) if most > -inf else -inf)
    return tuple(found)


def _log_power(count: int, value: float) -> float:
    """Return the logarithm of a power; 0 to the 0 is 1."""
    return count * _log(value) if count else 0.0


def _log(value: float) -> float:
    return log(value) if value > 0 else -inf
