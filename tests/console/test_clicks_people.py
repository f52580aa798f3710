"""The right to sign, wrong PINs, a handover, and two screens of one table, by clicks at a real daemon."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from simulators.people.crew import CREW
from tests.console.clicking import DEALER, FRAME, SUPERVISOR, ClickedTable, Console, opened
from tests.end_to_end.test_screens import ANOTHER_DEALER, LEE

if TYPE_CHECKING:
    from playwright.async_api import Route

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

MANAGER = CREW[2]
WRONG = "000000"
TRIES = 5


async def to_an_exposed_card(console: Console) -> None:
    """Report an exposed card, up to the signature."""
    await console.to_dealing(1, 3)
    await console.deal(1)
    await console.says("3 cards to Box 3")
    await console.report("exposed_card", "B1")
    await console.press("confirm")
    await console.says("Who signs?")


async def offered(console: Console) -> list[str]:
    return await console.page.locator("#panel .answers button").all_inner_texts()


async def test_five_wrong_pins_lock_a_person_and_another_signs() -> None:
    async with opened() as console:
        await to_an_exposed_card(console)
        await console.press(SUPERVISOR.id)
        for left in ("4 tries left", "3 tries left", "2 tries left", "1 try left", ""):
            await console.says("Sam: enter")
            await console.enter_pin(WRONG)
            await (console.counts(left) if left else console.says("Sam's PIN is locked until"))
            assert await console.page.locator("#panel output").inner_text() == ""
        assert len((await console.state())["irregularities"]) == 1
        await console.press("1")
        assert await console.page.locator('#panel [data-act="ok"].off').count() == 1
        await console.press(MANAGER.id)
        await console.counts("5 tries left")
        await console.enter_pin(MANAGER.pin)
        await console.press("others")
        await console.press("reconstruct/")
        await console.says("3 cards to Box 3")


async def test_a_digit_right_after_the_name_counts_and_a_second_tap_does_not() -> None:
    async with opened() as console:
        await to_an_exposed_card(console)
        page = console.page
        lies = await page.locator(f'#panel [data-act="{SUPERVISOR.id}"]').bounding_box()
        assert lies
        await console.press(SUPERVISOR.id)
        await page.mouse.click(lies["x"] + lies["width"] / 2, lies["y"] + lies["height"] / 2)
        for digit in SUPERVISOR.pin:  # the page's clock stands still: no time has passed
            await page.locator(f'#panel [data-act="{digit}"]').click()
        await page.clock.run_for(FRAME)
        assert await page.locator("#panel output").inner_text() == "\u2022" * len(SUPERVISOR.pin)
        await console.press("ok")
        await console.press("others")


async def test_a_wrong_pin_of_an_act_that_has_ended_meanwhile_opens_nothing() -> None:
    async with opened() as console:
        await to_an_exposed_card(console)
        await console.press(SUPERVISOR.id)
        left = await console.page.evaluate(
            """async (pin) => {
              const { cancel, digits, sign } = await import("/console/js/flow.js");
              const { store } = await import("/console/js/store.js");
              digits(pin);
              const answered = sign();
              cancel();
              await answered;
              return store.own.flow ?? null;
            }""",
            WRONG,
        )
        assert left is None


async def test_a_dealer_is_not_asked_to_sign_beyond_his_rank() -> None:
    async with opened() as console:
        await to_an_exposed_card(console)
        assert await offered(console) == [SUPERVISOR.name, MANAGER.name]
        await console.press("back")
        await console.press("pause_table")  # a dealer may
        await console.says(console.words["ask.pause_table.reason.now"])
        await console.click(console.page.locator("#panel .answers button").first)
        await console.answers("Paused")


async def test_play_is_held_before_anybody_gives_a_reason() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.press("pause_table")
        await console.says(console.words["ask.pause_table.reason.now"])
        assert (await console.state())["paused"] == console.words["phrase.follows"]
        await console.press("back")
        await console.page.locator('#panel [data-act="resume_table/"]').wait_for()
        await console.press("pause_table")  # it is asked again
        await console.press(console.words["phrase.spill"])
        await console.reads(console.words["phrase.spill"])
        await console.press("resume_table/")
        await console.says("3 cards to Box 1")


async def test_a_supervisor_takes_over_and_the_dealer_signs_on_again() -> None:
    async with opened() as console:
        await console.page.locator("#bar", has_text=DEALER.name).wait_for()
        await console.choose_in_menu("take_over/")
        await console.sign(SUPERVISOR)
        await console.page.locator("#bar", has_text=SUPERVISOR.name).wait_for()
        await console.choose_in_menu("take_over/")
        await console.sign(DEALER)
        await console.page.locator("#bar", has_text=DEALER.name).wait_for()
        await console.to_dealing(1)


async def test_a_locked_screen_operates_again_after_the_dealer_signs_on() -> None:
    async with opened() as console:
        await console.choose_in_menu("lock_screen/")
        await console.press("sign_on/")
        await console.sign(DEALER)
        await console.to_dealing(1)


async def test_of_two_screens_that_press_together_one_is_told_what_the_other_did() -> None:
    async with opened() as console:
        right = await console.beside("Right")
        await right.press("sign_on/")
        await right.sign(DEALER)
        await right.page.locator('#panel .primary[data-act="place_your_bets/"]').wait_for()
        before = (await console.state())["round"]
        both = asyncio.Barrier(2)

        async def together(route: Route) -> None:
            """Send neither request before both people have tapped."""
            await both.wait()
            await route.continue_()

        for person in (console, right):
            await person.page.route("**/v1/operations?*", together, times=1)
        await asyncio.gather(console.press("place_your_bets/"), right.press("place_your_bets/"))
        for person in (console, right):
            await person.page.locator('#panel [data-act="no_more_bets/"]').wait_for()
        assert (await console.state())["round"] == before + 1
        said = [await person.page.locator("#answer .text").inner_text() for person in (console, right)]
        assert sum("Nothing was done" in one for one in said) == 1, said
        assert sum("Dana (Left) opened bets." in one or "Dana (Right) opened bets." in one for one in said) == 1, said


async def test_a_handover_at_one_screen_is_shown_at_the_other() -> None:
    async with opened() as console:
        right = await console.beside("Right")
        await right.choose_in_menu("take_over/")
        await right.sign(SUPERVISOR)
        for person in (console, right):
            await person.page.locator("#bar", has_text=SUPERVISOR.name).wait_for()
        await console.page.locator('#panel [data-act="take_over/"]').wait_for()  # nobody is signed on here
        await right.choose_in_menu("take_over/")
        await right.sign(DEALER)
        await right.to_dealing(1)
        await console.says("3 cards to Box 1")


class TwoDealers(ClickedTable):
    def configure(self, **given: object) -> None:
        super().configure(**given)
        self.configuration.write_text(f"{self.configuration.read_text()}{ANOTHER_DEALER}")


async def test_a_dealer_hands_over_to_another_in_mid_deal() -> None:
    """A matter is open, which the other dealer ticks before entering the PIN."""
    async with opened(kind=TwoDealers) as console:
        await to_an_exposed_card(console)
        await console.press("back")
        await console.choose_in_menu("take_over/")
        await console.says("Tick each open matter.")
        await console.click(console.page.locator("#panel .list button"))
        await console.press("done")
        await console.sign(LEE)
        await console.page.locator("#bar", has_text="Lee").wait_for()
        await console.press("yes")
        await console.sign(SUPERVISOR)
        await console.press("others")
        await console.press("reconstruct/")
        await console.turn_over_all()
        await console.end_round()
        assert (await console.state())["dealer"] == LEE.id


async def test_a_shift_ends_and_the_table_is_closed_and_opened_for_the_next() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.turn_over_all()
        await console.end_round()
        await console.table.move("load")
        await console.press("close_table/")
        await console.says("Open the table.")
        await console.choose_in_menu("dealer_off/")
        await console.says("End your shift?")
        await console.press("certain")
        await console.page.locator("#bar", has_text="No dealer").wait_for()
        await console.press("dealer_on/")
        await console.sign(DEALER)
        await console.press("open_table/")
        await console.to_dealing(2)
        await console.deal(1)


async def test_a_removed_screen_shows_the_table_only() -> None:
    async with opened() as console:
        right = await console.beside("Right")
        await console.choose_in_menu("remove_screen/")
        await console.click(console.page.locator("#panel .list button", has_text="Right"))
        await console.sign(SUPERVISOR)
        await right.page.locator('#panel [data-act="enrol"]').wait_for()
        await right.reads("This screen only displays the table.")


async def test_an_overtaken_act_is_closed_and_taps_are_ignored_briefly() -> None:
    async with opened() as console:
        other = await console.beside("Right")
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("exposed_card", "B1")
        await console.press("confirm")
        await console.asks_who_signs()
        await other.press("yes")
        await other.sign(MANAGER)
        await console.reads("Confirm: not recorded. Someone else acted first.")
        await console.reads("Max")
        await console.page.locator("body.overtaken").wait_for(state="attached")
        assert not await console.page.locator("#panel .right button:visible, #stage .picking").count()
        read = console.page.locator('#panel [data-act="read"]')
        await read.click()
        await read.wait_for()  # the tap was meant for a signature
        await console.answers(console.words["answer.overtaken"])
        await console.press("read")
        await console.press("others")
        await console.press("reconstruct/")
        await console.says("3 cards to Box 3")


async def test_a_stop_of_the_cards_is_shown_before_an_unfinished_report() -> None:
    async with opened() as console:
        other = await console.beside("Right")
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("report_irregularity")
        await console.says("What did you notice?")
        await other.report("exposed_card", "B1")
        await other.sign(DEALER)
        await console.page.locator("#sentence.red").wait_for()
        await console.reads("Problem: not recorded.")
        await console.press("read")
