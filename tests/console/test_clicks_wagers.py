"""A table at which bettors and their bets are entered, by clicks at a real daemon."""

from __future__ import annotations

import pytest

from tests.console.clicking import MANAGER, SUPERVISOR, Console, opened
from tests.console.measures import DRAWN, MEASURE, wrong

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


async def enter_bettor(console: Console, name: str) -> None:
    await console.choose_in_menu("enter_bettor/")
    await console.page.locator("#panel input").fill(name)
    await console.click(console.page.locator("#panel .input button"))
    await console.press("stands")
    await console.answers(f"{name} joins the table")


async def bet(console: Console, bettor: str, wager: str, box: int, amount: int) -> None:
    await console.press("place_wager/")
    await finish_bet(console, bettor, wager, box, amount)


async def finish_bet(console: Console, bettor: str, wager: str, box: int, amount: int) -> None:
    await console.press(bettor)
    await console.press(wager)
    await console.tap(f"B{box}")
    for digit in str(amount):
        await console.press(digit)
    await console.press("ok")


async def amounts(console: Console) -> dict[str, int]:
    return {f"{one['bettor']} {one['wager']} {one['box']}": one["amount"] for one in (await console.state())["bets"]}


async def to_three_bets(console: Console) -> None:
    """Place the bets of Ann and Bob at box 1, and of Bob at box 3."""
    await console.press("place_your_bets/")
    await enter_bettor(console, "Ann")
    await enter_bettor(console, "Bob")
    await console.says("Enter the bets.")
    await bet(console, "Ann", "main", 1, 30)
    await bet(console, "Bob", "main", 1, 20)
    await bet(console, "Bob", "main", 3, 50)
    await console.press("no_more_bets/")
    await console.says("3 cards to Box 1")


async def test_a_corrected_bet_is_shown_before_and_after_in_the_signature() -> None:
    async with opened() as console:
        await to_three_bets(console)
        await console.choose_in_menu("correct_bet/")
        await console.click(console.page.locator("#panel .list button", has_text="Box 1, Bob, Initial Bet 20"))
        for digit in "25":
            await console.press(digit)
        await console.press("ok")
        await console.click(console.page.locator("#panel .answers button").first)
        await console.reads("Then: Box 1, Bob, Initial Bet: was 20, will be 25.")
        assert "*" not in await console.page.locator("#panel .facts").inner_text()
        await console.sign(SUPERVISOR)
        await console.says("3 cards to Box 1")
        assert await amounts(console) == {"Ann main 1": 30, "Bob main 1": 25, "Bob main 3": 50}


async def test_each_bettor_of_a_box_chooses_after_an_exposed_card() -> None:
    async with opened() as console:
        await to_three_bets(console)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.report("exposed_card", "B1")
        await console.confirm(SUPERVISOR)
        await console.reads("Ask Ann at box 1, Bob at box 1, Bob at box 3")
        for width, height in ((800, 1280), (1280, 800)):
            await console.page.set_viewport_size({"width": width, "height": height})
            await console.page.evaluate(DRAWN)
            measured = await console.page.evaluate(MEASURE)
            assert wrong(measured, measured["regions"]) == {}
        rows = console.page.locator("#panel .row")
        assert [row.split("\n")[0] for row in await rows.all_inner_texts()] == [
            "Box 1 Ann 30",
            "Box 1 Bob 20",
            "Box 3 Bob 50",
        ]
        await console.press("B1/Ann/withdraw")
        await console.page.locator('#panel [data-act="B1/Ann/withdraw"][aria-pressed="true"]').wait_for()
        await console.press("B3/Bob/absent")
        await console.sign(SUPERVISOR)
        await console.page.locator('#panel [data-act="B3/Bob/continue"][aria-pressed="true"]').wait_for()
        await console.press("B1/Bob/continue")
        await console.press("reconstruct/")
        await console.says("3 cards to Box 3")
        await console.turn_over_all()
        await console.end_round()
        settled = {bet["number"]: bet["verdict"] for bet in (await console.state())["settlement"]}
        assert settled[1] == "returned"
        assert set(settled) == {1, 2, 3}


async def interrupted(console: Console, established: str) -> None:
    """Report a power failure that affects play, and answer whether a wager has won or lost."""
    await console.report("power_failure")
    await console.press("yes")
    await console.says("Is the result of any wager certain?")
    await console.press(established)


async def test_nc_5_4_1_a_power_failure_with_an_established_outcome_plays_on() -> None:
    async with opened() as console:
        await to_three_bets(console)
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        await console.turn_over({"D": dealer, "B1": one})
        await interrupted(console, "yes")
        await console.reads("NC 5.4.1. Decision: pit supervisor")
        await console.reads("Then: Turn over box 3.")
        await console.confirm(SUPERVISOR)
        await console.turn_over({"B3": three})
        await console.end_round()
        assert len((await console.state())["settlement"]) == 3


async def test_nc_5_4_2_a_power_failure_without_an_established_outcome_returns_bets() -> None:
    async with opened() as console:
        await to_three_bets(console)
        await console.deal(2)
        await interrupted(console, "no")
        await console.reads("NC 5.4.2. Decision: pit supervisor")
        await console.reads("Then: The round is void.")
        await console.confirm(SUPERVISOR)
        await console.press("again")
        await console.says("Return all bets")
        await console.press("record_settled/")
        assert {bet["verdict"] for bet in (await console.state())["settlement"]} == {"returned"}


async def restrict(console: Console) -> None:
    await console.choose_in_menu("restrict_betting/")
    await console.says("Which boxes are closed to bets?")


async def test_restrictions_of_bets_start_with_those_in_force() -> None:
    """Box 2 accepts no bets, and box 3 accepts two of a kind; then box 2 is opened again, and the
    rest stays as it is.
    """
    async with opened() as console:
        await restrict(console)
        await console.press("2")
        await console.press("done")
        await console.press("3")
        await console.press("3")
        await console.press("done")
        await console.sign(MANAGER)
        await console.answers("box 2 is closed to bets")
        await restrict(console)
        pressed = console.page.locator('#panel .list [aria-pressed="true"]')
        assert await pressed.all_inner_texts() == ["Box 2"]
        await console.press("2")
        await console.press("done")
        assert await pressed.all_inner_texts() == ["Box 3: at most 2 of a kind"]
        await console.press("done")
        await console.sign(MANAGER)
        await console.answers("estricted: box 3 accepts at most 2 wagers")


async def test_a_bettor_sits_at_a_box_and_looks_and_a_bet_that_was_overlooked_lies() -> None:
    async with opened() as console:
        await console.choose_in_menu("enter_bettor/")
        await console.page.locator("#panel input").fill("Ann")
        await console.click(console.page.locator("#panel .input button"))
        await console.tap("B3")
        await console.answers("Ann joins the table")
        await console.press("place_your_bets/")
        await console.choose_in_menu("place_wager/true")
        await finish_bet(console, "Ann", "main", 3, 100)
        await console.page.locator('.place.lit[data-place="B3"]').wait_for()
        await console.press("no_more_bets/")
        await console.deal(2)
        await console.page.locator('.place.lit[data-place="D"], #panel [data-act="expose_hand/D"]').first.wait_for()
        await console.choose_in_menu("handle_cards/true")
        await console.tap("B3")
        await console.press("Ann")
        await console.page.locator('[data-place="B3"] .seen .sign').nth(1).wait_for()
        (hand,) = [one for one in (await console.state())["hands"] if one["place"] == "B3"]
        assert (hand["handled"], hand["viewed"]) == (True, True)
