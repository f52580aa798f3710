"""A request that is made twice: the view of the requesting screen, of other screens, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.console.examples import SCREEN, asked_at, beat, ending_at
from tests.console.page_server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

ABANDON: Final = '#panel [data-act^="abandon_round"]'
DUE: Final = "Next: the Dealer, 3 cards."


@pytest.fixture
def page(browser: Browser, server: PageServer) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1280, "height": 800})
    opened.set_default_timeout(8000)
    opened.clock.install()
    yield opened
    opened.close()
    server.hang_up()


def show(page: Page, server: PageServer, state: dict[str, Any]) -> None:
    server.show(state, beat(state))
    page.goto(server.address)
    page.wait_for_selector(".place")


def says(page: Page, text: str) -> None:
    page.locator("#sentence .text", has_text=text).wait_for()


def goes_on(page: Page, place: str) -> None:
    """Check that the act of the phase is shown: the next place is lit, and nothing is red or asks to void the round."""
    page.locator(f".place.lit[data-place={place}]").wait_for()
    assert page.locator("#sentence.red").count() == 0
    assert page.locator(ABANDON).count() == 0


def test_a_kept_round_continues(page: Page, server: PageServer) -> None:
    state = asked_at(SCREEN.id)
    place = state["view"]["next_place"]
    show(page, server, state)
    says(page, "Round void? All bets go back.")
    assert page.locator("#sentence.red").count() == 0, "only the button that voids is red"
    assert page.locator("#panel .second.red").count() == 1
    assert page.locator(".place.lit").count() == 0
    page.clock.run_for(1600)
    page.locator('#panel [data-act="keep"]').click()
    page.clock.run_for(100)
    goes_on(page, place)


def test_enter_never_answers_the_second_request(page: Page, server: PageServer) -> None:
    """Enter does not answer when it is pressed twice or while the answer has the focus; the space bar does."""
    show(page, server, asked_at(SCREEN.id))
    again = page.locator('#panel [data-act="again"]')
    again.wait_for()
    page.clock.run_for(1600)
    server.asked.clear()
    page.keyboard.press("Enter")
    again.focus()
    page.keyboard.press("Enter")
    page.clock.run_for(400)
    assert not [path for path in server.asked if path.startswith("/v1/operations")]
    with page.expect_request("**/v1/operations?*"):
        page.keyboard.press("Space")


def test_another_screen_shows_the_act_and_the_requester(page: Page, server: PageServer) -> None:
    state = asked_at("ffffffffffff")
    show(page, server, state)
    page.locator("#panel .facts p", has_text="Kim Lau asks to void the round").wait_for()
    goes_on(page, state["view"]["next_place"])


@pytest.mark.parametrize("screen", [SCREEN.id, "ffffffffffff"])
def test_a_request_lapses_after_half_a_minute(page: Page, server: PageServer, screen: str) -> None:
    state = asked_at(screen, ago=31)
    show(page, server, state)
    goes_on(page, state["view"]["next_place"])
    assert page.locator("#panel .facts p", has_text="asks to void").count() == 0
    said = page.locator("#panel .facts p", has_text="Void round: not confirmed within 30 s.")
    assert said.count() == (screen == SCREEN.id), "the screen that asked says so"


def test_after_it_lapsed_it_is_asked_again_by_whose_authority(page: Page, server: PageServer) -> None:
    show(page, server, asked_at(SCREEN.id, ago=31))
    page.locator("#bar .menu").click()
    page.clock.run_for(400)
    page.locator('#sheet [data-act^="abandon_round"]').click()
    says(page, "Reason for the ruling?")


@pytest.mark.parametrize("screen", [SCREEN.id, "ffffffffffff"])
def test_the_end_of_a_round_is_not_asked_about_at_any_screen(page: Page, server: PageServer, screen: str) -> None:
    """Between its two requests, which the page enters at one tap, the act has the same words at every screen."""
    show(page, server, ending_at(screen))
    says(page, "End the round.")
    page.locator('#panel .primary[data-act^="conclude_round"]').wait_for()
    assert page.locator("#panel .facts p").count() == 0
