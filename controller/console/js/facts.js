// What is known of a matter, in lines: what and where, who noticed it when, the clause, who decides.

import { placeOrPile, whatAndWhere } from "./labels.js";
import { store } from "./store.js";
import { capital, say, time } from "./words.js";

/**
 * What, where, who, clause, decider. `applies`: {clause, role} where every question is answered. `who`: the words for
 * the decider; while the dealer is asked, that person comes later.
 */
export function matterFacts(screen, matter, applies, who = "matter.decides") {
  const by = screen.people.find((person) => person.id === matter.noticed_by)?.name ?? matter.noticed_by;
  const { stopped } = screen.view.device;
  return [
    stopped && matter.kind === "technical_stop" && ["then", say("matter.stopped", { why: stopped })],
    ["name", whatAndWhere(screen, matter)],
    say("matter.noticed", { by, time: time(matter.noticed_utc_ns) }),
    capital(matter.note),
    clause(matter, applies, who),
  ];
}

/** Where there is little room: what must be done first, clause, decider. B says what it is, and where. */
export function inShort(screen, matter, applies) {
  const facts = matterFacts(screen, matter, applies);
  return [facts[0], facts.at(-1)];
}

/** Moves in words, as the arrows show them. */
export function moveLines(screen, moves) {
  return moves.map(({ n, source, place, ordinals }) => {
    const named = { from: placeOrPile(screen, source), to: placeOrPile(screen, place) };
    return `${n}. ${say(ordinals.length > 1 ? "move.hand" : "move.card", named)}`;
  });
}

/** The clause and who decides; beside it a button that shows when the clause applies. */
function clause(matter, applies, who) {
  const said = say(who, {
    clause: (applies ? [applies.clause] : matter.clauses).map((one) => one || say("matter.silent")).join(", "),
    who: say(`role.${applies?.role ?? matter.who.replaceAll(" ", "_")}`),
  });
  const clauses = matter.clauses
    .map((name, at) => ({ name: name || say("matter.silent"), sense: matter.senses[at] }))
    .filter(({ name }) => !applies || name === (applies.clause || say("matter.silent")));
  const open = () => store.set({ sheet: "clause", clauses });
  return clauses.length ? ["", said, { key: "clause", label: say("act.clause"), act: open }] : said;
}
