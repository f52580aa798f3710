"""Corrected entries, and the preview of an entry before it is signed, by clicks at a real daemon."""

from __future__ import annotations

import pytest

from tests.console.clicking import SUPERVISOR, opened

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


async def test_wrongly_entered_faces_are_entered_again() -> None:
    """The irregularity that they raised ends with them. No preview reveals whether the faces are right."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        other = next(card for card in ("2C", "3C", "4C", "5C") if card not in dealer + one + three)
        await console.turn_over({"D": [*dealer[:2], other]})
        await console.page.locator("#sentence.red").wait_for()
        await console.choose_in_menu("correct_entry/")
        await console.let_pass(400)
        await console.click(console.page.locator("#panel .list button", has_text="turned over Dealer"))
        await console.press("replace")
        for card in dealer:
            await console.press(card)
        await console.press("done")
        await console.press("Entered by mistake")
        await console.press(SUPERVISOR.id)
        await console.reads("Was: Turn over Dealer")
        await console.reads("Will be: Turn over Dealer")
        assert await console.page.locator("#panel .facts .then").count() == 0
        await console.sign(SUPERVISOR)
        await console.turn_over({"B1": one, "B3": three})
        await console.end_round()


async def test_who_says_that_his_entry_is_wrong_enters_the_hand_again_at_once() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.deal(2)
        one, dealer = console.table.dealt()
        other = next(card for card in ("2C", "3C", "4C", "5C") if card not in dealer + one)
        await console.turn_over({"D": [*dealer[:2], other]})
        await console.says("Is your entry of the Dealer's hand right?")
        assert not await console.page.locator('#panel [data-act="correct_entry/"]').count()
        await console.press("no")
        await console.says("Dealer: which cards?")
        for card in dealer:
            await console.press(card)
        await console.press("done")
        await console.turn_over({"B1": one})
        await console.end_round()


async def test_an_entry_that_did_not_happen_is_struck_out() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("handle_cards/")
        await console.tap("B1")
        await console.choose_in_menu("correct_entry/")
        await console.let_pass(400)
        await console.click(console.page.locator("#panel .list button", has_text="a Player handled"))
        await console.press("strike")
        await console.press("Entered by mistake")
        await console.press(SUPERVISOR.id)
        await console.reads("Then:")
        await console.sign(SUPERVISOR)
        await console.says("3 cards to Box 3")


async def test_a_mistyped_card_is_removed_by_another_tap() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        wrong = next(card for card in ("2C", "3C", "4C", "5C") if card not in dealer)
        await console.press("expose_hand/D")
        for card in (wrong, *dealer[:2], wrong, dealer[2]):
            await console.press(card)
        await console.press("done")
        await console.turn_over({"B1": one, "B3": three})
        await console.end_round()


# Tap a place in the frame in which it is drawn.
AT_ONCE = """([place, drawn]) => new Promise((resolve) => {
  const node = document.querySelector(`.place[data-place="${place}"]`);
  const look = () => {
    if (!node.querySelector(drawn) || !node.classList.contains("picking")) return requestAnimationFrame(look);
    node.click();
    resolve();
  };
  look();
})"""


async def test_a_double_tap_at_a_hand_that_was_touched_does_not_turn_it_over() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        one, three, dealer = console.table.dealt()
        await console.turn_over({"D": dealer})
        await console.press("handle_cards/")
        await console.tap("B1")
        await console.page.evaluate(AT_ONCE, ["B1", ".seen .sign"])
        await console.let_pass(50)
        assert await console.page.locator("#panel.wide").count() == 0
        await console.turn_over({"B3": three, "B1": one})
        await console.end_round()


async def test_misplaced_cards_are_moved_along_the_arrows() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("place_cards/")
        await console.tap("B1")
        await console.press("all")
        await console.tap("B2")
        await console.press("no")
        await console.reads("Then: Move the cards")
        await console.confirm(SUPERVISOR)
        await console.reads("1. Cards at Box 2 to Box 1")
        await console.press("moved")
        await console.says("3 cards to Box 3")


async def test_taking_over_requires_a_tick_at_each_open_matter() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("exposed_card", "B1")
        await console.page.locator("#sentence.red").wait_for()
        await console.choose_in_menu("take_over/")
        await console.says("Tick each open matter.")
        off = console.page.locator('#panel [data-act="done"].off')
        await off.wait_for()
        await console.let_pass(400)
        await console.click(console.page.locator("#panel .list button"))
        await console.press("done")
        await console.sign(SUPERVISOR)
        await console.page.locator("#bar", has_text=SUPERVISOR.name).wait_for()


async def test_one_tap_ends_a_round_and_the_end_is_listed_once_for_correction() -> None:
    """Nothing is lost by it, so it is not asked about; both requests are entered."""
    async with opened() as console:
        await console.to_dealing(1)
        await console.turn_over_all()
        await console.end_round()
        await console.choose_in_menu("correct_entry/")
        await console.let_pass(400)
        ended = console.page.locator("#panel .list button", has_text="ended the round")
        await ended.wait_for()
        assert await ended.count() == 1, "one, not each request"


async def test_a_forgotten_box_is_added_to_the_marked_ones() -> None:
    """The boxes were marked one after the other; the entry is shown once, with all boxes."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.choose_in_menu("correct_entry/")
        listed = console.page.locator("#panel .list button")
        await listed.first.wait_for()
        assert [one for one in await listed.all_inner_texts() if "marked bets" in one] == ["Dana: marked bets at 1, 3"]
        await console.click(listed.filter(has_text="marked bets"))
        await console.press("replace")
        await console.reads("Now: 1, 3")
        assert await console.page.locator(".place.lit").evaluate_all(
            "(all) => all.map((one) => one.dataset.place)"
        ) == ["B1", "B3"]  # fmt: skip
        await console.tap("B6")
        await console.reads("Now: 1, 3, 6")
        await console.press("done")
        await console.click(console.page.locator("#panel .answers button").first)
        await console.reads("Will be: Bets at boxes 1, 3, 6")
        await console.sign(SUPERVISOR)
        await console.page.locator('.place:not(.empty)[data-place="B6"]').wait_for()
        assert (await console.state())["boxes"] == [1, 3, 6]
