"""Nothing is measured by a clock that people and networks set, and the pages name tests that exist."""

from __future__ import annotations

import ast
import re
from typing import Final

from tests.architecture.sources import PACKAGES, ROOT, Module, modules

TIME_OF_DAY: Final = frozenset({"time", "time_ns", "now", "utcnow", "today", "CLOCK_REALTIME", "localtime", "gmtime"})
OF_CLOCKS: Final = frozenset({"time", "datetime", "date"})
MAY_READ: Final = {
    "controller.daemon.host",  # the moment that an entry of the journal carries
    "controller.daemon.captures",  # the date in the header of a capture
}


def reads_the_time_of_day(module: Module) -> bool:
    """`time.time()`, `datetime.now()` and their like; `loop.time()` is monotonic and nobody's module."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in TIME_OF_DAY
        and isinstance(node.value, ast.Name)
        and node.value.id in OF_CLOCKS
        for node in ast.walk(module.tree)
    )


def test_only_the_host_clock_reads_the_time_of_day() -> None:
    found = {module.name for module in modules(*PACKAGES) if reads_the_time_of_day(module)}
    assert found == MAY_READ


def test_the_tests_that_the_page_names_exist() -> None:
    page = (ROOT / "docs/testing.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)`: ((?:`test_\w+`(?:, )?)+)", page)
    assert len(named) > 8
    missing = [
        f"{path}: {name}"
        for path, names in named
        for name in re.findall(r"test_\w+", names)
        if f"def {name}(" not in (ROOT / path).read_text()
    ]
    assert not missing
