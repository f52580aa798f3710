"""The layout rules for the floor's page in every state: positions of its regions, smallest sizes, nothing cut."""

from __future__ import annotations

from typing import Any, Final

from tests.console.album import Judge

SMALLEST_TEXT: Final = 24  # CSS pixels; where hundreds of tables are shown, those of a tile:
SMALLEST_OF_HUNDREDS: Final = 18
SMALLEST_TARGET: Final = 48

DRAWN: Final = """async () => {
  const { draw } = await import("/floor/js/state.js");
  draw();
  for (const _ of [1, 2]) await new Promise(done => requestAnimationFrame(done));
}"""

MEASURE: Final = """() => {
  const round = ({x, y, width, height}) => [x, y, width, height].map(Math.round);
  const visible = found => [...document.querySelectorAll(found)].filter(one => one.checkVisibility());

  const texts = () => {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const small = [];
    while (walk.nextNode()) {
      const at = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || !at.checkVisibility()) continue;
      const least = at.closest(".small .tile") ? HUNDREDS : TEXT;
      const size = parseFloat(getComputedStyle(at).fontSize);
      if (size < least - 0.01) small.push([walk.currentNode.data, size]);
    }
    return small;
  };

  const targets = () => visible("button, a, input, select")
    .map(one => [one.textContent.slice(0, 40), one.getBoundingClientRect()])
    .filter(([, {width, height}]) => width < TARGET - 0.01 || height < TARGET - 0.01)
    .map(([text, {width, height}]) => [text, width, height]);

  // What may be cut says so with an ellipsis; what may be scrolled lies in a part that scrolls.
  const cut = () => visible("#top *, #headline *, .matter, .matter *, .tile, .tile *, #story p, #story dd, #open h2")
    .filter(one => one.textContent && !one.closest("select, option") && getComputedStyle(one).display !== "inline")
    .filter(one => getComputedStyle(one).textOverflow !== "ellipsis" && !one.matches(".what, .small .tile .line"))
    .filter(one => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 6)
    .map(one => `${one.className}: ${one.textContent.slice(0, 60)}`);

  const beside = () => visible("#top > *, #headline > *")
    .filter(one => {
      const region = one.closest("section").getBoundingClientRect();
      const {left, top, right, bottom} = one.getBoundingClientRect();
      return left < region.left - 1 || right > region.right + 1 || top < region.top - 1 || bottom > region.bottom + 1;
    })
    .map(one => `${one.closest("section").id}: ${one.textContent}`);

  // A word of a tile is whole in the languages that we have; a name that is long may be cut.
  const shortened = () => visible(".tile .state")
    .filter(one => one.scrollWidth > one.clientWidth + 1)
    .map(one => one.textContent);

  return {
    "regions": ["top", "headline", "open", "grid"]
      .map(id => round(document.getElementById(id).getBoundingClientRect())),
    "small text": texts(),
    "small targets": targets(),
    "cut": cut(),
    "beside its region": beside(),
    "shortened": shortened(),
    "scrolls sideways": [document.documentElement, ...visible("#grid, #open .list, #story .body")]
      .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.id || one.className),
  };
}""".replace("HUNDREDS : TEXT", f"{SMALLEST_OF_HUNDREDS} : {SMALLEST_TEXT}").replace(
    "TARGET - ", f"{SMALLEST_TARGET} - "
)


def wrong(measured: dict[str, Any], regions: list[list[int]]) -> dict[str, Any]:
    """Return the violated rules. `regions`: the positions of the regions in all other states."""
    found = {what: where for what, where in measured.items() if where and what != "regions"}
    return found if measured["regions"] == regions else found | {"moved": measured["regions"]}


FLOOR: Final = Judge(DRAWN, MEASURE, wrong)
