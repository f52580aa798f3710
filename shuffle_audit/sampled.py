"""Tests of decks whose null distribution is sampled, from uniform orders drawn with a seed.

p = (1 + samples at least as extreme) / (1 + samples): a false alarm is never more likely than this, however few samples
there are (Davison and Hinkley 1997, 4.2). The least p is 1 / (1 + samples): 0.0001 with 9,999 samples, enough for an
alarm at 0.01; with fewer than 7,407 there is none at that level.

If the statistic exceeds all samples, p is the lower of that and a bound that needs no samples. p is still at most a
with a chance of at most a: by the samples from 1 / (1 + samples) on, by the bound below.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, isqrt, lgamma, log, sqrt
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from shuffle_audit import exact
from shuffle_audit.orders import Stored, in_blocks

SAMPLES: Final = 9_999
MOST_DECKS: Final = 100
"""The most decks in a sampled set. For more, deviations from the mean are scaled to the exact size. The remaining
skewness falls with the number of decks: p is then too large, by about a tenth at 0.0001."""
_AT_ONCE: Final = 1 << 21  # cards
_ROUNDED: Final = 1e-6  # statistics are sums of fractions
Sets: TypeAlias = npt.NDArray[np.integer]
"""Several sets of decks: `sets[s, d, j]` is like `orders[d, j]`."""
Statistics: TypeAlias = npt.NDArray[np.float64]
"""A number for each set."""
Tables: TypeAlias = npt.NDArray[np.int64]
"""The counts of each set, in one row. Those of more decks are added up."""


class SampledProcedure(NamedTuple):
    """A test with a sampled null distribution. `counted` counts in sets, and `statistic` follows from the counts and
    the number of decks; high values speak against the shuffle. `mean` is its exact mean, by the number of cards.
    `spread` is its standard deviation for a number of decks relative to that for very many; 0 means constant, and
    nothing is tested. `bound` is an upper bound of the chance of this statistic or a higher one. `share` is as in
    `Procedure`.
    """

    id: str
    words: str
    source: str
    counted: Callable[[Sets], Tables]
    statistic: Callable[[Tables, int], Statistics]
    mean: Callable[[int], float]
    spread: Callable[[int], float]
    bound: Callable[[float, int, int], float]
    share: float

    def measured(self, sets: Sets) -> Statistics:
        """Return the statistic of each set."""
        return self.statistic(self.counted(sets), sets.shape[1])

    def measured_of(self, orders: Stored) -> float:
        """Return the statistic of one set of one deck or more."""
        tables = sum((self.counted(block[None]) for block in in_blocks(orders)), np.zeros((1, 1), np.int64))
        return float(self.statistic(tables, len(orders))[0])


class Sampled(NamedTuple):
    """A statistic, its standard deviation under uniform orders, and p. `beyond` means that it exceeds all samples."""

    statistic: float
    deviation: float
    p: float
    beyond: bool


def cards_at_positions(sets: Sets) -> Tables:
    """Count the decks of each set in which a card is at a place."""
    count, _, cards = sets.shape
    cells = sets.astype(np.int64) * cards + np.arange(cards)
    cells += (np.arange(count) * cards**2)[:, None, None]
    return np.bincount(cells.ravel(), minlength=count * cards**2).reshape(count, -1)


def card_against_position(table: Tables, decks: int) -> Statistics:
    """Return chi-square over cards and places: the sum of (N - D/n)^2 / (D/n), where N of D decks have a card there.

    Its mean is n (n - 1) and its variance 2 n^2 (1 - 1/D), exactly: a deck has each card and each place once. So it is
    n / (n - 1) times a chi-square with (n - 1)^2 degrees of freedom, for many decks. The naive form leaves that out.
    """
    cards = isqrt(table.shape[1])
    found: Statistics = (table**2).sum(axis=1) * (cards / decks) - decks * cards
    return found


def cards_by_shift(sets: Sets) -> Tables:
    """Count the cards of each set that moved by each shift, going round."""
    count, _, cards = sets.shape
    shifts = (np.arange(cards) - sets.astype(np.int64)) % cards
    shifts += (np.arange(count) * cards)[:, None, None]
    return np.bincount(shifts.ravel(), minlength=count * cards).reshape(count, -1)


def position_shifts(table: Tables, decks: int) -> Statistics:
    """Return chi-square over all n shifts: the sum of (C - D)^2 / D, where C cards of D decks moved by that shift. Its
    mean is n.
    """
    found: Statistics = ((table - decks) ** 2).sum(axis=1) / decks
    return found


def _cell_bound(statistic: float, decks: int, cards: int) -> float:
    """Bound the chance: one of the n^2 cells has at least S/n^2 + D/n decks, as the sum of N^2 is at most nD times the
    largest N. The chance for one cell is a binomial tail.
    """
    least = ceil(statistic / cards**2 + decks / cards - _ROUNDED)
    return cards**2 * exact.tails_of_decks(np.array([1 - 1 / cards, 1 / cards]), decks, least)[1]


def _shift_bound(statistic: float, decks: int, cards: int) -> float:
    """Bound the chance likewise: one of the n shifts has at least S/n + D cards, with the tail of cards in place."""
    least = ceil(statistic / cards + decks - _ROUNDED)
    return cards * exact.tails_of_decks(exact.distribution(exact.in_place_numbers(cards)), decks, least)[1]


CARD_POSITION: Final = SampledProcedure(
    "card-position",
    "Cards from a place in the order in that come to a place more or less often than others, by chi-square",
    "Pearson 1900",
    cards_at_positions, card_against_position, lambda cards: cards * (cards - 1.0),
    lambda decks: sqrt(1 - 1 / decks), _cell_bound, 0.015,
)  # fmt: skip
SHIFTS: Final = SampledProcedure(
    "shifts", "Places by which cards moved, counted round the deck, by chi-square", "Pearson 1900",
    cards_by_shift, position_shifts, lambda cards: float(cards), lambda decks: 1.0, _shift_bound, 0.015,
)  # fmt: skip
SAMPLED: Final = (CARD_POSITION, SHIFTS)


class Nulls:
    """Sampled null distributions, cached by procedure, number of decks and number of cards.

    Each has its own random stream, so the sequence of calls does not matter.
    """

    def __init__(self, random: np.random.Generator, samples: int = SAMPLES) -> None:
        self.samples = samples
        self._root = int(random.integers(2**63))
        self._kept: dict[tuple[str, int, int], Statistics] = {}

    def excess(self, procedure: SampledProcedure, decks: int, cards: int) -> Statistics:
        """Return the excess of each sample over the mean, lowest first."""
        drawn = min(decks, MOST_DECKS)
        if (procedure.id, drawn, cards) not in self._kept:
            self._draw(drawn, cards)
        found = self._kept[procedure.id, drawn, cards]
        return found if drawn == decks else found * (procedure.spread(decks) / procedure.spread(drawn))

    def p(self, procedure: SampledProcedure, orders: Stored) -> Sampled:
        """Return the statistic and its p; without decks p is 1."""
        decks, cards = orders.shape
        if not decks:
            return Sampled(0.0, 0.0, 1.0, beyond=False)
        null = self.excess(procedure, decks, cards)
        statistic = procedure.measured_of(orders)
        reached = len(null) - int(np.searchsorted(null, statistic - procedure.mean(cards)))
        p = (1 + reached) / (1 + len(null))
        if not reached:
            p = min(p, procedure.bound(statistic, decks, cards))
        return Sampled(statistic, float(null.std()), p, not reached)

    def _draw(self, decks: int, cards: int) -> None:
        random = np.random.default_rng([self._root, decks, cards])
        found: dict[str, list[Statistics]] = {one.id: [] for one in SAMPLED}
        at_once = max(1, _AT_ONCE // (max(decks, cards) * cards))
        for begin in range(0, self.samples, at_once):
            count = min(at_once, self.samples - begin)
            row = np.arange(cards, dtype=np.int8 if cards < 128 else np.int64)
            sets = random.permuted(np.tile(row, (count * decks, 1)), axis=1).reshape(count, decks, cards)
            for one in SAMPLED:
                found[one.id].append(one.measured(sets) - one.mean(cards))
        for name, parts in found.items():
            self._kept[name, decks, cards] = np.sort(np.concatenate(parts))


class CardPosition(NamedTuple):
    """The regulators' test in both forms. `freedom` is (n - 1)^2, as for any table. `each` is the expected count of a
    cell, which should be 5 or more. `naive_p` is the p-value of chi-square with that freedom; `p` is sampled.
    """

    statistic: float
    freedom: int
    each: float
    naive_p: float
    p: float

    def passes(self, confidence: float, *, naive: bool) -> bool:
        """Return the verdict at a confidence such as 0.95 or 0.99."""
        return (self.naive_p if naive else self.p) > 1 - confidence


def card_position(orders: Stored, nulls: Nulls) -> CardPosition:
    """Test decks in both forms."""
    decks, cards = orders.shape
    statistic, _, p, _ = nulls.p(CARD_POSITION, orders)
    freedom = (cards - 1) ** 2
    return CardPosition(statistic, freedom, decks / cards, upper_tail(statistic, freedom), p)


_ENOUGH: Final = 1e-15
_TINY: Final = 1e-300


def upper_tail(value: float, freedom: float) -> float:
    """Return the chance of this value or a larger one, with `freedom` degrees of freedom: the approximation that
    regulators' tests use. Below the mean it is computed by the series of the incomplete gamma function, above by its
    continued fraction (Abramowitz and Stegun 6.5.29 and 6.5.31, the latter by Lentz's method).

    >>> round(upper_tail(3.841459, 1), 6), round(upper_tail(2720.76, 2601), 4)
    (0.05, 0.05)
    """
    if value <= 0:
        return 1.0
    half, at = freedom / 2, value / 2
    front = exp(half * log(at) - at - lgamma(half))
    return 1 - front * _series(half, at) if at < half + 1 else front * _fraction(half, at)


def _series(half: float, at: float) -> float:
    term = total = 1 / half
    number = half
    while term > total * _ENOUGH:
        number += 1
        term *= at / number
        total += term
    return total


def _fraction(half: float, at: float) -> float:
    below = at + 1 - half
    ahead, behind = 1 / _TINY, 1 / below
    found, step, number = behind, 0.0, 0
    while abs(step - 1) > _ENOUGH:
        number += 1
        factor = -number * (number - half)
        below += 2
        behind = 1 / (factor * behind + below or _TINY)
        ahead = below + factor / ahead or _TINY
        step = ahead * behind
        found *= step
    return found
