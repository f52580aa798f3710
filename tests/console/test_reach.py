"""Everything that the table takes can be entered at the page: each offer has its button, or its place to tap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

import pytest

from controller.games.specification import Unit
from controller.table import operations
from controller.table.offers import Offer, offers
from controller.table.phases import Phase
from tests.console.examples import beat, message, tables
from tests.console.page_server import PageServer
from tests.table.every_state import every_state, to_phase

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

# Everything that can be pressed and tapped in a state: in the panel, in the menu, and on the stage. `matter`: the
# irregularity that a person has opened.
SHOWN = """async ([screen, matter]) => {
  const { store } = await import("/console/js/store.js");
  const { matterOf } = await import("/console/js/question.js");
  const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const keys = (within) => [...document.querySelectorAll(`${within} [data-act]`)]
    .filter((one) => one.offsetParent).map((one) => one.dataset.act);
  while (JSON.stringify(store.screen) !== JSON.stringify(screen)) await drawn(); // it comes by the stream
  store.set({ matter, flow: undefined, sheet: undefined, stated: undefined });
  await drawn();
  const about = matterOf(screen);
  const found = { panel: keys("#panel"), matter: about?.id ?? 0, picking: [...(store.own.picking ?? [])] };
  // The claim, as it is asked again.
  if (about) store.set({ stated: { id: about.id, revision: about.revision, claim: false, facts: {} } });
  await drawn();
  found.claim = store.own.headline?.text === about?.claims[0]?.question && keys("#panel").includes("no");
  store.set({ stated: undefined });
  store.set({ sheet: "menu" });
  while (!document.querySelector("#sheet[data-sheet=menu]:not([hidden]) [data-act]")) await drawn();
  found.menu = keys("#sheet");
  store.set({ sheet: undefined });
  return found;
}"""
OWN = {
    "confirm_irregularity": {"yes", "no", "confirm", "cannot"},
    "deny_irregularity": {"deny"},
    "name_order": {"order"},
    "reconstruct": {"moved"},
}


def kinds_of_states() -> dict[object, Any]:
    """Return one state for each combination of phase, open matters, and offers."""
    found: dict[object, Any] = {}
    for _, state in every_state():
        if state.settings is not None:
            offered = tuple(one.operation for one in offers(state) if one.allowed)
            found.setdefault((state.phase, offered, tuple((one.kind, one.stage) for one in state.open)), state)
    return found


def is_shown(offer: dict[str, Any], shown: dict[str, Any]) -> bool:
    operation, arguments = offer["operation"], offer["arguments"]
    there = {*shown["panel"], *shown["menu"]}
    match operation:
        case "expose_hand":
            return arguments["place"] in shown["picking"]
        case "occupy_boxes":
            return bool(shown["picking"])
        case "choose_option":
            word = "absent" if arguments.get("absent") else arguments["choice"]
            return f"{arguments['place']}/{arguments.get('bettor', '')}/{word}" in there
        case "rule":
            return arguments["action"] in there
    if operation == "deny_irregularity" and shown["claim"]:
        return True
    if "irregularity" in arguments:
        return bool(OWN[operation] & there)
    return any(key == operation or key.startswith(f"{operation}/") for key in there) or (
        operation == "count_cards" and "count" in there
    )


def comes_later(operation: str, shown: dict[str, Any]) -> bool:
    """Return whether the act comes later: people do first what the panel asks for."""
    panel = {*shown["panel"]}
    return (
        (operation == "confirm_irregularity" and "count" in panel)  # a count shows what the cards are
        or (operation == "continue_round" and bool(shown["matter"]))
        or (operation in ("reopen_bets", "cancel_start") and "continue_round/" in panel)
    )


def missing(screen: dict[str, Any], shown: dict[str, Any]) -> set[str]:
    """Return the offers that are not shown; an opened matter that holds nothing shows only its own offers."""
    opened = next((one for one in screen["view"]["irregularities"] if one["id"] == shown["matter"]), None)
    alone = opened is not None and not opened["blocks"]
    found = set() if not alone or "back" in shown["panel"] else {"back"}
    for offer in screen["offers"]:
        about = offer["arguments"].get("irregularity", 0)
        here = about == shown["matter"] or (about == 0 and not alone)
        waits = bool(offer["asked"]) or comes_later(offer["operation"], shown)
        if offer["allowed"] and here and not waits and not is_shown(offer, shown):
            found.add(f"{screen['view']['phase']}: {offer['operation']} {offer['arguments']}")
    return found


# The questions for a report of each kind, in this state.
ASKED = """async () => {
  const { store } = await import("/console/js/store.js");
  const { argument, cancel, start } = await import("/console/js/flow.js");
  const { ask } = await import("/console/js/steps.js");
  const { GROUPS } = await import("/console/js/needs.js");
  const found = new Set();
  for (const { kind } of store.screen.reports) {
    start(store.screen.offers.find((one) => one.operation === "report_irregularity"));
    const group = Object.keys(GROUPS).find((name) => GROUPS[name].includes(kind));
    ask("kind", store.screen, { ...store.own.flow, draft: { group } }).list.find((one) => one.key === kind).act();
    for (const step of store.own.flow?.steps ?? []) found.add(argument(step).name);
    cancel();
  }
  return [...found];
}"""
STEPS = """async () => Object.keys((await import("/console/js/needs.js")).STEPS)"""

# Fields that the page fills in itself for a correction, for answers, or for a report about the previous round.
FILLED = {
    "confirm_irregularity": {"facts"},
    "correct_entry": {"instead"},
    "enrol_screen": {"name", "token_hash"},
    "name_order": {"ordinals"},
    "report_irregularity": {"earlier"},
}
# Fields that no offer has in the states of these tests; the click tests enter them in other states.
CLICKED = {
    "choose_option": {"absent"},
    "release_deck": {"deck", "reason", "count", "witness"},
    "remove_screen": {"screen"},
    "rule": {"bets"},
    "show_first_card": {"card"},
}
# Fields that only a program fills, or the terminal.
ELSEWHERE = {
    "cancel_start": {"announced"},
    "correct_bet": {"bettor", "wager", "box", "placed_by"},
    "handle_cards": {"bettor"},  # asked where bettors are entered
    "place_wager": {"placed_by"},
    "recall_cards": {"place"},
    "report_irregularity": {"note"},
    "restrict_betting": {"one_box"},  # asked where bettors are entered
    "shuffled_outside": {"deck"},
}


def fields_entered() -> dict[str, set[str]]:
    """Return for each operation the fields that its offers fill, and those that they need, in any state."""
    found: dict[str, set[str]] = {}
    for offer in every_offer():
        found.setdefault(offer.operation, set()).update(offer.arguments, offer.needs)
    return found


def test_every_field_of_an_operation_can_be_entered(browser: Browser, server: PageServer) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    state = message(to_phase(Unit.SETS, Phase.EXAMINING).state)
    server.show(state, beat(state))
    page.goto(server.address)
    page.wait_for_selector('[data-act="report_irregularity"]')
    entered = fields_entered()
    entered["report_irregularity"] |= {*page.evaluate(ASKED)}
    steps = {*page.evaluate(STEPS)}
    page.close()
    server.hang_up()
    lacking = {}
    for operation in get_args(operations.AnyOperation):
        name = operation.__struct_config__.tag
        fields = {*operation.__struct_fields__} - FILLED.get(name, set()) - ELSEWHERE.get(name, set())
        fields -= CLICKED.get(name, set())
        if missed := fields - entered.get(name, set()):
            lacking[name] = missed
    assert lacking == {}
    asked = {(one.operation, field) for one in every_offer() for field in one.needs}
    assert not {(name, field) for name, field in asked if not {field, f"{name}.{field}"} & steps}


def every_offer() -> Iterator[Offer]:
    for _, state in every_state():
        yield from offers(state)
    for _, table in tables():
        yield from offers(table.state)


def test_every_offer_can_be_entered(browser: Browser, server: PageServer) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    states = [message(state) for state in kinds_of_states().values()]
    page.goto(server.address)
    lacking = set()
    for screen in states:
        server.show(screen, beat(screen))
        for matter in (0, *(one["id"] for one in screen["view"]["irregularities"])):
            lacking |= missing(screen, page.evaluate(SHOWN, [screen, matter]))
    page.close()
    server.hang_up()
    assert lacking == set()
