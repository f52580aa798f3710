"""docs/cardlink.md as tables, so that tests can hold the code against it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final, NamedTuple

from .independent_decoder import Value

PAGE: Final = (Path(__file__).parents[2] / "docs" / "cardlink.md").read_text(encoding="utf-8")


class Row(NamedTuple):
    """A golden vector as the page shows it."""

    name: str
    kind: int
    boot: int
    number: int
    body: Value
    frame: bytes


def vector_block() -> str:
    return PAGE.split("<!-- vectors -->\n")[1].split("\n<!-- end of vectors -->")[0]


def section(title: str) -> str:
    """The text under a heading, up to the next heading of whatever depth."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)
    assert found, f"docs/cardlink.md has no section {title}"
    return found[1]


def rows_of(text: str, header: str) -> list[list[str]]:
    """The cells of the table whose first column is called `header`."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(f"| {header} |"):
            break
    next(lines)
    table: list[list[str]] = []
    for line in lines:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return table


def _value(part: object) -> Value:
    if isinstance(part, str) and (found := re.fullmatch(r"h'([0-9a-f]*)'", part)):
        return bytes.fromhex(found[1])
    if isinstance(part, list):
        return [_value(item) for item in part]
    assert part is None or isinstance(part, bool | int | str)
    return part


def golden_rows() -> list[Row]:
    rows: list[Row] = []
    for line in vector_block().splitlines()[2:]:
        name, kind, boot, number, body, frame = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
        value = _value(json.loads(body)) if body else None
        rows.append(Row(name, int(kind, 16), int(boot, 16), int(number), value, bytes.fromhex(frame)))
    return rows
