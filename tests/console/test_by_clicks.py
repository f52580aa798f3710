"""Rounds at a real daemon, dealt by clicks alone."""

from __future__ import annotations

import asyncio

import pytest

from controller.games.specification import Unit
from tests.console.clicking import DEALER, SUPERVISOR, Console, opened
from tests.end_to_end.processes import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


async def test_a_whole_round_of_sets() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3, 6)
        await console.turn_over_all()
        await console.end_round()


async def signs_what(console: Console) -> None:
    """Check that the signature names the matter and its place, the clause, and the round."""
    await console.reads("Confirm \u00b7 A card exposed in dealing: Box 1")
    await console.reads("NC 5.7")


async def test_an_exposed_card_from_the_report_to_its_end() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("exposed_card", "B1")
        await console.page.locator("#sentence.red").wait_for()
        await console.press("confirm")
        await signs_what(console)
        await console.press(SUPERVISOR.id)
        await signs_what(console)
        await console.sign(SUPERVISOR, "111222")
        await console.counts("4 tries left")
        await console.sign(SUPERVISOR)
        await console.press("others")
        await console.says("Turn the exposed card of box 1 face down.")
        await console.press("reconstruct/")
        await console.says("3 cards to Box 3")
        await console.turn_over_all()
        await console.end_round()


async def test_a_void_is_asked_twice_in_two_places() -> None:
    """A double tap at the first place has no further effect."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("foreign_card")
        await console.page.locator("#sentence.red").wait_for()
        await console.confirm(SUPERVISOR)
        await console.says("Round void?")
        where = await console.page.locator('#panel [data-act="again"]').bounding_box()
        assert where is not None
        assert where["x"] < 752, "not where the first one was"
        await console.press("again")
        await console.says("Return all bets")
        await console.press("record_settled/")


async def test_two_screens_that_press_together() -> None:
    """The second person sees what the first did, and nothing is done twice."""
    async with opened() as console:
        await console.press("place_your_bets/")
        await console.tap("B1")
        await console.page.locator('.place.lit[data-place="B1"]').wait_for()
        body = {"id": "0d4ddc54-7b0a-4d28-a8d5-1c2b6f9f0001", "round": 1, "as_of": 1,
                "operation": {"operation": "no_more_bets"}}  # fmt: skip
        answer = await console.page.evaluate(
            """async (body) => (await fetch("/v1/operations", {method: "POST", body: JSON.stringify(body),
                 headers: {"Content-Type": "application/json", "X-Cardshoe": "1"}})).json()""",
            body,
        )
        assert answer["code"] == "changed"
        assert "Nothing was done" in answer["sentence"]
        await asyncio.wait_for(console.press("no_more_bets/"), PATIENCE)
        await console.says("3 cards to Box 1")


async def test_a_whole_round_of_single_cards() -> None:
    async with opened(Unit.SINGLES) as console:
        await console.press("shuffled_outside/")
        await console.press(DEALER.id)
        await console.to_dealing(2, 5)
        for _ in range(9):
            await console.table.give_out("draw")
        cards = [card for (card,) in console.table.dealt()]
        two, five, dealer = (cards[at : at + 3] for at in (0, 3, 6))  # three to each place in turn
        await console.turn_over({"B2": two, "B5": five, "D": dealer})
        await console.end_round()
