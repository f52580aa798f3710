// The tables, a part for each pit. A table keeps its place: its tone shows urgency, and urgent tables are listed.

import { deviceName, longAge, phaseName, pitName } from "./labels.js";
import { isShown, pitKey, sorted, state } from "./state.js";
import { open } from "./story.js";
import { attr, el, keyed, mark, text } from "/console/js/dom.js";
import { say } from "/console/js/words.js";

const SIZES = { large: 12, middle: 80, small: Infinity }; // the most tables of each size
const parts = {};

function build(region) {
  parts.none = el("p", { class: "none" });
  parts.pits = el("div", { class: "pits" });
  region.replaceChildren(parts.none, parts.pits);
  region.addEventListener("focusin", ({ target }) => target.matches(".tile") && (parts.at = target.dataset.key));
}

function createPit() {
  return el("div", { class: "pit-part", role: "group" }, el("h2"), el("div", { class: "tiles" }));
}

function createTile(row) {
  const line = (...names) => el("span", { class: "line" }, ...names.map((name) => el("span", { class: name })));
  const node = el(
    "button",
    { type: "button", onclick: () => open(row.key, node) },
    line("sign", "name", "age", "number"),
    el("span", { class: "state" }),
    line("round", "beside"),
    line("simulated", "dealer"),
  );
  return node;
}

function update(node, row) {
  attr(node, "class", `tile ${row.tone}${row.key === state.chosen ? " chosen" : ""}`);
  const [names, now, besides, people] = node.children;
  const [, name, age, number] = names.children;
  const [simulated, dealer] = people.children;
  const round = row.round ? say("tile.round", { round: row.round }) : "";
  text(number, round); // when one line serves both
  text(name, row.table);
  mark(name, "of-simulation", row.simulated && parts.isMixed); // if all are simulated, the top region says so
  text(simulated, row.simulated && parts.isMixed ? say("bar.simulated") : "");
  text(age, longAge(isTroubled(row) ? row.trouble_since : row.since));
  text(now, isTroubled(row) ? say(`tile.${row.trouble}`) : phaseName(row.phase));
  text(besides.children[0], round);
  text(besides.children[1], beside(row));
  mark(besides.children[1], "calm", !isTroubled(row));
  text(dealer, row.dealer || say("bar.no_dealer"));
  attr(node, "tabindex", row.key === parts.at ? 0 : -1);
}

/** Return whether something other than an irregularity comes first. */
function isTroubled(row) {
  return row.trouble !== "" && row.trouble !== "warning";
}

/** Return the phase if trouble takes its place; else that the device is ready. */
function beside(row) {
  if (isTroubled(row)) return phaseName(row.phase);
  return row.phase === "closed" || !row.device ? "" : say("tile.ready", { device: deviceName(row.device) });
}

export function render() {
  const region = document.getElementById("grid");
  if (!parts.pits) build(region);
  const rows = sorted().filter(isShown);
  text(parts.none, rows.length || state.contact === null ? "" : say(state.rows.size ? "grid.no_match" : "headline.none"));
  const size = Object.keys(SIZES).find((name) => rows.length <= SIZES[name]);
  for (const name of Object.keys(SIZES)) mark(region, name, name === size);
  if (!rows.some((row) => row.key === parts.at)) parts.at = rows[0]?.key; // the tile that Tab focuses
  parts.isMixed = !state.allSimulated();
  const pits = new Map();
  for (const row of rows) pits.set(pitKey(row), [...(pits.get(pitKey(row)) ?? []), row]);
  keyed(
    parts.pits,
    [...pits],
    ([key]) => key,
    createPit,
    (node, [, tables]) => {
      text(node.firstChild, pitName(tables[0]));
      attr(node, "aria-label", pitName(tables[0]));
      keyed(node.lastChild, tables, (row) => row.key, createTile, update);
    },
  );
}

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

/** Move between tiles with the arrow keys. Return whether the key was one. */
export function step(key) {
  const tiles = [...document.querySelectorAll("#grid .tile")];
  const at = tiles.indexOf(document.activeElement);
  if (at < 0) return false;
  const found = key in STEPS ? tiles[at + STEPS[key]] : vertical(tiles, tiles[at], key);
  found?.focus();
  return key in STEPS || key.startsWith("Arrow");
}

/** Return the nearest tile of the row above or below. */
function vertical(tiles, from, key) {
  const here = from.getBoundingClientRect();
  const down = key === "ArrowDown";
  if (!down && key !== "ArrowUp") return undefined;
  let best;
  for (const tile of tiles) {
    const { left, top } = tile.getBoundingClientRect();
    const far = down ? top - here.bottom : here.top - top;
    if (far < (down ? -1 : 1)) continue;
    const cost = far * 1000 + Math.abs(left - here.left);
    if (!best || cost < best.cost) best = { tile, cost };
  }
  return best?.tile;
}
