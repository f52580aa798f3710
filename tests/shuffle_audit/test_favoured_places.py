"""The card and place that coincide most often: its count, and the bound of its probability."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest

from shuffle_audit.favoured_places import FullestCells, chances, fullest_cell, mean_and_deviation
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.orders import unshuffled
from shuffle_audit.procedures import examine
from shuffle_audit.sampled import Nulls
from tests.shuffle_audit.mathematics import FOUR


def test_of_several_audits_deck_after_deck() -> None:
    decks = UNIFORM.shuffle(np.random.default_rng(1), 5 * 40, 10).reshape(5, 40, 10)
    cells = FullestCells(5, 10)
    found = np.concatenate([cells.add(decks[:, :7]), cells.add(decks[:, 7:])], axis=1)
    for audit, number in product(range(5), range(1, 41)):
        by_hand = max(
            int((decks[audit, :number, place] == card).sum()) for card, place in product(range(10), range(10))
        )
        assert found[audit, number - 1] == by_hand == fullest_cell(decks[audit, :number])


def test_the_bound_is_its_formula() -> None:
    found = chances(30, 52)
    for most in range(31):
        tail = sum(comb(30, k) * 51 ** (30 - k) for k in range(most, 31)) / 52**30
        assert found[most] == pytest.approx(min(1.0, 2704 * tail))
    assert chances(10_000, 52)[200] == 1
    assert 0 < chances(10_000, 52)[400] < 1e-30


def test_no_probability_exceeds_the_bound() -> None:
    """The test enumerates all sets of three decks of four cards."""
    fullest = [fullest_cell(np.stack(decks)) for decks in product(FOUR, repeat=3)]
    for most in range(4):
        assert np.mean(np.array(fullest) >= most) <= chances(3, 4)[most]


@pytest.mark.parametrize("decks", [2, 25, 300])
def test_the_expectation_for_good_decks(decks: int) -> None:
    sets = 400
    found = FullestCells(sets, 52).add(
        UNIFORM.shuffle(np.random.default_rng(2), sets * decks, 52).reshape(sets, -1, 52)
    )
    mean, deviation = mean_and_deviation(decks, 52)
    assert found[:, -1].mean() == pytest.approx(mean, abs=4 * deviation / np.sqrt(sets))
    assert found[:, -1].std() == pytest.approx(deviation, rel=0.2)


def test_decks_that_come_out_as_they_went_in() -> None:
    (one,) = (one for one in examine(unshuffled(6, 52)) if one.id == "favoured-place")
    assert one.statistic == 6
    assert one.p == pytest.approx(2704 / 52**6)


def test_a_fifth_of_the_decks_is_enough_to_see_one_place() -> None:
    """The set has 70 decks; chi-square of the whole table needs twice as many."""
    audits, nulls = 40, Nulls(np.random.default_rng(1))
    orders = model_named("favoured:0.2:1:52").shuffle(np.random.default_rng(3), audits * 70, 52)
    alarms = [
        [one.id for one in examine(each, random=nulls) if one.adjusted <= 0.009]
        for each in orders.reshape(audits, 70, 52)
    ]
    assert sum("favoured-place" in each for each in alarms) > 0.8 * audits
    assert sum("card-position" in each for each in alarms) < 0.2 * audits
