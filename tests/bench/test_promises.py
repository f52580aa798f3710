"""A good device keeps every promise that the bench asks for; in memory, where its seconds take no time."""

from __future__ import annotations

import pytest

from simulators.bench.promise import KEPT
from tests.bench.promised import MODULES, ask, good_device

assert MODULES


@pytest.mark.parametrize("name", [name for name, kept in KEPT.items() if "operator" not in kept.judged.__qualname__])
def test_a_good_shuffler_keeps_it(name: str) -> None:
    ask(KEPT[name])


@pytest.mark.parametrize("name", list(KEPT))
def test_a_good_shoe_keeps_it(name: str) -> None:
    ask(KEPT[name], lambda: good_device("shoe"))


@pytest.mark.parametrize("name", list(KEPT))
def test_a_shuffler_that_takes_its_time_keeps_it(name: str) -> None:
    ask(KEPT[name], lambda: good_device(pace=1.0))
