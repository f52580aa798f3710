// The keyboard. Enter presses the next act, but never the second request; digits tap boxes or type a number.

import { tap } from "./buttons.js";
import { back, step } from "./flow.js";
import { tap as tapPlace } from "./stage.js";
import { store } from "./store.js";
import { letters } from "./words.js";

const ACTS = { F2: "report_irregularity", F4: "pause_table" };
const SECOND = "#panel .second"; // answered by the space bar, or by tapping
const ANSWERS = { y: "yes", n: "no" };

/** Listen to the keyboard. */
export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isWritten(event)) return;
    if (press(event)) event.preventDefault();
  });
}

/** Return whether a key belongs to the field that has the focus. */
function isWritten({ key, target }) {
  return target instanceof HTMLInputElement && key !== "Escape" && !/^F\d+$/.test(key);
}

function press({ key, target, repeat }) {
  if (key === "Enter" && (repeat || target.closest?.(SECOND))) return true; // held down it presses once
  if (repeat) return false;
  if (key === "F1") return open("matters");
  if (key === "Escape") return leave();
  if (store.own.sheet) return false; // the sheet covers what the other keys press
  if (key in ACTS) return find(ACTS[key]);
  if (key === "Enter")
    return !(target instanceof HTMLButtonElement) && !target.closest?.("[data-place]") && pressPrimary();
  if (/^[0-9]$/.test(key)) return find(key, "#panel .pad", true) || box(key);
  if (key === "Backspace") return find("clear", "#panel .pad");
  const answer = ANSWERS[key.toLowerCase()];
  return letters === "on" && answer !== undefined && find(answer);
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

function find(name, within = "#panel", typed = false) {
  const node = document.querySelector(`${within} [data-act="${name}"]`);
  if (node) tap(node, typed);
  return Boolean(node);
}

function pressPrimary() {
  const node = document.querySelector("#panel .primary");
  if (node) tap(node);
  return Boolean(node);
}

function box(digit) {
  const node = document.querySelector(`#stage .picking[data-place="B${digit}"]`);
  if (node) tapPlace(node);
  return Boolean(node);
}
