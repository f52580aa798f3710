"""Irregularities from the sentence that reports them until the round continues, by clicks at a real daemon."""

from __future__ import annotations

import re

import pytest

from controller.games.specification import Unit
from simulators.people.crew import CREW
from tests.console.clicking import (
    DEAD,
    DEALER,
    SUPERVISOR,
    BaccaratTable,
    ClickedTable,
    Console,
    WitnessedTable,
    opened,
)

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

MANAGER = CREW[2]


class ProsperityTable(ClickedTable):
    game = "P3"


class RoyalTable(ClickedTable):
    game = "RTP"


async def buttons_lie_apart(console: Console) -> None:
    """Check that no button of a list covers a part of the one below it, and that no line of the facts is cut off."""
    wrong = await console.page.evaluate(
        """() => {
          const facts = document.querySelector("#panel .facts");
          const list = [...document.querySelectorAll("#panel .list button")].map((one) => one.getBoundingClientRect());
          const covers = (one, other) => one.left === other.left && one.top < other.top && one.bottom > other.top;
          const cut = facts.scrollHeight > facts.clientHeight + 8; // px: letters reach beyond their line
          return cut || list.some((one) => list.some((two) => covers(one, two)));
        }"""
    )
    assert not wrong


async def test_a_first_card_is_drawn_shown_and_counted_from() -> None:
    """F3: the First Card decides where the deal starts; every hand is dealt and turned over."""
    async with opened(Unit.SINGLES, kind=BaccaratTable) as console:
        await console.page.locator("#panel .primary", has_text="Shuffled by hand").wait_for()
        await console.press("shuffled_outside/")
        await console.press(DEALER.id)
        await console.to_dealing(1, 2)
        await console.says("Draw the First Card")
        await console.deal_singles(1)
        await console.press("show_first_card/")
        (first,) = console.table.dealt()[0]
        await console.press(first)
        await console.press("done")
        await console.page.locator("#bar .round", has_text="Dealing").wait_for()
        await console.deal_singles(12)
        await console.says("Turn over all hands")
        cards = [card for (card,) in console.table.dealt()[1:]]
        hands: dict[str, list[str]] = {}
        for place, card in zip(await console.order_of_deal(), cards, strict=True):
            hands.setdefault(place, []).append(card)
        await console.turn_over(hands)
        await console.end_round()


async def test_cards_that_came_together_are_put_in_their_order() -> None:
    async with opened(Unit.SETS, "double-draw@5") as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("Do you see 4 cards for box 3?")
        await console.press("yes")
        await console.sign(SUPERVISOR)
        await console.press("order")
        for card in ("4", "5", "6", "7"):  # as they left the device
            await console.press(card)
        await console.press("done")
        await console.sign(SUPERVISOR)
        await console.at_device("lift", "4 cards lifted")
        await console.press("others")
        await console.says("Move the 3 set-aside cards to box 3.")
        await console.reads("1. 3 set-aside cards to Box 3")
        await console.press("reconstruct/")
        await console.says("2 cards to the Dealer")


async def test_hands_of_simultaneous_single_cards_are_moved() -> None:
    """People report that they lie at each other's places: the screen asks which, and shows how to move them."""
    async with opened(Unit.SINGLES) as console:
        await console.press("shuffled_outside/")
        await console.press(DEALER.id)
        await console.to_dealing(1, 3)
        await console.deal_singles(6)
        await console.report("simultaneous")
        for answer in ("no", "yes", "no", "yes"):  # too many; at the wrong place; handled; can be put right
            await console.press(answer)
        await console.confirm(SUPERVISOR)
        await console.says("Enter which cards lie elsewhere")
        await console.reads("TP 5.3. Decision: dealer")
        await console.press("place_cards/")
        await console.tap("B1")
        await console.press("all")
        await console.tap("B3")
        await console.press("yes")
        await console.reads("1. Cards at Box 3 to Box 1")
        await console.press("moved")
        await console.says("Card 1 of 3 to the Dealer")
        await console.deal_singles(3)
        cards = [card for (card,) in console.table.dealt()]
        await console.turn_over({"B1": cards[:3], "B3": cards[3:6], "D": cards[6:]})
        await console.end_round()


async def test_cards_that_cannot_be_put_right_void_the_round() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(2)
        await console.report("wrong_distribution")
        await console.press("no")
        await console.says("Would moving whole hands correct it?")
        await console.press("yes")
        await console.confirm(SUPERVISOR)
        await console.press("cannot")
        await console.reads("Then: The round is void.")
        await console.sign(SUPERVISOR)
        await console.press("again")
        await console.says("Return all bets")


