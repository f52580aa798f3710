// An open irregularity: its questions one by one, then what follows. Facts are asked before consequences show.

import { start } from "./flow.js";
import { moves } from "./arrows.js";
import { operate } from "./operate.js";
import { store } from "./store.js";
import { placeName, say, time } from "./words.js";

/** The irregularity that is asked about now: blocking ones first, then the oldest; or null. */
export function matterOf(screen) {
  const { irregularities } = screen.view;
  return irregularities.find((one) => one.blocks) ?? irregularities.find((one) => one.id === store.own.matter) ?? null;
}

/** `{question, facts, left, list, right}` of that irregularity. */
export function askAbout(screen, matter) {
  const offers = screen.offers.filter((one) => one.arguments.irregularity === matter.id);
  const of = (operation) => offers.filter((one) => one.operation === operation);
  const deny = of("deny_irregularity")[0];
  const counts = screen.offers.find((one) => one.operation === "count_cards" && one.primary);
  return {
    question: matter.question,
    facts: factsOf(screen, matter),
    left:
      deny && matter.stage === "claimed"
        ? [{ key: "deny", label: say("act.deny"), why: off(deny), act: () => start(deny) }]
        : [],
    ...STAGES[matter.stage]?.(screen, matter, of, counts),
  };
}

function off(offer) {
  return offer.allowed ? "" : offer.sentence;
}

/** What, where, who, clause, decider. */
function factsOf(screen, matter) {
  const label = screen.reports.find((one) => one.kind === matter.kind)?.label ?? matter.because;
  const where = matter.place ? placeName(screen, matter.place) : "";
  const by = screen.people.find((person) => person.id === matter.noticed_by)?.name ?? matter.noticed_by;
  return [
    ["name", [label, where].filter(Boolean).join(": ")],
    say("matter.noticed", { by, time: time(matter.noticed_utc_ns) }),
    matter.note,
    say("matter.decides", {
      clause: matter.clause || matter.authority || "-",
      who: say(`role.${matter.who.replaceAll(" ", "_")}`),
    }),
  ];
}

/** What was answered here of this matter's questions, and is not entered yet: it is entered whole, and signed once. */
function stated(matter) {
  const { own } = store;
  return own.stated?.id === matter.id && own.stated.revision === matter.revision ? own.stated.facts : {};
}

function state({ id, revision }, facts) {
  store.set({ stated: { id, revision, facts } });
}

function yesOrNo(matter, facts, name, question) {
  const one = (value, word) => ({
    key: word,
    label: say(`act.${word}`),
    tone: "answer",
    meaning: `${matter.id}/${name}`,
    act: () => state(matter, { ...facts, [name]: value }),
  });
  return { question, right: [one(true, "yes"), one(false, "no")] };
}

const STAGES = {
  claimed: (screen, matter, of, counts) => {
    const confirms = of("confirm_irregularity");
    if (counts)
      return {
        right: [
          { key: "count", label: say("op.count_cards"), tone: "primary", why: off(counts), act: () => start(counts) },
        ],
      };
    const facts = stated(matter);
    const at = matter.asks.findIndex((name) => !(name in facts));
    if (at >= 0) return yesOrNo(matter, facts, matter.asks[at], matter.questions[at]);
    const [offer] = confirms;
    if (!offer) return {};
    const whole = matter.asks.length ? { ...offer, arguments: { ...offer.arguments, facts } } : offer;
    const again = { key: "again", label: say("matter.again"), act: () => state(matter, {}) };
    return {
      ...(matter.asks.length ? { question: say("matter.so") } : {}),
      facts: [
        ...factsOf(screen, matter),
        ...matter.asks.map((name, index) => `${matter.questions[index]} ${say(facts[name] ? "act.yes" : "act.no")}`),
      ],
      list: matter.asks.length ? [again] : [],
      right: [{ key: "confirm", label: say("act.confirm"), tone: "primary", why: off(offer), act: () => start(whole) }],
    };
  },

  choosing: (screen, matter, of) => ({
    facts: factsOf(screen, matter).slice(0, 1),
    list: of("choose_option").map((one) => {
      const { place, bettor, choice, absent } = one.arguments;
      const who = [placeName(screen, place), bettor].filter(Boolean).join(" ");
      return {
        key: `${place}/${bettor}/${choice}/${absent ?? ""}`,
        label: `${who}: ${say(`choice.${absent ? "absent" : choice}`)}`,
        why: off(one),
        act: () => start(one),
      };
    }),
    right: [goesOn(of("choose_option").filter((one) => one.arguments.choice === "continue" && !one.arguments.absent))],
  }),

  ordering: (screen, matter, of) => ({
    right: of("name_order").map((one) => ({
      key: "order",
      label: say("op.name_order"),
      tone: "primary",
      why: off(one),
      act: () => start(one),
    })),
  }),

  moving: (screen, matter, of) => ({
    facts: moves(screen.view).map(
      ({ n, source, place, ordinals }) =>
        `${n}. ${say(ordinals.length > 1 ? "move.hand" : "move.card", { from: named(screen, source), to: named(screen, place) })}`,
    ),
    right: of("reconstruct").map((one) => ({
      key: "moved",
      label: say("op.reconstruct"),
      tone: "primary",
      why: off(one),
      act: () => start(one),
    })),
  }),

  ruling: (screen, matter, of) => ({
    right: of("rule").map((one) => ({
      key: one.arguments.action,
      label: say(`ruling.${one.arguments.action}`),
      why: off(one),
      act: () => start(one),
    })),
  }),
};

function named(screen, place) {
  return screen.layout.labels[place] ?? say(`pile.${place}`);
}

/** All others go on: one entry each. */
function goesOn(offers) {
  const all = async () => {
    for (const offer of offers) {
      const choices = store.screen.offers.filter(
        (one) => one.operation === "choose_option" && one.arguments.choice === "continue" && !one.arguments.absent,
      );
      const fresh = choices.find(
        (one) => one.arguments.place === offer.arguments.place && one.arguments.bettor === offer.arguments.bettor,
      );
      if (fresh && !(await operate(fresh)).accepted) return;
    }
  };
  return offers.length > 1 && { key: "others", label: say("choice.others"), tone: "primary", act: all };
}
