"""Reachable states of small tables: each card in one place, 52 cards, effects with their clause, a way out."""

from __future__ import annotations

import pytest

from tests.search import page
from tests.search.cases import COUNTED, IN_PART, LARGE, LARGEST, SMALL, Case, run
from tests.support import long_forms

FIRST_STATES = 600
MANY_STATES = 2_000
COMPLETE = [
    pytest.param(case, marks=[pytest.mark.exhaustive, pytest.mark.timeout(4 * 3600)])  # the largest takes half an hour
    for case in long_forms.some([case for case in LARGE if case != LARGEST or not long_forms.BOUNDED])
]


def _name(case: Case) -> str:
    return f"{case.name}, {case.irregularities} irregularities"


@pytest.mark.parametrize("case", [*SMALL, *COMPLETE], ids=_name)
def test_every_state_keeps_the_invariants_and_leads_to_the_next_round(case: Case) -> None:
    search = run(case)
    found = page.row(case, search)
    print(found)  # noqa: T201  # shown with -s, and when the test fails
    assert search.wrong()[:5] == []
    assert found in page.rows(), (
        f"docs/testing.md has other numbers; after a change: python -m tests.search --write\n{found}"
    )


@pytest.mark.parametrize("case", LARGE, ids=_name)
def test_the_first_states_keep_the_invariants(case: Case) -> None:
    search = run(case, FIRST_STATES)
    assert len(search.states) >= FIRST_STATES
    assert search.broken[:5] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", long_forms.some(IN_PART), ids=_name)
def test_many_states_of_other_tables(case: Case) -> None:
    assert run(case, MANY_STATES).broken[:5] == []


def test_the_page_lists_exactly_the_counted_searches() -> None:
    """`--write` adds those of a new game to it; the complete searches ask for that."""
    names = [line.split("|")[1].strip() for line in page.rows()]
    assert names == [case.name for case in COUNTED if case.name in names]
    assert {case.name for case in SMALL} <= set(names)
