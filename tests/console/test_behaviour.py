"""The behaviour of the page: contact lost and restored, another version, alarms, taps, order of boxes, displays."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pytest

from controller.games.specification import Kind, Unit
from tests.console.examples import beat, examples, message
from tests.console.page_server import PageServer
from tests.table.harness import TableHarness

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

PRESSED: Final = "button:enabled:not([aria-disabled=true]):visible"
LANDSCAPE: Final[Any] = {"width": 1280, "height": 800}


@cache
def states() -> dict[str, dict[str, Any]]:
    return examples()


def show(server: PageServer, name: str, **more: Any) -> None:
    server.show(states()[name] | more, beat(states()[name]))


@pytest.fixture
def page(browser: Browser, server: PageServer) -> Iterator[Page]:
    """Yield a page with a clock that a test may advance or stop."""
    server.asked.clear()
    opened = browser.new_page(viewport=LANDSCAPE)
    opened.clock.install()
    yield opened
    opened.close()
    server.hang_up()


def sentence(page: Page) -> str:
    return page.locator("#sentence .text").inner_text()


def says(page: Page, where: str, what: str) -> None:
    """Wait until the page shows that text."""
    page.locator(where, has_text=what).wait_for()


def follow(page: Page, server: PageServer, name: str = "dealing_sets", path: str = "/") -> None:
    show(server, name)
    page.goto(f"{server.address}{path}")
    page.wait_for_selector(".place")


HEARD: Final = """async () => (await import("/console/js/store.js")).store.beat?.utc_ns"""


def stop_time(page: Page) -> None:
    """Stop the page's clock: after this only the test advances it."""
    page.clock.pause_at(page.evaluate("Date.now()") + 2000)


def hear(page: Page, server: PageServer, name: str) -> None:
    """Send that state and a beat, while the time is frozen."""
    utc_ns = page.evaluate(HEARD) + 1_000_000
    server.show(states()[name], beat(states()[name]) | {"utc_ns": utc_ns})
    while page.evaluate(HEARD) != utc_ns:
        pass
    page.clock.run_for(50)


def silent(page: Page, seconds: int) -> None:
    """Let that time pass without anything from the daemon."""
    page.clock.run_for(seconds * 1000 + 300)


def test_silence_is_shown_after_three_seconds_and_blocks_after_five(page: Page, server: PageServer) -> None:
    follow(page, server)
    stop_time(page)
    hear(page, server, "dealing_sets")
    before = sentence(page)
    silent(page, 3)
    assert page.locator("#bar .device.amber").inner_text() == "silent 3 s"
    assert sentence(page) == before
    silent(page, 2)
    assert sentence(page) == "Leave the cards: the table PC is silent."
    assert page.locator("#sentence.red").count() == 1
    assert page.locator("#stage.hatched").count() == 1
    assert page.locator("#stage .as-of").inner_text().startswith("as of ")
    assert page.locator(PRESSED).count() == 0


def test_after_silence_the_new_state_is_shown_and_how_long_it_was(page: Page, server: PageServer) -> None:
    follow(page, server)
    stop_time(page)
    hear(page, server, "dealing_sets")
    silent(page, 9)
    hear(page, server, "examining")
    assert page.locator("#answer .text").inner_text().endswith("Back after 9 s. The screen is up to date.")
    assert sentence(page) == states()["examining"]["view"]["headline"]
    assert page.locator("#stage.hatched").count() == 0
    assert page.locator("button.menu:enabled").count() == 1


ANSWERED: Final = """async sentence => {
  const { store } = await import("/console/js/store.js");
  store.receive({ answer: { accepted: false, entry: Infinity, code: "changed", sentence, utc_ns: 0 } });
}"""


def test_what_a_supervisor_signed_does_not_name_him_as_the_one_who_noticed(page: Page, server: PageServer) -> None:
    state = states()["foreign card"]
    [matter] = state["view"]["irregularities"]
    for person, said in (("sam", "signed by Sam Ho"), ("max", "Reported by Max, "), ("device", "Noticed by ")):
        people = [*state["people"], {**state["people"][0], "id": "max", "name": "Max"}]
        noticed = state["view"] | {"irregularities": [matter | {"noticed_by": person}]}
        show(server, "foreign card", view=noticed, people=people)
        page.goto(server.address)
        says(page, "#panel .facts p", said)


