"""The long form of `test_both_ends`: millions of reports, links that break, reboots, and a memory that overflows.

    python -m pytest -m soak tests/protocol/test_soak.py -n auto

At the end it prints the number of reports and how many of them were lost or doubled. Time is virtual, so hours of a
table pass in minutes. The name of a failed test contains the seed that repeats it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from firmware_bridge.drivers.base import Reported
from tests.support import long_forms

from .table import Table, check_commands, check_reports
from .test_both_ends import LINES

SEEDS: Final = 100
REPORTS: Final = 2_500  # for each line and seed, so 2.25 million in all


@pytest.mark.soak
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("seed", long_forms.some(range(SEEDS)))
def test_nothing_is_lost_doubled_or_unreported_in_the_long_run(
    line: str, seed: int, record_property: Callable[[str, object], None]
) -> None:
    table = Table(
        LINES[line],
        seed,
        memory=(8, 30, 1_000)[seed % 3],
        slowest_commit=(0.0, 0.05, 2.0)[seed % 5 % 3],
        restarts=0.002,
        pause=0.02,
    )
    for part in range(5):
        table.play(REPORTS // 5)
        table.reboot(keep_reports=(seed + part) % 4 != 0)
    table.play(1)
    check_reports(table)
    check_commands(table)
    assert sum(isinstance(entry, Reported) for entry in table.journal) > REPORTS / 50
    table.unplug()
    for what, number in table.account().items():
        record_property(f"soak: {what}", number)
