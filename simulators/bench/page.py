"""`python -m tools.generate` writes the tables of promises in docs/bench.md; a test fails when they differ."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Final

from simulators.bench import promise, untested
from simulators.bench.run import TESTS

PAGE: Final = Path("docs/bench.md")
KEPT_ROWS: Final = re.compile(r"(?<=\| section \| rule \| promise \|\n\|---\|---\|---\|\n)(?:\|.*\n)*")
UNTESTED_ROWS: Final = re.compile(
    r"(?<=\| section \| rule \| why no test asks for it \|\n\|---\|---\|---\|\n)(?:\|.*\n)*"
)


def load() -> None:
    """Import every test of a promise."""
    for file in TESTS[1:]:
        importlib.import_module(f"simulators.bench.promises.{file.stem}")


def written(page: str) -> str:
    """Return the page with its tables written from the tests."""
    load()
    page = KEPT_ROWS.sub(lambda found: promise.table(), page)
    return UNTESTED_ROWS.sub(lambda found: untested.table(), page)
