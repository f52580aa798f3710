// Names on the screen: cards of a pile, a bet, an entry, what was noticed.

import { face } from "./grid.js";
import { capital, knows, placeName, say } from "./words.js";

/** Return the label of the act that ends `moves`: cards are carried, or only turned face down where they lie. */
export function movedLabel(moves) {
  const turned = moves.length > 0 && moves.every((move) => move.source === move.place);
  return say(turned ? "op.reconstruct.turned" : "op.reconstruct");
}

/** Return the name of cards outside the hands. */
export function pileName(pile) {
  return capital(say(`pile.${pile}`));
}

/** Return whose bet, which wager, where, how much. */
export function betName(screen, bet) {
  const where = bet.box ? placeName(screen, `B${bet.box}`) : "";
  return [where, bet.bettor, [wagerName(screen, bet.wager), bet.amount].filter(Boolean).join(" ")].filter(Boolean).join(say("join.comma"));
}

/** Return an entry in a few words. */
export function entryName(screen, { operation, said }) {
  if (knows(`entered.${operation}`)) return named(screen, say(`entered.${operation}`), said);
  const own = said.viewed ? "op.handle_cards.viewed" : said.overlooked ? "op.place_wager.overlooked" : "";
  return named(screen, say(own || `op.${operation}`), said);
}

/** Return what was entered, then its details, with place and cards separate. */
function named(screen, what, said) {
  return [what, parts(screen, said).join(say("join.comma"))].filter(Boolean).join(" ");
}

/** Return an entry as what a person did, so that its button does not look like an act. */
export function entryLabel(screen, entry) {
  const { operation, person, kind } = entry;
  const said = inShort(entry);
  const isNamed = !said.viewed && !said.overlooked && knows(`entry.${operation}`);
  const about = kind && matterAt(screen, { kind, place: said.place ? null : entry.place }, "join.comma");
  const done = isNamed ? named(screen, say(`entry.${operation}`), said) : entryName(screen, { operation, said });
  const what = [done, about].filter(Boolean).join(" · ");
  return say("entry.by", { name: personName(screen, person), what });
}

/** Return the details by which people know an entry: not its reason, nor again who made it. */
function inShort({ said: { reason: _, authority, ...said }, person }) {
  return authority === person ? said : { ...said, authority };
}

/** Return the answers of an act so far in a few words; empty if none has a name. */
export function answered(screen, said) {
  return capital(parts(screen, said).join(say("join.comma")));
}

/** Arguments in words, in this order. Arguments without a name are left out. */
export const NAMED = {
  kind: (screen, kind) => reportName(screen, kind),
  action: (screen, action) => say(`ruling.${action}`),
  earlier: (screen, before) => before && say("report.earlier", { round: screen.view.earlier_round }),
  choice: (screen, choice, { absent }) => say(`choice.${absent ? "absent" : choice}`),
  place: (screen, place) => placeName(screen, place),
  places: (screen, places) => places.map((one) => placeName(screen, one)).join(say("join.comma")),
  boxes: (screen, boxes) => boxes.join(say("join.comma")),
  closed_boxes: (screen, boxes) => boxes.length && say("said.closed_boxes", { boxes: boxes.join(say("join.comma")) }),
  fewer_wagers: (screen, limits) =>
    limits
      .map(([box, most]) => say("limits.most", { place: placeName(screen, box ? `B${box}` : "D"), most }))
      .join(say("join.comma")),
  one_box: (screen, bettors) => bettors.length && say("said.one_box", { bettors: bettors.join(say("join.comma")) }),
  bettor: (screen, bettor) => bettor,
  seat: (screen, box) => (box === null ? say("seat.stands") : say("said.seat", { place: placeName(screen, `B${box}`) })),
  bet: (screen, number) => betNumbered(screen, number),
  bets: (screen, numbers) => numbers.map((one) => betNumbered(screen, one)).join(say("join.comma")),
  wager: (screen, wager) => wagerName(screen, wager),
  box: (screen, box) => box && placeName(screen, `B${box}`),
  amount: (screen, amount) => say("said.amount", { amount }),
  pile: (screen, pile) => (screen.layout.labels[pile] ? placeName(screen, pile) : say(`pile.${pile}`)),
  deck: (screen, deck) => deck,
  back: (screen, back) => back,
  seal: (screen, seal) => seal,
  count: cardsNumbered,
  counted: (screen, number) => number !== null && cardsNumbered(screen, number),
  number: cardsNumbered,
  cards: cardsNamed,
  card: (screen, card) => (typeof card === "number" ? say("order.card", { n: card }) : card && face(card)),
  ordinals: orderNamed,
  open: (screen, ids) => ids.map((id) => matterName(screen, matterNumbered(screen, id))).join(say("join.comma")),
  screen: (screen, id) => screen.view.screens.find((one) => one.id === id)?.name ?? id,
  of_round: (screen, round) => say("sign.round", { round }),
  witness: (screen, witness) => say("said.witness", { name: personName(screen, witness) }),
  by: (screen, by) => say("said.by", { name: personName(screen, by) }),
  authority: (screen, id) => say("said.authority", { name: personName(screen, id) }),
  reason: (screen, words) => words,
  because: (screen, words) => words,
  text: (screen, words) => words,
};

