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

    child = Child("controller", "demo", "--play", "--fast", "--rounds", "1", "--supervisor-after", "3600")
    try:
        async with asyncio.timeout(PATIENCE), async_playwright() as started:
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            console, boxes = await begin(child, chromium, more=marked != "bets")
            exposed = await printed(child, r"A card of (.*) lies face up")
            await report_exposed(console, exposed[1])
            await printed(
                child, f"{SUPERVISOR.name} .* comes in 3600 s and decides. Or sign yourself .* {SUPERVISOR.pin}"
            )
            await console.confirm(SUPERVISOR)
            await finish(console, boxes)
            await chromium.close()
        assert await child.ended() == 0
        assert any("1 rounds concluded" in line for line in child.out)
        assert any("as planned, none missed" in line for line in child.out)
    finally:
        await child.end()


@pytest.mark.parametrize("reported", ["exposed", "exposed in Chinese", "not so"])
async def test_a_supervisor_comes_and_decides_what_waits_for_him(reported: str) -> None:
    """What he did, and that it was he, stands on the page. What the cards show to be false he denies."""
    from playwright.async_api import async_playwright

    language = "zh-Hans" if "Chinese" in reported else "en"
    child = Child(
        "controller", "demo", "--play", "--fast", "--rounds", "1", "--supervisor-after", "0", "--language", language
    )
    try:
        async with asyncio.timeout(PATIENCE), async_playwright() as started:
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            console, boxes = await begin(child, chromium, language=language)
            exposed = await printed(child, "A card of (.*) lies face up" if language == "en" else "(.*)有一张牌面朝上")
            if reported == "not so":
                await console.report("foreign_card")
                await console.answers(SUPERVISOR.name)
                await console.page.locator("#sentence:not(.red)").wait_for()
            await report_exposed(console, exposed[1])
            await console.page.locator('#panel [data-act="others"]').wait_for()
            await console.answers(SUPERVISOR.name)
            await finish(console, boxes)
            await chromium.close()
        assert await child.ended() == 0
    finally:
        await child.end()


async def begin(
    child: Child, chromium: Browser, *, more: bool = False, language: str = "en"
) -> tuple[Person, list[int]]:
    """Until bets are closed. `more`: a box is marked that has no bet."""
    address = (await printed(child, r"(http://localhost:(\d+)/)"))[1]
    page = await chromium.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(PATIENCE * 1000)
    console = Person(page, language)
    await console.look_at(address)
    await console.enrol()
    await console.press("dealer_on/")
    await console.sign(DEALER)
    await console.press("open_table/")
    await console.press("place_your_bets/")
    bets = await printed(child, r"Bets lie at (.*): tap them" if language == "en" else r"(.*)有注码")
    boxes = [int(number) for number in re.findall(r"\d+", bets[1])]
    if more:
        boxes = sorted([*boxes, next(number for number in range(1, 8) if number not in boxes)])
    for number in boxes:
        await console.tap(f"B{number}")
        await page.locator(f'.place.lit[data-place="B{number}"]').wait_for()
    await console.press("no_more_bets/")
    return console, boxes


async def report_exposed(console: Person, where: str) -> None:
    box = re.search(r"\d+", where)
    await console.report("exposed_card", f"B{box[0]}" if box else "D")


async def finish(console: Person, boxes: list[int]) -> None:
    await console.press("others")
    for place in ("D", *(f"B{number}" for number in boxes)):
        await console.press(f"expose_hand/{place}")
    await console.end_round()
