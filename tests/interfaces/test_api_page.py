"""docs/api.md lists every operation with its fields, effect and permissions, as in the program."""

from __future__ import annotations

import pytest

from controller.table import operations
from tools.pages import api


def test_a_page_with_another_table_is_rewritten_and_the_rest_stays() -> None:
    old = f"before\n\n{api.HEAD}| `gone` | | | dealer |\n\nafter\n"
    assert api.rewritten(old) == f"before\n\n{api.table()}\nafter\n"


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("str", "text"),
        ("int | None", "number"),
        ("tuple[Place, ...]", "list of place"),
        ("tuple[tuple[int, int], ...]", "list of [number, number]"),
        ("tuple[CardAt, ...]", "list of {`ordinal`, `place`}"),
        ("Choice", "`continue` / `withdraw`"),
        ("Kind", "kind"),
        ("Facts", "facts"),
        ("Replaceable | None", "an operation"),
    ],
)
def test_how_a_field_is_written(annotation: str, words: str) -> None:
    assert api._type(annotation) == words


def test_permission_follows_from_the_operations_row_or_the_irregularity() -> None:
    assert api.row(operations.DealByHand).endswith("| pit supervisor |")
    assert api.row(operations.Rule).endswith("| as the irregularity says |")
