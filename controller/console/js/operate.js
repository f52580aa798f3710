// Sends what a person enters. One request at a time; nothing is queued, and nothing is sent twice without its id.

import { store } from "./store.js";
import { say } from "./words.js";

const HEADERS = { "Content-Type": "application/json", "X-Cardshoe": "1" };
const LOOK_UP_EVERY = 1000; // ms, until the table PC answers again

/** Whether an answer is awaited: no button counts until then. */
export function isAsking() {
  return store.own.asking === true;
}

/**
 * Enter `offer` with its missing arguments. `signed`: {person, pin} of who signs; left out: who is signed on here.
 * Returns the answer {accepted, entry, code, sentence}; a refusal is one, too.
 */
export async function operate(offer, values = {}, signed = {}) {
  const screen = store.screen;
  const id = crypto.randomUUID();
  const operation = { operation: offer.operation, ...offer.arguments, ...values };
  const request = { id, round: screen.view.round, operation, as_of: screen.entry, ...signed };
  if (offer.asked) request.repeats = offer.asked;
  return ask(() => send("POST", "/v1/operations", request), id);
}

/** Make this browser a screen of the table, signed by a supervisor. */
export function enrol(person, pin, name) {
  const request = { id: crypto.randomUUID(), person, pin, name };
  return ask(() => send("POST", "/v1/screen/enrolment", request));
}

/** What the daemon says of a way of asking, without entering anything. */
export async function read(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  return answer.ok ? answer.json() : null;
}

async function ask(sending, id) {
  store.set({ asking: true });
  try {
    const answer = await sending().catch(() => (id ? lookUp(id) : null));
    const said = answer ?? { accepted: false, entry: 0, code: "not-recorded", sentence: say("answer.not_recorded") };
    const utc = store.beat?.utc_ns ?? 0;
    store.receive({
      answer: {
        ...said,
        entry: said.entry || (store.screen?.entry ?? 0),
        utc_ns: utc,
        sentence: said.sentence || say("answer.done"),
      },
    });
    return said;
  } finally {
    store.set({ asking: undefined });
  }
}

async function send(method, path, body) {
  const answer = await fetch(path, { method, headers: HEADERS, body: JSON.stringify(body) });
  return answer.json();
}

/** Whether the request without an answer was done: asked by its id, for as long as nothing answers. */
async function lookUp(id) {
  for (;;) {
    try {
      const answer = await fetch(`/v1/operations/${id}`);
      if (answer.status === 404) return null;
      if (answer.ok) return await answer.json();
    } catch {
      // the table PC does not answer yet
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_UP_EVERY));
  }
}
