// What things are called on this page: ages, states, devices, pits.

import { since, state } from "./state.js";
import { knows, say } from "/console/js/words.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A span in words: seconds below a minute, then minutes, then hours. */
export function span(ms) {
  if (ms < MINUTE) return say("age.s", { n: Math.floor(ms / 1000) });
  return ms < HOUR ? say("age.min", { n: Math.floor(ms / MINUTE) }) : say("age.h", { n: Math.floor(ms / HOUR) });
}

/** How long ago that is; empty where it is not known. */
export function age(ms) {
  const passed = since(ms);
  return passed === null ? "" : span(passed);
}

/** The same from a minute on, so that a calm floor stands still. */
export function longAge(ms) {
  const passed = since(ms);
  return passed === null || passed < MINUTE ? "" : span(passed);
}

/** A phase of the round, as the console calls it. */
export function phaseName(phase) {
  return knows(`phase.${phase}`) ? say(`phase.${phase}`) : phase.replaceAll("_", " ");
}

export function deviceName(kind) {
  return say(`device.${knows(`device.${kind}`) ? kind : "device"}`);
}

/** The rank that is awaited. */
export function awaited(who) {
  return who && say("matter.who", { who });
}

/** The clauses that may apply. */
export function clauses(found) {
  return found.map((one) => one || say("matter.no_clause")).join(", ");
}

/** A pit; with its site, where the floor has several. */
export function pitName(row) {
  const sites = new Set([...state.rows.values()].map((one) => one.site));
  return sites.size > 1 ? `${row.site} · ${row.pit}` : row.pit;
}

/** What a matter is about, and where. */
export function matterName(matter) {
  const where = matter.where.replaceAll(" ", "\u00a0"); // "box 1" stays on one line
  const word = matter.trouble && say(`trouble.${matter.trouble}`);
  const [what, more] = matter.trouble ? [word, matter.what] : [matter.what, where];
  return more ? say("matter.what", { what, more }) : what;
}
