// What things are called on the screen: cards of a pile, a bet, an entry, what was noticed.

import { face } from "./grid.js";
import { capital, placeName, say } from "./words.js";

/** Cards that lie together elsewhere than in a hand. */
export function pileName(pile) {
  return capital(say(`pile.${pile}`));
}

/** Whose bet, which wager, where, how much. */
export function betName(screen, bet) {
  const wager = screen.layout.wagers.find((one) => one.id === bet.wager)?.name ?? bet.wager;
  return [bet.bettor, wager, bet.box ? placeName(screen, `B${bet.box}`) : "", bet.amount].filter(Boolean).join(" ");
}

/** An entry in a few words. */
export function entryName(screen, one) {
  const { place, boxes, kind, pile, count, counted, cards, card } = one.said;
  const about = [
    place && placeName(screen, place),
    boxes?.join(", "),
    kind && reportName(screen, kind),
    pile && say(`pile.${pile}`),
    count ?? counted,
    cards?.map(face).join(" "),
    card && face(card),
  ];
  return [say(`op.${one.operation}`), ...about]
    .filter((part) => part !== undefined && part !== null && part !== "")
    .join(" ");
}

/** A kind of irregularity. */
export function reportName(screen, kind) {
  return screen.reports.find((one) => one.kind === kind)?.label ?? kind;
}

/** What an open irregularity is called. */
export function matterName(screen, matter) {
  return screen.reports.find((one) => one.kind === matter?.kind)?.label ?? matter?.because ?? "";
}
