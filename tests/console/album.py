"""Pictures of the page, kept in a folder with an index page for browsing.

`CARDSHOE_PICTURES` names the folder; the default is `build/pictures`. `CARDSHOE_ALL_PICTURES=1` takes every state at
every size in both themes. Without it, the small screens are taken: landscape in the dark theme, portrait in the light
one; a run with `CARDSHOE_LONG=bounded` takes a random frame instead of the latter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tests.architecture.sources import ROOT
from tests.console.measures import DRAWN, MEASURE, SIZES, THEMES, wrong
from tests.support import long_forms

if TYPE_CHECKING:
    from playwright.async_api import Page

FOLDER: Final = Path(os.environ.get("CARDSHOE_PICTURES") or ROOT / "build" / "pictures")
AXE: Final = files("axe_playwright_python") / "axe.min.js"
LIGHT: Final = """theme => { document.documentElement.dataset.theme = theme; }"""
CLOCK: Final = """() => Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
  get() { const seconds = "timeStyle" in this.resolvedOptions(); return () => seconds ? "21:04:12" : "21:04"; },
})"""

HEAD: Final = """<!doctype html>
<meta charset="utf-8">
<title>Console</title>
<style>
  body { font: 1em sans-serif }
  div { display: flex; flex-wrap: wrap; gap: 1em }
  figure { margin: 0; width: 400px }
  img { width: 100% }
</style>
"""

# Every rule of WCAG 2.2 A and AA, and the contrast rule of AAA; best-practice rules are left out. Another theme at the
# same size differs only in colours, so only the rules on colours are applied again.
LOOK: Final = """async themeAlone => {
  const tags = {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]};
  const colours = {type: "rule", values: ["color-contrast", "color-contrast-enhanced", "link-in-text-block"]};
  const rules = {"color-contrast-enhanced": {enabled: true}, "target-size": {enabled: true}};
  const what = themeAlone ? {runOnly: colours} : {runOnly: tags, rules};
  const {violations} = await axe.run(document, {...what, resultTypes: ["violations"]});
  return violations.map(({id, nodes}) => [id, nodes.map(({html, any, all}) =>
    [html.slice(0, 200), ...[...any, ...all].map(one => one.message)])]);
}"""


class Frame(NamedTuple):
    size: tuple[int, int]
    theme: str

    def __str__(self) -> str:
        return f"{self.size[0]}x{self.size[1]}-{self.theme}"


def frames() -> Sequence[Frame]:
    every = [Frame(size, theme) for size in SIZES for theme in THEMES]
    if os.environ.get("CARDSHOE_ALL_PICTURES"):
        return every
    portrait = Frame((800, 1280), "light")
    return [every[0], Random(long_forms.seed).choice(every[1:]) if long_forms.BOUNDED else portrait]


class Judge(NamedTuple):
    """The checks of a page: scripts that wait until it is drawn and measure it, and a function that returns errors."""

    drawn: str
    measure: str
    wrong: Callable[[dict[str, Any], list[list[int]]], dict[str, Any]]


CONSOLE: Final = Judge(DRAWN, MEASURE, wrong)


class Album:
    """The pictures of one scenario, on a page in one language. `found`: what is wrong in them."""

    def __init__(self, name: str, page: Page, judge: Judge = CONSOLE) -> None:
        self.name = name
        self.page = page
        self._judge = judge
        self.found: dict[str, Any] = {}
        self._folder = FOLDER / name
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("*.png"):
            old.unlink()
        self._regions: dict[Frame, list[list[int]]] = {}
        self._taken = 0

    async def prepare(self) -> None:
        """Freeze the displayed time and all movement."""
        await self.page.emulate_media(reduced_motion="reduce")
        await self.page.evaluate(CLOCK)
        await self.page.evaluate(AXE.read_text("utf-8"))

    async def take(self, state: str, *, axe: bool = True) -> None:
        """Take pictures of what the page shows, and note what is wrong with it. With `axe`, check
        it with axe-core too.
        """
        self._taken += 1
        sizes: set[tuple[int, int]] = set()
        for frame in frames():
            await self.page.set_viewport_size({"width": frame.size[0], "height": frame.size[1]})
            await self.page.evaluate(LIGHT, frame.theme)
            await self.page.evaluate(self._judge.drawn)
            measured = await self.page.evaluate(self._judge.measure)
            amiss = self._judge.wrong(measured, self._regions.setdefault(frame, measured["regions"]))
            if axe and (said := await self.page.evaluate(LOOK, frame.size in sizes)):
                amiss["axe"] = said
            sizes.add(frame.size)
            if amiss:
                self.found[f"{state}, {frame}"] = amiss
            picture = f"{self._taken:02}-{state.replace(' ', '-')}-{frame}.png"
            await self.page.screenshot(path=self._folder / picture)
        first = frames()[0]
        await self.page.set_viewport_size({"width": first.size[0], "height": first.size[1]})
        await self.page.evaluate(self._judge.drawn)


def write_index() -> None:
    """Write the index page for browsing: a chapter for each scenario, a row for each state."""
    chapters = []
    for folder in sorted(one for one in FOLDER.iterdir() if one.is_dir()):
        pictures = "".join(
            f'<figure><a href="{folder.name}/{one.name}"><img loading="lazy" src="{folder.name}/{one.name}" alt=""></a>'
            f"<figcaption>{escape(one.stem)}</figcaption></figure>\n"
            for one in sorted(folder.glob("*.png"))
        )
        chapters.append(f"<h2>{escape(folder.name)}</h2>\n<div>{pictures}</div>\n")
    page = f"{HEAD}{''.join(chapters)}"
    (FOLDER / "index.html").write_text(page, "utf-8")
