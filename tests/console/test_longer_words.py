"""The console in the pseudo-locale: with texts that are 40 % longer than English nothing is cut or overlaps.

It checks every state at every size, the sheets, and the first question of every act that the states offer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.console.examples import beat, examples
from tests.console.measures import MEASURE, OPENED, SIZES, wrong
from tests.console.page_server import PageServer
from tests.console.test_regions import SHOWN
from tests.language.pseudo import PSEUDO, pseudo_locale

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

SHEETS: Final = ("menu", "enrol", "matters")
OPEN_SHEET: Final = """async sheet => {
  const { store } = await import("/console/js/store.js");
  store.set({ sheet: sheet ?? undefined });
  for (const _ of [1, 2]) await new Promise(done => requestAnimationFrame(done));
}"""

QUESTIONS: Final = """async () => {
  const { store } = await import("/console/js/store.js");
  const { needsSign, start, step, cancel } = await import("/console/js/flow.js");
  return store.screen.offers.map((offer) => {
    if (!offer.allowed || !(offer.needs.length || needsSign(store.screen, offer))) return "";
    start(offer);
    const asked = `${offer.operation} ${step()}`;
    cancel();
    return asked;
  });
}"""
"""What each offered act asks first; empty: nothing."""

ASK: Final = """async (number) => {
  const { store } = await import("/console/js/store.js");
  const { cancel, choose, signers, start, step } = await import("/console/js/flow.js");
  if (number === null) cancel();
  else if (store.own.flow) choose(signers(store.screen, store.own.flow.offer.role)[0].id);
  else start(store.screen.offers[number]);
  for (const _ of [1, 2]) await new Promise(done => requestAnimationFrame(done));
  return step() === "sign";
}"""
"""Begin an act, then choose who signs it, or cancel it. Returns whether it asks for a signature."""


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    """Serve the page with the pseudo-locale among its languages."""
    with pseudo_locale(tmp_path_factory.mktemp("language")), PageServer() as serving:
        yield serving


@pytest.fixture(params=SIZES, ids=str)
def page(request: pytest.FixtureRequest, browser: Browser, longer: PageServer) -> Iterator[Page]:
    width, height = request.param
    opened = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    said: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(f"{error} {error.stack}"))
    yield opened
    opened.close()
    longer.hang_up()
    assert not said, "what the browser complains of"


def test_nothing_is_cut_in_texts_that_are_longer(page: Page, longer: PageServer) -> None:
    found: dict[str, dict[str, Any]] = {}
    lie: list[list[int]] | None = None
    seen: set[str] = set()

    def look(name: str) -> None:
        nonlocal lie
        measured = page.evaluate(MEASURE)
        lie = lie or measured["regions"]
        if amiss := wrong(measured, lie):
            found[name] = amiss

    for name, state in examples(PSEUDO).items():
        longer.show(state | {"shown": name}, beat(state))
        if page.url == "about:blank":
            page.goto(f"{longer.address}/?language={PSEUDO}")
        page.evaluate(SHOWN, name)
        look(name)
        for number, asked in enumerate(page.evaluate(QUESTIONS)):
            if asked and asked not in seen:
                seen.add(asked)
                signs = page.evaluate(ASK, number)
                look(f"{name}, {asked}")
                if signs:
                    page.evaluate(ASK, number)
                    look(f"{name}, {asked}, PIN")
                page.evaluate(ASK, None)
        if page.evaluate(OPENED):
            look(f"{name}, opened")
        for sheet in SHEETS:
            page.evaluate(OPEN_SHEET, sheet)
            look(f"{name}, {sheet}")
        page.evaluate(OPEN_SHEET, None)
    assert len(seen) > 20
    assert page.evaluate("document.documentElement.lang") == PSEUDO
    assert found == {}


@pytest.mark.parametrize("path", ["display", "display?for=surveillance&", "display?side=players&"])
def test_nothing_is_cut_on_a_display(path: str, page: Page, longer: PageServer) -> None:
    found: dict[str, dict[str, Any]] = {}
    lie: list[list[int]] | None = None
    for name, state in examples(PSEUDO).items():
        longer.show(state | NOBODY | {"shown": name}, beat(state))
        if page.url == "about:blank":
            page.goto(f"{longer.address}/{path}{'' if '?' in path else '?'}language={PSEUDO}")
        page.evaluate(SHOWN, name)
        measured = page.evaluate(MEASURE)
        lie = lie or measured["regions"]
        if amiss := wrong(measured, lie):
            found[name] = amiss
    assert found == {}


NOBODY: Final[dict[str, Any]] = {"offers": [], "people": [], "screen": {"enrolled": False}}
"""A display offers nothing to anybody."""
