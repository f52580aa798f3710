// Region A: table and game, round and phase, dealer, device with the age of its last message, menu.

import { attr, el, mark, text } from "./dom.js";
import { inContact, NO_WORD, store } from "./store.js";
import { say } from "./words.js";

const parts = {};
const STALE = 3; // seconds after which the age of the last message is amber

function build(bar) {
  const part = (name) => (parts[name] = el("span", { class: `part ${name}` }));
  const names = ["table", "title", "game", "simulated", "round", "dealer", "device"]; // game: if the title does not fit
  bar.append(...names.map(part));
  if (document.body.classList.contains("display")) {
    parts.dealer.hidden = true; // a display names nobody
    return;
  }
  parts.menu = el("button", {
    class: "menu",
    onclick: () => store.set({ sheet: store.own.sheet === "menu" ? undefined : "menu" }),
  });
  bar.append(parts.menu);
}

/** Draw region A. `screen`: the newest state, or null before the first. */
export function render(screen) {
  if (!parts.table) build(document.getElementById("bar"));
  if (parts.menu) {
    text(parts.menu, say("sheet.menu"));
    attr(parts.menu, "disabled", !inContact());
    attr(parts.menu, "aria-expanded", String(store.own.sheet === "menu"));
  }
  if (!screen) return;
  const { view } = screen;
  document.title = `${view.table} ${say(`phase.${view.phase}`)}`;
  text(parts.table, view.table);
  text(parts.title, view.title);
  text(parts.game, view.game);
  text(parts.simulated, view.simulated ? say("bar.simulated") : "");
  const round = view.round ? `${say("bar.round", { round: view.round })} ` : "";
  text(parts.round, `${round}${say(view.paused ? "tile.paused" : `phase.${view.phase}`)}`);
  mark(parts.round, "amber", view.paused);
  text(parts.dealer, dealer(screen));
  device(view);
}

/** Return who is signed on here, else who is on duty. */
function dealer({ screen, people, view }) {
  const onDuty = people.find((person) => person.id === view.dealer)?.name ?? view.dealer;
  return screen.dealer_name || onDuty || say("bar.no_dealer");
}

/** Return the state of the device, or the silence of the table PC. */
function device(view) {
  if (store.silence >= NO_WORD) {
    text(parts.device, say("bar.silent", { n: store.silence }));
    mark(parts.device, "amber", true);
    return;
  }
  const age = store.beat ? store.beat.age : view.device.age;
  const link = store.beat ? store.beat.link : view.device.link;
  const name = say(`device.${view.device.kind || "device"}`);
  const lost = link !== "ready" || age === null || !view.device.connected;
  const n = age === null ? 0 : Math.floor(age);
  const known = age === null ? "" : ` ${say("age.s", { n })}`;
  const stands = view.device.stopped !== "" || view.phase === "maintenance";
  const works = stands ? say("bar.stopped") : say("bar.ready");
  const speaks = age >= STALE ? say("bar.silent", { n }) : works;
  text(parts.device, lost ? `${name} ${say("bar.away")}${known}` : `${name} ${speaks}`);
  mark(parts.device, "amber", lost || age >= STALE || view.device.stopped !== "");
}
