// The page's knowledge: the newest state from the daemon, the newest beat, and what this screen has open. Nothing is
// derived from events: each state replaces the previous one.

import { say } from "./words.js";

/** Request a frame; at most one is pending. */
let waiting = false;
let overtakenAt = -Infinity;
const drawers = [];

export const store = {
  /** The newest `state` of /v1/screen, or null before the first. */
  screen: null,
  /** The newest `beat`: {utc_ns, age, link, seen}, or null. */
  beat: null,
  /** Whole seconds since the daemon's last message. */
  silence: 0,
  /** Whether the daemon announced its end, so that silence is not a failure. */
  stopped: false,
  /** The answer to the last request of this screen: {accepted, entry, code, sentence, utc_ns}, or null. */
  answer: null,
  /** What only this screen has open: {sheet, selection, picking, pick, arrows, headline, ...}. */
  own: {},

  /** Change what this screen has open; undefined removes a value. */
  set(own) {
    Object.assign(store.own, own);
    draw();
  },

  /** Change what was received. */
  receive(fields) {
    Object.assign(store, fields);
    draw();
  },

  /** Call `drawer()` once a frame after a change. */
  subscribe(drawer) {
    drawers.push(drawer);
    draw();
  },

  /** Note that others changed the question. Taps do not count until none has come for a moment. */
  overtake() {
    overtakenAt = performance.now();
    setTimeout(draw, OVERTAKEN);
    draw();
  },

  /** Draw a pending frame, so that the next tap acts on the result of the last one. */
  drawNow() {
    if (waiting) render();
  },
};

function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    if (waiting) render();
  });
}

function render() {
  waiting = false;
  for (const drawer of drawers) drawer();
}

const OVERTAKEN = 1000; // ms for people to read what others did

/** Return whether others have just changed the question, so that a tap may be meant for the old one. */
export function isOvertaken() {
  return performance.now() - overtakenAt < OVERTAKEN;
}

/** Return whether anything may be entered now. */
export function listens() {
  return inContact() && !isAsking();
}

/**
 * Return whether a tap counts now. One that comes too soon after others acted belongs to a row of taps and restarts
 * that moment; a message says that it was lost.
 */
export function counts() {
  if (!isOvertaken()) return listens();
  store.overtake();
  lose(say("answer.overtaken"));
  return false;
}

/** Tell the user why a tap did not count. */
export function lose(sentence) {
  store.receive({ answer: { accepted: false, entry: store.screen?.entry ?? 0, code: "", sentence, utc_ns: 0 } });
}

const COUNTS = new Set(["count_cards", "count_again"]);

/** Return whether a count is being entered. Meanwhile nothing on the screen says how many cards are due. */
export function isCounting() {
  return COUNTS.has(store.own.flow?.offer.operation);
}

/** Seconds of silence after which the page warns, and after which nothing can be operated. */
export const NO_WORD = 3;
export const NO_CONTACT = 5;

export function inContact() {
  return store.screen !== null && !store.stopped && store.silence < NO_CONTACT;
}

/** Return whether an answer, or the state that shows it, is still awaited. Until then no tap counts. */
export function isAsking() {
  const { answer, screen, own } = store;
  return own.asking > 0 || Boolean(answer?.accepted && screen && answer.entry > screen.entry);
}
