"""docs/api.md lists every operation with its fields, effect and permissions, as in the program."""

from __future__ import annotations

from controller.table import operations
from tools.pages import api


def test_a_page_with_another_table_is_rewritten_and_the_rest_stays() -> None:
    old = f"before\n\n{api.HEAD}| `gone` | | | dealer |\n\nafter\n"
    assert api.rewritten(old) == f"before\n\n{api.table()}\nafter\n"


def test_a_row_has_the_names_of_fields_and_the_first_sentence_of_the_docstring() -> None:
    head, fields, meaning, _ = api.row(operations.HandleCards).strip("| ").split(" | ")
    assert (head, fields) == ("`handle_cards`", "`place`, (`viewed`), (`bettor`)")
    assert meaning == "Record that the Player at a place touched cards"


def test_permission_follows_from_the_operations_row_or_the_irregularity() -> None:
    assert api.row(operations.DealByHand).endswith("| pit supervisor |")
    assert api.row(operations.Rule).endswith("| *irregularity* |")
