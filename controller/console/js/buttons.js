// Buttons that keep their place. A button whose meaning has changed does not count for a moment, so that a tap that was
// on its way does not do what its hand did not mean.

import { attr, el, keyed, mark, text } from "./dom.js";
import { isAsking } from "./operate.js";
import { inContact, store } from "./store.js";

const DEAD = 350; // ms after the meaning changed

/**
 * Make `parent` show these buttons: `{key, label, act, tone, why, pressed, meaning}`. `why`: the sentence why it is
 * off; it stays and says so. `tone`: its class. `meaning`: what it does, where the label does not say it all.
 */
export function buttons(parent, list) {
  keyed(parent, list.filter(Boolean), (one) => one.key, create, update);
}

function create() {
  const node = el("button", { type: "button" });
  node.onclick = () => tap(node);
  return node;
}

function update(node, one) {
  const meaning = `${one.key}|${one.label}|${one.meaning ?? ""}`;
  if (node.meaning !== meaning) {
    node.meaning = meaning;
    node.since = performance.now();
  }
  node.one = one;
  const off = !inContact() || Boolean(one.why);
  text(node, one.label);
  attr(node, "class", [one.tone, one.place].filter(Boolean).join(" ") || null);
  mark(node, "off", off);
  attr(node, "aria-disabled", off ? "true" : null);
  attr(node, "aria-pressed", one.pressed === undefined ? null : String(one.pressed));
  attr(node, "data-act", one.key);
}

/** What a tap does, also one of the keyboard. */
export function tap(node) {
  const { one } = node;
  if (!inContact() || isAsking() || performance.now() - node.since < DEAD) return;
  if (one.why) {
    store.receive({ answer: { accepted: false, entry: store.screen.entry, code: "", sentence: one.why, utc_ns: 0 } });
    return;
  }
  one.act();
}

/** Show `lines` as paragraphs: strings, or `[class, string]`. */
export function lines(parent, list) {
  const said = list.filter(Boolean).map((one) => (typeof one === "string" ? ["", one] : one));
  keyed(
    parent,
    said.map((one, at) => [at, ...one]),
    ([at]) => at,
    () => el("p"),
    (node, [, kind, words]) => {
      attr(node, "class", kind || null);
      text(node, words);
    },
  );
}
