"""docs/cardlink.md as tables, so that tests can compare the code with it."""

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
    counter: int | None
    body: Value
    frame: bytes


def block(mark: str) -> str:
    """Return the text between two marks: keys, nonces or vectors."""
    return PAGE.split(f"<!-- {mark} -->\n")[1].split(f"\n<!-- end of {mark} -->")[0]


def section(title: str) -> str:
    """Return the text under a heading, up to the next heading of any depth."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#|\Z)", PAGE, re.M | re.S)
    assert found, f"docs/cardlink.md has no section {title}"
    return found[1]


def rows_of(text: str, header: str) -> list[list[str]]:
    """Return the cells of the table whose first column is called `header`."""
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
    for line in block("vectors").splitlines()[2:]:
        cells = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
        name, kind, boot, number, counter, body, frame = cells
        counted = int(counter, 16) if counter else None
        value = _value(json.loads(body))
        rows.append(Row(name, int(kind, 16), int(boot, 16), int(number), counted, value, bytes.fromhex(frame)))
    return rows