@pytest.mark.parametrize(("cards", "word"), [("all results", "Paid"), ("nobody is paid", "Settled")])
def test_the_button_says_paid_where_a_box_is_paid(page: Page, server: PageServer, cards: str, word: str) -> None:
    follow(page, server, cards)
    assert page.locator('#panel [data-act="record_settled/"]').inner_text() == word
    assert f'"{word}"' in sentence(page)


def test_a_closed_table_is_not_paused(page: Page, server: PageServer) -> None:
    follow(page, server, "closed")
    page.clock.run_for(400)
    page.locator('#panel [data-act="pause_table"].off').dispatch_event("click")
    says(page, "#answer .text", "There is nothing to pause.")


def test_why_a_button_is_off_stands_at_the_button_until_the_next_tap(page: Page, server: PageServer) -> None:
    follow(page, server, "closed")
    page.clock.run_for(400)
    off = page.locator('#panel [data-act="pause_table"].off')
    reason = page.locator("#reason")
    box = off.bounding_box()
    assert box is not None
    for _ in range(2):
        off.dispatch_event("click")
        says(page, "#reason", "There is nothing to pause.")
        said = reason.bounding_box()
        assert said is not None
        assert abs(said["y"] + said["height"] - box["y"]) < 2
        assert said["x"] <= box["x"] + box["width"]
        page.mouse.click(2, 2)
        assert reason.is_hidden()
    off.dispatch_event("click")
    show(server, "idle")
    reason.wait_for(state="hidden")


def test_a_deck_is_registered_beside_opening_where_decks_are_recorded(page: Page, server: PageServer) -> None:
    follow(page, server, "closed")
    register = page.locator('#panel [data-act^="bring_deck"]')
    assert register.count() == 0
    decks = [{"label": "A", "back": "red"}]
    show(server, "closed", view=states()["closed"]["view"] | {"decks": decks})
    register.wait_for()


def test_the_first_card_says_whose_hand_is_dealt_first(page: Page, server: PageServer) -> None:
    follow(page, server, "first_card")
    says(page, "#panel .facts p", "The First Card decides whose hand is dealt first.")
    show(server, "deal begins after the First Card")
    says(page, "#panel .facts p", "is dealt first.")
    show(server, "dealing after the First Card")
    page.locator("#panel .facts p", has_text="is dealt first.").wait_for(state="detached")


def test_the_result_of_a_tap_stays_when_contact_is_restored(page: Page, server: PageServer) -> None:
    """The answer comes over a different connection from the states, and may arrive before them."""
    follow(page, server)
    silent(page, 9)
    page.evaluate(ANSWERED, "Nothing was done.")
    show(server, "examining")
    page.wait_for_selector("body:not(.no-contact)")
    page.clock.run_for(300)
    assert page.locator("#answer .text").inner_text() == "Nothing was done."


def test_a_stream_that_the_browser_gave_up_is_opened_again(page: Page, server: PageServer) -> None:
    follow(page, server)
    server.refuse = 2
    server.hang_up()
    show(server, "examining")
    for _ in range(40):
        page.clock.run_for(250)
        if server.asked.count("/v1/screen") == 4:
            break
    says(page, "#sentence", "Let the players look")


def test_a_dead_stream_is_opened_again(page: Page, server: PageServer) -> None:
    """A tablet slept, or a proxy dropped the connection: its end never arrives."""
    follow(page, server)
    silent(page, 8)
    assert server.asked.count("/v1/screen") == 1
    silent(page, 3)
    page.wait_for_selector("body:not(.no-contact)")
    assert server.asked.count("/v1/screen") == 2


