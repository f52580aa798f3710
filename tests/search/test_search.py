"""Over all reachable states of small tables: no card in two places, 52 cards, nothing without a clause, a way out."""

from __future__ import annotations

import pytest

from tests.search import page
from tests.search.cases import IN_EVERY_RUN, IN_THE_LONG_RUN, Case, run


def _name(case: Case) -> str:
    return f"{case.name}, {case.irregularities} irregularities"


@pytest.mark.timeout(300)
@pytest.mark.parametrize("case", IN_EVERY_RUN, ids=_name)
def test_every_state_keeps_what_must_always_be_so_and_leads_to_the_next_round(case: Case) -> None:
    search = run(case)
    found = page.row(case, search)
    print(found)  # noqa: T201  the numbers are shown with -s and when it fails
    assert search.wrong()[:5] == []
    assert found in page.rows(), (
        f"docs/search.md has other numbers; after a change: python -m tests.search --write\n{found}"
    )


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("case", IN_THE_LONG_RUN, ids=_name)
def test_more_irregularities_and_no_wagers(case: Case) -> None:
    search = run(case)
    print(page.row(case, search))  # noqa: T201
    assert search.wrong()[:5] == []


def test_the_page_names_every_search_of_a_run_and_no_other() -> None:
    assert [line.split("|")[1].strip() for line in page.rows()] == [case.name for case in IN_EVERY_RUN]
