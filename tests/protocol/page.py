"""docs/cardlink.md as tables, and its file of frames, so that tests can compare the code with them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from .independent_decoder import Value

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGE: Final = (DOCS / "cardlink.md").read_text(encoding="utf-8")
FRAMES: Final = DOCS / "cardlink_vectors.jsonl"


class Row(NamedTuple):
    """A golden vector as it appears in the file of frames."""

    name: str
    kind: int
    flags: int
    boot: int
    number: int
    counter: int | None
    body: Value
    frame: bytes


def block(mark: str) -> str:
    """Return the text between two marks: keys or nonces."""
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
    return [_row(json.loads(line)) for line in FRAMES.read_text(encoding="utf-8").splitlines()]


def _row(read: dict[str, Any]) -> Row:
    counter = None if read["counter"] is None else int(read["counter"], 16)
    kind, boot, frame = int(read["kind"], 16), int(read["boot"], 16), bytes.fromhex(read["bytes"])
    return Row(read["frame"], kind, read["flags"], boot, read["number"], counter, _value(read["body"]), frame)
