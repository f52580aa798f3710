// The keyboard. Enter presses the act that comes next, never a second asking; digits tap boxes or type a number.

import { tap } from "./buttons.js";
import { back, step } from "./flow.js";
import { tap as tapPlace } from "./stage.js";
import { store } from "./store.js";

const ACTS = { F2: "report_irregularity", F4: "pause_table" };
const ANSWERS = { y: "yes", n: "no" };

/** Listen to the keyboard. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target instanceof HTMLInputElement) return;
    if (press(event)) event.preventDefault();
  });
}

function press({ key, target, repeat }) {
  if (repeat) return false;
  if (key === "F1") return open("matters");
  if (key in ACTS) return find(ACTS[key]);
  if (key === "Escape") return leave();
  if (key === "Enter")
    return !(target instanceof HTMLButtonElement) && !target.closest?.("[data-place]") && pressPrimary();
  if (/^[0-9]$/.test(key)) return find(key, "#panel .pad") || box(key);
  if (key === "Backspace") return find("clear", "#panel .pad");
  const answer = ANSWERS[key.toLowerCase()];
  return letters() && answer !== undefined && find(answer);
}

/** Letters can be off (WCAG 2.1.4). */
function letters() {
  return localStorage.getItem("letters") !== "off";
}

function open(sheet) {
  store.set({ sheet: store.own.sheet === sheet ? undefined : sheet });
  return true;
}

function leave() {
  if (store.own.sheet) store.set({ sheet: undefined });
  else if (step()) back();
  else return false;
  return true;
}

function find(name, within = "#panel") {
  const node = document.querySelector(`${within} [data-act="${name}"]`);
  if (node) tap(node);
  return Boolean(node);
}

function pressPrimary() {
  const node = document.querySelector("#panel .primary");
  if (node) tap(node);
  return Boolean(node);
}

function box(digit) {
  if (!store.own.picking?.has(`B${digit}`)) return false;
  tapPlace(`B${digit}`);
  return true;
}
