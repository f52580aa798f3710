// The second asking of what cannot be taken back: a void, the end of a round. It is asked in another place than the
// first, so that a double tap never does it, and lapses.

import { start } from "./flow.js";
import { operate } from "./operate.js";
import { store } from "./store.js";
import { say, time } from "./words.js";

const LAPSES = 30e9; // ns

/** The request that was made once, or undefined. After it has lapsed the act is asked for the first time again. */
function askedOnce(screen) {
  const now = store.beat?.utc_ns ?? 0;
  return screen.offers.find((one) => one.asked && one.allowed && now - one.asked_utc_ns <= LAPSES);
}

/** Who asked for it where, for the screens at which it is not asked the second time. */
export function askedElsewhere(screen) {
  const offer = askedOnce(screen);
  if (!offer || offer.asked_screen === screen.screen.id) return "";
  const by = screen.people.find((one) => one.id === offer.asked_by)?.name ?? offer.asked_by;
  const at = screen.view.screens.find((one) => one.id === offer.asked_screen)?.name ?? say("second.no_screen");
  const key = offer.operation === "abandon_round" ? "second.elsewhere.abandon" : "second.elsewhere";
  return say(key, { by, at, time: time(offer.asked_utc_ns) });
}

/** What the panel shows while something was asked once here, or null. */
export function second(screen) {
  const once = askedOnce(screen);
  const offer = once?.asked_screen === screen.screen.id && once.asked !== store.own.kept ? once : null;
  if (!offer) return null;
  const ends = offer.operation === "conclude_round";
  const keep = {
    key: "keep",
    label: say(ends ? "second.not_yet" : "second.keep"),
    slow: true, // where the first asking was
    act: () => store.set({ kept: offer.asked }),
  };
  return {
    question: say(ends ? "second.conclude" : "second.void"),
    tone: ends ? undefined : "red",
    facts: ends ? screen.view.next_steps.slice(1) : [], // until when an error still counts
    list: [
      {
        key: "again",
        label: say(ends ? "second.yes_conclude" : "second.yes_void"),
        tone: ends ? "second" : "second red",
        meaning: offer.asked,
        act: () => repeat(screen, { ...offer, repeats: offer.asked }),
      },
    ],
    right: [keep],
  };
}

/** One PIN serves both requests, as long as the second comes from the same screen soon after; else it is signed. */
async function repeat({ screen }, offer) {
  const signed = offer.asked_by === screen.dealer ? {} : { person: offer.asked_by };
  const said = await operate(offer, {}, signed);
  if (!said.accepted && said.code === "pin") start(offer);
}
