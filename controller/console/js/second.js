// The second request of an act that is entered twice. A void is asked about: its button is elsewhere than the first
// one's, so that a double tap cannot press it, and it lapses. The end of a round takes effect at one tap, because an end
// that was entered by mistake is corrected like any entry; the page enters both requests.

import { start } from "./flow.js";
import { operate, shown, whileAsking } from "./operate.js";
import { store } from "./store.js";
import { say, time } from "./words.js";

const LAPSES = 30e9; // ns
const ENDS = "conclude_round";

/** Return the act that was requested once, or undefined. `isLapsed`: whether its request lapsed, so that it does not count. */
function askedOnce(screen, isLapsed = false) {
  const now = store.beat?.utc_ns ?? 0;
  return screen.offers.find((one) => one.asked && one.allowed && now - one.asked_utc_ns > LAPSES === isLapsed);
}

/** Return the act that was requested once at this screen, or undefined. */
function askedHere(screen) {
  const offer = askedOnce(screen);
  return offer?.asked_screen === screen.screen.id ? offer : undefined;
}

/** Return whether the end of the round was requested, at any screen and however long ago: it needs one more tap at most. */
export function isEnding(screen) {
  return screen.offers.some((one) => one.asked && one.allowed && one.operation === ENDS);
}

/** Return whether this screen requested the end of the round, so that the next request takes effect. */
function endsHere(screen) {
  return askedHere(screen)?.operation === ENDS;
}

/** End the round: enter the first request unless it was entered here, then the second. */
export function end(screen, offer) {
  if (endsHere(screen)) again(screen, askedHere(screen));
  else start(offer, { then: followed });
}

/** Enter the second request to end the round, once the state shows the first one. */
function followed({ entry }) {
  return whileAsking(async () => {
    await shown(entry);
    if (endsHere(store.screen)) await again(store.screen, askedHere(store.screen));
  });
}

/** Return that a request of this screen lapsed, unless people kept the round. */
export function lapsed(screen) {
  const offer = askedOnce(screen, true);
  if (offer?.operation === ENDS) return ""; // its button stays, and enters both requests
  if (offer?.asked_screen !== screen.screen.id || offer.asked === store.own.kept) return "";
  return say("second.lapsed", { act: say(`op.${offer.operation}`) });
}

/** Return who requested a void where, for the screens that do not ask for the second request. */
export function askedElsewhere(screen) {
  const offer = askedOnce(screen);
  if (!offer || offer.operation === ENDS || offer.asked_screen === screen.screen.id) return "";
  const by = screen.people.find((one) => one.id === offer.asked_by)?.name ?? offer.asked_by;
  const at = screen.view.screens.find((one) => one.id === offer.asked_screen)?.name ?? say("second.no_screen");
  return say("second.elsewhere", { by, at, time: time(offer.asked_utc_ns) });
}

/** Return the panel's content after a first request here, or null. */
export function second(screen) {
  const offer = askedHere(screen);
  if (!offer || offer.operation === ENDS || offer.asked === store.own.kept) return null;
  const keep = {
    key: "keep",
    label: say("second.keep"),
    slow: true, // at the place of the first request
    act: () => store.set({ kept: offer.asked }),
  };
  return {
    question: say("second.void"),
    tone: "plain",
    still: true, // no place is due while a void is asked for
    list: [
      {
        key: "again",
        label: say("second.yes_void"),
        tone: "second red",
        meaning: offer.asked,
        act: () => again(screen, offer),
      },
    ],
    right: [keep],
  };
}

/** Repeat the request. One PIN serves both if the second comes from the same screen soon; else it is signed. */
async function again({ screen }, first) {
  const offer = { ...first, repeats: first.asked };
  const signed = offer.asked_by === screen.dealer ? {} : { person: offer.asked_by };
  const said = await operate(offer, {}, signed);
  if (!said.accepted && said.code === "pin") start(offer);
}
