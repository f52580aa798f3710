"""docs/client.md: its commands and its program deal a round exactly as printed."""

from __future__ import annotations

import asyncio
import re
import shlex
from pathlib import Path

from tests.end_to_end.processes import PATIENCE, ROOT, Child
from tests.end_to_end.stage import short_folder

PAGE = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
LONGEST = 30  # lines


async def moved(device: Child, line: str) -> str:
    """Return the answer of the device's console."""
    before = len(device.out)
    device.tell(line)
    await device.until(lambda: len(device.out) > before)
    return device.out[before]


async def test_the_program_of_the_page_deals_a_round() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert program.count("\n") <= LONGEST
    init, run, simulate = [shlex.split(line)[1:] for line in re.findall(r"^cardshoe .*$", PAGE, re.MULTILINE)]
    (deal,) = re.findall(r"`python (deal\.py .*?)`", PAGE)
    with short_folder() as folder:
        (folder / "deal.py").write_text(program, encoding="utf-8")
        await deal_in(folder, init, run, simulate, shlex.split(deal))


async def deal_in(folder: Path, init: list[str], run: list[str], simulate: list[str], deal: list[str]) -> None:
    made = Child("controller", *init, folder=folder)
    assert await made.ended() == 0, made.err
    device = Child("controller", *simulate, folder=folder, listens=True)
    daemon = Child("controller", *run, folder=folder)
    dealing = None
    try:
        await device.until(lambda: device.out)
        await daemon.until(lambda: [line for line in daemon.err if '"daemon.started"' in line])
        await moved(device, "load")
        dealing = begun = Child(*deal, folder=folder, environment={"PYTHONUNBUFFERED": "1"})
        await begun.until(lambda: [line for line in begun.out if line.endswith(" deal_began")])
        lifted = 0
        async with asyncio.timeout(PATIENCE):
            while lifted < 3:
                lifted += (await moved(device, "lift")).endswith("lifted.")
        assert await dealing.ended() == 0, dealing.err
        assert dealing.out[-1].startswith("[('B1', (")
        assert "'D'" in dealing.out[-1]
        assert "??" not in dealing.out[-1]
    finally:
        for child in (dealing, device, daemon):
            if child is not None:
                child.abandon()
        made.abandon()
