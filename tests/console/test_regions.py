"""Every state at every size, in every language and theme: positions, sizes, and nothing cut off.

Problem and Pause have the same place in every state, even next to an open matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.console.examples import beat, examples
from tests.console.measures import LANGUAGES, MEASURE, OPENED, REGIONS, SIZES, THEMES, wrong
from tests.console.page_server import PageServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

HEIGHTS: Final = {  # of the regions, by the size of the window
    (1280, 800): (48, 100, 328, 268, 56),
    (1920, 1080): (65, 135, 443, 362, 76),
    (800, 1280): (56, 128, 400, 600, 96),
    (1024, 600): (36, 75, 246, 201, 42),
}


@cache
def states(language: str = "en") -> dict[str, dict[str, Any]]:
    return examples(language)


@pytest.fixture(params=list(product(SIZES, LANGUAGES, THEMES)), ids=str)
def shown(request: pytest.FixtureRequest, browser: Browser, server: PageServer) -> Iterator[Callable[[str], Page]]:
    """Yield a function that shows a state on a page of one size, language and theme, and returns the page."""
    (width, height), language, theme = request.param
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def show(name: str) -> Page:
        state = states(language)[name]
        server.show(state | {"shown": name}, beat(state))
        if page.url == "about:blank":
            page.goto(f"{server.address}/?language={language}&theme={theme}")
        page.evaluate(SHOWN, name)
        return page

    yield show
    page.close()
    server.hang_up()
    assert not said, "what the browser complains of: a script's error, or something that the policy refuses"


SHOWN: Final = """async name => {
  const { store } = await import("/console/js/store.js");
  while (store.screen?.shown !== name) await new Promise(done => setTimeout(done, 5));
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def test_regions_never_move_and_nothing_is_small_or_cut(shown: Callable[[str], Page]) -> None:
    found: dict[str, dict[str, Any]] = {}
    lie = None
    for name in states():
        page = shown(name)
        measured = page.evaluate(MEASURE)
        lie = lie or measured["regions"]
        if amiss := wrong(measured, lie):
            found[name] = amiss
        if page.evaluate(OPENED) and (amiss := wrong(page.evaluate(MEASURE), lie)):
            found[f"{name}, opened"] = amiss
    assert not found
    assert lie is not None
    size = page.viewport_size
    assert size is not None
    regions = lie[: len(REGIONS)]
    heights = tuple(height for _, _, _, height in regions)
    assert heights == HEIGHTS[(size["width"], size["height"])]
    assert all(x == 0 and width == size["width"] for x, _, width, _ in regions)
    assert sum(heights) - size["height"] in (0, 1)  # rounded
