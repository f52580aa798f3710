"""Pictures of every state of the page, in both languages, each with its layout checks and axe-core's findings.

Everyday states are played with a real daemon; states that take long to reach come from prepared messages.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import pytest

from controller.games.specification import Unit
from tests.console.album import Album, write_index
from tests.console.clicking import DEALER, SUPERVISOR, Console, opened
from tests.console.examples import SCREEN, asked_at, beat, examples
from tests.console.measures import LANGUAGES, OPENED
from tests.console.page_server import PageServer
from tests.end_to_end.processes import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

Course = Callable[[Console, Album], Awaitable[None]]


@pytest.fixture(scope="module", autouse=True)
def index() -> Iterator[None]:
    yield
    write_index()


async def menu(console: Console) -> None:
    await console.click(console.page.locator("#bar .menu"))


async def story(console: Console) -> None:
    await console.click(console.page.locator("#answer .story"))
    await console.page.locator("#sheet .body p").first.wait_for()


async def close(console: Console) -> None:
    await console.click(console.page.locator('#sheet [data-act="close"]'))


async def opening(console: Console, album: Album) -> None:
    """Play from a screen that nobody enrolled to bets."""
    page = console.page
    await page.locator('#panel [data-act="enrol"]').wait_for()
    await album.prepare()
    await album.take("not enrolled")
    await console.press("enrol")
    await album.take("enrolment")
    await close(console)
    await console.enrol()
    await album.prepare()
    await album.take("closed")
    await console.press("dealer_on/")
    await console.press(DEALER.id)
    for digit in "12":
        await console.press(digit)
    await album.take("sign with some digits")
    for digit in "345":
        await console.press(digit)
    await console.press("ok")
    await page.locator("#sentence .count", has_text="4").wait_for()
    await album.take("wrong pin")
    await console.sign(DEALER)
    await page.locator('#panel [data-act="open_table/"]').wait_for()
    await album.take("dealer on duty")
    await console.press("open_table/")
    await page.locator("#panel .primary.off").wait_for()
    await album.take("no deck")
    await console.table.move("load")
    await page.locator("#panel .primary:not(.off)").wait_for()
    await album.take("ready")
    await menu(console)
    await album.take("menu")
    await close(console)
    await console.press("place_your_bets/")
    await page.locator('#panel [data-act="no_more_bets/"]').wait_for()
    await album.take("bets open")
    for place in ("B1", "B3", "B6"):
        await console.tap(place)
        await page.locator(f'.place.lit[data-place="{place}"]').wait_for()
    await album.take("boxes marked")


async def a_round(console: Console, album: Album) -> None:
    """Play a regular round to its end, then pause the table and put it under maintenance."""
    page = console.page
    await album.prepare()
    await console.to_dealing(1, 3, 6)
    await album.take("dealing")
    await console.deal(2)
    await page.locator('.place.lit[data-place="B6"]').wait_for()
    await album.take("dealing the third set")
    await console.press("pause_table")
    await console.says(console.words["ask.pause_table.reason.now"])
    await album.take("why paused")
    await console.click(page.locator("#panel .answers button").first)
    await page.locator('#panel [data-act="resume_table/"]').wait_for()
    await album.take("paused")
    await console.press("resume_table/")
    await console.deal(2)
    await page.locator('#panel [data-act="expose_hand/D"]').wait_for()
    one, three, six, dealer = console.table.dealt()
    await menu(console)
    await album.take("menu while players look")
    await console.click(page.locator('#sheet [data-act="handle_cards/"]'))
    await console.tap("B1")
    await page.locator('[data-place="B1"] .seen .sign').wait_for()
    await album.take("hands to be turned over")
    await console.press("expose_hand/D")
    await album.take("which cards")
    for card in dealer[:2]:
        await console.press(card)
    await album.take("two cards tapped")
    await console.press(dealer[2])
    await console.press("done")
    await page.locator('#panel [data-act="expose_hand/B1"]').wait_for()
    await album.take("turning over")
    await console.turn_over({"B1": one, "B3": three, "B6": six})
    await page.locator('#panel [data-act="record_settled/"]').wait_for()
    await album.take("paying")
    await story(console)
    await album.take("story")
    await close(console)
    await console.press("record_settled/")
    await page.locator('#panel .primary[data-act="conclude_round/"]').wait_for()
    await album.take("paid")
    await console.press("conclude_round/")
    await page.locator("#bar .round", has_text=console.words["phase.concluded"]).wait_for()
    await album.take("round over")
    await menu(console)
    await console.click(page.locator('#sheet [data-act="begin_maintenance/"]:not(.off)'))
    await album.take("why maintenance")


async def irregularities(console: Console, album: Album) -> None:
    """Play an exposed card, misplaced cards, a wrong number, a foreign card and a void."""
    page = console.page
    await album.prepare()
    await console.to_dealing(1, 3)
    await console.deal(1)
    await console.press("report_irregularity")
    await album.take("what was noticed")
    await console.press("exposed_card")
    await album.take("where")
    await console.tap("B1")
    await page.locator('#panel [data-act="unknown"]').wait_for()
    await album.take("which card")
    await console.press("1")
    await page.locator("#sentence.red").wait_for()
    await album.take("exposed card")
    await console.press("confirm")
    await album.take("who signs")
    await console.press(SUPERVISOR.id)
    await album.take("signed by a supervisor")
    for digit in SUPERVISOR.pin:
        await console.press(digit)
    await console.press("ok")
    await page.locator("#panel .rows .row").first.wait_for()
    await album.take("each bettor chooses")
    await console.press("others")
    await console.press("reconstruct/")  # the exposed card was turned down
    await page.locator('.place.lit[data-place="B3"]').wait_for()
    await console.press("place_cards/")
    await album.take("which hand is not as shown")
    await console.tap("B1")
    await album.take("which card of it")
    await console.press("all")
    await album.take("where it lies")
    await console.tap("B2")
    await page.locator("#sentence.red").wait_for()
    await album.take("has anybody handled cards")
    await console.press("no")
    await page.locator("#panel .facts .then").first.wait_for()
    await album.take("what follows")
    await console.confirm(SUPERVISOR)
    await page.locator('#panel [data-act="moved"]').wait_for()
    await album.take("cards to be moved")
    await console.press("moved")
    await page.locator('.place.lit[data-place="B3"]').wait_for()
    await console.report("wrong_count", "B1")
    await console.press("4")
    await album.take("number pad")
    await console.press("ok")
    await page.locator("#sentence.red").wait_for()
    await album.take("wrong count")
    await console.press("back")
    await album.take("is it so")
    await console.press("no")
    await album.take("it was not so")
    await console.click(page.locator("#panel .answers button").first)
    await console.sign(SUPERVISOR)
    await page.locator('.place.lit[data-place="B3"]').wait_for()
    await console.report("foreign_card")
    await console.page.locator("#sentence.red").wait_for()
    await album.take("foreign card")
    await console.confirm(SUPERVISOR)
    await page.locator('#panel [data-act="again"]').wait_for()
    await page.clock.run_for(1100)
    await album.take("void asked again")
    await console.press("again")
    await page.locator('#panel [data-act="record_settled/"]').wait_for()
    await album.take("void")
    await story(console)
    await album.take("story of a void")


async def jam(console: Console, album: Album) -> None:
    """Let the device stop in the deal and ask what only people know."""
    page = console.page
    await album.prepare()
    await console.table.move("jam 4")
    await console.to_dealing(1, 3)
    await console.deal(1)
    await page.locator("#sentence.red").wait_for()
    await album.take("jam")
    await console.table.move("clear")
    await console.press("yes")
    await album.take("jam is it so")


async def away(console: Console, album: Album) -> None:
    """Show a device that disconnects and returns, and a table PC that is silent."""
    page = console.page
    await album.prepare()
    await console.to_dealing(1, 3)
    await console.deal(1)
    await page.locator('.place.lit[data-place="B3"]').wait_for()
    await console.table.move("unplug")
    await page.locator("#stage.hatched").wait_for()
    await album.take("device away")
    await console.table.move("plug")
    await page.locator('#panel .primary[data-act="continue_round/"]:not(.off)').wait_for()
    await album.take("device back")
    console.table.daemon.signal(signal.SIGKILL)
    await console.table.daemon.ended()
    await page.clock.run_for(6300)
    await page.locator("body.no-contact").wait_for()
    await album.take("no contact")


COURSES: Final[dict[str, tuple[Course, bool]]] = {
    "opening": (opening, False),
    "round": (a_round, True),
    "irregularities": (irregularities, True),
    "jam": (jam, True),
    "away": (away, True),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", COURSES)
async def test_a_real_table_has_no_layout_errors(name: str, language: str) -> None:
    course, enrolled = COURSES[name]
    async with opened(Unit.SETS, language=language, enrolled=enrolled) as console:
        album = Album(f"{name}-{language}", console.page)
        await course(console, album)
        assert album.found == {}


SHOWN: Final = """async name => {
  const { store } = await import("/console/js/store.js");
  while (store.screen?.shown !== name) await new Promise(done => setTimeout(done, 5));
}"""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", ["", "display", "display?for=surveillance"])
async def test_prepared_states_have_no_layout_errors(path: str, language: str, server: PageServer) -> None:
    from playwright.async_api import (
        async_playwright,
    )  # starts a process, so it is imported only where a browser is needed

    name = {"": "prepared", "display": "display"}.get(path, "surveillance")
    async with async_playwright() as started:
        chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = await chromium.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        album = Album(f"{name}-{language}", page)
        all_states = prepared(language)
        states = all_states if not path else {key: all_states[key] for key in DISPLAYED}
        for state, message in states.items():
            more: dict[str, Any] = {"offers": [], "people": [], "screen": {"enrolled": False}} if path else {}
            server.show(message | more | {"shown": state}, beat(message))
            if page.url == "about:blank":
                await page.goto(f"{server.address}/{path}{'&' if '?' in path else '?'}language={language}")
                await page.evaluate(SHOWN, state)
                await album.prepare()
            await page.evaluate(SHOWN, state)
            await album.take(state)
            if not path and await page.evaluate(OPENED):
                await album.take(f"{state} opened")
        await chromium.close()
        server.hang_up()
    assert album.found == {}


DISPLAYED: Final = ("betting", "dealing_sets", "settling", "all results", "four cards", "away")


def prepared(language: str) -> dict[str, dict[str, Any]]:
    return {**examples(language), "abandoning": asked_at(SCREEN.id, language=language)}
