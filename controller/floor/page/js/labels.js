// Names on this page: ages, states, devices, pits.

import { since, state } from "./state.js";
import { knows, say } from "/console/js/words.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Return a span in words: seconds below a minute, then minutes, then hours. */
export function span(ms) {
  if (ms < MINUTE) return say("age.s", { n: Math.floor(ms / 1000) });
  return ms < HOUR ? say("age.min", { n: Math.floor(ms / MINUTE) }) : say("age.h", { n: Math.floor(ms / HOUR) });
}

/** Return how long ago that is; empty if unknown. */
export function age(ms) {
  const passed = since(ms);
  return passed === null ? "" : span(passed);
}

/** Return the same from a minute on, so that a calm floor does not change. */
export function longAge(ms) {
  const passed = since(ms);
  return passed === null || passed < MINUTE ? "" : span(passed);
}

/** Return a phase of the round in the console's words. */
export function phaseName(phase) {
  return knows(`phase.${phase}`) ? say(`phase.${phase}`) : phase.replaceAll("_", " ");
}

export function deviceName(kind) {
  return say(`device.${knows(`device.${kind}`) ? kind : "device"}`);
}

/** Return the rank that is awaited. */
export function awaited(who) {
  return who && say("matter.who", { who });
}

/** Return the clauses that may apply. */
export function clauses(found) {
  return found.map((one) => one || say("matter.no_clause")).join(say("join.comma"));
}

/** Return a pit, with its site if the floor has several. */
export function pitName(row) {
  const sites = new Set([...state.rows.values()].map((one) => one.site));
  return sites.size > 1 ? `${row.site} · ${row.pit}` : row.pit;
}

/** Return what a matter is about, and where. */
export function matterName(matter) {
  const where = matter.where.replaceAll(" ", "\u00a0"); // keeps "box 1" on one line
  const word = matter.trouble && say(`trouble.${matter.trouble}`);
  const [what, more] = matter.trouble ? [word, matter.what] : [matter.what, where];
  return more ? say("matter.what", { what, more }) : what;
}
