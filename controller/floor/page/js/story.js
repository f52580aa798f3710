// One table: its facts, open matters, and latest events.

import { age, awaited, clauses, deviceName, matterName, phaseName, pitName } from "./labels.js";
import { draw, setClock, state } from "./state.js";
import { attr, el, keyed, text } from "/console/js/dom.js";
import { follow } from "/console/js/stream.js";
import { capital, inLanguage, say, time } from "/console/js/words.js";

const parts = {};

/** Open the story of a table. `from`: the tapped button, which gets the focus back. */
export function open(key, from) {
  parts.end?.();
  parts.from = from;
  state.set({ chosen: key, story: null });
  parts.end = follow(
    `${inLanguage("/v1/story")}&table=${encodeURIComponent(key)}`,
    {
      story: (story) => {
        setClock(story.now);
        state.set({ story });
      },
      beat: () => draw(),
    },
    () => draw(),
  );
  requestAnimationFrame(() => parts.title?.focus({ preventScroll: true }));
}

/** Close the story, and return whether one was open. */
export function close() {
  if (!state.chosen) return false;
  parts.end?.();
  state.set({ chosen: null, story: null });
  requestAnimationFrame(() => parts.from?.isConnected && parts.from.focus()); // once the grid accepts focus again
  return true;
}

function build(region) {
  parts.title = el("h1", { tabindex: -1 });
  parts.body = el("div", { class: "body", tabindex: 0, role: "group" });
  parts.next = el("p", { class: "next" });
  parts.open = el("div", { class: "open" });
  parts.facts = el("dl", { class: "facts" });
  parts.heading = el("h2", {}, say("story.happened"));
  parts.lines = el("div", { class: "lines" });
  parts.none = el("p");
  parts.body.append(parts.next, parts.open, parts.facts, parts.heading, parts.none, parts.lines);
  const back = el("button", { type: "button", onclick: close }, say("act.back"));
  region.replaceChildren(parts.title, el("div", { class: "close" }, back), parts.body);
}

export function render() {
  const region = document.getElementById("story");
  const { chosen, story } = state;
  region.hidden = !chosen;
  document.getElementById("grid").inert = Boolean(chosen); // no focus there
  if (!chosen) return;
  if (!parts.title) build(region);
  const row = story?.detail?.row ?? state.rows.get(chosen);
  text(parts.title, row ? `${row.table} · ${pitName(row)}` : chosen);
  attr(parts.body, "aria-label", row?.table ?? chosen);
  const matters = state.matters.filter((one) => one.row === chosen);
  text(parts.next, matters.some((one) => one.act) ? "" : nextStep(story));
  keyed(parts.open, matters, (one) => one.key, createMatter, updateMatter);
  facts(story?.detail);
  const lines = story?.lines ?? [];
  text(parts.none, lines.length ? "" : say(story ? "story.none" : "headline.waiting"));
  keyed(
    parts.lines,
    lines,
    (line) => line.key,
    () => el("p"),
    (node, line) => text(node, `${time(line.utc_ns, true)}  ${line.text}`),
  );
}

/** Return the next act at the table; nothing if the table is gone. */
function nextStep(story) {
  if (!story) return "";
  if (!story.detail) return say("story.unknown");
  return ["lost", "stopped"].includes(story.detail.row.trouble) ? "" : story.detail.next_step;
}

function createMatter() {
  return el(
    "div",
    {},
    el("span", { class: "line" }, el("span", { class: "sign" }), el("span", { class: "name" }), el("span", { class: "age" })),
    el("p", { class: "who" }),
    el("p", { class: "who" }),
  );
}

function updateMatter(node, matter) {
  attr(node, "class", `matter ${matter.tone}`);
  const [, name, since] = node.firstChild.children;
  text(name, capital(matterName(matter)));
  text(since, age(matter.since));
  text(node.children[1], [clauses(matter.clauses), awaited(matter.who)].filter(Boolean).join(" · "));
  text(node.children[2], matter.act);
}

/** Return the facts in two columns: names and values. */
function facts(detail) {
  const found = detail ? listed(detail) : [];
  keyed(
    parts.facts,
    found.flatMap(([name, value]) => [
      { key: `${name}/dt`, tag: "dt", value: say(`fact.${name}`) },
      { key: `${name}/dd`, tag: "dd", value },
    ]),
    (one) => one.key,
    (one) => el(one.tag),
    (node, one) => text(node, one.value),
  );
}

function listed(detail) {
  const { row } = detail;
  const lasts = age(row.since);
  const heard = age(detail.heard_device);
  const device = [
    row.device && deviceName(row.device),
    detail.serial,
    detail.device || (detail.link && say(detail.link === "ready" ? "bar.ready" : "bar.away")),
    heard && say("fact.heard", { age: heard }),
  ];
  return [
    ["game", [detail.title, row.simulated && say("bar.simulated")].filter(Boolean).join(" · ")],
    ["phase", [row.round && say("sign.round", { round: row.round }), phaseName(row.phase), lasts].filter(Boolean).join(" · ")],
    ["dealer", row.dealer || say("bar.no_dealer")],
    ["paused", detail.paused],
    ["service", row.trouble === "service" ? detail.service_cause : ""],
    ["device", device.filter(Boolean).join(" · ")],
    ["cards", detail.left ? String(detail.left) : ""],
    ["warnings", detail.warnings.join(" ")],
    ["report", say("fact.heard", { age: age(detail.heard) })],
    ["program", detail.version],
  ].filter(([, value]) => value);
}