@pytest.mark.parametrize("path", ["/", "/display"])
def test_an_unsupported_browser_shows_what_to_do(browser: Browser, server: PageServer, path: str) -> None:
    opened = browser.new_page(viewport=LANDSCAPE, java_script_enabled=False)
    opened.goto(f"{server.address}{path}")
    assert "call a technician" in opened.locator("#sentence").inner_text()
    opened.close()


def test_a_new_version_of_the_page_is_loaded_between_rounds_only(page: Page, server: PageServer) -> None:
    show(server, "dealing_sets", page="1")
    page.goto(server.address)
    page.wait_for_selector(".place.lit")
    show(server, "examining", page="2")
    page.wait_for_selector(".place[data-place=D].lit")
    assert server.asked.count("/") == 1
    show(server, "idle", page="2")
    says(page, "#sentence", "Place your bets")
    assert server.asked.count("/") == 2


def test_a_new_matter_that_holds_the_table_blinks_five_seconds_and_once(page: Page, server: PageServer) -> None:
    follow(page, server)
    assert page.locator("#sentence.blinking").count() == 0
    show(server, "four cards")
    page.wait_for_selector("#sentence.blinking.red")
    show(server, "four cards", last={"entry": 9999, "utc_ns": 0, "sentence": "Another line."})
    says(page, "#answer", "Another line.")
    page.clock.run_for(5100)
    assert page.locator("#sentence.blinking").count() == 0
    assert page.locator("#sentence.red").count() == 1, "the colour stays"


def test_a_matter_without_a_hold_is_only_counted_below(page: Page, server: PageServer) -> None:
    follow(page, server, "late bet")
    assert page.locator("#sentence.red, #sentence.amber").count() == 0
    assert page.locator("#answer .matters").inner_text() == 'Next: a bet after "No more bets", Box 3'
    assert page.locator(".place[data-place=B3].amber").count() == 1


TAP: Final = """async places => {
  const { store } = await import("/console/js/store.js");
  const { tap } = await import("/console/js/stage.js");
  const picked = [];
  Object.assign(store.own, { picking: new Set(["B3"]), pick: place => picked.push(place) });
  for (const place of places) tap(document.querySelector(`.place[data-place="${place}"]`));
  return picked;
}"""


def test_a_place_is_tapped_only_where_something_asks_for_it(page: Page, server: PageServer) -> None:
    follow(page, server)
    page.clock.run_for(400)
    assert page.evaluate(TAP, ["B1", "B3", "D"]) == ["B3"]
    silent(page, 6)
    assert page.evaluate(TAP, ["B1", "B3", "D"]) == []


def across(page: Page) -> list[str]:
    """Return the boxes from left to right."""
    found: list[str] = page.evaluate("""() => [...document.querySelectorAll(".place:not([data-place=D])")]
      .sort((one, two) => one.getBoundingClientRect().left - two.getBoundingClientRect().left)
      .map(one => one.dataset.place)""")
    return found


def test_box_1_is_at_the_dealers_left_unless_the_deal_is_reversed(page: Page, server: PageServer) -> None:
    follow(page, server)
    boxes = across(page)
    assert boxes == sorted(boxes)
    show(server, "dealing after the First Card")
    page.wait_for_selector(".first-card")
    page.wait_for_selector(".place:nth-child(4):last-child")
    assert across(page) == ["B3", "B2", "B1"]


TURNED: Final = """
() => {
  const middle = node => { const box = node.getBoundingClientRect(); return box.left + box.width / 2; };
  const number = document.querySelector(".arrows circle");
  const cards = [...document.querySelectorAll('[data-place="B3"] .cards > *')].map(middle);
  return cards.map(card => Math.abs(card - middle(number)));
}
"""


def test_the_arrow_that_turns_a_card_is_on_that_card(page: Page, server: PageServer) -> None:
    follow(page, server, "turned down")
    says(page, "#panel .facts", "Card ")
    turned = int(page.locator("#panel .facts").inner_text().partition("Card ")[2][0])
    page.locator(".arrows circle").wait_for()
    apart = page.evaluate(TURNED)
    assert apart[turned - 1] < 2, (turned, apart)
    assert min(apart[: turned - 1] + apart[turned:]) > 20, (turned, apart)


