"""The layout rules for the page in every state: positions of the regions, Problem and Pause, smallest sizes, no cuts.

One script in the page measures, so that every kind of test can use it.
"""

from __future__ import annotations

from typing import Any, Final

from controller.language import languages

SIZES: Final = ((1280, 800), (1920, 1080), (800, 1280), (1024, 600))
LANGUAGES: Final = tuple(languages())
THEMES: Final = ("dark", "light")
REGIONS: Final = ("bar", "sentence", "stage", "panel", "answer")
# On a smaller screen than 1280x800 the whole page is smaller: these shrink with it.
SMALLEST_TEXT: Final = 24  # CSS pixels
SMALLEST_TARGET: Final = 48
SMALLEST_INDEX: Final = 50  # the height of a card's index in pixels; its letters are 36 pixels high: legible from 1 m

# Two frames after the request, the page has drawn what it knows.
DRAWN: Final = """async () => {
  const { store } = await import("/console/js/store.js");
  store.set({});
  for (const _ of [1, 2]) await new Promise(done => requestAnimationFrame(done));
}"""

# Open a waiting matter that does not hold the table. Return whether there is such a matter.
OPENED: Final = """async () => {
  const { store } = await import("/console/js/store.js");
  const matter = store.screen.view.irregularities.find(one => !one.blocks);
  store.set({ matter: matter?.id });
  for (const _ of [1, 2]) await new Promise(done => requestAnimationFrame(done));
  return Boolean(matter);
}"""

MEASURE: Final = (
    """() => {
  const round = ({x, y, width, height}) => [x, y, width, height].map(Math.round);
  const shrunk = Math.min(1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 16);
  const visible = found => [...document.querySelectorAll(found)].filter(one => one.checkVisibility());

  const regions = () => ["bar", "sentence", "stage", "panel", "answer"]
    .map(id => document.getElementById(id)).filter(Boolean).map(one => round(one.getBoundingClientRect()));

  const texts = () => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const small = [];
    while (walk.nextNode()) {
      const at = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || at.closest("noscript") || !at.checkVisibility()) continue;
      const scale = at.getScreenCTM ? at.getScreenCTM().a : 1;
      const size = parseFloat(getComputedStyle(at).fontSize) * scale;
      if (size < TEXT - 0.01) small.push([walk.currentNode.data, size]);
    }
    return small;
  };

  const indices = () => visible(".face .card text")
    .map(one => [one.textContent, parseFloat(getComputedStyle(one).fontSize) * one.getScreenCTM().d])
    .filter(([, size]) => size < INDEX - 0.5);

  // Rank and suit lie within what is shown of the card.
  const halved = () => visible(".face")
    .filter(one => one.querySelector(".rank").getBoundingClientRect().right > one.getBoundingClientRect().right + 2
      || one.querySelector(".pip").getBoundingClientRect().bottom > one.getBoundingClientRect().bottom + 1)
    .map(one => one.textContent);

  // Every card of a hand is seen whole.
  const covered = () => visible(".cards .holder + .holder")
    .filter(one => one.previousSibling.getBoundingClientRect().right > one.getBoundingClientRect().left + 0.5)
    .map(one => one.closest("[data-place]")?.dataset.place);

  const always = () => visible("#panel .always button").map(one => round(one.getBoundingClientRect()));

  const targets = () => visible("button, [role=button], a, input")
    .map(one => [one.textContent, one.getBoundingClientRect()])
    .filter(([, {width, height}]) => width < TARGET - 0.01 || height < TARGET - 0.01)
    .map(([text, {width, height}]) => [text, width, height]);

  const cut = () => visible("#bar > *, #sentence > h1, #sentence > p, #answer > *, #stage p, .place")
    .filter(one => one.textContent && getComputedStyle(one).textOverflow !== "ellipsis")
    .filter(one => {
      const region = one.closest("section").getBoundingClientRect();
      const {left, top, right, bottom} = one.getBoundingClientRect();
      const beside = left < region.left - 1 || right > region.right + 1;
      return beside || top < region.top - 1 || bottom > region.bottom + 1 || one.scrollWidth > one.clientWidth + 1;
    })
    .map(one => `${one.closest("section").id}: ${one.textContent}`);

  const out = () => visible("#panel .left button")
    .filter(one => {
      const {top, bottom} = one.getBoundingClientRect();
      const panel = document.getElementById("panel").getBoundingClientRect();
      return top < panel.top || bottom > panel.bottom;
    })
    .map(one => one.textContent);

  // Nothing has to be scrolled to but in a list of more than 16, and a label stays in its button; what a line has below
  // its letters (6 pixels) may not.
  const hidden = () => [
    ...visible("#panel > div, #panel .answers, #sheet[data-sheet=menu] .body")
      .filter(one => one.scrollHeight > one.clientHeight + 1 && one.querySelectorAll(".list > *").length <= 16)
      .map(one => one.className),
    ...visible("#panel button, #sheet button")
      .filter(one => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 6)
      .map(one => one.textContent),
  ];

  const overlapping = () => {
    const all = visible(".place, #stage .device, #stage .ledger, #stage .as-of, .first-card")
      .filter(one => one.textContent && !one.classList.contains("empty"))
      .map(one => [one.dataset.place ?? one.className, one.getBoundingClientRect()]);
    const found = [];
    for (const [i, [name, one]] of all.entries())
      for (const [other, two] of all.slice(i + 1))
        if (one.left < two.right - 1 && two.left < one.right - 1
            && one.top < two.bottom - 1 && two.top < one.bottom - 1)
          found.push([name, other]);
    return found;
  };

  return {
    "regions": [...regions(), ...always()],
    "small text": texts(),
    "small targets": targets(),
    "small index": indices(),
    "halved card": halved(),
    "covered card": covered(),
    "cut": cut(),
    "out of the panel": [...hidden(), ...out()],
    "overlapping": overlapping(),
    "primary acts": Math.max(0, visible("#panel button.primary").length - 1),
  };
}""".replace("TEXT - ", f"{SMALLEST_TEXT} * shrunk - ")
    .replace("TARGET - ", f"{SMALLEST_TARGET} * shrunk - ")
    .replace("INDEX - ", f"{SMALLEST_INDEX} * shrunk - ")
)


def wrong(measured: dict[str, Any], regions: list[list[int]]) -> dict[str, Any]:
    """Return the violated rules. `regions`: the positions of the regions in all other states."""
    found = {what: where for what, where in measured.items() if where and what != "regions"}
    return found if measured["regions"] == regions else found | {"moved": measured["regions"]}