async def test_a_card_that_came_face_up_is_confirmed_by_the_dealer() -> None:
    async with opened(Unit.SETS, "face-up@4") as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("lie face up")
        assert "Then" not in await console.page.locator("#panel .facts").inner_text()
        await console.press("yes")
        await console.reads("The face-up card counts as the next card (NC 5.10)")
        await console.reads("Deal 3 cards to box 3.")
        await console.press("confirm")
        await console.says("3 cards to Box 3.")
        await console.reads("Card 1 is face up.")


async def test_a_wrong_number_of_cards_is_counted_on_the_pad() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        await console.report("wrong_count", "D")
        await console.says("How many cards lie there?")
        await console.press("4")
        await console.press("ok")
        await console.page.locator('.place[data-place="D"]', has_text="4 cards").wait_for()
        await console.press("no")
        await console.reads("Had Players handled cards before you noticed? NO")
        await console.press("again")
        await console.says("Does the Dealer have 4 cards?")
        await console.press("yes")
        await console.says("Had Players handled")
        await console.press("yes")
        await console.says("Do you know which card belongs where?")  # nothing is confirmed in between


async def test_a_jam_is_cleared_and_the_deal_continues() -> None:
    async with opened(Unit.SETS, "jam@5") as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("Clear the device")
        await console.at_device("clear", "The jam is cleared.")
        await console.press("yes")
        await console.says("Is it certain where every card belongs?")
        await console.press("yes")
        await console.reads("Then: Deal 3 cards to box 3.")
        await console.press("confirm")
        await console.says("3 cards to Box 3")


async def test_a_cable_that_is_pulled_and_put_in_again() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.at_device("unplug", "unplugged")
        await console.says("power and cable")
        assert "/" not in await console.page.locator("#sentence .text").inner_text(), "no path of the machine"
        await console.reads("1. Waiting for the device.")
        await console.page.locator('#panel .primary.off[data-act="continue_round/"]').wait_for()
        await console.at_device("plug", "plugged in")
        await console.reads("2. Done: the device's counts agree.")
        await console.press("continue_round/")
        await console.says("3 cards to Box 3")


async def test_a_table_that_differs_from_the_screen_is_reported() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.at_device("unplug", "unplugged")
        await console.reads("1. Waiting for the device.")
        await console.press("differs")
        await console.press("group/hands")
        await console.press("wrong_count")
        await console.tap("B1")
        await console.press("2")
        await console.press("ok")
        await console.page.locator("#sentence.red", has_text="?").wait_for()


async def test_the_rest_is_dealt_by_hand_while_the_device_is_away() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.at_device("unplug", "unplugged")
        await console.press("deal_by_hand/")
        await console.press("6")
        await console.press("ok")
        await console.press("The device failed")
        await console.sign(SUPERVISOR)
        await console.says("Let the players look")


async def test_a_power_failure_is_ruled_by_an_authorised_person() -> None:
    """Nobody knows without wagers whether an outcome is established (NC 5.17)."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        _, _, dealer = console.table.dealt()
        await console.turn_over({"D": dealer})
        await console.report("power_failure")
        await console.press("yes")
        await console.confirm(SUPERVISOR)
        await console.says("Call the shift manager for a ruling.")
        await console.press("continue")
        await console.press("Seen at the table")
        await console.press(MANAGER.id)
        await console.reads("Turn over boxes 1 and 3.")
        assert "*" not in await console.page.locator("#panel .facts").inner_text()
        await console.sign(MANAGER)
        await console.says("Turn over boxes 1 and 3.")


async def test_the_authority_for_a_stop_is_called_once_the_answer_shows_it() -> None:
    """A dealer confirms it where every place is certain (NC 5.4), and not where one is not (NC 5.17)."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(2)
        await console.report("technical_stop")
        await console.reads("NC 5.4, NC 5.17")
        await console.press("no")
        await console.reads("NC 5.17. Decision: pit supervisor")
        await console.confirm(SUPERVISOR)
        await console.says("Call the shift manager for a ruling.")


async def test_maintenance_and_back() -> None:
    async with opened() as console:
        await console.choose_in_menu("begin_maintenance/")
        await console.press("Cleaning")
        await console.sign(SUPERVISOR)
        await console.says("End the maintenance")
        await console.press("instruct_device/run_self_test")
        await console.sign(SUPERVISOR)
        await console.press("end_maintenance/")
        await console.sign(SUPERVISOR)
        await console.page.locator("#bar .round", has_text="Ready").wait_for()


async def exposed(console: Console) -> None:
    await console.to_dealing(1, 3)
    await console.deal(1)
    await console.report("exposed_card", "B1")
    await console.page.locator("#sentence.red").wait_for()