def test_a_hand_that_is_moved_is_one_arrow(page: Page, server: PageServer) -> None:
    follow(page, server, "moving")
    assert page.locator(".arrows .line").count() == 2
    assert page.locator(".arrows text").all_text_contents() == ["1", "2"]


def test_results_are_a_shape_and_a_word(page: Page, server: PageServer) -> None:
    follow(page, server, "concluded")
    for place, outcome, word in (("B1", "win", "WON"), ("B3", "tie", "TIE"), ("B6", "lose", "LOST")):
        mark = page.locator(f".place[data-place={place}] .mark")
        assert mark.inner_text() == word
        assert mark.locator("use").get_attribute("href") == f"/console/cards.svg#{outcome}"
    assert page.locator(".place .short").all_inner_texts()[0] == "3P"


DUES: Final = {
    "all results": [
        ("B1", ["PAY 1:1"]),
        ("B2", ["PAY 1:2"]),
        ("B3", ["RETURN"]),
        ("B4", ["PAY 1:1"]),
        ("B5", ["RETURN"]),
        ("B6", ["TAKE"]),
        ("B7", ["TAKE"]),
    ],
    "bets of each": [("B2", ["PAY 50"]), ("B3", ["RETURN 100", "PAY 800"]), ("B6", ["TAKE 100"])],
    "settling": [("B1", ["PAY 1:1"]), ("B3", ["RETURN"]), ("B6", ["TAKE"])],
    "concluded": [],
}
LARGE: Final = 24  # px, bold: read from 2 m


@pytest.mark.parametrize("name", DUES)
def test_each_box_shows_what_is_done_with_its_bets_until_the_round_ends(
    page: Page, server: PageServer, name: str
) -> None:
    """The list beside "Paid" has the same boxes, in the order of paying."""
    follow(page, server, name)
    listed = page.locator("#panel .dues .payment")
    assert [one.get_attribute("data-due") for one in listed.all()] == [place for place, _ in DUES[name]]
    for place, acts in DUES[name]:
        at_box = page.locator(f".place[data-place={place}] .mark .due .said")
        assert at_box.all_inner_texts() == acts
        assert page.locator(f"#panel .dues [data-due={place}] b").all_inner_texts() == acts
        assert all(at_box.evaluate_all(f"all => all.map(one => parseFloat(getComputedStyle(one).fontSize) >= {LARGE})"))
    dues = page.locator("#panel .dues")
    assert dues.evaluate("(node) => node.scrollHeight <= node.clientHeight + 8")


def test_a_bet_is_named_where_a_box_has_several(page: Page, server: PageServer) -> None:
    follow(page, server, "bets of each")
    assert page.locator("#panel .dues [data-due=B3] .name").all_inner_texts() == ["Bob Initial Bet", "Ann Tie"]


def test_a_tap_ticks_a_box_off_at_the_list_and_on_the_stage(page: Page, server: PageServer) -> None:
    follow(page, server, "all results")
    item, box = page.locator("#panel .dues [data-due=B2]"), page.locator(".place[data-place=B2]")
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    item.click()
    assert item.get_attribute("aria-pressed") == "true"
    assert "done" in (box.get_attribute("class") or "")
    page.clock.run_for(400)  # a place takes no tap while its meaning is new
    box.click()
    assert item.get_attribute("aria-pressed") == "false"
    assert "/v1/operations" not in server.asked, "a tick enters nothing"


def test_cards_that_were_collected_are_not_like_those_that_lie(page: Page, server: PageServer) -> None:
    follow(page, server, "concluded")
    assert page.locator(".place.past").count() == 0
    view = states()["concluded"]["view"]
    server.show(
        states()["concluded"] | {"view": view | {"ledger": view["ledger"] | {"hands": 0}}}, beat(states()["idle"])
    )
    page.locator(".place.past").first.wait_for()


