"""docs/api.md lists every operation under its rank, as in the program."""

from __future__ import annotations

from tools.pages import api


def test_a_page_with_another_table_is_rewritten_and_the_rest_stays() -> None:
    old = f"before\n\n{api.HEAD}| dealer | `gone` |\n\nafter\n"
    assert api.rewritten(old) == f"before\n\n{api.table()}\nafter\n"


def test_an_operation_is_under_the_rank_of_its_row_or_of_the_irregularity() -> None:
    rows = dict(row.strip("| ").split(" | ") for row in api.table().splitlines()[2:])
    assert "`deal_by_hand`" in rows["pit supervisor"].split(", ")
    assert "`rule`" in rows["as the irregularity says"].split(", ")