async def test_two_swapped_hands_are_moved_back() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        await console.choose_in_menu("place_cards/")
        await console.tap("B1")
        await console.press("all")
        await console.tap("B3")
        await console.says("Is the hand of Box 3 now at Box 1?")
        await console.press("yes")
        await console.press("no")
        await console.reads("Then: Move")
        await console.reads("1. Cards at Box 3 to Box 1")
        await console.reads("2. Cards at Box 1 to Box 3")
        await console.press("confirm")
        await console.page.locator(f'#panel [data-act="{SUPERVISOR.id}"]').wait_for()
        assert await console.page.locator("#stage .arrows .line").count() == 2  # the signing person sees them
        await console.sign(SUPERVISOR)
        await console.reads("1. Cards at Box 3 to Box 1")
        await console.reads("2. Cards at Box 1 to Box 3")
        await console.press("moved")
        await console.says("Let the players look")


async def test_a_doubt_is_ended_by_a_count_with_a_witness() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        await console.report("count_in_doubt")
        await console.press("count")
        await console.says("How many cards are there?")
        await console.press("4")
        await console.press("3")
        await console.press("ok")
        await console.says("Who counted with you?")
        await console.press(SUPERVISOR.id)
        await console.reads('Press "Play goes on".')
        await console.confirm(SUPERVISOR)
        await console.says("Let the players look")


async def test_the_second_counter_signs_where_the_house_asks_for_it() -> None:
    async with opened(kind=WitnessedTable) as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        await console.report("count_in_doubt")
        await console.press("count")
        for key in ("4", "3", "ok", SUPERVISOR.id):
            await console.press(key)
        await console.says("Sam: enter your PIN.")
        await console.enter_pin("000001")
        await console.says("Wrong PIN. Sam: enter it again.")
        await console.counts("4 tries left")
        await console.enter_pin(SUPERVISOR.pin)
        await console.reads('Press "Play goes on".')


async def test_a_wrong_count_is_counted_again_by_the_dealer() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        await console.report("count_in_doubt")
        await console.press("count")
        for key in ("4", "2", "ok", SUPERVISOR.id):
            await console.press(key)
        await console.says("Do you count 42 cards in the stub?")
        assert await console.page.locator("#panel .facts .then").count() == 0  # nothing is proposed before that
        await console.press("no")
        await console.says("How many cards are there?")
        shown = await console.page.locator("body").inner_text()
        assert not {"42", "43"} & {*re.findall(r"\d+", shown)}  # neither what was counted nor what is due
        for key in ("4", "3", "ok", SUPERVISOR.id):
            await console.press(key)
        await console.reads('Press "Play goes on".')
        await console.click(console.page.locator("#answer .story"))
        await console.page.locator("#sheet .entry", has_text="counted 43 cards").wait_for()
        assert await console.page.locator("#sheet .entry", has_text="42").count() == 0
        await console.page.keyboard.press("Escape")
        await console.confirm(SUPERVISOR)
        await console.says("Let the players look")


async def test_a_face_already_on_the_table_is_reported_as_a_foreign_card() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        _, _, dealer = console.table.dealt()
        await console.turn_over({"D": dealer})
        await console.press("expose_hand/B1")
        await console.let_pass(400)
        await console.page.locator(f'#panel [data-act="{dealer[0]}"]').dispatch_event("click")
        await console.page.locator("#answer", has_text="If it is here too, press Problem").wait_for()
        await console.press("report_irregularity")
        await buttons_lie_apart(console)
        await console.press("group/cards")
        await console.press("foreign_card")
        await console.press("sure")
        await console.reads("Then: The round is void.")
        await console.confirm(SUPERVISOR)
        await console.press("again")
        await console.says("Return all bets")


async def test_an_exposed_card_where_the_rules_are_silent() -> None:
    async with opened(kind=ProsperityTable) as console:
        await exposed(console)
        await console.reads("The rules are silent. Decision: shift manager")
        await console.press("continue")
        await console.press("Seen at the table")
        await console.reads("Then: Turn the exposed card of box 1 face down.")
        await console.press(MANAGER.id)
        await console.sign(MANAGER)
        await console.says("Turn the exposed card of box 1 face down.")
        assert await console.page.locator("#stage .arrows .line").count() == 1
        await console.press("reconstruct/")
        await console.says("3 cards to Box 3")


async def test_an_exposed_card_that_is_turned_down() -> None:
    """RTP 5.8: no bettor chooses, and the dealer confirms."""
    async with opened(kind=RoyalTable) as console:
        await exposed(console)
        await console.press("confirm")
        await console.says("Turn the exposed card of box 1 face down.")
        await console.reads("1. Card at Box 1: face down")
        assert await console.page.locator("#stage .arrows .line").count() == 1
        await console.press("reconstruct/")
        await console.says("3 cards to Box 3")


async def test_a_device_that_falls_silent_and_answers_again() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.says("3 cards to Box 3")
        await console.table.move("silent")
        await console.says("power and cable")
        await console.reads("3. Compare the cards with the screen.")
        await buttons_lie_apart(console)
        await console.at_device("silent off", "off")
        await console.reads("2. Done: the device's counts agree.")
        await console.press("continue_round/")
        await console.says("3 cards to Box 3")