@pytest.mark.parametrize("path", ["/display", "/display?for=surveillance", "/display?side=players"])
def test_a_display_operates_nothing(page: Page, server: PageServer, path: str) -> None:
    show(server, "four cards", offers=[], people=[], screen={"enrolled": False})
    page.goto(f"{server.address}{path}")
    page.wait_for_selector(".place")
    assert page.locator("button, input, a, [role=button]").count() == 0
    assert not {asked for asked in server.asked if "panel" in asked or "operate" in asked or "answer" in asked}
    watched = "surveillance" in path
    assert (page.locator("#matters p").count() > 0) is watched
    assert (sentence(page) == "Please wait") is not watched
    assert page.locator(".place.red").count() == int(watched)
    assert "Ana" not in page.locator("body").inner_text()


def test_players_see_the_layout_from_their_side(page: Page, server: PageServer) -> None:
    follow(page, server, path="/display?side=players")
    boxes = across(page)
    assert boxes == sorted(boxes, reverse=True)
    dealer = page.locator(".place[data-place=D]").bounding_box()
    box = page.locator(".place[data-place=B4]").bounding_box()
    assert dealer is not None
    assert box is not None
    assert dealer["y"] < box["y"]


@pytest.mark.parametrize("name", ["dealing_sets", "dealing_singles"])
def test_where_the_shift_lapsed_in_a_deal_the_dealer_is_asked_to_sign_on(
    page: Page, server: PageServer, name: str
) -> None:
    state = states()[name]
    view = state["view"] | {"dealer": "ana"}
    offer = {"operation": "sign_on", "allowed": True, "role": "dealer", "arguments": {}, "needs": []}
    nobody = state["screen"] | {"dealer": "", "dealer_name": ""}
    show(server, name, view=view, screen=nobody, offers=[*state["offers"], offer])
    page.goto(server.address)
    page.locator('#panel .primary[data-act="sign_on/"]').wait_for()
    show(server, name, view=view | {"dealer": ""}, screen=nobody, offers=[*state["offers"], offer | STARTS])
    page.locator('#panel .primary[data-act="dealer_on/"]').wait_for()


STARTS: Final = {"operation": "dealer_on"}


def test_hands_of_a_void_round_are_neither_won_nor_lost(page: Page, server: PageServer) -> None:
    settled = states()["settling"]["view"]
    show(server, "voided", view=settled | {"phase": "voided", "bets_to_return": False, "dues": []})
    page.goto(server.address)
    page.wait_for_selector(".place[data-place=B1] .card")
    said = page.locator(".place:not(.empty) .mark").all_inner_texts()
    assert said == [""] * 4, "three boxes and the Dealer"


def test_a_lost_device_and_lost_contact_are_shown_one_at_a_time(page: Page, server: PageServer) -> None:
    """The panel has the other acts."""
    follow(page, server, "away")
    assert sentence(page) == "Check the shuffler's power and cable."
    facts = page.locator("#panel .facts p")
    assert facts.last.inner_text() == "Or call the pit supervisor to deal by hand."
    silent(page, 6)
    assert sentence(page) == "Leave the cards: the table PC is silent."
    assert facts.all_inner_texts() == [
        "1. The page reconnects automatically.",
        "2. If it does not come back, call a technician.",
    ]


def test_the_next_matter_is_named_behind_the_open_question(page: Page, server: PageServer) -> None:
    """A matter that blocks play comes first, then the oldest. The matter that the page asks about does not count as
    waiting.
    """
    view = states()["four cards"]["view"]
    late = states()["late bet"]["view"]["irregularities"][0]
    asked = view["irregularities"][0]
    follow(page, server, "four cards")
    assert page.locator("#answer .matters").is_hidden()
    show(server, "four cards", view=view | {"irregularities": [asked, late | {"id": 7777}]})
    says(page, "#answer .matters", 'Next: a bet after "No more bets", Box 3')
    both = [late | {"id": 7777}, asked, asked | {"id": 8888, "place": "B6"}]
    show(server, "four cards", view=view | {"irregularities": both})
    says(page, "#answer .matters", "Next: Box 6 has the wrong number of cards and 1 more")
    assert page.locator("#panel .facts .name").inner_text() == "Dealer has the wrong number of cards"


