"""The daemon is killed in mid-round while a person is at the page: nothing is lost or done twice."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from tests.console.clicking import SUPERVISOR, Console, opened

if TYPE_CHECKING:
    from playwright.async_api import Route

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

OPERATIONS = "**/v1/operations?*"


async def kill(console: Console) -> None:
    console.table.daemon.signal(signal.SIGKILL)
    await console.table.daemon.ended()


async def start_again(console: Console) -> None:
    """Restart the daemon, and wait until the device is ready: an entry at that moment is refused as overtaken."""
    await console.page.locator("body.no-contact").wait_for()
    await console.table.start_daemon()
    await console.page.locator("body:not(.no-contact)").wait_for()
    await console.page.locator("#bar .device:not(.amber)").wait_for()


async def test_a_program_that_is_ended_in_order_has_not_failed() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.table.daemon.end()
        await console.says(console.words["contact.stopped"])
        await console.page.locator("#sentence.red").wait_for()  # cards are out
        await console.reads(console.words["contact.goes_on"])
        assert not await console.page.locator("#panel button:not([aria-disabled=true]):visible").count()
        await start_again(console)
        await console.press("continue_round/")
        await console.says("3 cards to Box 1")


async def entered(console: Console) -> list[str]:
    """Return the operations of the round, in the order in which they were entered."""
    answer = await console.page.request.get(f"http://localhost:{console.table.port_of_screens}/v1/rounds/1")
    return [one["operation"] for one in await answer.json() if one["event"] == "operation_taken"]


@pytest.mark.parametrize("arrives", [True, False], ids=["recorded", "lost"])
async def test_a_tap_on_its_way_is_looked_up(arrives: bool) -> None:
    async with opened() as console:
        await console.press("place_your_bets/")
        await console.tap("B1")
        await console.page.locator('.place.lit[data-place="B1"]').wait_for()

        async def cut(route: Route) -> None:
            if arrives:
                await route.fetch()  # the table has recorded it, but the answer is lost
            await kill(console)
            await route.abort()

        await console.page.route(OPERATIONS, cut, times=1)
        await console.click(console.page.locator('#panel [data-act="no_more_bets/"]'))
        await start_again(console)
        if not arrives:
            await console.answers("Not recorded. Do it again.")
        await console.press("continue_round/")
        if not arrives:
            await console.press("no_more_bets/")
        await console.says("3 cards to Box 1")
        assert (await entered(console)).count("no_more_bets") == 1
        await console.turn_over_all()
        await console.end_round()


async def test_a_pin_half_entered_is_gone_and_the_matter_is_signed() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.report("exposed_card", "B1")
        await console.press("confirm")
        await console.press(SUPERVISOR.id)
        for digit in SUPERVISOR.pin[:3]:
            await console.press(digit)
        await kill(console)
        await start_again(console)
        await console.let_pass(30_000)
        assert await console.page.locator("#panel output").inner_text() == ""
        await console.enter_pin(SUPERVISOR.pin)
        await console.press("others")
        await console.press("reconstruct/")
        await console.press("continue_round/")
        await console.says("3 cards to Box 3")


async def test_an_end_whose_second_request_was_lost_is_entered_by_another_tap() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.turn_over_all()
        await console.press("record_settled/")
        lost: list[str] = []

        async def lose_the_second(route: Route) -> None:
            if "repeats" in (route.request.post_data or ""):
                lost.append(route.request.url)
                await route.abort()
            else:
                await route.continue_()

        await console.page.route(OPERATIONS, lose_the_second)
        await console.press("conclude_round/")
        while not lost:
            await console.let_pass(1000)
        await console.says("End the round.")
        await console.page.unroute(OPERATIONS)
        await console.press("conclude_round/")
        await console.page.locator("#bar .round", has_text="Round over").wait_for()
