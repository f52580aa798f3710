"""A good shuffle raises alarms as rarely as stated: each procedure, the verdict, the monitor after each deck."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from shuffle_audit.procedures import PROCEDURES, SHARES, examine
from tests.shuffle_audit import calibration
from tests.shuffle_audit.calibration import (
    DECKS,
    KNOWN,
    LEVELS,
    LOOKS,
    WHOLE,
    Alarms,
    Rates,
    Task,
    exact_rates,
    rate,
    rates_of,
)
from tests.shuffle_audit.mathematics import FOUR
from tests.support import long_forms

ERRORS = 4.5
"""Standard errors; of some hundred rates that are right one is further away once in a thousand runs."""
LEAST = {"card-position": 0.5, "shifts": 0.6, "favoured-place": 0.03}
"""Parts of the level that these reach at least: their statistics have few values where decks are few, or a bound."""


def error(rates: Rates, sets: int) -> Rates:
    found: Rates = ERRORS * np.sqrt(rates * (1 - rates) / sets)
    return found


def check_verdicts(decks: int, sets: int) -> None:
    """Check that procedures with an exact null have their exact rate, from both sides, and all at most the level."""
    found, levels = rates_of(calibration.of_verdicts(Task(decks, 0, sets), seed=1)), np.array(LEVELS)
    assert set(found) == {*SHARES, WHOLE}
    for name, rates in found.items():
        assert (rates <= levels + error(levels, sets)).all(), (name, rates)
    for name, (null, low) in exact_rates().items():
        law = np.array([rate(null, low, decks, level) for level in LEVELS])
        assert (np.abs(found[name] - law) <= error(law, sets) + 1 / sets).all(), (name, found[name], law)
    for name, part in LEAST.items():
        if decks > 1 or name not in calibration.OF_SEVERAL:
            assert (found[name] >= part * levels - error(levels, sets)).all(), (name, found[name])


def check_monitors(known: int, monitors: int) -> None:
    rates = rates_of(calibration.of_monitors(Task(LOOKS, 0, monitors, known), seed=1))[WHOLE]
    levels = np.array(LEVELS)
    assert (rates <= levels + error(levels, monitors)).all(), rates


def check_evidence(known: int, sets: int) -> None:
    levels = np.array(LEVELS)
    rates = calibration.of_evidence(known, sets, seed=1)
    assert rates[0] > 0
    assert (rates <= levels + error(levels, sets)).all(), rates


def test_some_good_decks() -> None:
    check_verdicts(1, 300)


def test_evidence_of_some_good_machines() -> None:
    check_evidence(52, 300)


def test_the_tasks_are_all_sets_once() -> None:
    """They can be stopped: each kind of set has about the same share of its tasks done."""
    tasks = calibration.tasks_of({1: 12_000, 25: 4_100}, monitors=700)
    for decks, known, sets in ((1, 0, 12_000), (25, 0, 4_100), *((LOOKS, known, 700) for known in KNOWN)):
        own = [task for task in tasks if (task.decks, task.known) == (decks, known)]
        assert [number for task in own for number in range(task.begin, task.begin + task.sets)] == list(range(sets))
        assert all(task.begin % calibration.SAME_SAMPLES == 0 for task in own)
    assert {(task.decks, task.known) for task in tasks[:6]} == {(1, 0), (25, 0), *((LOOKS, known) for known in KNOWN)}


def test_rates_are_those_of_all_tasks_together() -> None:
    found = [Alarms(5, 0, 100, {WHOLE: [4, 1]}), Alarms(25, 0, 50, {WHOLE: [9, 9]}), Alarms(5, 0, 300, {WHOLE: [6, 2]})]
    rates = rates_of(calibration.added(found, 5))
    assert rates[WHOLE].tolist() == [10 / 400, 3 / 400]
    lines = [*calibration.table_of_sets([Alarms(5, 0, 400, {WHOLE: [10, 0]})])]
    assert lines[2:] == ["| sets of 5 decks | 400 | 2.50 (1.36 to 4.54) | 0.00 (0.00 to 0.95) |"]


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_exact_rates_are_those_of_all_orders(level: float) -> None:
    """All 576 pairs of decks of four cards go through the audit."""
    tested = [examine(np.stack(pair)) for pair in product(FOUR, FOUR)]
    for number, one in enumerate(PROCEDURES):
        raised = np.mean([results[number].p <= level for results in tested])
        assert raised == pytest.approx(rate(one.null(4), one.low, 2, level)), one.id


@pytest.mark.exhaustive
@pytest.mark.parametrize("decks", DECKS)
def test_good_decks_are_called_bad_as_rarely_as_is_stated(decks: int) -> None:
    check_verdicts(decks, long_forms.count(calibration.SETS[decks]))


@pytest.mark.exhaustive
@pytest.mark.parametrize("known", KNOWN)
def test_a_check_after_each_deck_errs_as_rarely_as_stated(known: int) -> None:
    check_evidence(known, long_forms.count(calibration.EVIDENCE_SETS))


@pytest.mark.exhaustive
@pytest.mark.parametrize("known", KNOWN)
def test_a_monitor_errs_as_rarely_as_stated(known: int) -> None:
    check_monitors(known, long_forms.count(calibration.MONITORS))
