"""docs/api.md names every operation, each of its fields, and who may do it: as the table has it, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

from controller.table import operations
from controller.table.operations import AnyOperation, Operation
from controller.table.permissions import PERMISSIONS

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text(encoding="utf-8")
EVERY: tuple[type[Operation], ...] = get_args(AnyOperation)
OF_THE_ROW = {  # an irregularity's row or stage says who
    operations.ConfirmIrregularity,
    operations.DenyIrregularity,
    operations.NameOrder,
    operations.ChooseOption,
    operations.Reconstruct,
    operations.Rule,
}


class Line(NamedTuple):
    """A row of the page's table of operations."""

    names: tuple[str, ...]
    words: frozenset[str]  # everything that stands as code before the last column
    who: str


def lines() -> list[Line]:
    table = PAGE.partition("| operation | fields | who |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return [
        Line(_leading_names(first), frozenset(re.findall(r"`([a-z_]+)", f"{first} {fields}")), who)
        for first, fields, who in cells
    ]


def _leading_names(cell: str) -> tuple[str, ...]:
    """`a`, `b` (a note): the names before anything else."""
    found = re.match(r"(?:`[a-z_]+`(?:, )?)+", cell)
    assert found, cell
    return tuple(re.findall(r"`([a-z_]+)`", found[0]))


def name(operation: Any) -> str:
    return str(operation.__struct_config__.tag)


def line_of(operation: type[Operation]) -> Line:
    found = [line for line in lines() if name(operation) in line.names]
    assert len(found) == 1, f"{name(operation)} stands {len(found)} times in docs/api.md"
    return found[0]


@pytest.mark.parametrize("operation", EVERY, ids=name)
def test_every_operation_stands_there_with_its_fields_and_who_may_do_it(operation: type[Operation]) -> None:
    line = line_of(operation)
    missing = {field for field in operation.__struct_fields__ if field not in line.words}
    assert not missing, f"docs/api.md does not name {sorted(missing)} of {name(operation)}"
    if operation not in OF_THE_ROW:
        assert line.who.startswith(PERMISSIONS[operation].role.word)


def test_no_operation_stands_there_that_the_table_does_not_know() -> None:
    assert {one for line in lines() for one in line.names} == {name(operation) for operation in EVERY}
