"""The cost of a shuffle: it is zero if the shuffle is uniform; for a new deck through few shelves it is what suits and
pairs imply.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from controller.games import GAMES, game
from controller.games.specification import Unit
from controller.rules.odds import count_odds
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel
from shuffle_audit.money import Cost, Start, costs, first_reading
from tests.support import long_forms

TEN = Shelves(10)


@cache
def cost(name: str, model: ShuffleModel, unit: Unit, start: Start, decks: int) -> list[Cost]:
    return costs(first_reading(game(name)), model, unit, start, np.random.default_rng(3), decks)


def of(found: list[Cost], wager: str, box: int = 0) -> Cost:
    return next(one for one in found if (one.wager, one.box) == (wager, box))


@pytest.mark.parametrize("start", Start)
@pytest.mark.parametrize("name", GAMES)
def test_a_uniform_shuffle_costs_nothing(name: str, start: Start) -> None:
    """The cost is 0 within five standard errors, on each box; the exact odds are the controller's."""
    found = cost(name, UNIFORM, Unit.SINGLES, start, 6_000)
    exact = {one.wager: float(one.house_edge) for one in count_odds(first_reading(game(name)))}
    assert {one.wager: one.exact for one in found} == exact
    for one in found:
        assert abs(one.errors) < 5 or one.error == 0, one
        assert one.change == one.edge - one.exact


def test_all_boxes_are_the_mean_of_the_boxes() -> None:
    found = [one for one in cost("NC", UNIFORM, Unit.SINGLES, Start.NEW_DECK, 6_000) if one.wager == "main"]
    assert [one.box for one in found] == list(range(8))
    assert found[0].edge == pytest.approx(np.mean([one.edge for one in found[1:]]))


def test_a_wager_on_the_dealers_hand_has_no_boxes() -> None:
    found = cost("F3", UNIFORM, Unit.SINGLES, Start.NEW_DECK, 6_000)
    assert [one.box for one in found if one.wager == "banker_pair_plus"] == [0]


def test_the_same_seed_gives_the_same_result() -> None:
    law, seeds = first_reading(game("TP")), [np.random.default_rng(9) for _ in range(2)]
    first, again = (costs(law, TEN, Unit.SETS, Start.COLLECTED, seed, 200) for seed in seeds)
    assert first == again


def test_side_wagers_gain_by_neighbours_in_one_hand() -> None:
    """After ten shelves the suits and straights of a new deck stay together; if cards are dealt in turn to each box,
    they do not.
    """
    found = of(cost("F3", TEN, Unit.SETS, Start.NEW_DECK, 10_000), "pair_plus")
    assert found.change < -0.2
    assert found.errors < -10
    in_sets = of(cost("RTP", TEN, Unit.SETS, Start.NEW_DECK, 60_000), "royal")
    in_singles = of(cost("RTP", TEN, Unit.SINGLES, Start.NEW_DECK, 60_000), "royal")
    assert in_sets.change > 3 * in_sets.error  # two pictures of one rank are rarer
    assert abs(in_singles.change) < in_sets.change


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("name", GAMES)
def test_a_uniform_shuffle_costs_nothing_in_a_million_rounds(name: str, unit: Unit) -> None:
    for start in Start:
        for one in cost(name, UNIFORM, unit, start, long_forms.count(1_000_000)):
            assert abs(one.errors) < 5, one
