// An act that takes more than one tap: what it still needs is asked one after the other, then who signs, then it is
// entered. The open one is `store.own.flow`: {offer, values, steps, at, signer, turned}.

import { operate } from "./operate.js";
import { STEPS } from "./needs.js";
import { store } from "./store.js";

const RANKS = ["dealer", "pit_supervisor", "pit_manager", "shift_manager"];
const WIPED = 30_000; // ms that a PIN which is not sent is kept
const ALWAYS_SIGNED = new Set(["dealer_on", "take_over", "sign_on"]);

/** People who may sign what needs that rank. */
export function signers(screen, role) {
  return screen.people.filter((person) => RANKS.indexOf(person.role) >= RANKS.indexOf(role));
}

/** Whether somebody has to sign: what is above the dealer, all that nobody is signed on for, and coming on duty. */
function needsSign(screen, offer) {
  return offer.role !== "dealer" || ALWAYS_SIGNED.has(offer.operation) || !screen.screen.dealer;
}

/** Begin an act. What needs nothing more is entered at once. `then(answer)`: after it was accepted. */
export function start(offer, { values = {}, then = () => {}, needs = offer.needs } = {}) {
  const screen = store.screen;
  const steps = needs.filter((need) => !(need in values)).map((need) => stepOf(offer, need));
  if (needsSign(screen, offer)) steps.push("sign");
  if (!steps.length) {
    enter(offer, values, {}, then);
    return;
  }
  const flow = { offer, values, steps, at: 0, signer: "", pin: "", draft: null, then, turned: screen.turned };
  store.set({ flow, sheet: undefined });
}

function stepOf(offer, need) {
  const own = `${offer.operation}.${need}`;
  return own in STEPS ? own : need;
}

/** The step that is asked now, or null. */
export function step() {
  const { flow } = store.own;
  return flow ? flow.steps[flow.at] : null;
}

/** The argument that a step fills. */
export function argument(name) {
  return name.includes(".") ? name.split(".")[1] : name;
}

/** A step is answered. `more`: steps that the answer brings with it. */
export function answer(value, more = []) {
  const flow = { ...store.own.flow };
  flow.values = { ...flow.values, [argument(flow.steps[flow.at])]: value };
  flow.steps = [...flow.steps.slice(0, flow.at + 1), ...more, ...flow.steps.slice(flow.at + 1)];
  flow.at += 1;
  flow.draft = null;
  if (flow.at < flow.steps.length) {
    store.set({ flow });
    return;
  }
  cancel();
  enter(flow.offer, flow.values, {}, flow.then);
}

/** What is being put together in the open step: cards, digits, a text. */
export function draft(value) {
  store.set({ flow: { ...store.own.flow, draft: value } });
}

/** Who signs. */
export function choose(person) {
  store.set({ flow: { ...store.own.flow, signer: person, pin: "" } });
}

/** The digits so far; they are wiped when they are not sent. */
export function digits(pin) {
  store.set({ flow: { ...store.own.flow, pin } });
  clearTimeout(wipe.timer);
  wipe.timer = setTimeout(wipe, WIPED);
}

function wipe() {
  if (store.own.flow?.pin) store.set({ flow: { ...store.own.flow, pin: "" } });
}

/** Enter it with the PIN. A wrong one is asked for again. */
export async function sign() {
  const flow = store.own.flow;
  const { offer, values, signer, pin, then } = flow;
  store.set({ flow: { ...flow, pin: "" } });
  const said = await operate(offer, values, { person: signer, pin });
  if (!said.accepted && ["pin", "pin-locked", "pin-busy"].includes(said.code)) return;
  if (store.own.flow?.offer === offer) cancel();
  if (said.accepted) then(said);
}

async function enter(offer, values, signed, then) {
  const said = await operate(offer, values, signed);
  if (said.accepted) then(said);
}

export function cancel() {
  clearTimeout(wipe.timer);
  store.set({ flow: undefined, picking: undefined, pick: undefined, filled: undefined, headline: undefined });
}

/** One step back; from the first: the act is given up. */
export function back() {
  const flow = store.own.flow;
  if (flow.at === 0) {
    cancel();
    return;
  }
  const values = { ...flow.values };
  delete values[argument(flow.steps[flow.at - 1])];
  store.set({ flow: { ...flow, values, at: flow.at - 1, draft: null, pin: "" } });
}

/** An act whose meaning changed meanwhile is closed, and its PIN with it. */
export function look(screen) {
  const { flow } = store.own;
  if (!flow || flow.turned === screen.turned) return;
  const about = (offer) => JSON.stringify({ ...offer.arguments, facts: undefined });
  const same = screen.offers.some(
    (one) => one.operation === flow.offer.operation && one.allowed && about(one) === about(flow.offer),
  );
  if (same) store.own.flow = { ...flow, turned: screen.turned };
  else cancel();
}
