"""Every state at every size, in every language and theme: where things lie, how large they are, that none is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.console.examples import beat, examples
from tests.console.page_server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

SIZES: Final = ((1280, 800), (1920, 1080), (800, 1280))
REGIONS: Final = ("bar", "sentence", "stage", "panel", "answer")
HEIGHTS: Final = {  # of the regions, by the size of the window
    (1280, 800): (48, 100, 336, 268, 48),
    (1920, 1080): (65, 135, 454, 362, 65),
    (800, 1280): (56, 128, 360, 640, 96),
}
SMALLEST_TEXT: Final = 24  # CSS pixels
SMALLEST_TARGET: Final = 48

RECTANGLES: Final = """ids => ids.map(id => {
  const {x, y, width, height} = document.getElementById(id).getBoundingClientRect();
  return [x, y, width, height].map(Math.round);
})"""

TEXTS: Final = """() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = [];
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || at.closest("noscript") || !at.checkVisibility()) continue;
    const scale = at.getScreenCTM ? at.getScreenCTM().a : 1;
    const size = parseFloat(getComputedStyle(at).fontSize) * scale;
    if (size < LEAST - 0.01) small.push([walk.currentNode.data, size]);
  }
  return small;
}"""

TARGETS: Final = """() => [...document.querySelectorAll("button, [role=button], a, input")]
  .filter(one => one.checkVisibility())
  .map(one => [one.textContent, one.getBoundingClientRect()])
  .filter(([, {width, height}]) => width < LEAST - 0.01 || height < LEAST - 0.01)
  .map(([text, {width, height}]) => [text, width, height])"""

CUT: Final = """() => [...document.querySelectorAll(
    "#bar > *, #sentence > h1, #sentence > p, #answer > *, #stage p, .place")]
  .filter(one => one.checkVisibility() && one.textContent && getComputedStyle(one).textOverflow !== "ellipsis")
  .filter(one => {
    const region = one.closest("section").getBoundingClientRect();
    const {left, top, right, bottom} = one.getBoundingClientRect();
    const beside = left < region.left - 1 || right > region.right + 1;
    return beside || top < region.top - 1 || bottom > region.bottom + 1 || one.scrollWidth > one.clientWidth + 1;
  })
  .map(one => `${one.closest("section").id}: ${one.textContent}`)"""

OVERLAPPING: Final = """() => {
  const all = [...document.querySelectorAll(
    ".place, #stage .device, #stage .ledger, #stage .simulated, #stage .as-of, .first-card")]
    .filter(one => one.checkVisibility() && one.textContent && !one.classList.contains("empty"))
    .map(one => [one.dataset.place ?? one.className, one.getBoundingClientRect()]);
  const found = [];
  for (const [i, [name, one]] of all.entries())
    for (const [other, two] of all.slice(i + 1))
      if (one.left < two.right - 1 && two.left < one.right - 1 && one.top < two.bottom - 1 && two.top < one.bottom - 1)
        found.push([name, other]);
  return found;
}"""


@cache
def states() -> dict[str, dict[str, Any]]:
    return examples()


@pytest.fixture(params=list(product(SIZES, ("en", "zh-Hans"), ("dark", "light"))), ids=str)
def shown(request: pytest.FixtureRequest, browser: Browser, server: PageServer) -> Iterator[Callable[[str], Page]]:
    """A function that shows a state on a page of one size, language and theme, and returns the page."""
    (width, height), language, theme = request.param
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def show(name: str) -> Page:
        state = states()[name]
        server.show(state | {"shown": name}, beat(state))
        if page.url == "about:blank":
            page.goto(f"{server.address}/?language={language}&theme={theme}")
        page.evaluate(DRAWN, name)
        return page

    yield show
    page.close()
    server.hang_up()
    assert not said, "what the browser complains of: a script's error, or something that the policy refuses"


DRAWN: Final = """async name => {
  const { store } = await import("/console/js/store.js");
  while (store.screen?.shown !== name) await new Promise(done => setTimeout(done, 5));
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def test_regions_never_move_and_nothing_is_small_or_cut(shown: Callable[[str], Page]) -> None:
    found: dict[str, dict[str, Any]] = {}
    lie = None
    for name in states():
        page = shown(name)
        rectangles = page.evaluate(RECTANGLES, list(REGIONS))
        lie = lie or rectangles
        wrong = {
            "moved": rectangles != lie,
            "small text": page.evaluate(TEXTS.replace("LEAST", str(SMALLEST_TEXT))),
            "small targets": page.evaluate(TARGETS.replace("LEAST", str(SMALLEST_TARGET))),
            "cut": page.evaluate(CUT),
            "overlapping": page.evaluate(OVERLAPPING),
            "primary acts": page.locator("button.primary").count() > 1,
        }
        if any(wrong.values()):
            found[name] = {what: where for what, where in wrong.items() if where}
    assert not found
    assert lie is not None
    size = page.viewport_size
    assert size is not None
    heights = tuple(height for _, _, _, height in lie)
    assert heights == HEIGHTS[(size["width"], size["height"])]
    assert all(x == 0 and width == size["width"] for x, _, width, _ in lie)
    assert sum(heights) - size["height"] in (0, 1)  # rounded
