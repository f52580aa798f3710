// Open irregularities of all tables, the oldest first; then other matters that need a person.

import { age, awaited, clauses, matterName, pitName } from "./labels.js";
import { isMeant, state } from "./state.js";
import { open } from "./story.js";
import { attr, el, keyed, text } from "/console/js/dom.js";
import { capital, say } from "/console/js/words.js";

const parts = {};

function build(region) {
  parts.title = el("h2");
  parts.list = el("div", { class: "list", role: "group", tabindex: -1 });
  parts.foot = el("div", { class: "foot" });
  region.replaceChildren(parts.title, parts.list, parts.foot);
}

function create() {
  const line = el(
    "span",
    { class: "line" },
    el("span", { class: "sign" }),
    el("span", { class: "name" }),
    el("span", { class: "pit" }),
    el("span", { class: "age" }),
  );
  const node = el("button", { type: "button" }, line, el("span", { class: "what" }), el("span", { class: "who" }));
  node.onclick = () => open(node.row.key, node);
  return node;
}

function update(node, matter) {
  const row = state.rows.get(matter.row);
  node.row = row;
  attr(node, "class", `matter ${matter.tone}`);
  const [, name, pit, since] = node.firstChild.children;
  text(name, row.table);
  text(pit, pitName(row));
  text(since, age(matter.since));
  text(node.children[1], capital(matterName(matter)));
  const decides = [clauses(matter.clauses), awaited(matter.who)].filter(Boolean).join(" · ");
  text(node.children[2], decides);
}

export function render() {
  if (!parts.list) build(document.getElementById("open"));
  const shown = state.matters.filter((one) => state.rows.has(one.row) && isMeant(state.rows.get(one.row)));
  const total = shown.length + (state.pit ? 0 : state.moreMatters);
  text(parts.title, total ? say("open.some", { n: total }) : say("open.none"));
  keyed(parts.list, shown, (one) => one.key, create, update);
  attr(parts.list, "tabindex", shown.length ? null : -1);
  keyed(
    parts.foot,
    notes(),
    (line) => line,
    (line) => el("p", {}, line),
  );
}

/** Show notes about the page itself. */
function notes() {
  const { contact, moreMatters } = state;
  if (contact === null) return [];
  return [
    moreMatters && say("open.more", { n: moreMatters }),
    contact.left_out && say("open.left_out"),
    contact.unread && `${say("open.unread", { n: contact.unread })} ${contact.unread_first}`,
  ].filter(Boolean);
}