FOCUSED: Final = "document.activeElement.closest('section, button')?.id ?? ''"


def test_the_focus_moves_to_a_question_that_opens_and_only_then(page: Page, server: PageServer) -> None:
    """The panel returns when no question is open."""
    follow(page, server)
    page.locator("#answer .story").focus()
    show(server, "examining")
    page.locator(".place[data-place=D].lit").wait_for()
    assert page.evaluate("document.activeElement.className") == "story"
    show(server, "four cards")
    page.locator("#sentence.red").wait_for()
    assert page.evaluate(FOCUSED) == "sentence"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('section').id") == "panel"
    show(server, "four cards", last={"entry": 9999, "utc_ns": 0, "sentence": "Another line."})
    says(page, "#answer", "Another line.")
    assert page.evaluate("document.activeElement.closest('section').id") == "panel"
    page.evaluate("document.querySelector('#sentence .text').focus()")
    show(server, "examining")
    page.locator("#sentence:not(.red)").wait_for()
    assert page.evaluate("document.activeElement === document.body")


def test_each_claim_is_a_separate_question_and_no_leads_to_the_next(page: Page, server: PageServer) -> None:
    table = TableHarness(Unit.SINGLES, game_id="F3").start().to_dealing()
    table.take(4)
    table.report(Kind.PLAYER_EXPOSED, "B1")
    state = message(table.state)
    server.show(state, beat(state))
    page.goto(server.address)
    says(page, "#sentence .text", "Did a player drop a card of Player 1?")
    page.clock.run_for(1000)
    page.locator("#panel [data-act=no]").click()
    says(page, "#sentence .text", "Did a player expose a card of Player 1?")
    page.clock.run_for(1000)
    page.locator("#panel [data-act=back]").click()
    says(page, "#sentence .text", "Did a player drop a card of Player 1?")


def test_problems_are_in_groups_and_nothing_scrolls(page: Page, server: PageServer) -> None:
    follow(page, server, "settling")
    page.wait_for_timeout(400)
    page.locator('#panel [data-act="report_irregularity"]').click()
    for group in ("cards", "hands", "bets", "device", "deck"):
        page.wait_for_timeout(400)
        page.locator(f'#panel [data-act="group/{group}"]').click()
        assert 1 <= page.locator("#panel .list button").count() <= 6
        middle = page.locator("#panel .middle")
        assert middle.evaluate("(node) => node.scrollHeight <= node.clientHeight")


def test_who_counts_does_not_see_what_is_due(page: Page, server: PageServer) -> None:
    follow(page, server, "all results")
    assert "24" in page.locator("#stage .ledger").inner_text()
    page.wait_for_timeout(400)
    page.locator('#panel [data-act^="count_cards/"]').first.click()
    says(page, "#sentence", "?")
    assert page.locator("#stage .ledger").inner_text() == ""
    assert page.locator("#stage .device").inner_text() == ""


def test_a_question_about_swapped_hands_lights_both(page: Page, server: PageServer) -> None:
    follow(page, server, "swapped")
    assert [place.get_attribute("data-place") for place in page.locator(".place.red").all()] == ["B1", "B6"]


def test_a_lost_hand_whose_lose_bet_is_paid_does_not_read_lost(page: Page, server: PageServer) -> None:
    follow(page, server, "bets both ways")
    lines = page.locator('.place[data-place="B1"] .mark p').all_inner_texts()
    assert [line.split() for line in lines] == [["Win", "bet:", "TAKE"], ["Lose", "bet:", "PAY", "1:1"]]
    view = states()["bets both ways"]["view"] | {"phase": "concluded", "dues": []}
    show(server, "bets both ways", view=view)
    says(page, '.place[data-place="B1"] .mark', "LOWER")


