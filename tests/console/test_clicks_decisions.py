"""Decisions at the page: overlooked boxes, the content of a signature, payments, and observations."""

from __future__ import annotations

import pytest

from controller.games.specification import Unit
from tests.console.clicking import DEALER, SUPERVISOR, Console, opened

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]


async def facts(console: Console) -> str:
    return await console.page.locator("#panel .facts").inner_text()


async def test_an_overlooked_box_is_marked_on_the_stage() -> None:
    """No bet can be entered without bettors, so the boxes are corrected."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.click(console.page.locator("#bar .menu"))
        acts = console.page.locator("#sheet [data-act]")
        assert not [key for key in await acts.evaluate_all("(all) => all.map((one) => one.dataset.act)")
                    if key.startswith("place_wager")]  # fmt: skip
        await console.click(console.page.locator('#sheet [data-act="overlooked"]', has_text="Box marked wrongly"))
        await console.says("Tap each box that is marked wrongly.")
        await console.tap("B6")
        await console.page.locator('.place.lit[data-place="B6"]').wait_for()
        await console.press("done")
        await console.press("Entered by mistake")
        await console.reads("Will be: Bets at boxes 1, 3, 6")
        await console.sign(SUPERVISOR)
        await console.page.locator('.place:not(.empty)[data-place="B6"]').wait_for()
        assert (await console.state())["boxes"] == [1, 3, 6]


async def test_all_others_continue_is_one_act() -> None:
    """Each box is a separate entry, and no other tap counts between two entries."""
    async with opened() as console:
        await console.to_dealing(1, 3, 5)
        await console.deal(1)
        await console.report("exposed_card", "B1")
        await console.confirm(SUPERVISOR)
        await console.page.locator('#panel [data-act="others"]').wait_for()
        await console.page.evaluate(
            "() => { window.drawn = []; knows.store.subscribe(() => drawn.push(knows.isAsking())); }"
        )
        await console.press("others")
        await console.says("Turn the exposed card of box 1 face down.")
        drawn = await console.page.evaluate("window.drawn")
        asking = "".join("1" if is_asking else "0" for is_asking in drawn).strip("0")
        assert asking
        assert "0" not in asking


async def test_a_choice_is_changed_in_its_row_before_all_have_chosen() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("exposed_card", "B1")
        await console.confirm(SUPERVISOR)
        lies = await console.page.locator('#panel [data-act="B3//continue"]').bounding_box()
        await console.press("B1//withdraw")
        await console.counts("1 left to ask")
        assert await console.page.locator('#panel [data-act="B3//continue"]').bounding_box() == lies
        await console.page.locator('#panel [data-act="B1//withdraw"][aria-pressed="true"]').wait_for()
        await console.press("B1//continue")
        await console.page.locator('#panel [data-act="B1//continue"][aria-pressed="true"]').wait_for()
        await console.press("B3//continue")
        await console.says("Turn the exposed card of box 1 face down.")


async def test_looks_are_in_the_menu_while_players_look() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.deal(2)
        await console.page.locator('#panel [data-act="expose_hand/D"]').wait_for()
        assert not await console.page.locator('#panel [data-act^="handle_cards"]').count()
        await console.click(console.page.locator("#bar .menu"))
        assert await console.page.locator('#sheet [data-act^="handle_cards"]').count() == 2


async def test_an_order_is_signed_in_words() -> None:
    async with opened(Unit.SETS, "double-draw@5") as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("yes")
        await console.sign(SUPERVISOR)
        await console.press("order")
        for card in ("5", "4", "7", "6"):
            await console.press(card)
        await console.press("done")
        await console.asks_who_signs()
        await console.reads("Card 2, Card 1, Card 4, Card 3")


async def test_cards_that_are_dealt_by_hand_are_signed_with_their_number() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.at_device("unplug", "unplugged")
        await console.press("deal_by_hand/")
        await console.press("6")
        await console.press("ok")
        await console.press("The device failed")
        await console.asks_who_signs()
        await console.reads("6 cards, The device failed")


async def test_the_person_who_takes_over_is_named_before_the_pin() -> None:
    async with opened() as console:
        await console.choose_in_menu("take_over/")
        await console.asks_who_signs()
        if await console.page.locator(f'#panel [data-act="{SUPERVISOR.id}"]').count():
            await console.press(SUPERVISOR.id)
        await console.reads(f"{SUPERVISOR.name} deals from now on.")


async def test_every_box_in_play_has_a_line_beside_paid() -> None:
    async with opened() as console:
        await console.to_dealing(1, 2, 3, 4, 5, 6, 7)
        await console.turn_over_all()
        await console.page.locator('#panel [data-act="record_settled/"]').wait_for()
        said = await console.page.locator("#panel .dues .chip").all_inner_texts()
        assert said == [due["place"][1:] for due in (await console.state())["dues"]] == list("1234567")
        dues = console.page.locator("#panel .dues")
        assert await dues.evaluate("(node) => node.scrollHeight <= node.clientHeight + 8")


async def test_a_row_of_taps_over_the_hands_does_not_pay() -> None:
    """ "Paid" appears where the hands were turned over, so it does not react for longer than a row of taps lasts."""
    async with opened() as console:
        await console.to_dealing(1)
        await console.turn_over_all()
        paid = console.page.locator('#panel [data-act="record_settled/"]')
        await paid.wait_for()
        said = await console.page.locator("#panel .dues b").all_inner_texts()
        await paid.evaluate("(node) => { node.since = performance.now() - 600; node.click(); }")
        await console.answered()
        assert not (await console.state())["chips_paid"]
        await console.press("record_settled/")
        await console.page.locator('#panel [data-act="conclude_round/"].primary').wait_for()
        assert await console.page.locator("#panel .dues b").all_inner_texts() == said
        assert await console.page.locator("#panel .dues :not([aria-pressed=true]).payment").count() == 0


async def test_no_box_is_marked_once_hands_are_turned_over() -> None:
    async with opened() as console:
        await console.to_dealing(1)
        await console.turn_over_all()
        await console.page.locator('#panel [data-act="record_settled/"]').wait_for()
        await console.press("report_irregularity")
        await console.press("group/bets")
        await console.let_pass(400)
        await console.page.locator('#panel [data-act="overlooked"].off').dispatch_event("click")
        await console.answers("the boxes stay as marked. Report cards in the wrong place instead.")


async def test_a_denial_is_possible_at_each_question_and_a_tap_names_a_card() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("wrong_distribution")
        await console.says("Had Players handled cards")
        await console.press("deny")
        await console.press("Entered by mistake")
        await console.sign(SUPERVISOR)
        await console.says("3 cards to Box 3")
        await console.notice("exposed_card")
        await console.tap("B1")
        await console.click(console.page.locator('.place.numbered[data-place="B1"] .holder').nth(1))
        await (
            console.page.locator('.place[data-place="B1"] .holder')
            .nth(1)
            .and_(console.page.locator(".unread"))
            .wait_for()
        )


async def test_an_exposed_card_is_shown_open_with_its_face_once_named() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.notice("exposed_card")
        await console.tap("B1")
        await console.press("2")
        second = console.page.locator('.place[data-place="B1"] .holder').nth(1)
        await console.page.locator('.place[data-place="B1"] .holder.unread').wait_for()
        assert "unread" in str(await second.get_attribute("class"))
        hand = console.table.dealt()[0]
        await console.choose_in_menu("name_exposed/")
        await console.tap("B1")
        await console.press(hand[1])
        await console.press("done")
        await console.page.locator('.place[data-place="B1"] .holder.face').wait_for()
        assert "face" in str(await second.get_attribute("class"))


async def test_a_supervisor_enrols_a_screen_by_his_name() -> None:
    async with opened(enrolled=False) as console:
        await console.press("enrol")
        await console.page.get_by_label("Supervisor's name or id").first.wait_for()
        await console.page.fill('#sheet [name="name"]', "Left")
        await console.page.fill('#sheet [name="person"]', SUPERVISOR.name)
        await console.page.fill('#sheet [name="pin"]', SUPERVISOR.pin)
        await console.page.click('#sheet button[type="submit"]')
        await console.page.locator('#panel .primary[data-act="dealer_on/"]').wait_for()
        await console.press("dealer_on/")
        await console.sign(DEALER)


async def test_every_argument_that_is_asked_for_is_signed_in_words() -> None:
    async with opened(enrolled=False) as console:
        unnamed = await console.page.evaluate(
            """async () => {
              const { STEPS } = await import("/console/js/needs.js");
              const { argument } = await import("/console/js/flow.js");
              const { NAMED } = await import("/console/js/labels.js");
              return Object.keys(STEPS).map((step) => argument(step).name).filter((name) => !(name in NAMED));
            }"""
        )
        # Past and future have separate lines; "sure" is not an argument.
        assert set(unnamed) == {"countersign", "entry", "instead", "sign", "sure"}


async def test_a_wrongly_marked_box_is_found_below_problem() -> None:
    """Facts that follow from the entries are shown next to the question; the hand is moved on confirmation."""
    async with opened() as console:
        await console.to_dealing(1, 5)
        await console.deal(2)
        await console.notice("overlooked")
        await console.tap("B5")
        await console.tap("B6")
        await console.reads("Was: 1, 5")
        await console.reads("Now: 1, 6")
        await console.press("done")
        await console.press("Entered by mistake")
        await console.sign(SUPERVISOR)
        await console.says("Had Players handled cards")
        await console.reads("Box 5 has cards and no bet; box 6 has a bet and no cards")
        await console.press("no")
        await console.confirm(SUPERVISOR)
        await console.says("Move the cards as the screen shows")
        await console.press("moved")
        await console.page.locator('.place:not(.empty)[data-place="B6"]').wait_for()
