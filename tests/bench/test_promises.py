"""A good device keeps every promise that the bench tests. The tests run in memory, where timeouts take no time."""

from __future__ import annotations

import pytest

from simulators.bench.promise import KEPT
from simulators.bench.promises.operator import TestOperatorPromises as OperatorPromises
from tests.bench.promised import LateBed, ask, ask_all, good_device

ALONE = [name for name in KEPT if not hasattr(OperatorPromises, name)]  # the others are in `test_operator`
ON_FRAMES = [name for name in ALONE if KEPT[name].needs == ("host",)]


@pytest.mark.parametrize("name", ALONE)
def test_a_good_shuffler_keeps_it(name: str) -> None:
    ask(KEPT[name])


@pytest.mark.parametrize("name", ALONE)
def test_a_slow_shuffler_keeps_its_promises(name: str) -> None:
    ask(KEPT[name], lambda: good_device(pace=1.0))


@pytest.mark.parametrize("name", ON_FRAMES)
def test_a_line_that_is_opened_late_does_not_fail_the_device(name: str) -> None:
    """The device answers a first frame twice. The second answer is not the one to the next frame."""
    ask(KEPT[name], bed=LateBed)


@pytest.mark.parametrize("name", ON_FRAMES)
def test_a_good_shoe_keeps_it(name: str) -> None:
    ask(KEPT[name], lambda: good_device("shoe"))


@pytest.mark.parametrize("pace", [0.0, 1.0])
def test_one_device_keeps_all_promises_in_sequence(pace: float) -> None:
    """`cardshoe bench` runs them like this: an earlier test must not affect a later test."""
    ask_all([KEPT[name] for name in ON_FRAMES] * 2, lambda: good_device(pace=pace))
