// How many tables play, and what the last hour brought.

import { isMeant, state } from "./state.js";
import { el, keyed, text } from "/console/js/dom.js";
import { say } from "/console/js/words.js";

const HOUR = 60; // minutes
const AWAY = ["lost", "silent", "stopped"]; // tables of which nothing is heard

/** Return the counts of the shown part of the floor, and those of the whole floor in the last hour. */
function counts() {
  const { rows, hour, contact } = state;
  if (contact === null || !rows.size) return [];
  const meant = [...rows.values()].filter(isMeant);
  const closed = meant.filter((row) => row.phase === "closed").length;
  const away = meant.filter((row) => row.phase !== "closed" && AWAY.includes(row.trouble)).length;
  const { minutes = 0, rounds = 0, irregularities = 0, voids = 0 } = hour;
  return [
    say("totals.open", { n: meant.length - closed - away }),
    away && say("totals.away", { n: away }),
    closed && say("totals.closed", { n: closed }),
    minutes < HOUR ? say("totals.since", { n: Math.max(minutes, 1) }) : say("totals.hour"),
    say("totals.rounds", { n: rounds }),
    say("totals.irregularities", { n: irregularities }),
    say("totals.voids", { n: voids }),
  ].filter(Boolean);
}

export function render() {
  const region = document.getElementById("totals");
  keyed(
    region,
    counts().map((words, at) => ({ words, at })),
    ({ at }) => at,
    () => el("span"),
    (node, { words }) => text(node, words),
  );
}
