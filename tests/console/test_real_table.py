"""The page at a real daemon with a simulated device and people: it shows a round, and survives a killed daemon."""

from __future__ import annotations

import shutil
import signal
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

from tests.end_to_end.browser import Browser, free_port
from tests.end_to_end.stage import Stage, short_folder

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


HANDS: Final = """() => {
const drawn = one => one.getAttribute("href").split("#")[1];
return Object.fromEntries([...document.querySelectorAll(".place:has(.face)")].map(one => [
  one.dataset.place,
  [...one.querySelectorAll(".face")].map(card => {
    const rank = card.querySelector(".rank");
    return (rank.textContent || drawn(rank)).replace("10", "T") + drawn(card.querySelector(".pip"));
  }),
]))}"""


class Shown(NamedTuple):
    """A table and an enrolled screen with the page. `complaints`: the browser's errors about the page."""

    stage: Stage
    port: int
    page: Page
    complaints: list[str]


@pytest.fixture
async def shown() -> AsyncIterator[Shown]:
    from playwright.async_api import (
        async_playwright,
    )  # starts a process, so it is imported only where a browser is needed

    port = free_port()
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage, async_playwright() as started:
            stage.configure(law=f"[api.http]\nport = {port}\n")
            await stage.start_daemon()
            async with Browser(port) as screen:
                assert (await screen.enrol()).json["accepted"]
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            context = await chromium.new_context(viewport={"width": 1280, "height": 800})
            name, _, token = screen.cookie.partition("=")
            await context.add_cookies([{"name": name, "value": token, "url": f"http://localhost:{port}"}])
            page = await context.new_page()
            complaints: list[str] = []
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.clock.install()
            await page.goto(f"http://localhost:{port}/?language=en")
            yield Shown(stage, port, page, complaints)
            await chromium.close()


async def test_a_whole_round_is_shown_and_nothing_is_refused(shown: Shown) -> None:
    await shown.page.locator("#bar .round", has_text="Closed").wait_for()
    await shown.stage.start_device()
    await shown.page.locator("#bar .round", has_text="R1 Round over").wait_for()
    async with Browser(shown.port) as screen:
        hands = (await screen.state())["hands"]
    assert hands
    assert await shown.page.evaluate(HANDS) == {hand["place"]: hand["cards"] for hand in hands}
    assert not shown.complaints


async def test_a_killed_daemon_is_reported_and_the_page_recovers(shown: Shown) -> None:
    page, stage = shown.page, shown.stage
    await page.locator("#bar .round", has_text="Closed").wait_for()
    stage.daemon.signal(signal.SIGKILL)
    await stage.daemon.ended()
    await page.clock.run_for(5300)
    assert await page.locator("#sentence.red").inner_text() == "Leave the cards: the table PC is silent."
    assert await page.locator("button:enabled:not([aria-disabled=true]):visible").count() == 0
    await stage.start_daemon()
    while await page.locator("body.no-contact").count():
        await page.clock.run_for(1000)
    await page.clock.run_for(500)
    assert "Back after" in await page.locator("#answer .text").inner_text()
    assert "Wait until the device is connected." in await page.locator("#sentence").inner_text()
