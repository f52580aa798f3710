// Sheets that cover the stage and the panel until a button closes them: menu, story, open matters, enrolment.

import { MENU, act, overlooked } from "./actions.js";
import { buttons, lines } from "./buttons.js";
import { attr, edge, el, keyed, mark, text } from "./dom.js";
import { enrol, read } from "./operate.js";
import { sound } from "./sound.js";
import { store } from "./store.js";
import { capital, choose, hand, language, languages, letters, say, theme, time } from "./words.js";

const COUNT = "count_cards";
const parts = {};
const SHEETS = { menu, story, matters, clause, enrol: enrolment };

/** Draw the open sheet, or hide it. */
export function sheet(screen) {
  const node = document.getElementById("sheet");
  const name = store.own.sheet;
  attr(node, "hidden", !name);
  for (const covered of ["panel", "stage"]) document.getElementById(covered).inert = Boolean(name); // no focus there
  if (!name) {
    parts.name = undefined;
    return;
  }
  if (parts.name !== name) {
    parts.name = name;
    node.replaceChildren();
    attr(node, "data-sheet", name);
    attr(node, "aria-label", say(`sheet.${name}`));
    parts.title = node.appendChild(el("h1"));
    parts.body = node.appendChild(el("div", { class: "body", tabindex: 0 }));
    parts.close = node.appendChild(el("div", { class: "close" }));
    parts.made = undefined;
  }
  text(parts.title, say(`sheet.${name}`));
  buttons(parts.close, [{ key: "close", label: say("act.back"), act: close }]);
  SHEETS[name]?.(parts.body, screen);
  edge(parts.body);
}

export function close() {
  store.set({ sheet: undefined });
}

/** Show every act without a place of its own, in groups; then this screen's settings. */
function menu(body, screen) {
  const groups = Object.entries(MENU).map(([group, names]) => [
    group,
    [
      ...(group === "bets" ? overlooked(screen) : []),
      ...names.flatMap((name) => screen.offers.filter((one) => one.operation === name)).map((one) => act(screen, one)),
    ],
  ]);
  keyed(
    body,
    [...groups.filter(([, acts]) => acts.length), ["screen", settings()]],
    ([group]) => group,
    group,
    (node, [name, acts]) => {
      text(node.children[0], say(`menu.${name}`));
      buttons(node.children[1], acts);
    },
  );
}

function group() {
  return el("section", { class: "group" }, el("h2"), el("div", { class: "acts" }));
}

function settings() {
  const others = Object.entries(languages).filter(([code]) => code !== language);
  return [
    ...others.map(([code, name]) => ({ key: `language/${code}`, label: name, act: () => choose("language", code) })),
    {
      key: "theme",
      label: say(`menu.theme.${theme}`),
      act: () => choose("theme", theme === "dark" ? "light" : "dark"),
    },
    { key: "hand", label: say(`menu.hand.${hand}`), act: () => choose("hand", hand === "right" ? "left" : "right") },
    { key: "sound", label: say(`menu.sound.${sound}`), act: () => choose("sound", sound === "on" ? "off" : "on") },
    {
      key: "letters",
      label: say(`menu.letters.${letters}`),
      act: () => choose("letters", letters === "on" ? "off" : "on"),
    },
  ];
}

/** Show what happened in the round, as recorded. */
function story(body, screen) {
  const { round, entry } = screen.view;
  if (parts.made !== `${round}/${entry}`) {
    parts.made = `${round}/${entry}`;
    read(`/v1/rounds/${round}`).then((found) => {
      parts.lines = withPeople(screen, found ?? []);
      store.set({});
    });
  }
  keyed(
    body,
    [...(parts.lines ?? [])].reverse(),
    ({ entry: one }) => one,
    () => el("p", { class: "entry" }, ...["time", "who", "what"].map((name) => el("span", { class: name }))),
    (node, { at, name, line, matter }) => {
      mark(node, "matter", matter);
      for (const [place, words] of [at, name, line].entries()) text(node.children[place], words);
    },
  );
}

/**
 * Return a row for each event, with who entered it. An irregularity is marked where it is raised and where it ends. A
 * count that was withdrawn is left out, with what it raised: the line about the next count names it.
 */
function withPeople({ people }, events) {
  const withdrawn = new Set(events.filter((one) => one.was?.operation === COUNT).map((one) => one.corrected));
  const hidden = new Set();
  let [entered, said] = [{}, {}]; // the operation, and the entry with which its events may be withdrawn
  return events.flatMap((one) => {
    if (one.event === "operation_taken") entered = said = one;
    if (one.event === "entry_corrected") said = one;
    else if ((withdrawn.has(said.entry) && said.utc_ns === one.utc_ns) || hidden.has(one.irregularity)) hidden.add(one.entry);
    if (!one.line || hidden.has(one.entry)) return [];
    const isBy = entered.utc_ns === one.utc_ns;
    const name = (isBy && (people.find((person) => person.id === entered.person)?.name ?? entered.person)) || "";
    return [{ entry: one.entry, at: time(one.utc_ns), name, line: one.line, matter: one.event.startsWith("irregularity") }];
  });
}

/** Show all open matters, the device's troubles, and the machine's warnings. */
function matters(body, screen) {
  const open = screen.view.irregularities.map((one) => ({
    key: one.id,
    label: `${one.question}`,
    tone: one.blocks ? "red" : "amber",
    act: () => store.set({ sheet: undefined, matter: one.id }),
  }));
  keyed(
    body,
    ["open", "warnings"],
    (name) => name,
    (name) => el("div", { class: name }),
    (node, name) => {
      if (name === "open") buttons(node, open);
      else lines(node, [screen.view.device.sentence, screen.view.device.hint, ...technical(screen.view.warnings)]);
    },
  );
}

/** Return the warnings about the machine, with whom they are for. */
function technical(warnings) {
  return warnings.length ? [["name", say("matters.technical")], ...warnings] : [];
}

/** Show when each possible clause of a matter applies, and what to do; not its effect, before the facts are answered. */
function clause(body) {
  const { clauses, toDo } = store.own;
  const rows = [...clauses.map(({ name, sense }) => [name, capital(sense)]), [say("clause.to_do"), toDo]];
  keyed(
    body,
    rows,
    ([name]) => name,
    () => el("p", { class: "entry" }, ...["who", "what"].map((name) => el("span", { class: name }))),
    (node, words) => words.forEach((one, at) => text(node.children[at], one)),
  );
}

/** Make this browser a screen of the table, signed by a supervisor. */
function enrolment(body) {
  if (parts.made === "enrol") return;
  parts.made = "enrol";
  const field = (name, more) =>
    el("input", { name, type: "text", autocomplete: "off", required: true, "aria-label": say(`enrol.${name}`), ...more });
  const row = (name, more) => el("label", {}, el("span", {}, say(`enrol.${name}`)), field(name, more));
  const form = el(
    "form",
    {},
    row("name"),
    row("person"),
    row("pin", { class: "secret", autocomplete: "one-time-code", inputmode: "numeric" }), // nothing for a browser to keep
    el("button", { type: "submit", class: "primary" }, say("sheet.enrol")),
  );
  const said = el("p", { class: "said", role: "status" });
  form.onsubmit = async (event) => {
    event.preventDefault();
    const { name, person, pin } = Object.fromEntries(new FormData(form));
    form.elements.pin.value = "";
    const answer = await enrol(person, pin, name);
    text(said, answer.sentence ?? "");
    mark(said, "refused", !answer.accepted);
    if (answer.accepted) location.reload();
    else form.elements.pin.focus();
  };
  body.replaceChildren(form, said);
}