async def test_a_power_failure_that_no_longer_matters() -> None:
    """Every card is on the table: the hands are turned over without the device."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(3)
        await console.says("Let the players look")
        await console.at_device("unplug", "unplugged")
        await console.report("power_failure")
        await console.says("Does it keep the round from going on?")
        await console.press("no")
        await console.confirm(SUPERVISOR)
        await console.reads("The shuffler is not connected: check its power and its cable.")
        await console.at_device("plug", "plugged in")
        await console.page.locator("#bar .amber").wait_for(state="detached")
        one, three, dealer = console.table.dealt()
        await console.turn_over({"D": dealer, "B1": one, "B3": three})
        await console.end_round()


async def test_a_round_that_is_abandoned_is_void_once_it_is_asked_twice() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.choose_in_menu("abandon_round/")
        await console.click(console.page.locator("#panel .answers button").first)
        await console.press(MANAGER.id)
        await console.reads("Then: The round is void.")
        await console.sign(MANAGER)
        await console.says("Round void?")
        await console.press("again")
        await console.says("Return all bets")


async def test_a_ruling_that_voids_the_round_is_asked_twice() -> None:
    """The document has no clause for this."""
    async with opened(kind=ProsperityTable) as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.report("exposed_card", "B1")
        await console.says("for a ruling")
        await console.press("void")
        await console.press("Seen at the table")
        await console.press(MANAGER.id)
        await console.reads("Then: The round is void.")
        await console.sign(MANAGER)
        await console.says("Round void?")
        await console.press("again")
        await console.says("Return all bets")


async def test_an_error_in_the_round_before() -> None:
    """It is reported for that round, and decided while the next round is in progress."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.turn_over_all()
        await console.end_round()
        await console.table.move("load")
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("report_irregularity")
        await console.press("earlier")
        await console.says("What happened in round 1?")
        await console.press("group/hands")
        await console.press("wrong_count")
        await console.tap("B1")
        await console.press("4")
        await console.press("ok")
        await console.says("3 cards to Box 3")
        assert await console.page.locator(".place.amber, .place.red").count() == 0, "no hand of this round is meant"
        await console.click(console.page.locator("#answer .matters"))
        await console.counts("Round 1")
        await console.confirm(SUPERVISOR)
        await console.says("3 cards to Box 3")  # the matter that is asked about is not named below: it ends first
        await console.page.locator("#answer .matters").wait_for(state="hidden")
        assert not (await console.state())["irregularities"]


async def test_a_reporter_is_not_asked_to_confirm_and_may_withdraw() -> None:
    async with opened() as console:
        await exposed(console)
        await console.says("Call the pit supervisor to confirm.")
        await console.reads("Then: ")
        await console.press("deny")
        await console.press("Entered by mistake")
        await console.sign(SUPERVISOR)
        await console.says("3 cards to Box 3")


async def test_another_screen_is_asked_to_confirm_first() -> None:
    async with opened() as console:
        await exposed(console)
        other = await console.beside("Right")
        await other.says("Was a card of box 1 exposed?")
        assert "Then" not in await other.page.locator("#panel .facts").inner_text()
        boxes = [await other.page.locator(f'#panel [data-act="{word}"]').bounding_box() for word in ("yes", "no")]
        yes, no = boxes
        assert yes is not None
        assert no is not None
        assert (yes["width"], yes["height"], yes["y"]) == (no["width"], no["height"], no["y"])
        await other.let_pass(DEAD + 50)
        await other.page.keyboard.press("y")
        await other.asks_who_signs()
        await other.reads("Then: ")
        await other.page.keyboard.press("Escape")
        await other.says("Was a card of box 1 exposed?")


async def test_facts_are_taken_back_one_by_one_down_to_the_claim() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(2)
        await console.report("technical_stop")
        await console.says("Is it certain where every card belongs?")
        await console.press("back")
        await console.says("Did the shuffler stop?")
        await console.press("yes")
        await console.press("no")
        await console.says("Call the pit supervisor to confirm.")
        assert await console.page.locator('#panel .answers [data-act="confirm"]').count() == 1


async def test_a_clause_is_read_in_few_words() -> None:
    async with opened() as console:
        await exposed(console)
        await console.press("clause")
        sheet = console.page.locator("#sheet .body")
        await sheet.get_by_text("NC 5.7", exact=True).wait_for()
        assert await sheet.locator("p").count() >= 2
        assert len((await sheet.locator("p").nth(1).inner_text()).split()) > 2
        await console.page.keyboard.press("Escape")
        await console.says("Call the pit supervisor to confirm.")
