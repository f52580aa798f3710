"""From every state a path leads to the next round, by permitted operations and a working device."""

from __future__ import annotations

import pytest

from controller.games.specification import Unit
from controller.table import events
from tests.clauses.numbers import CLAUSES
from tests.support.noted import noted
from tests.table.every_state import PARTS, reached
from tests.table.harness import TableHarness
from tests.table.way_out import lead_to_next_round


@pytest.mark.parametrize(("game_id", "unit"), PARTS)
def test_there_is_a_way_to_the_next_round(game_id: str, unit: Unit) -> None:
    for name, table in reached(game_id, unit):
        with noted(name):
            find_way_out(table)


def find_way_out(table: TableHarness) -> None:
    before = table.state.round.number
    assert lead_to_next_round(table) > 0
    assert table.state.round.number == before + 1
    for event in table.events_of(events.IrregularityResolved):
        procedure = (event.outcome, event.clause) == ("continue", "")  # a count by hand found the deck complete
        assert event.clause in CLAUSES or event.outcome == "ruling" or procedure


def test_the_search_for_a_way_out_fails_where_none_exists() -> None:
    table = TableHarness().start()
    table.device.load([])
    table.device.load = lambda cards=None: None  # type: ignore[method-assign]  # loading has no effect
    with pytest.raises(AssertionError, match=r"no way out|accepted|refused"):
        lead_to_next_round(table)
