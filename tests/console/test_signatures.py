"""The pane of a signature: all of what is signed is in sight beside the people and the PIN pad, and said once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from controller.api.in_language import in_language
from controller.api.preview import PreviewAnswer, may_be_tried, preview
from controller.games.specification import Unit
from controller.language import Speaker
from controller.table import operations
from controller.table.phases import Phase
from controller.table.state import TableState
from tests.console.examples import beat, message, tables
from tests.console.measures import LANGUAGES, MEASURE
from tests.console.page_server import PageServer
from tests.table.every_state import to_phase

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

SIZES: Final = ((1280, 800), (1024, 600))
REASON: Final = "Entered by mistake"
PARTS: Final = re.compile(r"[.;:?!\u3002\uff1b\uff1a\uff1f\uff01]+\s*")
LONG: Final = {"en": 14, "zh-Hans": 7}  # characters of a part that may not be said twice

# Open the signature of an act, and wait until its preview is drawn.
SIGNS: Final = """async ([entry, operation, values, signer]) => {
  const { store } = await import("/console/js/store.js");
  const { start, choose } = await import("/console/js/flow.js");
  const { preview } = await import("/console/js/ahead.js");
  const drawn = () => new Promise((resolve) => requestAnimationFrame(resolve));
  while (store.screen?.entry !== entry || store.screen.shown !== operation.name) await drawn();
  const offer = { role: "pit_supervisor", arguments: operation.arguments, operation: operation.operation, needs: [] };
  start(offer, { values });
  while (!preview(store.screen, offer, values).role) await drawn();
  if (signer) choose(signer);
  await drawn();
  await drawn();
  const said = document.querySelectorAll("#sentence .text, #panel .facts p > span:first-child");
  return [...said].map((one) => one.textContent);
}"""


def signed() -> Iterator[tuple[str, TableState, dict[str, Any], dict[str, Any]]]:
    """Yield what is signed: the answers to each open matter, and corrections of entries."""
    for name, table in tables():
        screen = message(table.state)
        for offer in screen["offers"]:
            asks = offer["operation"] == "confirm_irregularity"
            if asks and offer["allowed"] and not offer["needs"] and offer["role"] != "dealer":
                yield name, table.state, offer, {}
    for phase in (Phase.DEALING_SETS, Phase.EXAMINING, Phase.EXPOSING, Phase.SETTLING, Phase.CONCLUDED):
        state = to_phase(Unit.SETS, phase).state
        offer = {"operation": "correct_entry", "arguments": {}}
        for entry in message(state)["view"]["entries"]:
            if entry["late"] or entry["said"].get("place", "D") != "D":
                continue  # one hand stands for all
            values = {"entry": entry["entry"], "reason": REASON}
            yield f"{phase}: remove {entry['operation']}", state, offer, values
            if entry["operation"] == "occupy_boxes":
                instead = {"operation": "occupy_boxes", "boxes": [1, 3, 4, 7]}
                yield f"{phase}: other boxes", state, offer, values | {"instead": instead}


def tried(state: TableState, language: str, sent: bytes) -> PreviewAnswer:
    """Answer as the daemon does."""
    operation = msgspec.convert(msgspec.json.decode(sent)["operation"], operations.AnyOperation)
    assert may_be_tried(operation)
    answer: PreviewAnswer = in_language(preview(state, operation), Speaker(language))
    return answer


@pytest.mark.parametrize(("size", "language"), list(product(SIZES, LANGUAGES)), ids=str)
def test_what_is_signed_is_in_sight_and_said_once(
    browser: Browser, server: PageServer, size: tuple[int, int], language: str
) -> None:
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page.goto(f"{server.address}/?language={language}")
    found = {}
    for at, (name, state, offer, values) in enumerate(signed()):
        server.tried = lambda sent, state=state: tried(state, language, sent)
        shown = message(state, language=language) | {"shown": str(at)}
        server.show(shown, beat(shown))
        for signer in ("", "sam"):
            named = {"name": str(at), **offer}
            said = page.evaluate(SIGNS, [shown["entry"], named, values, signer])
            measured = page.evaluate(MEASURE)
            amiss = [*measured["out of the panel"], *measured["cut"], *twice(said, language)]
            if amiss:
                found[f"{name}, {offer['arguments']}, {signer}"] = amiss, said
    server.tried = None
    page.close()
    server.hang_up()
    assert not found, "\n".join(map(str, found.items()))


def twice(said: list[str], language: str) -> list[str]:
    """Return the sentences, and parts of sentences, that are said more than once."""
    parts = [part.strip().casefold() for line in said for part in PARTS.split(line)]
    return sorted({part for part in parts if len(part) >= LONG[language] and parts.count(part) > 1})
