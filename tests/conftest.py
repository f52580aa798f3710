"""For all tests: nothing may be left behind, and what needs a tool that is missing is named at the end."""

from __future__ import annotations

import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_missing: set[str] = set()
ENDS_WITHIN = 2.0  # seconds
DESCRIPTORS = Path("/proc/self/fd")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="run the long forms too (docs/testing.md)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot run here; `CARDSHOE_REQUIRE=all` makes a missing tool a failure."""
    require_all = os.environ.get("CARDSHOE_REQUIRE") == "all"
    kept: list[pytest.Item] = []
    for item in items:
        if item.get_closest_marker("soak") and not config.getoption("--soak"):
            continue
        missing = [mark.args[0] for mark in item.iter_markers("tool") if shutil.which(mark.args[0]) is None]
        if missing and not require_all:
            _missing.update(f"{tool}: {item.nodeid.split('::')[0]}" for tool in missing)
            continue
        kept.append(item)
    items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("tool"):
        if shutil.which(mark.args[0]) is None:
            pytest.fail(f"{mark.args[0]} is required (CARDSHOE_REQUIRE=all) and missing")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _missing:
        terminalreporter.section("did not run: the tool is not on this machine")
        for line in sorted(_missing):
            terminalreporter.write_line(line)

    _tell_sums(terminalreporter)


def _tell_sums(terminalreporter: Any) -> None:
    """What the long forms counted, added up over all of them: properties that begin with "soak: "."""
    sums: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        if report.when == "call":
            sums.update({name: number for name, number in report.user_properties if name.startswith("soak: ")})
    if sums:
        terminalreporter.section("counted in the long forms")
        for name, number in sums.items():
            terminalreporter.write_line(f"{number:>12,} {name.removeprefix('soak: ')}")


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No thread and no descriptor more than before. (Tasks end with their loop, and pytest-asyncio tells of them.)"""
    threads = set(threading.enumerate())
    descriptors = len(list(DESCRIPTORS.iterdir()))
    yield
    fresh = [thread for thread in threading.enumerate() if thread not in threads]
    for thread in fresh:
        thread.join(ENDS_WITHIN)  # asyncio's watcher of a child that has just ended is about to end itself
    leaked = [thread.name for thread in fresh if thread.is_alive()]
    assert not leaked, f"threads left behind: {leaked}"
    after = len(list(DESCRIPTORS.iterdir()))
    assert after <= descriptors, f"{after - descriptors} descriptors left behind"
