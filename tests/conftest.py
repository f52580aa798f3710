"""For all tests: nothing may be left behind, and tests whose tool is missing are named at the end."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_missing: set[str] = set()
ENDS_WITHIN = 60.0  # seconds: a guard against a hang
DESCRIPTORS = Path("/proc/self/fd")

# A machine under load is slow; that is no failure.
settings.register_profile("cardshoe", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cardshoe")


def pytest_configure(config: pytest.Config) -> None:
    """Where Python may not write bytecode, hundreds of child processes would compile the same modules each time."""
    if sys.dont_write_bytecode and "PYTHONPYCACHEPREFIX" not in os.environ:
        folder = tempfile.mkdtemp(prefix="cardshoe-bytecode-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what cannot run here; `CARDSHOE_REQUIRE=all` makes a missing tool a failure."""
    require_all = os.environ.get("CARDSHOE_REQUIRE") == "all"
    kept: list[pytest.Item] = []
    for item in items:
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
        terminalreporter.section("did not run: the tool is not installed")
        for line in sorted(_missing):
            terminalreporter.write_line(line)

    _write_sums(terminalreporter)


def _write_sums(terminalreporter: Any) -> None:
    """Sums over all long forms of what they counted: the properties whose names begin with "soak: "."""
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
    """No thread and no descriptor more than before. (Tasks end with their loop; pytest-asyncio reports them.)"""
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
