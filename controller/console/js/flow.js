// An act that takes more than one tap: it asks step by step for what it needs and who signs, and is then entered.
// The open act is `store.own.flow`: {offer, values, steps, at, past, draft, signer, pin, then, turned}. A step
// "instead/cards" is about the operation that replaces a mistaken entry.

import { forget } from "./ahead.js";
import { BEFORE, STEPS } from "./needs.js";
import { operate } from "./operate.js";
import { isAsking, store } from "./store.js";

const RANKS = ["dealer", "pit_supervisor", "pit_manager", "shift_manager"];
const WIPED = 30_000; // ms for which an unsent PIN is kept
const LEFT_FOR_ALARMS = new Set(["report_irregularity", "pause_table"]); // acts that give way to what stops the cards
const WRONG = new Set(["pin", "witness-pin"]);
const PIN_REFUSED = new Set([...WRONG, "pin-locked", "pin-busy"]);
const ALWAYS_SIGNED = new Set(["dealer_on", "take_over", "sign_on"]);

/** Return the people who may sign for that rank. */
export function signers(screen, role) {
  return screen.people.filter((person) => RANKS.indexOf(person.role) >= RANKS.indexOf(role));
}

/** Return whether a signature is needed: above the dealer's rank, without a dealer signed on, or to start duty. */
export function needsSign(screen, offer) {
  return offer.role !== "dealer" || ALWAYS_SIGNED.has(offer.operation) || !screen.screen.dealer;
}

/** Return the offer to abandon a round so that a later request states authority and reason again. */
function asFirst(offer) {
  if (offer.operation !== "abandon_round" || !offer.asked || offer.repeats) return offer;
  return { ...offer, arguments: {}, needs: Object.keys(offer.arguments) };
}

/** Begin an act. It is entered immediately if it needs nothing more. `then(answer)`: called after it was accepted. */
export function start(offered, { values = {}, then = () => {}, needs = asFirst(offered).needs } = {}) {
  const screen = store.screen;
  const offer = asFirst(offered);
  const asked = needs.filter((need) => !(need in values)).map((need) => stepOf(offer.operation, need));
  const steps = [...asked.filter((name) => name !== "authority"), ...asked.filter((name) => name === "authority")];
  if (BEFORE[offer.operation]?.(offer)) steps.unshift(BEFORE[offer.operation](offer));
  if (asked.includes("witness") && screen.layout.second_counter_signs) steps.push("countersign");
  if (needsSign(screen, offer)) steps.push("sign");
  if (!steps.length) {
    store.set({ sheet: undefined, closed: undefined });
    enter(offer, values, {}, then);
    return;
  }
  const { turned } = screen;
  forget();
  if (store.answer?.accepted === false) store.receive({ answer: null }); // it was about an earlier tap
  store.set({
    flow: { offer, values, steps, at: 0, past: [], signer: "", pin: "", draft: null, then, turned, alarms: alarms(screen) },
    sheet: undefined,
    closed: undefined,
  });
}

/** Return the step that asks for an argument of an operation. */
export function stepOf(operation, need) {
  const own = `${operation}.${need}`;
  return own in STEPS ? own : need;
}

/** Return the open step, or null. */
export function step() {
  const { flow } = store.own;
  return flow ? flow.steps[flow.at] : null;
}

/** Return the argument that a step fills, and its container: "instead", or none. */
export function argument(name) {
  const [outer, inner] = name.includes("/") ? name.split("/") : ["", name];
  return { outer, name: inner.split(".").at(-1) };
}

/** Return the arguments known so far; for a replacement, its own. */
export function known({ offer, values }) {
  return { ...offer.arguments, ...values, ...values.instead };
}

/** Answer a step. `more`: further steps that the answer needs. `also`: arguments that it fills besides. */
export function answer(value, more = [], also = {}) {
  const flow = { ...store.own.flow };
  const { outer, name } = argument(flow.steps[flow.at]);
  flow.past = [...flow.past, { values: flow.values, steps: flow.steps }];
  flow.values = outer
    ? { ...flow.values, [outer]: { ...flow.values[outer], ...also, [name]: value } }
    : { ...flow.values, ...also, [name]: value };
  const brought = more.map((step_) => (outer ? `${outer}/${step_}` : step_));
  flow.steps = [...flow.steps.slice(0, flow.at + 1), ...brought, ...flow.steps.slice(flow.at + 1)];
  flow.at += 1;
  flow.draft = null;
  if (flow.at < flow.steps.length) {
    store.set({ flow });
    return;
  }
  cancel();
  enter(flow.offer, flow.values, {}, flow.then);
}

