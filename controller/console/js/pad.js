// A pad of digits for numbers and PINs. The digits have fixed places.

import { buttons } from "./buttons.js";
import { el, text } from "./dom.js";
import { say } from "./words.js";

const ROWS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "clear", "0", "ok"];

/**
 * Draw the pad into `parent`. `typed`: the digits so far; `hidden`: dots instead; `type(digits)`, `done()`; `why`: why
 * OK is off.
 */
export function pad(parent, { typed, hidden, type, done, why }) {
  if (!parent.firstChild) {
    parent.shown = el("output", { class: "typed", "aria-live": "off" });
    parent.keys = el("div", { class: "keys" });
    parent.replaceChildren(parent.shown, parent.keys);
  }
  text(parent.shown, hidden ? "\u2022".repeat(typed.length) : typed);
  buttons(
    parent.keys,
    ROWS.map((key) => one(key, { typed, type, done, why })),
  );
}

function one(key, { typed, type, done, why }) {
  if (key === "ok")
    return { key, label: say("pad.ok"), tone: "primary", act: done, why: typed ? why : say("pad.nothing") };
  if (key === "clear") return { key, label: "\u232b", act: () => type(typed.slice(0, -1)) };
  return { key, label: key, digit: true, act: () => type((typed + key).slice(0, 12)) };
}
