"""Sixteen daemons deal side by side on one machine, in the bounded form four: none ends, and none grows."""

from __future__ import annotations

import pytest

from tests.end_to_end.processes import Child
from tests.support import long_forms

pytestmark = pytest.mark.soak
TABLES = 4 if long_forms.BOUNDED else 16  # a busy machine needs minutes to start sixteen


async def test_sixteen_tables_deal_side_by_side() -> None:
    """Runs the program that measures them: it ends with 1 where a daemon or device has ended, or memory grew."""
    minutes = str(long_forms.count(10) / 4)
    child = Child("benchmarks.p5_sixteen_tables", "--tables", str(TABLES), "--minutes", minutes)
    try:
        assert await child.ended() == 0, child.err
    finally:
        await child.end()
    assert any("entries" in line for line in child.out)