/** Set the draft of the open step: cards, digits, a text. */
export function draft(value) {
  store.set({ flow: { ...store.own.flow, draft: value } });
}

/** Set the signer. */
export function choose(person) {
  store.set({ flow: { ...store.own.flow, signer: person, pin: "", wrong: false } });
}

/** Set the digits so far. They are wiped if they are not sent. */
export function digits(pin) {
  store.set({ flow: { ...store.own.flow, pin } });
  clearTimeout(wipe.timer);
  wipe.timer = setTimeout(wipe, WIPED);
}

function wipe() {
  const { flow } = store.own;
  if (flow?.pin || flow?.second) store.set({ flow: { ...flow, pin: "", second: "" } });
}

/** Enter the act with the PIN. */
export function sign() {
  const { signer, pin, second } = store.own.flow;
  return enterSigned({ person: signer, pin, ...(second && { witness_pin: second }) });
}

/** Enter the act with the PIN of the second counter; or keep that PIN, if another person signs the act. */
export function countersign() {
  const { flow } = store.own;
  if (flow.at + 1 === flow.steps.length) return enterSigned({ witness_pin: flow.pin });
  const past = [...flow.past, { values: flow.values, steps: flow.steps }];
  store.set({ flow: { ...flow, past, at: flow.at + 1, pin: "", second: flow.pin, wrong: false } });
}

/** Enter the act; ask for a PIN again if it was wrong. */
async function enterSigned(signed) {
  const flow = store.own.flow;
  const { offer, values, then } = flow;
  store.set({ flow: { ...flow, pin: "", second: "" } });
  const said = await operate(offer, values, signed);
  if (!said.accepted && PIN_REFUSED.has(said.code)) {
    const asked = store.own.flow; // others may have ended the act meanwhile
    if (asked?.offer !== offer) return;
    const second = asked.steps.indexOf("countersign");
    const at = said.code === "witness-pin" && second >= 0 ? second : asked.at;
    store.set({ flow: { ...asked, at, past: asked.past.slice(0, at), wrong: WRONG.has(said.code) } });
    return;
  }
  if (store.own.flow?.offer === offer) cancel();
  if (said.accepted) then(said);
}

async function enter(offer, values, signed, then) {
  const said = await operate(offer, values, signed);
  if (said.accepted) then(said);
}

export function cancel() {
  clearTimeout(wipe.timer);
  store.set({ flow: undefined, picking: undefined, pick: undefined, filled: undefined, numbered: undefined, headline: undefined });
}

/** Go back one step; cancel the act from the first. */
export function back() {
  const flow = store.own.flow;
  if (flow.at === 0) {
    cancel();
    return;
  }
  const { values, steps } = flow.past.at(-1);
  store.set({ flow: { ...flow, values, steps, past: flow.past.slice(0, -1), at: flow.at - 1, draft: null, pin: "", wrong: false } });
}

/** Return the matters that stop the cards, by number. */
function alarms({ view }) {
  return view.irregularities.filter((one) => one.blocks).map((one) => one.id);
}

/** Close an act whose meaning changed meanwhile, with its PIN, and say what others did. */
export function look(screen) {
  const { flow } = store.own;
  if (!flow || flow.turned === screen.turned) return;
  const isAlarmed = alarms(screen).some((id) => !flow.alarms.includes(id));
  if (LEFT_FOR_ALARMS.has(flow.offer.operation) && isAlarmed) {
    overtaken(screen);
    return;
  }
  const about = (offer) => JSON.stringify({ ...offer.arguments, facts: undefined });
  const same = screen.offers.some(
    (one) => one.operation === flow.offer.operation && one.allowed && about(one) === about(flow.offer),
  );
  if (same) store.own.flow = { ...flow, turned: screen.turned };
  else if (isAsking()) cancel(); // it was this screen's own entry
  else overtaken(screen);
}

/** Close the open act. The panel shows a notice until it is read, so that no button replaces a digit. */
function overtaken({ last, view }) {
  const act = store.own.flow.offer.operation;
  const isPaused = act === "pause_table" && Boolean(view.paused); // asked for the reason, with play stopped
  cancel();
  store.set({ closed: { act, isPaused, sentence: last.sentence, by: last.by } });
  store.overtake();
}
