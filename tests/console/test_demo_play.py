"""`cardshoe demo --play`: a visitor deals a round by the instructions of the page and the terminal."""

from __future__ import annotations

import asyncio
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from controller.api.screen_lines import SUITS
from simulators.demo.stage import free_port
from tests.console.clicking import DEALER, SUPERVISOR, Person
from tests.end_to_end.processes import PATIENCE, Child

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


@pytest.fixture(autouse=True)
def _no_known_screens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def play(*options: str, port: int = 0) -> Child:
    return Child("controller", "demo", "--play", "--fast", "--port", str(port), *options)


async def printed(child: Child, pattern: str) -> re.Match[str]:
    """Wait until the terminal prints it."""
    await child.until(lambda: any(re.search(pattern, line) for line in child.out))
    return next(found for line in child.out if (found := re.search(pattern, line)))


@pytest.mark.parametrize("marked", ["bets", "one box more"])
async def test_a_visitor_deals_a_round_with_an_exposed_card(marked: str) -> None:
    """A marked box without a bet is dealt to like the others, because the visitor may have made a mistake."""
    from playwright.async_api import async_playwright

    child = play("--rounds", "1", "--supervisor-after", "3600")
    try:
        async with asyncio.timeout(PATIENCE), async_playwright() as started:
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            console, boxes = await begin(child, chromium, more=marked != "bets")
            exposed = await printed(child, r"Card \d of (.*) lies face up")
            await console.answers(exposed[0])  # after what is marked wrongly
            await report_exposed(console, exposed[1])
            await printed(child, rf"{SUPERVISOR.pin}. Or {SUPERVISOR.name} comes at \d\d:\d\d:\d\d\.")
            await console.confirm(SUPERVISOR)
            await finish(console, boxes)
            await console.answers("All rounds dealt.")
            await chromium.close()
        assert await child.ended() == 0
        assert "All rounds dealt." in child.out
        assert any("Rounds: 1 concluded" in line for line in child.out)
        assert any("As planned: none missed" in line for line in child.out)
    finally:
        await child.end()


@pytest.mark.parametrize("reported", ["exposed", "exposed in Chinese", "not so"])
async def test_a_supervisor_comes_and_decides_the_open_matters(reported: str) -> None:
    """The page shows what he did, with his name. He denies what the cards show to be false."""
    from playwright.async_api import async_playwright

    language = "zh-Hans" if "Chinese" in reported else "en"
    child = play("--rounds", "1", "--supervisor-after", "0", "--language", language)
    try:
        async with asyncio.timeout(PATIENCE), async_playwright() as started:
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            console, boxes = await begin(child, chromium, language=language)
            exposed = await printed(
                child, r"Card \d of (.*) lies face up" if language == "en" else "(.*)第.*张牌面朝上"
            )
            if reported == "not so":
                await console.report("foreign_card")
                await printed(child, "The report is wrong: every card belongs to this deck")
                await console.answers(SUPERVISOR.name)
                await console.page.locator("#sentence:not(.red)").wait_for()
                await console.report("wrong_viewer", f"B{boxes[0]}")
                await printed(child, "The report is wrong: every Player looked only at his own hand")
                await console.page.locator("#sentence:not(.red)").wait_for()
            await report_exposed(console, exposed[1])
            await console.page.locator('#panel [data-act="others"]').wait_for()
            await console.answers(SUPERVISOR.name)
            await finish(console, boxes)
            await chromium.close()
        assert await child.ended() == 0
    finally:
        await child.end()


async def test_a_browser_is_enrolled_once_for_every_demonstration() -> None:
    from playwright.async_api import async_playwright

    port = free_port()
    async with asyncio.timeout(PATIENCE), async_playwright() as started:
        chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = await chromium.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        console = Person(page, "en")
        for game in ("NC", "F3"):
            child = play("--game", game, port=port)
            try:
                await console.look_at((await printed(child, r"(http://localhost:\d+/)"))[1])
                if game == "NC":
                    await console.enrol()
                await page.locator('#panel [data-act="dealer_on/"]').wait_for()
                assert not await page.locator('#panel [data-act="enrol"]').count()
            finally:
                await child.end()
        await chromium.close()


async def test_a_wrongly_marked_box_is_corrected_and_the_round_continues() -> None:
    """The terminal prints what the table no longer takes from the device, and the visitor enters it."""
    from playwright.async_api import async_playwright

    child = play("--supervisor-after", "3600")  # its first round is plain
    try:
        async with asyncio.timeout(PATIENCE), async_playwright() as started:
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            console, boxes = await begin(child, chromium, instead=True)
            await printed(child, "The Players have looked at their hands")
            (right,) = bets_of(child) - set(boxes)
            wrong = boxes[-1]
            await console.notice("overlooked")
            await console.tap(f"B{wrong}")
            await console.tap(f"B{right}")
            await console.press("done")
            await console.press("Entered by mistake")
            await console.sign(SUPERVISOR)
            await console.says("Had Players handled cards")
            await console.press("yes")  # further questions follow, so there is nothing to confirm
            await console.says("Do you know which card belongs where?")
            await console.press("no")
            await console.confirm(SUPERVISOR)
            await console.press("others")
            await console.press(f"B{right}//withdraw")
            await printed(child, "The Dealer's hand shows")
            assert not [line for line in child.out if re.search(r"Box \d shows", line)], "they lie face down"
            hands = {"D": "The Dealer's hand", **{f"B{box}": f"Box {box}" for box in boxes[:-1]}}
            for place, named in hands.items():
                shown = await printed(child, f"{named} shows (.+?)\\.")
                await console.press(f"expose_hand/{place}")
                for card in shown[1].split():
                    await console.press(code(card))
                await console.press("done")
            await console.end_round()
            await chromium.close()
    finally:
        await child.end()


def code(face: str) -> str:
    """Return the code of a card from its printed name."""
    return face[:-1].replace("10", "T") + {sign: suit for suit, sign in SUITS.items()}[face[-1]]


def bets_of(child: Child) -> set[int]:
    """Return the boxes with bets."""
    (line,) = (line for line in child.out if "Bets lie at" in line)
    return {int(number) for number in re.findall(r"\d+", line)}


async def begin(
    child: Child, chromium: Browser, *, more: bool = False, instead: bool = False, language: str = "en"
) -> tuple[Person, list[int]]:
    """Play until bets are closed. `more`: a box that is marked although it has no bet; `instead`: a box with a bet that
    is not marked.
    """
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
    if more or instead:
        other = next(number for number in range(1, 8) if number not in boxes)
        boxes = sorted([*boxes, other]) if more else [*boxes[:-1], other]
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
    await console.press("reconstruct/")
    for place in ("D", *(f"B{number}" for number in boxes)):
        await console.press(f"expose_hand/{place}")
    await console.end_round()
