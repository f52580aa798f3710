// The known facts of a matter, in lines: what and where, who noticed it when, the clause, who decides.

import { face } from "./grid.js";
import { placeOrPile, whatAndWhere } from "./labels.js";
import { store } from "./store.js";
import { capital, say, time } from "./words.js";

const TABLE = "inference"; // who noticed what the table inferred
const DEVICE = "device"; // as the one who noticed something
const CODES = /\b[2-9TJQKA][CDHS]\b/gu; // of cards in a note

/** Return the stop of the device that must be cleared before any answer, in words; else undefined. */
export function clearsFirst({ view }, { kind, stage }) {
  const { stopped } = view.device;
  return stopped && kind === "technical_stop" && stage === "claimed" ? say("matter.stopped", { why: stopped }) : undefined;
}

/**
 * Return what, where, who, clause, decider. `applies`: {clause, role} once every question is answered. `who`: the words
 * for the decider; while the dealer is asked, that person comes later.
 */
export function matterFacts(screen, matter, applies, who = "matter.decides") {
  const { device } = screen.view;
  const parts = { [DEVICE]: `device.${device.kind || DEVICE}`, [TABLE]: "matter.by_table" };
  const seen = parts[matter.noticed_by] ? say(parts[matter.noticed_by]) : matter.noticed_by;
  const person = screen.people.find(({ id }) => id === matter.noticed_by);
  const by = person?.name ?? seen;
  const isOwn = matter.noticed_by !== "" && matter.noticed_by === screen.screen.dealer;
  const at = time(matter.noticed_utc_ns);
  return [
    ["name", matter.entered ? "" : whatAndWhere(screen, matter)], // the headline says whose entry
    isOwn ? say("matter.reported", { time: at }) : say(noticed(person), { by, time: at }),
    capital(matter.note).replace(CODES, face),
    matter.further,
    clause(matter, applies, who),
  ];
}

/** Return the words for who noticed it. A report above the dealer's rank is signed, whoever noticed it. */
function noticed(person) {
  if (!person) return "matter.noticed";
  return person.role === "dealer" ? "matter.reported_by" : "matter.signed";
}

/** Return clause and decider if space is short. Region B says what it is, and where. */
export function inShort(screen, matter, applies) {
  return [matterFacts(screen, matter, applies).at(-1)];
}

/** Return moves in words, as the arrows show them. Two hands that change places are lifted together. */
export function moveLines(screen, moves) {
  const [one, two] = moves;
  const isSwap = moves.length === 2 && one.source === two.place && one.place === two.source;
  const lines = moves.map(({ n, source, place, card, ordinals }) => {
    const named = { from: where(screen, source), to: where(screen, place), card };
    return `${n}. ${say(moveKey(source, place, card, ordinals), { ...named, n: ordinals.length })}`;
  });
  return isSwap ? [["then", say("move.swap")], ...lines] : lines;
}

/** Return the name of a place or pile; nothing if it is not known. */
function where(screen, place) {
  return place && placeOrPile(screen, place);
}

/** Return the words for a move: of one that is turned face down where it lies, taken out of a hand, given to it, or carried. */
function moveKey(source, place, card, ordinals) {
  if (source === place && card) return "move.turn_card";
  if (source === place) return place ? "move.turn" : "move.turn_any";
  if (source === "dropped") return place ? "move.back" : "move.back_any";
  if (source === "aside") return place === "burnt" ? "move.burn" : "move.aside";
  if (source === "stub") return "move.give";
  if (place === "aside") return "move.take";
  return ordinals.length > 1 ? "move.hand" : "move.card";
}

/** Return the clause and who decides, with a button that shows when the clause applies. */
function clause(matter, applies, who) {
  const said = say(who, {
    clause: (applies ? [applies.clause] : matter.clauses).map((one) => one || say("matter.silent")).join(say("join.comma")),
    who: say(`role.${applies?.role ?? matter.who.replaceAll(" ", "_")}`),
  });
  return ["", said, clauseButton(matter, applies)];
}

/** Return the button that shows when the clauses of a matter apply, and what to do. */
export function clauseButton(matter, applies) {
  const clauses = matter.clauses
    .map((name, at) => ({ name: name || say("matter.silent"), sense: matter.senses[at] }))
    .filter(({ name }) => !applies || name === (applies.clause || say("matter.silent")));
  const toDo = matter.stage === "claimed" ? say("clause.answer", { who: say(`role.${matter.who.replaceAll(" ", "_")}`) }) : matter.question;
  const open = () => store.set({ sheet: "clause", clauses, toDo });
  return clauses.length > 0 && { key: "clause", label: say("act.clause"), act: open };
}
