// Buttons that keep their place.

import { attr, el, flash, isFresh, keyed, mark, means, text } from "./dom.js";
import { counts, inContact, listens, lose, store } from "./store.js";
import { say } from "./words.js";

/**
 * Make `parent` show these buttons: `{key, label, act, tone, why, pressed, meaning}`. `why`: why it is off; it stays
 * and says so. `tone`: its class. `meaning`: its effect, if the label does not say it all. `digit`: on a pad, where
 * people tap fast. `slow`: it follows a row of taps, and takes no tap for longer.
 */
export function buttons(parent, list) {
  keyed(parent, list.filter(Boolean), (one) => one.key, create, update);
}

function create() {
  const node = el("button", { type: "button" });
  node.onclick = ({ clientX, clientY }) => {
    const isSecond = Math.hypot(clientX - tapped.x, clientY - tapped.y) < APART;
    tapped.x = clientX;
    tapped.y = clientY;
    tap(node, node.one.digit && !isSecond);
  };
  return node;
}

const SHOWN = 6000; // ms
const reason = el("p", { id: "reason", hidden: true, "aria-hidden": "true" }); // region E says it to screen readers
document.body.append(reason);
for (const event of ["pointerdown", "keydown"]) addEventListener(event, () => explain(null), { capture: true });

/** Show above a button why it is off, until the next tap or key, or until the reason changes. Null: show nothing. */
function explain(node) {
  clearTimeout(reason.ends);
  reason.about = node;
  reason.hidden = !node;
  if (!node) return;
  text(reason, node.one.why);
  const { left, top } = node.getBoundingClientRect();
  reason.style.left = `${Math.max(0, Math.min(left, innerWidth - reason.offsetWidth))}px`;
  reason.style.top = `${Math.max(0, top - reason.offsetHeight)}px`;
  reason.ends = setTimeout(() => explain(null), SHOWN);
}

const APART = 40; // px: the second tap of a double tap falls nearer
const tapped = { x: Number.NaN, y: Number.NaN };

function update(node, one) {
  if (reason.about === node && one.why !== node.one.why) explain(null);
  node.one = one;
  node.slow = one.slow;
  const off = !inContact() || Boolean(one.why);
  text(node, one.label);
  attr(node, "class", [one.tone, one.place, one.slow && "slow"].filter(Boolean).join(" ") || null);
  means(node, `${one.key}|${one.label}|${one.meaning ?? ""}`);
  mark(node, "off", off);
  attr(node, "aria-disabled", off ? "true" : null);
  attr(node, "aria-pressed", one.pressed === undefined ? null : String(one.pressed));
  attr(node, "data-act", one.key);
}

/** Carry out a tap, also by key. `typed`: it cannot have been meant for an earlier button at this place. */
export function tap(node, typed = false) {
  const { one } = node;
  const takes = one.tone === "steady" ? listens : counts; // a button that stops the cards always works
  if (!takes()) {
    flash(node);
    return;
  }
  if (!typed && isFresh(node)) {
    if (node.slow) lose(say("answer.fresh")); // for other buttons double taps are usual
    else flash(node);
    return;
  }
  if (one.why) {
    lose(one.why);
    explain(node);
    flash(node);
    return;
  }
  one.act();
  store.drawNow();
}

/** Show rows of a label and its buttons: `{key, label, buttons, isDue}`. */
export function rows(parent, list) {
  keyed(
    parent,
    list,
    (one) => one.key,
    () => el("div", { class: "row" }, el("p"), el("div", { class: "choices" })),
    (node, one) => {
      mark(node, "due", one.isDue);
      text(node.children[0], one.label);
      buttons(node.children[1], one.buttons);
    },
  );
}

/** Show `lines` as paragraphs: strings, `[class, string]`, or `[class, string, button]` with a small button beside it. */
export function lines(parent, list) {
  const said = list.filter(Boolean).map((one) => (typeof one === "string" ? ["", one] : one));
  keyed(
    parent,
    said.map((one, at) => [at, ...one]),
    ([at]) => at,
    () => el("p", {}, el("span"), el("span", { class: "beside" })),
    (node, [, kind, words, button]) => {
      attr(node, "class", kind || null);
      text(node.children[0], words);
      buttons(node.children[1], [button]);
    },
  );
}
