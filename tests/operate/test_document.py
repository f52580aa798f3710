"""docs/commands.md: the example of a script prints what it shows."""

from __future__ import annotations

import re
from pathlib import Path

from tests.operate.bench_table import bench_table

DOCUMENT = (Path(__file__).parents[2] / "docs/commands.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^```\n\$ cardshoe operate .*\n((?:.*\n)*?)```$", re.MULTILINE)


async def test_the_example_prints_what_the_page_shows() -> None:
    (expected,) = EXAMPLE.findall(DOCUMENT)
    lines = [line.removeprefix("> ") for line in expected.splitlines() if line.startswith("> ")]
    async with bench_table() as table:
        script = table.script("\n".join(lines))
        assert await script.ended() == 0, script.err
    assert script.out == expected.splitlines()
