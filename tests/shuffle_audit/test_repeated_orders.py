"""A repeated shuffle is found, and good decks repeat none."""

from __future__ import annotations

from itertools import product
from math import factorial

import numpy as np
import pytest

from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.procedures import examine
from shuffle_audit.repeated_orders import bound, mean_and_variance, repeated
from tests.shuffle_audit.mathematics import FOUR


def test_repeats_are_counted() -> None:
    decks = UNIFORM.shuffle(np.random.default_rng(1), 5, 52)
    assert repeated(decks) == 0
    assert repeated(decks[[0, 1, 0, 2, 0, 1]]) == 3


def test_the_bound_is_its_formula() -> None:
    assert bound(60, 52) == pytest.approx(60 * 59 / 2 / factorial(52))
    assert (bound(1, 52), bound(0, 52), bound(500, 3)) == (0.0, 0.0, 1.0)


def test_no_probability_exceeds_the_bound() -> None:
    """The test enumerates all sets of three decks of four cards."""
    sets = [repeated(np.stack(decks)) for decks in product(FOUR, repeat=3)]
    assert np.mean(np.array(sets) > 0) <= bound(3, 4)
    assert np.mean(sets) <= bound(3, 4)


@pytest.mark.parametrize(("decks", "cards"), [(1, 1), (5, 1), (100, 3), (100, 6), (3000, 7), (60, 9)])
def test_the_expectation_for_good_decks(decks: int, cards: int) -> None:
    sets = 2_000
    random = np.random.default_rng(4)
    found = [repeated(random.integers(factorial(cards), size=(decks, 1))) for _ in range(sets)]
    mean, variance = mean_and_variance(decks, cards)
    assert np.mean(found) == pytest.approx(mean, abs=4 * np.sqrt(variance / sets) + 1e-9)
    assert np.var(found) == pytest.approx(variance, rel=0.2, abs=5e-3)


def test_decks_that_are_known_in_part_are_compared_with_their_like() -> None:
    decks = UNIFORM.shuffle(np.random.default_rng(5), 12, 24)
    twice = np.concatenate([decks[:6], decks[:1]])
    for parts, found in (([decks], 0), ([twice], 1), ([twice[:, ::-1], decks[:, ::-1]], 1)):
        (one,) = (each for each in examine(np.empty((0, 52), np.int64), others=parts) if each.id == "repeated-orders")
        assert (one.statistic, one.adjusted < 1e-9) == (found, found > 0)
        assert one.decks == sum(map(len, parts))


def test_a_generator_that_restarts_is_found() -> None:
    """Each deck alone is good."""
    decks = UNIFORM.shuffle(np.random.default_rng(2), 40, 52)
    quiet = {one.id: one.adjusted for one in examine(decks)}
    assert quiet["repeated-orders"] == 1
    loud = [one for one in examine(np.concatenate([decks, decks[3:4]])) if one.adjusted < 1e-6]
    assert [one.id for one in loud] == ["repeated-orders"]
    assert loud[0].statistic == 1
