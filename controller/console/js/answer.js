// Region E: what people would see at a simulated table, then the answer to this screen's request, else the last event.

import { attr, el, mark, text } from "./dom.js";
import { matterAt } from "./labels.js";
import { matterOf } from "./question.js";
import { inContact, isCounting, store } from "./store.js";
import { say, time } from "./words.js";

const MOST = 150; // characters of both, on the smallest screen
const parts = {};

function build(region) {
  const open = (sheet) => () => store.set({ sheet: store.own.sheet === sheet ? undefined : sheet });
  const next = () => {
    const { irregularities, warnings } = store.screen.view;
    const [only, ...others] = [...irregularities.filter((one) => one !== matterOf(store.screen)), ...warnings];
    const goesThere = only?.id && !others.length && !store.own.flow; // an entry in progress is not lost
    if (goesThere) store.set({ matter: only.id, sheet: undefined });
    else open("matters")();
  };
  parts.seen = el("span", { class: "seen" });
  parts.line = el("span");
  parts.text = el("p", { class: "text" }, parts.seen, parts.line);
  parts.matters = el("button", { class: "matters", onclick: next });
  parts.story = el("button", { class: "story", onclick: open("story") });
  region.append(parts.text, parts.matters, parts.story);
}

/** Return what people would see at a simulated table, unless a refusal is to be read. */
function whatIsSeen(said) {
  const { beat } = store;
  return beat?.seen && said?.accepted !== false ? (store.stopped ? beat.seen : say("answer.seen", { what: beat.seen })) : "";
}

/** Return the newer of this screen's answer and the table's last event; while cards are counted, only a refusal. */
function newest(screen) {
  const { answer } = store;
  if (isCounting()) return answer?.accepted ? null : answer;
  const last = screen?.last ?? null;
  return answer && (!last || answer.entry >= last.entry) ? answer : last;
}

/** Return who did it, unless that is the reader or the sentence says so. */
function by(screen, said) {
  const other = said.by && said.by !== screen.screen.dealer_name && !said.sentence.includes(said.by);
  return other ? say("answer.by", { name: said.by }) : "";
}

/** Return what waits behind the question: blocking matters first, then the oldest; else the number of warnings. */
function waiting(screen) {
  const { irregularities, warnings } = screen.view;
  const asked = matterOf(screen);
  const others = irregularities.filter((one) => one !== asked);
  const next = others.find((one) => one.blocks) ?? others[0];
  const n = others.length + warnings.length;
  if (!next) return n ? say("answer.matters", { n }) : "";
  return say(n > 1 ? "answer.next.more" : "answer.next", { what: matterAt(screen, next, "join.comma"), others: n - 1 });
}

/** Draw region E. `screen`: the newest state, or null before the first. */
export function render(screen) {
  if (!parts.text) build(document.getElementById("answer"));
  const said = newest(screen);
  const at = said?.utc_ns ? `${time(said.utc_ns)} ` : "";
  const seen = whatIsSeen(said);
  const others = said ? by(screen, said) : "";
  const line = said && (!seen || others) ? `${at}${others}${said.sentence}` : ""; // what others did is shown as well
  text(parts.seen, seen && line ? `${seen} ` : seen);
  text(parts.line, seen && seen.length + line.length > MOST ? "" : line);
  mark(parts.text, "refused", !seen && said?.accepted === false);
  const waits = screen ? waiting(screen) : "";
  text(parts.matters, waits);
  mark(parts.matters, "amber", waits && screen.view.irregularities.length); // warnings are the technician's
  attr(parts.matters, "hidden", !waits);
  text(parts.story, say("button.story"));
  for (const button of [parts.matters, parts.story]) attr(button, "disabled", !inContact());
}
