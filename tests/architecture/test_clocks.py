"""No duration is measured with a clock that people and networks set."""

from __future__ import annotations

import ast
from typing import Final

from tests.architecture.sources import PACKAGES, Module, modules

TIME_OF_DAY: Final = frozenset({"time", "time_ns", "now", "utcnow", "today", "CLOCK_REALTIME", "localtime", "gmtime"})
OF_CLOCKS: Final = frozenset({"time", "datetime", "date"})
MAY_READ: Final = {
    "controller.daemon.host",  # the time in a journal entry
    "controller.daemon.captures",  # the date in the header of a capture
    "controller.floor.certificate",  # whether a certificate has expired, by the clock that the other side uses
}


def reads_the_time_of_day(module: Module) -> bool:
    """Return whether the module uses `time.time()`, `datetime.now()` or the like; `loop.time()` is monotonic."""
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
