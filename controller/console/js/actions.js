// The acts of a phase: the one that comes next, and the few beside it.

import { start } from "./flow.js";
import { SECONDARY, STANDING } from "./needs.js";
import { store } from "./store.js";
import { knows, placeName, say } from "./words.js";

const BESIDE = 4; // acts beside the one that comes next; the others are in the menu

/** What an offer is called on its button. */
export function label(screen, offer) {
  const { place, instruction, pile } = offer.arguments;
  if (place && knows(`op.${offer.operation}.at`))
    return say(`op.${offer.operation}.at`, { place: placeName(screen, place) });
  if (instruction) return say(`instruct.${instruction}`);
  if (pile && knows(`op.${offer.operation}.of`)) return say(`op.${offer.operation}.of`, { pile: say(`pile.${pile}`) });
  return say(`op.${offer.operation}`);
}

/** A button that enters an offer. */
export function act(screen, offer, tone) {
  const named = Object.values(offer.arguments)
    .filter((value) => typeof value !== "object")
    .join("/");
  return {
    key: `${offer.operation}/${named}`,
    label: label(screen, offer),
    tone,
    why: offer.allowed ? "" : offer.sentence,
    act: () => start(offer),
  };
}

/** The act that comes next, on the biggest button. */
export function primary(screen) {
  const offer = screen.offers.find((one) => one.primary);
  if (!screen.screen.dealer && offer?.role === "dealer") {
    const on = ["sign_on", "dealer_on", "take_over"]
      .map((name) => screen.offers.find((one) => one.operation === name && one.allowed))
      .find(Boolean);
    if (on) return [act(screen, on, "primary"), act(screen, offer, "")];
  }
  return offer ? [act(screen, offer, "primary")] : [];
}

/** The acts beside it. */
export function acts(screen) {
  const { phase } = screen.view;
  const names = [...STANDING.filter((name) => standsStill(screen, name)), ...(SECONDARY[phase] ?? [])];
  const found = names
    .flatMap((name) => screen.offers.filter((one) => one.operation === name && !one.primary))
    .filter((one) => isMeant(screen, one));
  const shown = found.slice(0, phase === "maintenance" || phase === "exposing" || phase === "examining" ? 10 : BESIDE);
  const more = { key: "more", label: say("act.more"), act: () => store.set({ sheet: "menu" }) };
  return [...shown.map((one) => act(screen, one)), more];
}

/** Bets are entered one by one only where bettors are. */
function isMeant({ layout }, { operation }) {
  return layout.bettors.length > 0 || !["place_wager", "reject_excess", "correct_bet"].includes(operation);
}

/** An act that stands beside others only while it can be done. */
function standsStill(screen, name) {
  return screen.offers.some((one) => one.operation === name && one.allowed);
}
