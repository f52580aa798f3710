// The second asking of what cannot be taken back: a void, the end of a round. It is asked in another place than the
// first, so that a double tap never does it, and lapses.

import { start } from "./flow.js";
import { store } from "./store.js";
import { say } from "./words.js";

const EMPTY = 1000; // ms that the first place stays empty
const LAPSES = 30e9; // ns

/** What the panel shows while something was asked once here, or null. */
export function second(screen) {
  const now = store.beat?.utc_ns ?? 0;
  const offer = screen.offers.find(
    (one) =>
      one.twice &&
      one.asked &&
      one.allowed &&
      one.asked !== store.own.kept &&
      !(one.asked_utc_ns && now - one.asked_utc_ns > LAPSES),
  );
  if (!offer) {
    seen.asked = 0;
    return null;
  }
  if (seen.asked !== offer.asked) {
    seen.asked = offer.asked;
    seen.at = performance.now();
    setTimeout(() => store.set({}), EMPTY);
  }
  const ends = offer.operation === "conclude_round";
  const keep = {
    key: "keep",
    label: say(ends ? "second.not_yet" : "second.keep"),
    act: () => store.set({ kept: offer.asked }),
  };
  return {
    question: say(ends ? "second.conclude" : "second.void"),
    list: [
      {
        key: "again",
        label: say(ends ? "second.yes_conclude" : "second.yes_void"),
        tone: "second",
        meaning: offer.asked,
        act: () => start(offer),
      },
    ],
    right: performance.now() - seen.at < EMPTY ? [] : [keep],
  };
}

const seen = { asked: 0, at: 0 };
