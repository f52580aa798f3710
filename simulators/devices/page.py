"""`python -m tools.generate` writes the table of faults in docs/simulators.md; a test fails when they differ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from simulators.devices.faults import table_rows

PAGE: Final = Path("docs/simulators.md")
ROWS: Final = re.compile(r"(?<=\| what the host sees \|\n\|---\|---\|---\|---\|\n)(?:\|.*\n)+")


def written(page: str) -> str:
    """Return the page with its table of faults."""
    return ROWS.sub(lambda found: table_rows(), page)
