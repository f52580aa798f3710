"""The reason why the audit has no coupon collector along the deck: it finds less than runs of kinds do.

Its null is exact.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import comb

import numpy as np
import pytest

from shuffle_audit import exact
from shuffle_audit.exact import Distribution
from shuffle_audit.faces import KINDS, NEW_DECK, Faces, faces_out, numbers_of_runs, runs
from shuffle_audit.models.named import model_named
from shuffle_audit.orders import Counts, Orders
from tests.shuffle_audit.calibration import rate

DECKS, SETS, LEVEL = 25, 40, 0.01
SUIT = KINDS[-1]


def null(kinds: int, size: int) -> Distribution:
    """Return the null of the number of cards until every kind has been seen, by inclusion and exclusion."""
    cards = kinds * size

    def within(seen: int) -> Fraction:
        missing = ((-1) ** out * comb(kinds, out) * comb(cards - out * size, seen) for out in range(kinds + 1))
        return Fraction(sum(missing), comb(cards, seen))

    return np.array([float(within(seen) - (within(seen - 1) if seen else 0)) for seen in range(cards + 1)])


def collected(kind: Faces) -> Counts:
    """Return the number of cards from the top of each deck until every kind has been seen."""
    firsts = [np.argmax(kind == one, axis=1) for one in range(int(kind.max()) + 1)]
    found: Counts = 1 + np.max(firsts, axis=0)
    return found


def raised(counts: Counts, law: Distribution, low: float) -> float:
    """Return the share of sets whose sum raises an alarm, by the sum's exact tails."""
    several = law
    for _ in range(DECKS - 1):
        several = np.convolve(several, law)
    below, above = np.cumsum(several), np.cumsum(several[::-1])[::-1]
    sums = counts.reshape(SETS, DECKS).sum(axis=1)
    return float(np.mean((below[sums] <= low * LEVEL) | (above[sums] <= (1 - low) * LEVEL)))


def decks(model: str) -> Orders:
    return model_named(model, 52).shuffle(np.random.default_rng(7), SETS * DECKS, 52)


def test_its_null_is_that_of_all_orders() -> None:
    """The decks have two kinds of three cards: 720 orders."""
    kind = np.array([0, 0, 0, 1, 1, 1])
    counts = np.bincount(collected(kind[np.array(list(permutations(range(6))))]), minlength=7)
    assert null(2, 3) == pytest.approx(counts / 720)


@pytest.mark.parametrize(("kinds", "mean", "deviation"), [(4, 7.665, 3.024), (13, 27.997, 5.814)])
def test_its_moments_are_those_of_the_page(kinds: int, mean: float, deviation: float) -> None:
    expected, variance = exact.mean_and_variance(null(kinds, 52 // kinds))
    assert (expected, variance**0.5) == pytest.approx((mean, deviation), abs=5e-4)


@pytest.mark.parametrize(
    ("model", "by_collector", "by_runs"),
    [("shelves:10", (0, 0.1), (0.95, 1)), ("overhand:3:0.2", (1, 1), (1, 1)), ("strip:4", (1, 1), (1, 1))],
)
def test_runs_find_everything_that_it_finds_and_more(
    model: str, by_collector: tuple[float, float], by_runs: tuple[float, float]
) -> None:
    out = faces_out(decks(model), NEW_DECK)
    ranks = NEW_DECK % 13
    for kind, law in ((SUIT.of, null(4, 13)), (ranks, null(13, 4))):
        assert by_collector[0] <= raised(collected(kind[out]), law, 0.3) <= by_collector[1]
    law = exact.distribution(numbers_of_runs(NEW_DECK, SUIT))
    assert by_runs[0] <= raised(runs(out, SUIT), law, 0.7) <= by_runs[1]
    assert rate(law, 0.7, DECKS, LEVEL) <= LEVEL
