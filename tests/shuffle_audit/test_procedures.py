"""Tests of decks raise a false alarm as rarely as they say, and find what they are for."""

from __future__ import annotations

import numpy as np
import pytest

from shuffle_audit.evidence import Evidence
from shuffle_audit.models.faults import NotAlways, StickingPairs
from shuffle_audit.models.riffle import Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel
from shuffle_audit.orders import Orders, unshuffled
from shuffle_audit.procedures import PROCEDURES, Result, examine
from tests.support import long_forms

CALIBRATED = 100_000  # sets of decks


def least(tested: list[Result]) -> float:
    """The chance of a false alarm, of all procedures together, at which the first raises one."""
    return min(one.adjusted for one in tested)


def sets(model: ShuffleModel, seed: int, count: int, decks: int) -> Orders:
    return model.shuffle(np.random.default_rng(seed), count * decks, 52).reshape(count, decks, 52)


def test_the_shares_are_one_together() -> None:
    assert sum(one.share for one in PROCEDURES) == pytest.approx(1.0)
    assert len({one.id for one in PROCEDURES}) == len(PROCEDURES)


def test_a_deck_that_was_not_shuffled_fails_every_procedure() -> None:
    for one in examine(unshuffled(1, 52)):
        assert one.p < 1e-3 or one.id == "turned-pairs", one.id


@pytest.mark.parametrize(
    ("model", "decks", "level"),
    [(Shelves(10), 1, 1e-6), (Shelves(10, from_top=True), 1, 1e-6), (Riffle(4), 1, 0.01)],
    ids=["ten shelves", "ten shelves, from the top", "four riffles"],
)
def test_what_one_deck_shows(model: ShuffleModel, decks: int, level: float) -> None:
    """With 95 % at least."""
    found = [min(result.p for result in examine(one)) <= level for one in sets(model, 1, 200, decks)]
    assert np.mean(found) >= 0.95


@pytest.mark.parametrize(("looks", "level"), [(50, 0.05)])
def test_who_looks_after_every_deck_is_misled_no_more_often(looks: int, level: float) -> None:
    runs = 400
    alarms = 0
    for orders in sets(UNIFORM, 8, runs, looks):
        alarms += bool((Evidence().add(orders) >= -np.log(level)).any())
    assert alarms / runs <= level + 3 * np.sqrt(level * (1 - level) / runs)


def test_evidence_names_the_machine() -> None:
    evidence = Evidence()
    course = evidence.add(Shelves(15).shuffle(np.random.default_rng(2), 12, 52))
    assert evidence.decks == 12
    assert evidence.log == pytest.approx(float(course[-1]))
    assert evidence.log > np.log(1000)
    assert evidence.likeliest.words == "a shelf shuffler with 15 shelves"


def test_evidence_does_not_depend_on_how_the_decks_come() -> None:
    decks = UNIFORM.shuffle(np.random.default_rng(4), 30, 52)
    whole, parts = Evidence(), Evidence()
    course = whole.add(decks)
    found = np.concatenate([parts.add(decks[:1]), parts.add(decks[1:1]), parts.add(decks[1:17]), parts.add(decks[17:])])
    np.testing.assert_allclose(course, found)


@pytest.mark.exhaustive
def test_every_procedure_raises_a_false_alarm_as_rarely_as_it_says() -> None:
    """One deck each: exact p-values are at or below a level at most so often, and all together at the whole."""
    count = long_forms.count(CALIBRATED)
    random = np.random.default_rng(6)
    levels = (0.05, 0.01)
    raised = np.zeros((len(PROCEDURES) + 1, len(levels)))
    for _ in range(count):
        tested = examine(UNIFORM.shuffle(random, 1, 52))
        ps = [*(one.p for one in tested), least(tested)]
        raised += np.less_equal.outer(ps, levels)
    for column, level in enumerate(levels):
        assert (raised[:, column] / count <= level + 4 * np.sqrt(level * (1 - level) / count)).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("model", "decks"),
    [(Shelves(20), 4), (Shelves(50), 120), (Riffle(7), 25), (StickingPairs(0.02), 25), (NotAlways(0.02), 200)],
    ids=lambda value: value.words if not isinstance(value, int) else str(value),
)
def test_what_several_decks_show(model: ShuffleModel, decks: int) -> None:
    count = long_forms.count(500)
    found = [least(examine(one)) <= 0.01 for one in sets(model, 2, count, decks)]
    assert np.mean(found) >= 0.8
