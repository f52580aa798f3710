// What things are called on the screen: cards of a pile, a bet, an entry, what was noticed.

import { face } from "./grid.js";
import { capital, placeName, say } from "./words.js";

/** Cards that lie together elsewhere than in a hand. */
export function pileName(pile) {
  return capital(say(`pile.${pile}`));
}

/** Whose bet, which wager, where, how much. */
export function betName(screen, bet) {
  return [bet.bettor, wagerName(screen, bet.wager), bet.box ? placeName(screen, `B${bet.box}`) : "", bet.amount].filter(Boolean).join(" ");
}

/** An entry in a few words. */
export function entryName(screen, { operation, said }) {
  const own = said.viewed ? "op.handle_cards.viewed" : said.overlooked ? "op.place_wager.overlooked" : "";
  return [say(own || `op.${operation}`), ...parts(screen, said)].join(" ");
}

/** What was answered of an act so far, in a few words; empty: nothing that has a name. */
export function answered(screen, said) {
  return capital(parts(screen, said).join(", "));
}

function parts(screen, said) {
  const { place, boxes, kind, pile, count, counted, number, cards, card, box, bettor, amount } = said;
  const about = [
    kind && reportName(screen, kind),
    place && placeName(screen, place),
    boxes?.join(", "),
    said.closed_boxes?.join(", "),
    bettor,
    said.wager && wagerName(screen, said.wager),
    box && placeName(screen, `B${box}`),
    amount,
    pile && say(`pile.${pile}`),
    said.deck,
    count ?? counted ?? number,
    Array.isArray(cards) && typeof cards[0] === "string" && cards.map(face).join(" "),
    typeof card === "number" ? say("where.card", { n: card }) : card && face(card),
    said.reason ?? said.because ?? said.text,
  ];
  return about.filter((part) => part !== undefined && part !== null && part !== "" && part !== false);
}

function wagerName(screen, id) {
  return screen.layout.wagers.find((one) => one.id === id)?.name ?? id;
}

/** A kind of irregularity. */
export function reportName(screen, kind) {
  return screen.reports.find((one) => one.kind === kind)?.label ?? kind;
}

/** What it is, and where. */
export function whatAndWhere(screen, matter) {
  const where = matter.place ? placeName(screen, matter.place) : "";
  return capital([matterName(screen, matter), where].filter(Boolean).join(": "));
}

/** What an open irregularity is called. */
export function matterName(screen, matter) {
  return screen.reports.find((one) => one.kind === matter?.kind)?.label ?? matter?.because ?? "";
}
