// The effect of a decision, as the daemon previews it. Facts are stated first, so that effects do not bias answers.

import { drawn } from "./arrows.js";
import { moveLines } from "./facts.js";
import { face } from "./grid.js";
import { betName } from "./labels.js";
import { read } from "./operate.js";
import { store } from "./store.js";
import { placeName, say } from "./words.js";

const TRIED = new Set(["confirm_irregularity", "rule", "abandon_round", "correct_entry", "correct_bet"]);
const MOST = 6; // lines
const found = new Map(); // by entry and operation: {lines, steps, arrows, role, clause}; null while awaited
const UNKNOWN = { lines: [], steps: [], arrows: [], role: "", clause: "" };

/** Forget earlier previews. */
export function forget() {
  found.clear();
}

/**
 * Return the effect of `offer` with `values`: `{lines, steps, arrows, role, clause}`, with the lowest rank that may enter
 * it; `steps`: the moves that the arrows show; nothing if it is not previewed, or not known yet.
 */
export function preview(screen, offer, values = {}) {
  if (!TRIED.has(offer.operation)) return UNKNOWN;
  const operation = { operation: offer.operation, ...offer.arguments, ...values };
  const key = `${screen.turned} ${JSON.stringify(operation)}`;
  if (!found.has(key)) {
    found.set(key, null);
    read("/v1/preview", { operation }).then((told) => {
      found.set(key, told ? brought(store.screen, told, offer.operation) : UNKNOWN);
      store.set({});
    });
  }
  return found.get(key) ?? UNKNOWN;
}

/** Return the lines of the preview. */
export function ahead(screen, offer, values) {
  const { lines: said, steps } = preview(screen, offer, values);
  return [...said, ...steps];
}

function brought(screen, told, operation) {
  const arrows = drawn(told.moves);
  return { ...told, arrows, lines: lines(screen, told, operation), steps: moveLines(screen, arrows) };
}

function lines(screen, told, operation) {
  if (!told.accepted) return told.code === "no-preview" ? [] : [["then", told.sentence]];
  const asked = !told.void && (told.opens || told.asks) ? told.next_step : ""; // a question is no consequence
  const all = [
    told.void && say("then.void"),
    ...told.hands.map((change) => hand(screen, change)),
    ...told.bets.map((change) => bet(screen, change)),
    ...told.payments.map((change) => payment(screen, change)),
    ...(operation === "confirm_irregularity" ? [] : told.sentences), // the confirmation itself is not a consequence
    !told.void && !asked && told.next_step,
    told.becomes,
  ].filter(Boolean);
  const [first, ...rest] = all.slice(0, MOST);
  return [
    ...(first ? [["then", say("then.first", { line: first })], ...rest] : []),
    ...(asked ? [["then", say("then.asked", { line: asked })]] : []),
  ];
}

/** Return what becomes of a hand; nothing if only its result is open again, which a sentence says of all hands. */
function hand(screen, { place, was, will }) {
  if (will?.dead && !was?.dead) return say("pay.out", { place: placeName(screen, place) });
  const before = cards(was);
  const after = cards(will);
  if (was?.outcome && will?.shown && !will.outcome && String(was.cards) === String(will.cards)) return "";
  return before !== after && say("then.hand", { place: placeName(screen, place), was: before, will: after });
}

function cards(one) {
  if (!one?.shown) return say("then.face_down");
  return [one.cards.map(face).join(" "), one.outcome && say(`stage.${one.outcome}`)].filter(Boolean).join(" ");
}

function bet(screen, { was, will }) {
  const units = (one) => one?.amount || say("then.nothing");
  return say("then.bet", { bet: named(screen, was ?? will), was: units(was), will: units(will) });
}

function payment(screen, { bet: number, was, will }) {
  const lies = screen.view.bets.find((one) => one.number === number);
  return say("then.bet", { bet: lies ? named(screen, lies) : number, was: money(was), will: money(will) });
}

/** Return the bet's name without its amount, which follows. */
function named(screen, lies) {
  return betName(screen, { ...lies, amount: 0 });
}

function money(settled) {
  if (!settled) return say("then.nothing");
  const { verdict, paid, collected, returned, held } = settled;
  const units = { won: paid, lost: collected, returned, held }[verdict];
  return `${say(`verdict.${verdict}`)} ${units}`;
}
