"""Rounds at a real daemon by the keyboard alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.console.clicking import DEAD, DEALER, FROM_UNDER_THE_MARK, SUPERVISOR, Console, opened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simulators.people.crew import CrewMember

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

FOCUSED = 100  # more steps than there are things to focus

# Note whether the page took the last key. `node`: the button that the key presses, or would press.
NOTES_KEYS = """addEventListener("keydown", ({key}) => {
  const pad = document.querySelector(`#panel .pad [data-act="${key}"], #stage .picking[data-place="B${key}"]`);
  const focused = document.activeElement.closest("button");
  const node = pad ?? focused ?? (key === "Enter" ? document.querySelector("#panel .primary") : null) ?? {};
  window.taken = !isShut(node) && !isNew(node);
}, true);"""


# In one turn of the page, so that no state comes between them, however slow the browser is.
PRESSES = """(digits) => {
  for (const key of digits) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""


class Keyboard:
    """A person who presses keys, and reads the page in the usual way."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.page = console.page

    def sent(self) -> list[str]:
        """Return what the page asks the table to enter from now on."""
        found: list[str] = []
        self.page.on("request", lambda one: found.append(str(one.post_data)) if one.method == "POST" else None)
        return found

    async def key(self, name: str) -> None:
        """Press a key, and press it again if the page did not take it."""
        taken = False
        while not taken:
            await self.page.locator("#panel:not(.asking)").wait_for()
            await self.console.let_pass(DEAD + 50)
            await self.page.keyboard.press(name)
            taken = await self.page.evaluate("window.taken")

    async def enter(self, act: str) -> None:
        """Press Enter once this is the next act."""
        await self.page.locator(f'#panel .primary[data-act="{act}"]:not(.off)').wait_for()
        free = "document.activeElement.matches('body, #sentence .text')"
        assert await self.page.evaluate(free), "nothing that Enter would press holds the focus"
        await self.key("Enter")

    async def focus(self, what: str) -> None:
        """Move the focus with the Tab key alone."""
        await self.page.locator(what).first.wait_for()
        for _ in range(FOCUSED):
            if await self.page.evaluate("(what) => document.activeElement.matches(what)", what):
                return
            await self.page.keyboard.press("Tab")
        pytest.fail(f"{what} is not reached")

    async def choose(self, act: str) -> None:
        await self.focus(f'#panel [data-act="{act}"]:not(.off)')
        await self.key("Enter")

    async def sign(self, member: CrewMember) -> None:
        """Sign, choosing the person where several may sign."""
        await self.console.asks_who_signs()
        if await self.page.locator(f'#panel :is(.list, .answers) [data-act="{member.id}"]').count():
            await self.choose(member.id)
        for digit in member.pin:
            await self.key(digit)
        await self.enter("ok")

    async def box(self, number: int) -> None:
        await self.page.locator(f'.place.picking[data-place="B{number}"]').wait_for()
        await self.key(str(number))
        await self.page.locator(f'.place.lit[data-place="B{number}"]').wait_for()

    async def open_table(self) -> None:
        await self.enter("enrol")
        for name, value in (("name", "Left"), ("person", SUPERVISOR.id), ("pin", SUPERVISOR.pin)):
            await self.focus(f'#sheet [name="{name}"]')
            await self.page.keyboard.type(value)
        await self.page.keyboard.press("Enter")
        await self.page.locator('#panel [data-act="enrol"]').wait_for(state="detached")
        await self.enter("dealer_on/")
        await self.sign(DEALER)
        await self.enter("open_table/")
        await self.console.table.move("load")

    async def turn_over(self, hands: Mapping[str, list[str]]) -> None:
        for place, cards in hands.items():
            await self.enter(f"expose_hand/{place}")
            for card in cards:
                await self.choose(card)
            await self.choose("done")


async def by_keyboard(console: Console) -> Keyboard:
    await console.page.add_init_script(NOTES_KEYS)  # for a page that is loaded again
    await console.page.evaluate(NOTES_KEYS)
    return Keyboard(console)


async def test_a_whole_round_of_sets_from_the_enrolment_on() -> None:
    async with opened(enrolled=False) as console:
        person = await by_keyboard(console)
        await person.open_table()
        await person.enter("place_your_bets/")
        await person.box(1)
        await person.box(3)
        await person.enter("no_more_bets/")
        await console.says("3 cards to Box 1")
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        await person.turn_over({"D": dealer, "B1": one, "B3": three})
        await person.enter("record_settled/")
        await person.enter("conclude_round/")
        await console.page.locator("#bar .round", has_text=console.words["phase.concluded"]).wait_for()


async def test_digits_turn_over_hands() -> None:
    """They are turned over in a different order from the proposed one."""
    async with opened() as console:
        person = await by_keyboard(console)
        await console.to_dealing(1, 3)
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        await console.turn_over({"D": dealer})
        for number, cards in ((3, three), (1, one)):
            await console.page.locator(f'.place.picking[data-place="B{number}"]').wait_for()
            await person.key(str(number))
            for card in cards:
                await person.choose(card)
            await person.choose("done")
        await console.end_round()


async def test_a_sheet_receives_the_keys_of_what_it_covers() -> None:
    async with opened() as console:
        person = await by_keyboard(console)
        await person.key("F1")
        await console.page.locator('#sheet[data-sheet="matters"]').wait_for()
        sent = person.sent()
        for key in ("Enter", "F2", "F4"):
            await person.key(key)
        await console.let_pass(DEAD)
        assert sent == []
        assert await console.page.locator("#sheet").is_visible()
        for _ in range(12):
            await console.page.keyboard.press("Tab")
            assert await console.page.evaluate("!document.activeElement.closest('#panel, #stage')")
        await person.key("Escape")
        await console.page.locator("#sheet").wait_for(state="hidden")
        await person.choose("place_your_bets/")
        await person.box(2)


async def test_a_box_pressed_right_after_another_keeps_the_first_ones_bet() -> None:
    """It counts once the state shows the first."""
    async with opened() as console:
        person = await by_keyboard(console)
        await person.enter("place_your_bets/")
        await console.page.locator('.place.picking[data-place="B1"]').wait_for()
        await console.let_pass(DEAD)
        await console.page.evaluate(PRESSES, "13")
        marked = console.page.locator('.place.lit[data-place="B1"]')
        await marked.wait_for()
        await console.page.locator("#panel:not(.asking)").wait_for()
        await person.box(3)
        assert await marked.count() == 1


async def test_a_place_takes_a_bet_by_the_space_bar() -> None:
    async with opened() as console:
        person = await by_keyboard(console)
        await person.enter("place_your_bets/")
        for number, key in ((2, "Enter"), (4, "Space")):
            await person.focus(f'.place.picking[data-place="B{number}"]')
            await person.key(key)
            await console.page.locator(f'.place.lit[data-place="B{number}"]').wait_for()


async def test_a_pin_that_is_typed_immediately_loses_no_digit() -> None:
    async with opened() as console:
        person = await by_keyboard(console)
        await console.choose_in_menu("take_over/")
        await console.press(SUPERVISOR.id)
        await console.says("enter your PIN")
        for digit in SUPERVISOR.pin:
            await console.page.keyboard.press(digit)
            await console.page.clock.run_for(20)  # one frame; nobody types faster
        assert await console.page.locator("#panel output").inner_text() == "\u2022" * len(SUPERVISOR.pin)
        await person.key("Enter")
        await console.page.locator("#bar", has_text=SUPERVISOR.name).wait_for()


async def test_escape_leaves_a_text_that_is_being_written() -> None:
    async with opened() as console:
        person = await by_keyboard(console)
        await person.key("F4")
        await console.says(console.words["ask.pause_table.reason.now"])
        await person.focus("#panel input")
        await console.page.keyboard.type("spi")
        await person.key("Escape")
        await console.page.locator('#panel [data-act="resume_table/"]').wait_for()


async def test_an_irregularity_from_the_report_to_its_signature() -> None:
    async with opened() as console:
        person = await by_keyboard(console)
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await person.key("F2")
        await person.choose("exposed_card")
        await console.page.locator('.place.picking[data-place="B1"]').wait_for()
        await person.key("1")
        await person.choose("unknown")
        await person.choose("confirm")  # Enter alone does not confirm what this person reported
        await person.sign(SUPERVISOR)
        await console.press("others")  # Enter does not press it: each box is asked
        await console.says("Turn the exposed card of box 1 face down.")
        await person.enter("reconstruct/")
        await console.says("3 cards to Box 3")


async def test_y_and_n_answer_a_question_unless_letters_are_off() -> None:
    async with opened() as console:
        person = await by_keyboard(console)
        await console.to_dealing(1, 3)
        await console.deal(2)
        await console.report("technical_stop")
        await console.says("Is it certain where every card belongs?")
        await person.key("n")
        await console.reads("NC 5.17. Decision: pit supervisor")
        await console.press("again")
        await console.says("Did the shuffler stop?")
        await person.key("y")
        await console.says("Is it certain where every card belongs?")
        await person.key("Y")
        await console.reads("NC 5.4. Decision: dealer")
        await console.press("again")
        await console.says("Did the shuffler stop?")
        await console.click(console.page.locator("#bar .menu"))
        await console.let_pass(400)
        letters = console.page.locator('#sheet [data-act="letters"]')
        await letters.evaluate(FROM_UNDER_THE_MARK)
        await letters.click()  # the page is loaded again
        await console.page.locator("#sheet[hidden]").wait_for(state="attached")
        await console.says("Is it certain where every card belongs?")
        await person.key("n")
        await console.let_pass(50)
        assert await console.page.locator('#panel [data-act="no"]').count() == 1


async def test_digits_typed_faster_than_the_page_is_drawn_all_count() -> None:
    async with opened(enrolled=False) as console:
        person = await by_keyboard(console)
        await console.enrol()
        await person.enter("dealer_on/")
        await console.asks_who_signs()
        if await console.page.locator(f'#panel [data-act="{DEALER.id}"]').count():
            await person.choose(DEALER.id)
        await console.page.locator("#panel .pad").wait_for()
        await console.let_pass(DEAD)
        await console.page.evaluate(PRESSES, DEALER.pin)
        await person.enter("ok")
        await person.enter("open_table/")
