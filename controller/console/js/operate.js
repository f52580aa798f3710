// Sends what a person enters: one request at a time, without a queue, and repeats a request only with its id.

import { store } from "./store.js";
import { inLanguage, say } from "./words.js";

const HEADERS = { "Content-Type": "application/json", "X-Cardshoe": "1" };
const WAITED_FOR = 10_000; // ms to wait for an answer; then it is looked up
const NOT_RECORDED = { accepted: false, entry: Infinity, code: "not-recorded" }; // until the next entry
const SHOWN_EVERY = 50; // ms
const LOOK_UP_EVERY = 1000; // ms, until the table PC answers again

/**
 * Enter `offer` with its missing arguments. `signed`: {person, pin} of the signer; omitted: the dealer signed on.
 * `offer.repeats`: the first request, if this is the second. Returns the answer {accepted, entry, code, sentence}, also
 * for a refusal.
 */
export async function operate(offer, values = {}, signed = {}) {
  const screen = store.screen;
  const id = crypto.randomUUID();
  const operation = { operation: offer.operation, ...offer.arguments, ...values };
  const request = { id, round: screen.view.round, operation, as_of: screen.entry, ...signed };
  if (offer.repeats) request.repeats = offer.repeats;
  return ask(() => send("POST", "/v1/operations", request), say(`op.${offer.operation}`), id);
}

/** Make this browser a screen of the table, signed by a supervisor. */
export function enrol(person, pin, name) {
  const request = { id: crypto.randomUUID(), person, pin, name };
  return ask(() => send("POST", "/v1/screen/enrolment", request), say("sheet.enrol"));
}

/** Return an answer of the daemon that needs no entry, or null. `body`: the subject of the question. */
export async function read(path, body) {
  const asked = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const answer = await fetch(inLanguage(path), { headers: HEADERS, ...asked }).catch(() => null);
  return answer?.ok ? answer.json() : null;
}

/** Run requests to the table. Nothing else can be entered until they are done. */
export async function whileAsking(doing) {
  store.set({ asking: (store.own.asking ?? 0) + 1 });
  try {
    return await doing();
  } finally {
    store.set({ asking: store.own.asking - 1 });
  }
}

/** Send a request. `act`: its name, if the table's answer has no sentence. */
function ask(sending, act, id) {
  return whileAsking(async () => {
    const answer = await sending().catch(() => (id ? lookUp(id) : null));
    const said = answer ?? { ...NOT_RECORDED, sentence: say("answer.not_recorded") };
    const utc = store.beat?.utc_ns ?? 0;
    store.receive({
      answer: {
        ...said,
        entry: said.entry || (store.screen?.entry ?? 0),
        utc_ns: utc,
        sentence: said.sentence || say("answer.done", { act }),
      },
    });
    return said;
  });
}

async function send(method, path, body) {
  const signal = AbortSignal.timeout(WAITED_FOR);
  const answer = await fetch(inLanguage(path), { method, headers: HEADERS, body: JSON.stringify(body), signal });
  return answer.json();
}

/** Return whether a request without an answer was done, asked by its id until something answers. */
async function lookUp(id) {
  for (let unknown = 0; unknown < 2;) {
    try {
      const signal = AbortSignal.timeout(WAITED_FOR);
      const answer = await fetch(inLanguage(`/v1/operations/${id}`), { signal });
      if (answer.status === 404) unknown += 1; // one is not enough: the request may still be in progress
      if (answer.ok) return await answer.json();
    } catch {
      // the table PC does not answer yet
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_UP_EVERY));
  }
  return null;
}

/** Wait until the state shows that entry, on which the next one is based. */
export async function shown(entry) {
  while (store.screen.entry < entry) await new Promise((resolve) => setTimeout(resolve, SHOWN_EVERY));
}
