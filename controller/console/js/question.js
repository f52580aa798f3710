// An open irregularity: its questions one by one, then what follows. Facts are asked before consequences show.

import { act } from "./actions.js";
import { preview } from "./ahead.js";
import { start } from "./flow.js";
import { moves } from "./arrows.js";
import { operate, shown } from "./operate.js";
import { whatAndWhere } from "./labels.js";
import { store } from "./store.js";
import { capital, placeName, say, time } from "./words.js";

const FEW = 2; // lines of what would come, beside several answers; who signs is shown all

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
  const shown = {
    question: matter.question,
    facts: factsOf(screen, matter),
    ...STAGES[matter.stage]?.(screen, matter, of, counts),
  };
  return {
    ...shown,
    list: [...(shown.list ?? []), ...correction(screen, matter)],
    left: [!matter.blocks && { key: "back", label: say("act.back"), act: () => store.set({ matter: undefined }) }],
    right: [
      ...(shown.right ?? []),
      deny && { key: "deny", label: say("act.deny"), why: off(deny), act: () => start(deny) },
    ],
  };
}

/** Faces that were entered may have been entered wrongly: then the entry is put right, and no card is. */
function correction(screen, matter) {
  const entered = screen.view.hands.some((hand) => hand.place === matter.place && hand.shown);
  const offer = screen.offers.find((one) => one.operation === "correct_entry" && one.allowed);
  return entered && offer ? [{ ...act(screen, offer), label: say("matter.entered_wrongly") }] : [];
}

/** A count showed that nothing is missing: there is nothing to be "so". */
function isWhole({ facts, proposes }) {
  return facts.counted_wrong === false && proposes === "continue";
}

function off(offer) {
  return offer.allowed ? "" : offer.sentence;
}

/** What, where, who, clause, decider. `applies`: {clause, role} where every question is answered. */
function factsOf(screen, matter, applies) {
  const by = screen.people.find((person) => person.id === matter.noticed_by)?.name ?? matter.noticed_by;
  const { stopped } = screen.view.device;
  return [
    stopped && matter.kind === "technical_stop" && ["then", say("matter.stopped", { why: stopped })],
    ["name", whatAndWhere(screen, matter)],
    say("matter.noticed", { by, time: time(matter.noticed_utc_ns) }),
    capital(matter.note),
    say("matter.decides", {
      clause: (applies ? [applies.clause] : matter.clauses).map((one) => one || say("matter.silent")).join(", "),
      who: say(`role.${applies?.role ?? matter.who.replaceAll(" ", "_")}`),
    }),
  ];
}

/** Where there is little room: what, where, clause, decider. */
function inShort(screen, matter) {
  const facts = factsOf(screen, matter);
  return [...facts.slice(0, 2), facts.at(-1)];
}

/** Where B says what it is, and where. */
function withoutName(facts) {
  return [facts[0], facts.at(-1)];
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
    const answered = matter.asks.length > 0;
    const stating = answered ? { ...offer, arguments: { ...offer.arguments, facts } } : offer;
    const told = preview(screen, stating);
    const applies = answered && told.accepted ? told : undefined;
    const whole = applies ? { ...stating, role: applies.role } : stating; // who signs depends on the answers
    const again = { key: "again", label: say("matter.again"), act: () => state(matter, {}) };
    return {
      ...(answered ? { question: say("matter.so", { what: whatAndWhere(screen, matter) }) } : {}),
      facts: [
        ...(answered ? withoutName(factsOf(screen, matter, applies)) : factsOf(screen, matter)),
        // Before the answers: three long ones fill the column.
        ...(matter.asks.length > 1 ? told.lines.slice(0, FEW) : told.lines),
        ...matter.asks.map((name, index) => `${matter.questions[index]} ${say(facts[name] ? "act.yes" : "act.no")}`),
      ],
      right: [
        {
          key: "confirm",
          label: say(isWhole(matter) ? "act.goes_on" : "act.confirm"),
          tone: "primary",
          why: off(offer),
          act: () => start(whole),
        },
        ...(answered ? [again] : []),
      ],
    };
  },

  choosing: (screen, matter, of) => ({
    facts: inShort(screen, matter),
    rows: choosers(screen, matter, of("choose_option")),
    right: [goesOn(matter, of("choose_option"))],
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
    facts: drawnMoves(screen) ?? inShort(screen, matter),
    right: [
      ...screen.offers
        .filter((one) => one.operation === "place_cards" && one.primary)
        .map((one) => act(screen, one, "primary")),
      ...of("reconstruct").map((one) => ({
        key: "moved",
        label: say("op.reconstruct"),
        tone: one.primary ? "primary" : "",
        why: off(one),
        act: () => start(one),
      })),
    ],
    list: of("confirm_irregularity").map((one) => ({
      key: "cannot",
      label: say("moving.cannot"),
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

/** The moves in words, as the arrows show them; null: there are none. */
function drawnMoves(screen) {
  const drawn = moves(screen.view);
  const words = ({ source, place, ordinals }) =>
    say(ordinals.length > 1 ? "move.hand" : "move.card", { from: named(screen, source), to: named(screen, place) });
  return drawn.length ? drawn.map((one) => `${one.n}. ${words(one)}`) : null;
}

function named(screen, place) {
  return screen.layout.labels[place] ?? say(`pile.${place}`);
}

/** A row for each bettor: who has chosen stays, with the word. */
function choosers(screen, matter, offers) {
  const made = matter.choices.map(({ place, bettor, choice }) => ({ place, bettor, said: say(`choice.${choice}`) }));
  const due = new Map();
  for (const one of offers) {
    const { place, bettor = "" } = one.arguments;
    const key = `${place}/${bettor}`;
    if (!due.has(key)) due.set(key, { place, bettor, offers: [] });
    due.get(key).offers.push(one);
  }
  return [...due.values(), ...made]
    .sort((one, other) => one.place.localeCompare(other.place) || one.bettor.localeCompare(other.bettor))
    .map(({ place, bettor, said, offers: open = [] }) => ({
      key: `${place}/${bettor}`,
      label: [placeName(screen, place), bettor, units(screen, place, bettor), said].filter(Boolean).join(" "),
      buttons: open.map((one) => {
        const word = one.arguments.absent ? "absent" : one.arguments.choice;
        return {
          key: `${place}/${bettor}/${word}`,
          label: say(`choice.${word}`),
          why: off(one),
          act: () => start(one),
        };
      }),
    }));
}

/** What the bettor has at that box, where wagers are entered. */
function units(screen, place, bettor) {
  const bets = screen.view.bets.filter((bet) => `B${bet.box}` === place && bet.bettor === bettor);
  return bets.length ? bets.reduce((all, bet) => all + bet.amount, 0) : "";
}

/** All, or all others, go on: one entry each. */
function goesOn(matter, open) {
  const offers = open.filter((one) => one.arguments.choice === "continue" && !one.arguments.absent);
  const label = say(matter.choices.length ? "choice.others" : "choice.all");
  const all = async () => {
    for (const offer of offers) {
      const choices = store.screen.offers.filter(
        (one) => one.operation === "choose_option" && one.arguments.choice === "continue" && !one.arguments.absent,
      );
      const fresh = choices.find(
        (one) => one.arguments.place === offer.arguments.place && one.arguments.bettor === offer.arguments.bettor,
      );
      if (!fresh) continue;
      const said = await operate(fresh);
      if (!said.accepted) return;
      await shown(said.entry);
    }
  };
  return offers.length > 1 && { key: "others", label, tone: "primary", act: all };
}
