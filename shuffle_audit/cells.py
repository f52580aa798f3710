"""The rarest of many counts: an upper bound of its chance, from the exact tails of each.

A cell is a count over decks whose distribution under uniform orders is known: a card at a place, a hand at a box. How
cells depend on each other does not matter: the chance that any of them is as rare as the rarest is at most the sum over
all cells (Bonferroni). The order in may be anything, even the previous order out: under uniform orders each deck has
its distribution whatever came before, so that the count over decks is a sum of independent ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt
from typing import NamedTuple

import numpy as np

from shuffle_audit import exact
from shuffle_audit.exact import Distribution
from shuffle_audit.orders import Counts


class Cells(NamedTuple):
    """Cells with one distribution: `one` for one deck, over `decks` decks. `counts` has a count for each, `name` names
    the one at an index. `low` is the part of alarms that few raise, `weight` the number by which a chance of one cell
    is multiplied: 1 / `weight`, summed over all cells of a procedure, is at most 1.
    """

    one: Distribution
    decks: int
    counts: Counts
    name: Callable[[int], str]
    weight: float
    low: float


class Rarest(NamedTuple):
    """The rarest cell, with its mean and standard deviation. `p` bounds the chance that any cell is as rare."""

    p: float
    found: int
    expected: float
    deviation: float
    name: str
    decks: int


def bernoulli(chance: float) -> Distribution:
    return np.array([1 - chance, chance])


def rarest(families: Iterable[Cells]) -> Rarest | None:
    """Return the rarest cell, or None if there is none. Cells of a family have one distribution, so only their least
    and their highest count matter.
    """
    least: tuple[float, Cells, int] | None = None
    for each in families:
        if not (each.decks and len(each.counts)):
            continue
        for at, part, high in ((int(each.counts.argmin()), each.low, 0), (int(each.counts.argmax()), 1 - each.low, 1)):
            if not part:
                continue
            tail = exact.tails_of_decks(each.one, each.decks, int(each.counts[at]))[high]
            p = tail / part * each.weight
            if least is None or p < least[0]:
                least = p, each, at
    if least is None:
        return None
    p, cells, at = least
    mean, variance = exact.mean_and_variance(cells.one)
    return Rarest(
        min(1.0, p),
        int(cells.counts[at]),
        cells.decks * mean,
        sqrt(cells.decks * variance),
        cells.name(at),
        cells.decks,
    )