function parts(screen, said) {
  const known = Object.entries(NAMED).filter(([name]) => said[name] !== undefined && (said[name] !== null || name === "seat"));
  return known.map(([name, words]) => words(screen, said[name], said)).filter(Boolean);
}

function cardsNumbered(screen, n) {
  return say("stage.cards", { n });
}

/** Return cards by number, by face, or by where they lie. */
function cardsNamed(screen, cards) {
  if (typeof cards === "number") return cardsNumbered(screen, cards);
  if (typeof cards[0] === "string") return cards.map(face).join(" ");
  return cards.map(({ ordinal, place }) => say("said.lies", { ...lay(screen, ordinal), place: placeOrPile(screen, place) })).join(say("join.comma"));
}

/** Return where a card lay, and its number in the hand. */
function lay(screen, ordinal) {
  const hand = screen.view.hands.find((one) => one.ordinals?.includes(ordinal));
  return { from: hand ? placeName(screen, hand.place) : "", card: hand ? hand.ordinals.indexOf(ordinal) + 1 : ordinal };
}

/** Return the name of a place, or of a pile. */
export function placeOrPile(screen, place) {
  return screen.layout.labels[place] ?? say(`pile.${place}`);
}

/** Return the cards of a matter in order, numbered as they lie. */
function orderNamed(screen, ordinals, { irregularity }) {
  const lie = matterNumbered(screen, irregularity)?.ordinals ?? [];
  return ordinals.map((one) => say("order.card", { n: lie.indexOf(one) + 1 })).join(say("join.comma"));
}

function matterNumbered(screen, id) {
  return screen.view.irregularities.find((one) => one.id === id);
}

function betNumbered(screen, number) {
  const lies = screen.view.bets.find((one) => one.number === number);
  return lies ? betName(screen, lies) : "";
}

function personName(screen, id) {
  return screen.people.find((person) => person.id === id)?.name ?? id;
}

function wagerName(screen, id) {
  return screen.layout.wagers.find((one) => one.id === id)?.name ?? id;
}

/** Return the name of a kind of irregularity. */
export function reportName(screen, kind) {
  return screen.reports.find((one) => one.kind === kind)?.label ?? kind;
}

/** Return what it is, and where; before that its round, if that is an earlier one. */
export function whatAndWhere(screen, matter) {
  const { round } = matter;
  const earlier = round !== screen.view.round && !matter.next_deck ? say("sign.round", { round }) : "";
  return capital([earlier, matterAt(screen, matter)].filter(Boolean).join(say("join.colon")));
}

/** Return what it is, and where, to follow other words. */
export function matterAt(screen, matter, join = "join.colon") {
  const place = matter?.place ? placeName(screen, matter.place) : "";
  if (place && knows(`matter.${matter.kind}`)) return say(`matter.${matter.kind}`, { place });
  return [matterName(screen, matter), place].filter(Boolean).join(say(join));
}

/** Return the name of an open irregularity. */
export function matterName(screen, matter) {
  return screen.reports.find((one) => one.kind === matter?.kind)?.label ?? matter?.because ?? "";
}
