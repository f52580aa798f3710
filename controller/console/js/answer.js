// Region E: what happened last here: the answer to this screen's request, else the table's last event.

import { attr, el, mark, text } from "./dom.js";
import { inContact, store } from "./store.js";
import { say, time } from "./words.js";

const parts = {};

function build(region) {
  const open = (sheet) => () => store.set({ sheet: store.own.sheet === sheet ? undefined : sheet });
  parts.text = el("p", { class: "text" });
  parts.matters = el("button", { class: "matters amber", onclick: open("matters") });
  parts.story = el("button", { class: "story", onclick: open("story") });
  region.append(parts.text, parts.matters, parts.story);
}

/** The newer of this screen's answer and the table's last event. */
function newest(screen) {
  const { answer } = store;
  const last = screen?.last ?? null;
  return answer && (!last || answer.entry >= last.entry) ? answer : last;
}

/** `screen`: the newest state, or null before the first. */
export function render(screen) {
  if (!parts.text) build(document.getElementById("answer"));
  const said = newest(screen);
  const at = said?.utc_ns ? `${time(said.utc_ns)} ` : "";
  text(parts.text, said ? `${at}${said.sentence}` : "");
  mark(parts.text, "refused", said?.accepted === false);
  const waiting = screen ? screen.view.irregularities.filter((found) => !found.blocks).length : 0;
  const n = waiting + (screen ? screen.view.warnings.length : 0);
  text(parts.matters, n ? say("answer.matters", { n }) : "");
  attr(parts.matters, "hidden", n === 0);
  text(parts.story, say("button.story"));
  for (const button of [parts.matters, parts.story]) attr(button, "disabled", !inContact());
}
