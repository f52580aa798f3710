"""Displays of a table in a round, and a screen that slept while the table continued."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from tests.console.clicking import DEALER, Console, Person, opened

if TYPE_CHECKING:
    from playwright.async_api import Page, Route

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

OPERATIONS = "**/v1/operations?*"
HOUR = 3_600_000  # ms
TOUCHED = "button, input, a, [role=button], [tabindex]"

# A machine that sleeps does not count the seconds until it gives a request up.
ASLEEP = "AbortSignal.timeout = () => new AbortController().signal"

# The first state that the daemon sends to this browser, as it comes.
FIRST_STATE = """async () => {
  const reader = (await fetch("/v1/screen")).body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!/^event: state\\n[^]*?\\n\\n/m.test(text)) text += decoder.decode((await reader.read()).value);
  await reader.cancel();
  return text;
}"""

POSTED = """async ([path, body]) => {
  const answer = await fetch(path, {method: "POST", body: JSON.stringify(body),
    headers: {"Content-Type": "application/json", "X-Cardshoe": "1"}});
  return [answer.status, (await answer.json()).code];
}"""


async def display(console: Console, address: str) -> Page:
    """Return a display, in a browser that no supervisor has enrolled."""
    chromium = console.page.context.browser
    assert chromium is not None
    context = await chromium.new_context(viewport={"width": 1280, "height": 800})
    page = await context.new_page()
    page.on("pageerror", lambda error: console.complaints.append(str(error)))
    await page.goto(f"http://localhost:{console.table.port_of_screens}{address}")
    return page


async def shows(page: Page, text: str) -> None:
    await page.locator("#sentence .text", has_text=text).wait_for()
    assert await page.locator(TOUCHED).count() == 0


async def knows_faces_of(page: Page, hands: dict[str, list[str]], *opened_at: str) -> None:
    """Check that the page and the daemon's messages to this browser name the cards at these places and no others."""
    sent = await page.evaluate(FIRST_STATE) + await page.evaluate("async () => (await fetch('/v1/state')).text()")
    assert [place for place, cards in hands.items() if any(json.dumps(card) in sent for card in cards)] == [*opened_at]
    for place in opened_at:
        await page.locator(f'.place[data-place="{place}"] .holder.face').first.wait_for()
    drawn = await page.locator(".place:has(.holder.face)").evaluate_all("all => all.map(one => one.dataset.place)")
    assert set(drawn) == {*opened_at}


@pytest.mark.parametrize("address", ["/display", "/display?for=surveillance"])
async def test_a_display_follows_a_round_and_operates_nothing(address: str) -> None:
    async with opened() as console:
        words = console.words
        page = await display(console, address)
        players = "surveillance" not in address
        await console.press("place_your_bets/")
        for number in (1, 3):
            await console.tap(f"B{number}")
            await console.page.locator(f'.place.lit[data-place="B{number}"]').wait_for()
        await shows(page, words["display.betting"] if players else "No more bets")
        await console.press("no_more_bets/")
        await console.says("3 cards to Box 1")
        await shows(page, words["display.dealing"] if players else "3 cards to Box 1")
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        await console.page.locator('#panel [data-act="expose_hand/D"]').wait_for()
        hands = {"B1": one, "B3": three, "D": dealer}
        await knows_faces_of(page, hands)
        await console.turn_over({"D": dealer})
        await console.page.locator('#panel [data-act="expose_hand/B1"]').wait_for()
        await knows_faces_of(page, hands, "D")
        await refuses(page)
        await console.turn_over({"B1": one, "B3": three})
        await shows(page, words["display.results"] if players else "Pay and take")
        assert (await page.locator("body").inner_text()).count(DEALER.name) == 0


async def refuses(page: Page) -> None:
    """Check that this browser may not do what a screen of the table may."""
    assert await page.context.cookies() == []
    identity = "0d4ddc54-7b0a-4d28-a8d5-1c2b6f9f0001"
    turn_over = {"operation": "pause_table", "reason": "Dispute"}
    for body in (
        {"id": identity, "round": 1, "as_of": 1, "operation": turn_over},
        {"id": identity, "round": 1, "as_of": 1, "operation": turn_over, "person": DEALER.id, "pin": DEALER.pin},
    ):
        assert await page.evaluate(POSTED, ["/v1/operations", body]) == [403, "not-enrolled"]
    state = json.loads(await page.evaluate("async () => (await fetch('/v1/state')).text()"))
    assert not state["paused"]


async def beside(console: Console) -> Person:
    """Return another screen, at which the dealer continues to deal."""
    right = await console.beside("Right")
    await right.press("sign_on/")
    await right.sign(DEALER)
    return right


async def test_a_screen_that_slept_for_an_hour_shows_the_table_as_it_is() -> None:
    async with opened() as console:
        right = await beside(console)
        await console.press("place_your_bets/")
        await console.tap("B1")
        await right.page.locator('.place.lit[data-place="B1"]').wait_for()
        await console.page.context.set_offline(offline=True)
        await right.press("no_more_bets/")
        await right.says("3 cards to Box 1")
        await console.deal(1)
        await right.says("3 cards to the Dealer")
        await console.page.clock.fast_forward(HOUR)
        await console.says(console.words["contact.none"])
        assert await console.page.locator("#panel button:not([aria-disabled=true]):visible").count() == 0
        await console.page.context.set_offline(offline=False)
        await console.says("3 cards to the Dealer")
        back = await console.page.locator("#answer .text", has_text="The screen is up to date.").inner_text()
        assert int("".join(part for part in back.split("Back after")[1] if part.isdigit())) >= HOUR // 1000
        await console.turn_over_all()
        await console.end_round()


async def test_a_tap_that_is_an_hour_late_only_shows_who_did_what() -> None:
    async with opened() as console:
        right = await beside(console)
        await console.press("place_your_bets/")
        await console.tap("B1")
        await right.page.locator('.place.lit[data-place="B1"]').wait_for()
        woken = asyncio.Event()

        async def sleeps(route: Route) -> None:
            await woken.wait()
            await route.continue_()

        await console.page.evaluate(ASLEEP)
        await console.page.route(OPERATIONS, sleeps, times=1)
        await console.click(console.page.locator('#panel [data-act="no_more_bets/"]'))
        await right.press("no_more_bets/")
        await right.says("3 cards to Box 1")
        await console.table.give_out("lift")  # the sleeping page still waits for its answer
        await right.says("3 cards to the Dealer")
        before = await console.state()
        await console.page.clock.fast_forward(HOUR)
        woken.set()
        await console.answers("Nothing was done")
        await console.answers(f"{DEALER.name} (Right) closed bets.")
        await console.says("3 cards to the Dealer")
        after = await console.state()
        assert [after[name] for name in ("round", "phase", "boxes")] == [
            before[name] for name in ("round", "phase", "boxes")
        ]
