"""Fixtures and hooks for all tests: nothing may be left behind, and tests without their tool are listed at the end."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.end_to_end import fork_server
from tests.support import long_forms

_missing: set[str] = set()
ENDS_WITHIN = 60.0  # seconds: a guard against a hang
DESCRIPTORS = Path("/proc/self/fd")
IN_MEMORY = Path("/dev/shm")  # noqa: S108  # pytest makes this user's folder in it
ROOM = 2 << 30  # bytes; with less free space the tests' folders are on the disk
WAIT_LONG = ("tests/bench/", "tests/search/", "tests/journal/")  # their long forms begin first

# A machine under load is slow; this is not a failure.
settings.register_profile("cardshoe", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cardshoe")


def pytest_configure(config: pytest.Config) -> None:
    """Let child processes receive Ctrl-C even where a background shell ignores it, and cache bytecode.

    Where Python may not write bytecode, hundreds of processes would compile the same modules each time.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.dont_write_bytecode and "PYTHONPYCACHEPREFIX" not in os.environ:
        folder = tempfile.mkdtemp(prefix="cardshoe-bytecode-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if _is_roomy(IN_MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return twice as many workers as cores for `-n auto`: half of the time tests wait for processes and devices."""
    return 2 * len(os.sched_getaffinity(0))


def _is_roomy(folder: Path) -> bool:
    """Return whether the folder has room for the tests' journals and programs, tens of gigabytes per run."""
    if not folder.is_dir():
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & os.ST_NOEXEC


def pytest_unconfigure() -> None:
    fork_server.end()


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
    items[:] = sorted(_bounded(kept), key=_begins)


def _bounded(items: list[pytest.Item]) -> list[pytest.Item]:
    """Leave out half of the long tests of each file in a bounded run."""
    files: dict[str, list[str]] = {}
    for item in filter(_is_long, items):
        files.setdefault(item.nodeid.split("::")[0], []).append(item.nodeid)
    kept = {node for file, nodes in files.items() for node in long_forms.half(nodes, of=file)}
    return [item for item in items if not _is_long(item) or item.nodeid in kept]


def _is_long(item: pytest.Item) -> bool:
    return any(item.iter_markers("exhaustive")) or any(item.iter_markers("soak"))


def _begins(item: pytest.Item) -> int:
    """Return the sort key that starts the longest of the long forms first, so that no core is idle at the end."""
    return 0 if _is_long(item) and item.nodeid.startswith(WAIT_LONG) else 1


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
    if long_forms.BOUNDED:
        terminalreporter.write_line(f"a part of the long forms; the same again: {long_forms.as_environment()}")


def _write_sums(terminalreporter: Any) -> None:
    """Write the sums over all long forms of the properties whose names begin with "soak: "."""
    sums: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", ()):
        if report.when == "call":
            sums.update({name: number for name, number in report.user_properties if name.startswith("soak: ")})
    if sums:
        terminalreporter.section("counted in the long forms")
        for name, number in sums.items():
            terminalreporter.write_line(f"{number:>12,} {name.removeprefix('soak: ')}")


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Restore the logging after a test whose command configured it in this process."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Check that no more threads and descriptors exist than before. (pytest-asyncio reports tasks, which end with their
    loop.)
    """
    threads = set(threading.enumerate())
    descriptors = _open_descriptors()
    yield
    until = time.monotonic() + ENDS_WITHIN
    # Let pending work end: asyncio's watcher of a child, an answer to a browser that has closed its page.
    while (leaked := [one for one in threading.enumerate() if one not in threads]) or _open_descriptors() > descriptors:
        if time.monotonic() > until:
            break
        for thread in leaked:
            if thread.ident is not None:  # otherwise it is about to start
                thread.join(ENDS_WITHIN)
    assert not leaked, f"threads left behind: {[thread.name for thread in leaked]}"
    assert _open_descriptors() <= descriptors, f"{_open_descriptors() - descriptors} descriptors left behind"


@pytest.fixture(scope="session")
def fonts() -> None:
    """Open matplotlib's fonts, which it opens once in a process and keeps open."""
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots()
    figure.savefig(io.BytesIO(), format="svg")


def _open_descriptors() -> int:
    return len(list(DESCRIPTORS.iterdir()))
