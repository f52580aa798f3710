"""Everything that the table takes can be entered at the page: each offer has its button, or its place to tap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controller.table.offers import offers
from tests.console.examples import beat, message
from tests.console.page_server import PageServer
from tests.table.every_state import every_state

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

# What can be pressed and tapped in a state: in the panel, in the menu, and on the stage. `matter`: the irregularity
# that a person has opened.
SHOWN = """async ([screen, matter]) => {
  const { store } = await import("/console/js/store.js");
  const { matterOf } = await import("/console/js/question.js");
  const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const keys = (within) => [...document.querySelectorAll(`${within} [data-act]`)]
    .filter((one) => one.offsetParent).map((one) => one.dataset.act);
  while (JSON.stringify(store.screen) !== JSON.stringify(screen)) await drawn(); // it comes by the stream
  store.set({ matter, flow: undefined, sheet: undefined });
  await drawn();
  const found = { panel: keys("#panel"), matter: matterOf(screen)?.id ?? 0, picking: [...(store.own.picking ?? [])] };
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
    """One state for each phase, what is open in it, and what is offered."""
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
    if "irregularity" in arguments:
        return bool(OWN[operation] & there)
    return any(key == operation or key.startswith(f"{operation}/") for key in there) or (
        operation == "count_cards" and "count" in there
    )


def comes_later(operation: str, shown: dict[str, Any]) -> bool:
    """People do first what the panel asks for."""
    panel = {*shown["panel"]}
    return (
        (operation == "confirm_irregularity" and "count" in panel)  # what the cards are is counted
        or (operation == "continue_round" and bool(shown["matter"]))
        or (operation in ("reopen_bets", "cancel_start") and "continue_round/" in panel)
    )


def missing(screen: dict[str, Any], shown: dict[str, Any]) -> set[str]:
    """Of a matter that was opened and does not hold the table, its own offers; it is closed for the others."""
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
