// A signature: what is signed, by whom, with which PIN.

import { preview } from "./ahead.js";
import { choose, countersign as countersigned, digits, sign as enter, signers } from "./flow.js";
import { entryName, whatAndWhere } from "./labels.js";
import { store } from "./store.js";
import { say, time } from "./words.js";

const COMES = new Set(["dealer_on", "sign_on", "take_over"]);

/** Return the signer's question and the PIN pad, beside what is signed. */
export function sign(screen, flow) {
  const able = signers(screen, flow.offer.role);
  const told = preview(screen, flow.offer, flow.values);
  const what = signed(screen, flow, told);
  const correction = corrected(screen, flow);
  const facts = correction.length ? [...correction, ...told.lines, ...what] : [...what, ...told.lines];
  if (told.accepted === false && told.code !== "no-preview")
    return { question: say("sign.nothing"), about: about(screen, flow), facts: [told.sentence, ...correction] };
  const signer = able.find((person) => person.id === flow.signer) ?? (able.length === 1 ? able[0] : undefined);
  if (!signer)
    return {
      question: COMES.has(flow.offer.operation)
        ? say("ask.who_deals")
        : say("ask.sign", { who: say(`role.${flow.offer.role}`) }),
      about: about(screen, flow),
      arrows: told.arrows,
      facts,
      right: people(able), // always visible
    };
  if (flow.signer !== signer.id) flow.signer = signer.id;
  const deals = COMES.has(flow.offer.operation) ? [say("sign.deals", { name: signer.name })] : [];
  return {
    ...pinOf(signer, flow, enter),
    arrows: told.arrows,
    list: people(able.filter((person) => person !== signer), "sign.instead"),
    about: about(screen, flow),
    facts: [...deals, ...facts],
  };
}

/** Return the question and the PIN pad for the second counter, who signs a count if the house asks for it. */
export function countersign(screen, flow) {
  return pinOf(screen.people.find((person) => person.id === flow.values.witness), flow, countersigned);
}

/** Return the question and the pad for a person's PIN, or until when it is locked. `done`: called at OK. */
function pinOf({ name, locked_until_utc_ns: until, tries_left: n }, { pin, wrong }, done) {
  const isLocked = until > (store.beat?.utc_ns ?? 0);
  const locked = isLocked ? say("sign.locked", { name, time: time(until) }) : "";
  return {
    question: locked || say(wrong ? "ask.pin_again" : "ask.pin", { name }),
    count: locked ? "" : say("sign.tries", { n }),
    pad: { typed: pin, hidden: true, type: digits, done, why: locked },
  };
}

/** Return a button for each person who may sign; beside a chosen one, to replace him. */
function people(able, words = "") {
  const label = ({ name }) => (words ? say(words, { name }) : name);
  return able.map((person) => ({ key: person.id, label: label(person), act: () => choose(person.id) }));
}

/** Return what a correction changes, if its replacement is known. */
export function corrected(screen, { offer, values }) {
  const wrong = offer.operation === "correct_entry" && screen.view.entries.find((one) => one.entry === values.entry);
  if (!wrong) return [];
  const { instead } = values;
  const entry = entryName(screen, wrong);
  if (!instead) return [say("instead.removed", { entry })];
  const will = entryName(screen, { operation: instead.operation, said: instead });
  return [say("instead.was", { entry }), say("instead.will", { entry: will })];
}

/** Return the matter that it decides, and its place; empty if there is none. */
function about(screen, { offer }) {
  const matter = screen.view.irregularities.find((one) => one.id === offer.arguments.irregularity);
  return matter ? whatAndWhere(screen, matter) : "";
}

/** Return what is signed about a matter: the answers and the clause. */
function signed(screen, { offer, values }, told) {
  const { irregularity, facts = {} } = offer.arguments;
  const matter = screen.view.irregularities.find((one) => one.id === irregularity);
  if (!matter) return [];
  const clauses = told.clause ? [told.clause] : matter.clauses.filter(Boolean);
  return [
    ...matter.asks
      .map((name, at) => name in facts && `${matter.questions[at]} ${say(facts[name] ? "act.yes" : "act.no")}`)
      .filter(Boolean),
    clauses.join(say("join.comma")) || say("matter.silent"),
  ];
}
