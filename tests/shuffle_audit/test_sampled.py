"""Procedures with a sampled null: statistics, false alarms, and the regulators' chi-square in both forms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from shuffle_audit import exact
from shuffle_audit.models.by_hand import Cut
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel
from shuffle_audit.orders import Orders, unshuffled
from shuffle_audit.procedures import examine
from shuffle_audit.sampled import CARD_POSITION, SAMPLED, SHIFTS, Nulls, SampledProcedure, card_position
from tests.support import long_forms

FEW = 199


def nulls(seed: int = 1, samples: int = FEW) -> Nulls:
    return Nulls(np.random.default_rng(seed), samples)


def uniform(seed: int, decks: int, cards: int = 52) -> Orders:
    return UNIFORM.shuffle(np.random.default_rng(seed), decks, cards)


def test_statistics_by_their_formula() -> None:
    decks = uniform(3, 30, 7)
    table = np.zeros((7, 7))
    shifts = np.zeros(7)
    for deck in decks:
        for place, card in enumerate(deck):
            table[card, place] += 1
            shifts[(place - card) % 7] += 1
    assert CARD_POSITION.measured(decks[None])[0] == pytest.approx(((table - 30 / 7) ** 2 / (30 / 7)).sum())
    assert SHIFTS.measured(decks[None])[0] == pytest.approx(((shifts - 30) ** 2 / 30).sum())


@pytest.mark.parametrize("procedure", SAMPLED, ids=lambda one: one.id)
def test_means_and_spreads(procedure: SampledProcedure) -> None:
    """They match those of 20,000 sets of four decks and of one deck, within five standard errors."""
    sets = uniform(4, 80_000, 9).reshape(20_000, 4, 9)
    found = procedure.measured(sets)
    assert abs(found.mean() - procedure.mean(9)) < 5 * found.std() / 20_000**0.5
    one = procedure.measured(sets[:, :1])
    assert one.std() / found.std() == pytest.approx(procedure.spread(1) / procedure.spread(4), abs=0.05)


def test_several_sets_are_measured_each_for_itself() -> None:
    sets = uniform(5, 60, 20).reshape(4, 15, 20)
    for procedure in SAMPLED:
        apart = [procedure.measured(one[None])[0] for one in sets]
        assert procedure.measured(sets).tolist() == apart


def test_p_is_one_and_those_that_reach_it_over_one_and_all() -> None:
    made, decks = nulls(), uniform(16, 5)
    statistic, deviation, p, beyond = made.p(SHIFTS, decks)
    excess = made.excess(SHIFTS, 5, 52)
    assert p == (1 + (excess + 52 >= statistic).sum()) / (1 + FEW)
    assert deviation == pytest.approx(excess.std())
    assert not beyond
    assert made.p(SHIFTS, unshuffled(0, 52))[2] == 1.0


def test_one_deck_does_not_test_cards_and_places() -> None:
    assert nulls().p(CARD_POSITION, unshuffled(1, 52)) == (52 * 51, 0.0, 1.0, False)
    tested = {one.id for one in examine(unshuffled(1, 52), random=nulls())}
    assert ("card-position" in tested, "shifts" in tested) == (False, True)


def test_a_bound_applies_beyond_all_samples() -> None:
    """Decks come out as they went in: the bound is their chance, times cells or shifts. It is never less than the
    exact value for one deck of six cards.
    """
    made = nulls()
    for procedure, chance in ((CARD_POSITION, 52**2 / 52**5), (SHIFTS, 52 / float(exact.orders_of(52)) ** 4)):
        found = made.p(procedure, unshuffled(5 if procedure is CARD_POSITION else 4, 52))
        assert found.p == pytest.approx(chance, rel=1e-9)
        assert found.beyond
    every = np.array(list(permutations(range(6))))
    pairs = np.stack([every.repeat(20, axis=0), UNIFORM.shuffle(np.random.default_rng(9), 720 * 20, 6)], axis=1)
    for procedure in SAMPLED:
        for sets, decks in ((every[:, None], 1), (pairs, 2)):
            measured = procedure.measured(sets)
            for value in np.unique(measured):
                assert procedure.bound(float(value), decks, 6) >= (measured >= value).mean() * 0.9
    barely = favoured(1)
    assert made.p(CARD_POSITION, barely) == made.p(CARD_POSITION, barely)._replace(p=1 / (1 + FEW), beyond=True)


def favoured(seed: int) -> Orders:
    return model_named("favoured:0.3:1:52").shuffle(np.random.default_rng(seed), 300, 52)


def test_samples_are_kept_and_repeat_after_any_calls() -> None:
    one, other = nulls(), nulls()
    other.excess(SHIFTS, 3, 52)
    other.excess(CARD_POSITION, 2, 30)
    assert one.excess(CARD_POSITION, 2, 52) is one.excess(CARD_POSITION, 2, 52)
    assert (one.excess(CARD_POSITION, 2, 52) == other.excess(CARD_POSITION, 2, 52)).all()
    assert (one.excess(SHIFTS, 2, 52) != nulls(2).excess(SHIFTS, 2, 52)).any()


def test_more_decks_than_are_sampled() -> None:
    made = nulls(samples=99)
    sampled_decks, more = made.excess(CARD_POSITION, 100, 52), made.excess(CARD_POSITION, 1000, 52)
    np.testing.assert_allclose(more, sampled_decks * (0.999 / 0.99) ** 0.5)


def test_a_generator_serves_as_well() -> None:
    decks = uniform(7, 2)
    by_seed = [examine(decks, random=np.random.default_rng(4)) for _ in range(2)]
    assert by_seed[0] == by_seed[1] == examine(decks, random=Nulls(np.random.default_rng(4)))


def test_without_decks_there_is_no_result() -> None:
    tested = examine(unshuffled(0, 52), random=nulls(), faces=np.empty((0, 52), np.int64))
    assert {(one.statistic, one.p) for one in tested} == {(0, 1.0)}


def test_a_cut_alone_moves_all_cards_by_as_much() -> None:
    tested = {one.id: one for one in examine(Cut().shuffle(np.random.default_rng(2), 3, 52), random=nulls(samples=999))}
    assert tested["shifts"].p <= 0.001
    assert tested["shifts"].beyond
    assert tested["shifts"].expected == 52.0


def test_the_regulators_test_in_both_forms() -> None:
    """Each form has its own verdict, at 95 and 99 %."""
    decks = uniform(1, 30)
    found = card_position(decks, nulls())
    assert found.freedom == 2601
    assert found.each == pytest.approx(30 / 52)
    assert found.statistic == pytest.approx(float(CARD_POSITION.measured(decks[None])[0]))
    between = found._replace(naive_p=0.03, p=0.08)
    assert not between.passes(0.95, naive=True)
    assert between.passes(0.95, naive=False)
    assert between.passes(0.99, naive=True)


@pytest.mark.exhaustive
def test_more_decks_than_sampled_raise_false_alarms_as_stated() -> None:
    """Sets have 300 decks (fewer in `test_calibration`). Samples are drawn again for every 40 sets, so that no single
    draw decides the result.
    """
    count, levels, each, decks = long_forms.count(4_000), np.array([0.05, 0.01]), 40, 300
    raised = np.zeros((len(SAMPLED), 2))
    for number in range(0, count, each):
        made = nulls(number, 999)
        for orders in uniform(number + 1, each * decks).reshape(each, decks, 52):
            raised += np.less_equal.outer([made.p(one, orders)[2] for one in SAMPLED], levels)
    error = 4 * np.sqrt(levels * (1 - levels) / count)
    assert (np.abs(raised / count - levels) <= error).all()


def alarms(model: ShuffleModel, decks: int, count: int, made: Nulls) -> tuple[float, float]:
    """Return how often the regulators' test fails at 95 %: in the form with sampled decks, and in the naive one."""
    found = [card_position(model.shuffle(np.random.default_rng([8, n]), decks, 52), made) for n in range(count)]
    failed = [[not one.passes(0.95, naive=naive) for one in found] for naive in (False, True)]
    return float(np.mean(failed[0])), float(np.mean(failed[1]))


@pytest.mark.exhaustive
def test_the_power_of_the_regulators_chi_square() -> None:
    """Some 145 decks find ten shelves with 80 % at 5 %; the naive form misjudges some 16 % of good ones.

    The test has 1,600 sets of 145 decks each, and allows four standard errors, and 1 % for the samples.
    """
    count, made = long_forms.count(1600), nulls(samples=9_999)
    margin = 4 * np.sqrt(0.8 * 0.2 / count) + 0.01
    found, _ = alarms(Shelves(10), 145, count, made)
    false, naive = alarms(UNIFORM, 145, count, made)
    assert found == pytest.approx(0.80, abs=margin)
    assert false == pytest.approx(0.05, abs=margin / 2)
    assert naive == pytest.approx(0.165, abs=margin)
    assert alarms(Shelves(10), 1, 20, made)[0] == 0.0  # one deck, where its valleys show it at one in a million
