// The second request of an act that cannot be undone: a void, the end of a round. Its button is elsewhere than the
// first one's, so that a double tap cannot press it, and it lapses.

import { start } from "./flow.js";
import { operate } from "./operate.js";
import { store } from "./store.js";
import { say, time } from "./words.js";

const LAPSES = 30e9; // ns

/** Return the act that was requested once, or undefined. `isLapsed`: whether its request lapsed, so that it does not count. */
function askedOnce(screen, isLapsed = false) {
  const now = store.beat?.utc_ns ?? 0;
  return screen.offers.find((one) => one.asked && one.allowed && now - one.asked_utc_ns > LAPSES === isLapsed);
}

/** Return that a request of this screen lapsed, unless people kept the round. */
export function lapsed(screen) {
  const offer = askedOnce(screen, true);
  if (offer?.asked_screen !== screen.screen.id || offer.asked === store.own.kept) return "";
  return say("second.lapsed", { act: say(`op.${offer.operation}`) });
}

/** Return who requested it where, for the screens that do not ask for the second request. */
export function askedElsewhere(screen) {
  const offer = askedOnce(screen);
  if (!offer || offer.asked_screen === screen.screen.id) return "";
  const by = screen.people.find((one) => one.id === offer.asked_by)?.name ?? offer.asked_by;
  const at = screen.view.screens.find((one) => one.id === offer.asked_screen)?.name ?? say("second.no_screen");
  const key = offer.operation === "abandon_round" ? "second.elsewhere.abandon" : "second.elsewhere";
  return say(key, { by, at, time: time(offer.asked_utc_ns) });
}

/** Return the panel's content after a first request here, or null. */
export function second(screen) {
  const once = askedOnce(screen);
  const offer = once?.asked_screen === screen.screen.id && once.asked !== store.own.kept ? once : null;
  if (!offer) return null;
  const ends = offer.operation === "conclude_round";
  const keep = {
    key: "keep",
    label: say(ends ? "second.not_yet" : "second.keep"),
    slow: true, // at the place of the first request
    act: () => store.set({ kept: offer.asked }),
  };
  return {
    question: say(ends ? "second.conclude" : "second.void"),
    tone: "plain",
    still: !ends, // no place is due while a void is asked for
    facts: ends ? [say("second.ends"), ...screen.view.next_steps.slice(1)] : [], // how long an error still counts
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

/** Repeat the request. One PIN serves both if the second comes from the same screen soon; else it is signed. */
async function repeat({ screen }, offer) {
  const signed = offer.asked_by === screen.dealer ? {} : { person: offer.asked_by };
  const said = await operate(offer, {}, signed);
  if (!said.accepted && said.code === "pin") start(offer);
}