@pytest.mark.parametrize(
    ("name", "width"), [("three boxes", 68), ("betting", 54), ("eight boxes", 49), ("all results", 44)]
)
def test_cards_are_as_wide_as_the_boxes_allow(name: str, width: int, page: Page, server: PageServer) -> None:
    """The layout has 3, 7, 8 and 9 boxes, on the smallest screen."""
    follow(page, server, name)
    measured = page.locator("#stage").evaluate(
        """stage => {
          const probe = stage.appendChild(document.createElement("i"));
          probe.style.cssText = "position: absolute; width: var(--card-wide)";
          return probe.getBoundingClientRect().width;
        }"""
    )
    assert measured >= width


def test_a_steps_headline_is_neutral_and_the_stop_alone_is_red(page: Page, server: PageServer) -> None:
    follow(page, server, "four cards")
    assert page.locator("#sentence.red").count() == 1
    show(server, "choosing")
    says(page, "#sentence", "continue or withdraw")
    assert page.locator("#sentence.red").count() == 0
    assert page.locator(".place.red").count() == 1
    show(server, "turned down")
    says(page, "#sentence", "face down")
    assert page.locator("#sentence.amber").count() == 1
    assert page.locator(".place.red").count() == 0


def test_a_double_tap_selects_no_text(page: Page, server: PageServer) -> None:
    follow(page, server, "examining")
    for tapped in ("#panel .primary", "#stage .place.lit", "#panel .always button"):
        page.locator(tapped).first.dblclick(force=True)
        assert page.evaluate("getSelection().toString()") == "", tapped


LABELS_TO_BUTTONS: Final = """
nodes => nodes.map(row => {
  const text = document.createRange();
  text.selectNodeContents(row.querySelector("p"));
  return row.querySelector("button").getBoundingClientRect().left - text.getBoundingClientRect().right;
})
"""


def test_a_bettors_label_is_nearest_to_the_bettors_own_buttons(page: Page, server: PageServer) -> None:
    follow(page, server, "choosing")
    gaps = page.locator("#panel .row").evaluate_all(LABELS_TO_BUTTONS)
    assert len(gaps) > 1
    assert all(0 < gap < 16 for gap in gaps), gaps


def test_a_window_that_is_too_small_says_so(page: Page, server: PageServer) -> None:
    """At 200 % a tablet's window is half as large in CSS pixels, and nothing is cut."""
    follow(page, server, "four cards")
    page.set_viewport_size({"width": 640, "height": 400})
    show(server, "exposed")
    says(page, "#sentence", "Was a card of box 3 exposed?")
    page.set_viewport_size({"width": 400, "height": 250})
    show(server, "examining")
    says(page, "#sentence", "Make the window larger.")


NOTE_FLASHES: Final = """() => {
  const { animate } = Element.prototype;
  window.flashed = new Set();
  Element.prototype.animate = function (...given) {
    flashed.add(this);
    return animate.apply(this, given);
  };
}"""
HAS_FLASHED: Final = "node => flashed.has(node)"


def test_a_tap_that_does_not_count_flashes(page: Page, server: PageServer) -> None:
    """A button, and a box, whose meaning has just changed."""
    follow(page, server, "exposing")
    page.evaluate(NOTE_FLASHES)
    page.clock.pause_at(page.evaluate("Date.now()") + 1000)
    page.locator('#panel [data-act="report_irregularity"]').click()
    group = page.locator('#panel [data-act="group/hands"]')
    group.click()
    assert group.evaluate(HAS_FLASHED)
    page.clock.run_for(400)
    group.click()
    page.locator('#panel [data-act="group/hands"][aria-pressed="true"]').wait_for()
    page.locator('#panel [data-act="back"]').click()
    page.clock.run_for(50)
    box = page.locator('.place.picking[data-place="B1"]')
    box.click()
    assert box.evaluate(HAS_FLASHED)


def test_a_pin_is_not_a_password_that_a_browser_keeps(page: Page, server: PageServer) -> None:
    show(server, "idle", screen={"enrolled": False}, offers=[])
    page.goto(server.address)
    page.locator('#panel [data-act="enrol"]').wait_for()
    page.wait_for_timeout(400)
    page.locator('#panel [data-act="enrol"]').click()
    pin = page.locator('#sheet [name="pin"]')
    assert (pin.get_attribute("type"), pin.get_attribute("autocomplete")) == ("text", "one-time-code")
    assert pin.evaluate("node => getComputedStyle(node).webkitTextSecurity") == "disc"
    assert page.locator("input[type=password]").count() == 0
    assert page.locator("html").get_attribute("translate") == "no"


