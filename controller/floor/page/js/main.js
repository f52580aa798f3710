// Starts the page: follows the floor, and draws every region once a frame after a change.

import * as grid from "./grid.js";
import * as headline from "./headline.js";
import * as matters from "./matters.js";
import { draw, isOld, setClock, state } from "./state.js";
import * as story from "./story.js";
import * as top from "./top.js";
import * as totals from "./totals.js";
import { mark } from "/console/js/dom.js";
import { follow } from "/console/js/stream.js";
import { inLanguage, load } from "/console/js/words.js";

const AGES_EVERY = 1000; // ms
let page = null;

/** Take the whole floor, or its changes. */
function take(message) {
  setClock(message.now);
  if (message.whole) state.rows.clear();
  for (const row of message.rows) state.rows.set(row.key, row);
  for (const key of message.gone ?? []) state.rows.delete(key);
  if (message.matters) state.set({ matters: message.matters, moreMatters: message.more_matters ?? 0 });
  state.set({ contact: message.contact, hour: message.hour ?? {} });
  if (!message.page) return;
  page ??= message.page;
  if (message.page !== page) location.reload(); // the server has another version of the page
}

/** Take the time and the counts of the last hour. */
function beat({ now, hour }) {
  setClock(now);
  state.set({ hour });
}

/** Handle a key and return whether it did: a slash searches, Escape closes the story, arrows move between tiles. */
function press({ key, target, ctrlKey, altKey, metaKey }) {
  if (ctrlKey || altKey || metaKey) return false;
  if (key === "Escape") return story.close();
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement) return false;
  if (key === "/") {
    top.search();
    return true;
  }
  return key.startsWith("Arrow") && grid.step(key);
}

await load();
follow(
  inLanguage("/v1/floor"),
  { floor: take, beat },
  (silence) => state.set({ silence }),
);
document.addEventListener("keydown", (event) => press(event) && event.preventDefault());
setInterval(draw, AGES_EVERY);
state.subscribe(() => {
  mark(document.body, "old", isOld());
  for (const region of [top, headline, totals, matters, grid, story]) region.render();
});
