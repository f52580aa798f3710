"""Special features of the games' documents, by clicks at a real daemon."""

from __future__ import annotations

import pytest

from controller.games.specification import Unit
from simulators.people.crew import CREW
from tests.console.clicking import DEALER, BaccaratTable, ClickedTable, Console, ShoeTable, opened
from tests.console.test_clicks_wagers import amounts, bet, enter_bettor

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

MANAGER = CREW[2]
MOST = 50


class LimitedTable(ClickedTable):
    """A table with a maximum that bettors at a box share (NC 5.1.1)."""

    def configure(self, **given: object) -> None:
        super().configure(**given)
        limits = f"[limits.main]\nminimum = 5\nmaximum = {MOST}\n"
        self.configuration.write_text(f"{self.configuration.read_text()}{limits}")


async def first_card(console: Console) -> None:
    await console.says("Draw the First Card")
    await console.deal_singles(1)
    await console.press("show_first_card/")
    (first,) = console.table.dealt()[0]
    await console.press(first)
    await console.press("done")


@pytest.mark.parametrize("kind", [BaccaratTable, ShoeTable], ids=["F3", "TP"])
async def test_an_exposed_single_card_where_the_document_is_silent(kind: type[ClickedTable]) -> None:
    async with opened(Unit.SINGLES, kind=kind) as console:
        await console.press("shuffled_outside/")
        await console.press(DEALER.id)
        await console.to_dealing(1, 2)
        if kind is BaccaratTable:
            await first_card(console)
        await console.says("Card 1 of 3 to")
        await console.deal_singles(1)
        await console.page.locator("#stage .place .card").first.wait_for()
        await console.report("exposed_card", (await console.order_of_deal())[0])
        await console.says("Call the shift manager for a ruling.")
        await console.reads("The rules are silent. Decision: shift manager")
        assert "Set card order" not in await console.page.locator("#panel").inner_text()  # nothing came together
        await console.press("continue")
        await console.press("Seen at the table")
        await console.press(MANAGER.id)
        await console.sign(MANAGER)
        await console.says("face down")  # the Banker's hand where the First Card makes it the first
        await console.press("reconstruct/")
        await console.says("Card ")
        assert (await console.state())["irregularities"] == []
        await console.deal_singles(1)


async def test_an_excess_is_returned_before_bets_are_closed() -> None:
    async with opened(kind=LimitedTable) as console:
        await console.press("place_your_bets/")
        await enter_bettor(console, "Ann")
        await enter_bettor(console, "Bob")
        await bet(console, "Ann", "main", 1, MOST - 10)
        await bet(console, "Bob", "main", 1, 30)
        await console.press("reject_excess/")
        await console.page.locator("#panel:not(.asking)").wait_for()
        kept = await amounts(console)
        assert sum(kept.values()) == MOST
        await console.press("no_more_bets/")
        await console.says("3 cards to Box 1")