def test_who_reported_sees_it_and_calls_the_person_who_confirms(page: Page, server: PageServer) -> None:
    """Confirming is not the largest button of the dealer who reported it and may not confirm it."""
    state = states()["foreign card"]
    (matter,) = state["view"]["irregularities"]
    matter = matter | {"noticed_by": state["screen"]["dealer"]}
    show(server, "foreign card", view=state["view"] | {"irregularities": [matter]})
    page.goto(server.address)
    says(page, "#sentence", "Call the pit supervisor to confirm.")
    says(page, "#panel .facts", "A foreign card")
    says(page, "#panel .facts", "Reported by you")
    assert page.locator('#panel [data-act="confirm"]').inner_text() == "Pit supervisor confirms"
    assert page.locator("#panel .primary").count() == 0


def test_nothing_but_coming_on_duty_is_offered_while_no_dealer_is_signed_on(page: Page, server: PageServer) -> None:
    state = states()["idle"]
    show(server, "idle", screen=state["screen"] | {"dealer": "", "dealer_name": ""})
    page.goto(server.address)
    says(page, "#sentence", "Start your shift.")
    assert page.locator("#panel .primary").get_attribute("data-act") == "dealer_on/"
    assert page.locator("#panel .list button:not(.off)").count() == 0
    page.wait_for_timeout(400)
    page.locator("#panel .list button.off").first.dispatch_event("click")
    says(page, "#answer .text.refused", "Start your shift.")
    page.locator('#panel [data-act="dealer_on/"]').click()
    says(page, "#sentence", "Who deals?")
    assert "Start your shift." not in page.locator("#answer .text").inner_text(), "it was about an earlier tap"


LABELS: Final = """async () => {
  const { store } = await import("/console/js/store.js");
  const { entryLabel } = await import("/console/js/labels.js");
  return store.screen.view.entries.map((one) => entryLabel(store.screen, one));
}"""


def test_entries_are_named_by_what_people_did_and_about_which_matter(page: Page, server: PageServer) -> None:
    follow(page, server, "choosing")
    marked, reported, confirmed = page.evaluate(LABELS)
    assert marked.endswith("marked bets at 1, 3, 6")
    assert reported.endswith("reported a card exposed in dealing, Box 3")
    assert confirmed.endswith("confirmed \u00b7 a card exposed in dealing, Box 3")


def test_every_suit_is_in_sight_below_a_fact(page: Page, server: PageServer) -> None:
    layout = states()["examining"]["layout"] | {"hands_by_device": True}
    offers = [
        one | {"needs": ["cards"]} for one in states()["examining"]["offers"] if one["operation"] == "expose_hand"
    ]
    show(server, "examining", layout=layout, offers=offers)
    page.goto(server.address)
    page.locator('#panel [data-act="expose_hand/D"]').wait_for()
    page.clock.run_for(1000)
    page.locator('#panel [data-act="expose_hand/D"]').click()
    says(page, "#panel .facts", "Enter what you see")
    cards, panel = (page.locator(one).bounding_box() for one in ("#panel .grid", "#panel .middle"))
    assert cards
    assert panel
    assert cards["y"] + cards["height"] <= panel["y"] + panel["height"]


def test_a_fact_is_not_a_part_of_the_headlines_sentence(page: Page, server: PageServer) -> None:
    """In Chinese a sentence of the next step may end in the words of the headline."""
    view = states()["settling"]["view"]
    show(server, "settling", view=view | {"headline": "B.", "next_steps": ["A: B.", "C. B."]})
    page.goto(server.address)
    says(page, "#panel .facts", "A: B.")
    says(page, "#panel .facts", "C.")
    assert "C. B." not in page.locator("#panel .facts").inner_text()
