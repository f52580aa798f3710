"""`cardshoe demo --play`: a visitor deals a round at the page by what the page and the terminal say."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.console.clicking import DEALER, SUPERVISOR, Person
from tests.end_to_end.processes import PATIENCE, Child

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


async def printed(child: Child, pattern: str) -> re.Match[str]:
    """Until the terminal says it."""
    await child.until(lambda: any(re.search(pattern, line) for line in child.out))
    return next(found for line in child.out if (found := re.search(pattern, line)))


@pytest.mark.parametrize("marked", ["bets", "one box more"])
async def test_a_visitor_deals_a_round_with_an_exposed_card(marked: str) -> None:
    """A box that is marked and has no bet is dealt to like the others: the visitor may have erred."""
    from playwright.async_api import async_playwright

    child = Child("controller", "demo", "--play", "--fast", "--rounds", "1")
    try:
        async with asyncio.timeout(PATIENCE), async_playwright() as started:
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            await visit(child, chromium, more=marked != "bets")
            await chromium.close()
        assert await child.ended() == 0
        assert any("1 rounds concluded" in line for line in child.out)
        assert any("as planned, none missed" in line for line in child.out)
    finally:
        await child.end()


async def visit(child: Child, chromium: Browser, *, more: bool) -> None:
    address = (await printed(child, r"The console: (http://localhost:(\d+)/)"))[1]
    page = await chromium.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(PATIENCE * 1000)
    console = Person(page)
    await console.look_at(address)
    await console.enrol()
    await console.press("dealer_on/")
    await console.sign(DEALER)
    await console.press("open_table/")
    await console.press("place_your_bets/")
    bets = await printed(child, r"Bets lie at (.*): tap them")
    boxes = [int(number) for number in re.findall(r"\d+", bets[1])]
    if more:
        boxes = sorted([*boxes, next(number for number in range(1, 8) if number not in boxes)])
    for number in boxes:
        await console.tap(f"B{number}")
        await page.locator(f'.place.lit[data-place="B{number}"]').wait_for()
    await console.press("no_more_bets/")
    exposed = await printed(child, r"A card of (.*) lies face up")
    box = re.search(r"\d+", exposed[1])
    await console.report("exposed_card", f"B{box[0]}" if box else "D")
    await console.confirm(SUPERVISOR)
    await console.press("others")
    for place in ("D", *(f"B{number}" for number in boxes)):
        await console.press(f"expose_hand/{place}")
    await console.end_round()
