"""The table of numbers in docs/testing.md, with one row for each search."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.search.cases import Case
from tests.search.explore import Search

PAGE: Final = Path(__file__).parents[2] / "docs" / "testing.md"
HEAD: Final = "| search | states | transitions | longest path |"
RULE: Final = "|---|---|---|---|"


def row(case: Case, search: Search) -> str:
    """Return a row of the page: the longest path is the number of moves to the farthest state."""
    deepest = search.states[search.deepest].depth
    return f"| {case.name} | {len(search.states)} | {search.transitions} | {deepest} |"


def rows() -> list[str]:
    """Return the rows on the page."""
    table = PAGE.read_text(encoding="utf-8").partition(f"{HEAD}\n{RULE}\n")[2].partition("\n\n")[0]
    return table.splitlines()


def write(new: list[str]) -> None:
    """Replace the rows on the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(f"{RULE}\n", 1)
    after = rest.split("\n\n", 1)[1] if "\n\n" in rest else ""
    table = "\n".join(new)
    PAGE.write_text(f"{before}{RULE}\n{table}\n" + (f"\n{after}" if after else ""), encoding="utf-8")
