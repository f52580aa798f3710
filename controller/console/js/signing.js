// A signature: what is signed, by whom, with which PIN.

import { preview } from "./ahead.js";
import { choose, digits, sign as enter, signers } from "./flow.js";
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
  const until = signer.locked_until_utc_ns;
  const isLocked = until > (store.beat?.utc_ns ?? 0);
  const locked = isLocked ? say("sign.locked", { name: signer.name, time: time(until) }) : "";
  const deals = COMES.has(flow.offer.operation) ? [say("sign.deals", { name: signer.name })] : [];
  return {
    arrows: told.arrows,
    question: locked || say(flow.wrong ? "ask.pin_again" : "ask.pin", { name: signer.name }),
    list: people(able.filter((person) => person !== signer), "sign.instead"),
    count: locked ? "" : say("sign.tries", { n: signer.tries_left }),
    about: about(screen, flow),
    facts: [...deals, ...facts],
    pad: {
      typed: flow.pin,
      hidden: true,
      type: digits,
      done: enter,
      why: locked,
    },
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
  return [
    say("instead.was", { entry: entryName(screen, wrong) }),
    say("instead.will", {
      entry: instead ? entryName(screen, { operation: instead.operation, said: instead }) : say("instead.strike"),
    }),
  ];
}

/** Return the matter that it decides, and its place; empty if there is none. */
function about(screen, { offer }) {
  const matter = screen.view.irregularities.find((one) => one.id === offer.arguments.irregularity);
  return matter ? whatAndWhere(screen, matter) : "";
}

/** Return what is signed: the answers, the clause and the round. */
function signed(screen, { offer, values }, told) {
  const { irregularity, facts = {} } = offer.arguments;
  const matter = screen.view.irregularities.find((one) => one.id === irregularity);
  const round = screen.view.round && say("sign.round", { round: screen.view.round });
  if (!matter) return COMES.has(offer.operation) ? [] : [round];
  const clauses = told.clause ? [told.clause] : matter.clauses.filter(Boolean);
  return [
    ...matter.asks
      .map((name, at) => name in facts && `${matter.questions[at]} ${say(facts[name] ? "act.yes" : "act.no")}`)
      .filter(Boolean),
    [clauses.join(say("join.comma")) || say("matter.silent"), round].filter(Boolean).join(say("join.comma")),
  ];
}
