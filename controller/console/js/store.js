// What the page knows: the newest state from the daemon, the newest beat, and what this screen alone has open.
// Nothing is derived from events: a state replaces the one before.

import { say } from "./words.js";

/** At most one frame waits to be drawn. */
let waiting = false;
let overtakenAt = -Infinity;
const drawers = [];

export const store = {
  /** The newest `state` of /v1/screen, or null before the first. */
  screen: null,
  /** The newest `beat`: {utc_ns, age, link}, or null. */
  beat: null,
  /** Whole seconds without a word from the daemon. */
  silence: 0,
  /** Whether it said before that it is ended: then nothing has failed. */
  stopped: false,
  /** The answer to the last request of this screen: {accepted, entry, code, sentence, utc_ns}, or null. */
  answer: null,
  /** What this screen alone has open: {sheet, selection, picking, pick, arrows, headline, ...}. */
  own: {},

  /** Change what this screen has open; a value of undefined takes it away. */
  set(own) {
    Object.assign(store.own, own);
    draw();
  },

  /** Change what was received. */
  receive(fields) {
    Object.assign(store, fields);
    draw();
  },

  /** `drawer()` is called once a frame in which something changed. */
  subscribe(drawer) {
    drawers.push(drawer);
    draw();
  },

  /** Others changed what is asked here: until nothing was tapped for a moment no tap counts. */
  overtake() {
    overtakenAt = performance.now();
    setTimeout(draw, OVERTAKEN);
    draw();
  },

  /** Draw what waits for its frame: the next tap, however soon, acts on what the last one brought. */
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

const OVERTAKEN = 1000; // ms in which nobody has read yet what others did

/** Whether others have just changed what is asked here: fingers that were on their way meant what was asked before. */
export function isOvertaken() {
  return performance.now() - overtakenAt < OVERTAKEN;
}

/** Whether anything may be entered now. */
export function listens() {
  return inContact() && !isAsking();
}

/**
 * Whether a tap counts now. One that comes too soon after others acted starts that moment again: it is one of a row. It
 * is said that it was lost.
 */
export function counts() {
  if (!isOvertaken()) return listens();
  store.overtake();
  lose(say("answer.overtaken"));
  return false;
}

/** A tap did not count: why. */
export function lose(sentence) {
  store.receive({ answer: { accepted: false, entry: store.screen?.entry ?? 0, code: "", sentence, utc_ns: 0 } });
}

/** From five seconds of silence on nothing can be operated. */
export const NO_WORD = 3;
export const NO_CONTACT = 5;

export function inContact() {
  return store.screen !== null && !store.stopped && store.silence < NO_CONTACT;
}

/** Whether an answer is awaited, or the state that shows what was entered: until then nothing that is drawn counts. */
export function isAsking() {
  const { answer, screen, own } = store;
  return own.asking > 0 || Boolean(answer?.accepted && screen && answer.entry > screen.entry);
}
