// An open irregularity: its questions one by one, then the consequence. Facts are asked before consequences show.

import { act } from "./actions.js";
import { moves } from "./arrows.js";
import { claimed } from "./claim.js";
import { clauseButton, clearsFirst, matterFacts, moveLines } from "./facts.js";
import { start } from "./flow.js";
import { movedLabel } from "./labels.js";
import { operate, shown, whileAsking } from "./operate.js";
import { store } from "./store.js";
import { placeName, say } from "./words.js";

const CHOICES = ["continue", "withdraw", "absent"]; // in a row
const FEW = 4; // rows that leave space for the whole question

/**
 * Return the irregularity to ask about, or null: the oldest that blocks, one opened here, or one that the dealer
 * reported here in this round and did not leave for later. While cards come, the deal is shown with the waiting ones
 * below it.
 */
export function matterOf(screen) {
  const { irregularities, phase, round } = screen.view;
  const { matter, later = [] } = store.own;
  const isOwn = (one) => one.noticed_by === screen.screen.dealer && one.round === round && !later.includes(one.id);
  return (
    irregularities.find((one) => one.blocks) ??
    irregularities.find((one) => one.id === matter) ??
    (phase.startsWith("dealing") ? null : (irregularities.find((one) => one.stage === "claimed" && isOwn(one)) ?? null))
  );
}

/** Leave it for later, and show the acts of the phase. */
function leave({ id }) {
  store.set({ matter: undefined, later: [...(store.own.later ?? []), id] });
}

/** Return `{question, facts, left, list, right}` of that irregularity. */
export function askAbout(screen, matter) {
  const offers = screen.offers.filter((one) => one.arguments.irregularity === matter.id);
  const of = (operation) => offers.filter((one) => one.operation === operation);
  // The second answer to a claim denies it; counts, moves and rulings have acts of their own.
  const isCounted = (one) => one.operation === "count_cards" && (one.primary || (matter.stage === "claimed" && !matter.claims.length));
  const counts = screen.offers.find(isCounted);
  const answersNo = matter.stage === "claimed" && !counts;
  const denial = (answersNo ? [] : of("deny_irregularity")).map((one) => ({
    key: "deny",
    label: say("op.deny_irregularity"),
    why: off(one),
    act: () => start(one),
  }));
  const shown = {
    question: matter.headline,
    count: ofEarlier(screen, matter),
    tone: isFirst(matter) ? undefined : "plain",
    facts: matterFacts(screen, matter, undefined, matter.stage === "claimed" ? "matter.confirms" : "matter.decides"),
    ...STAGES[matter.stage]?.(screen, matter, of, counts),
    ...first(screen, matter),
  };
  const later = { key: "back", label: say("act.back"), act: () => leave(matter) };
  return {
    ...shown,
    list: [...(shown.list ?? []), ...denial, ...correction(screen, matter, shown)],
    left: shown.left ?? [!matter.blocks && later],
  };
}

/** Return another count after a wrong one, or a correction of entered faces: the cards may be right in both cases. */
function correction(screen, matter, { right = [] }) {
  if (matter.entered || right.some((one) => one?.isRecount)) return []; // the answer to the question enters it again
  const again = screen.offers.find((one) => one.operation === "count_again" && one.allowed);
  if (again) return [act(screen, again)];
  const hand = screen.view.hands.find(({ place }) => place === matter.place);
  const entered = matter.place ? hand?.shown : matter.claims.length && screen.view.first_card && screen.view.first_card !== "??";
  const offer = screen.offers.find((one) => one.operation === "correct_entry" && one.allowed);
  return entered && offer ? [{ ...act(screen, offer), label: say("matter.entered_wrongly") }] : [];
}

/** Return the round of a matter of an earlier round. */
function ofEarlier({ view }, { round, next_deck: coming }) {
  return round === view.round || coming ? "" : say("sign.round", { round });
}

/** Return whether this is the first headline of a matter, which is red if it stops the cards. */
function isFirst({ id, revision, stage }) {
  const { stated } = store.own;
  return (stage === "claimed" || revision === id) && !(stated?.id === id && stated.revision === revision);
}

/** Return what must be done before an answer, for region B. */
function first(screen, matter) {
  const question = clearsFirst(screen, matter);
  return question ? { question } : {};
}

function off(offer) {
  return offer.allowed ? "" : offer.sentence;
}

const STAGES = {
  claimed,

  choosing: (screen, matter, of) => {
    const offers = of("choose_option");
    const rows = choosers(screen, matter, offers);
    const [name] = matterFacts(screen, matter);
    return {
      question: say("choice.ask"),
      count: say("choice.left", { n: rows.filter((one) => one.isDue).length, all: rows.length }),
      facts: [[...name, clauseButton(matter)], rows.length <= FEW && matter.question], // beside many rows on the clause's page
      rows,
      list: [rows.length > 1 && goesOn(matter, offers)],
    };
  },

  ordering: (screen, matter, of) => ({
    facts: [...matterFacts(screen, matter), matter.question],
    right: of("name_order").map((one) => ({
      key: "order",
      label: say("op.name_order"),
      tone: "primary",
      why: off(one),
      act: () => start(one),
    })),
  }),

  moving: (screen, matter, of) => ({
    facts: matter.moves.length
      ? [...moveLines(screen, moves(screen.view)), matter.moves.length === 1 && say("move.then", { act: movedLabel(matter.moves) }), matterFacts(screen, matter).at(-1)] // several fill it
      : inBrief(screen, matter),
    right: [
      ...screen.offers
        .filter((one) => one.operation === "place_cards" && one.primary)
        .map((one) => act(screen, one, "primary")),
      ...of("reconstruct").map((one) => ({
        key: "moved",
        label: movedLabel(matter.moves),
        tone: one.primary ? "primary" : "",
        why: off(one),
        act: () => start(one),
      })),
    ],
    list: of("confirm_irregularity").map((one) => ({
      key: "cannot",
      label: say("moving.cannot"),
      why: off(one),
      act: () => start({ ...one, label: say("moving.cannot") }),
    })),
  }),

  ruling: (screen, matter, of) => ({
    facts: [["then", matter.question], ...unsaid(matterFacts(screen, matter).slice(1), matter.question)],
    right: of("rule").map((one) => ({
      key: one.arguments.action,
      label: say(`ruling.${one.arguments.action}`),
      why: off(one),
      act: () => start(one),
    })),
  }),
};

/** Return the facts without those that the question says. */
function unsaid(facts, question) {
  return facts.filter((one) => !one || typeof one !== "string" || !question.includes(one));
}

/** Return the facts in short: what and where; clause and decider. */
function inBrief(screen, matter) {
  const facts = matterFacts(screen, matter);
  return [facts[0], facts.at(-1)];
}

/** Return a row for each bettor. Rows and buttons keep their places; the choice made is pressed, and can be changed. */
function choosers(screen, matter, offers) {
  const rows = new Map();
  const row = ({ place, bettor = "" }) => {
    const key = `${place}/${bettor}`;
    if (!rows.has(key)) rows.set(key, { key, place, bettor, words: new Map() });
    return rows.get(key);
  };
  for (const { choice, ...who } of matter.choices) row(who).made = choice;
  for (const one of offers) row(one.arguments).words.set(wordOf(one.arguments), one);
  return [...rows.values()]
    .sort((one, other) => one.place.localeCompare(other.place) || one.bettor.localeCompare(other.bettor))
    .map(({ key, place, bettor, words, made }) => ({
      key,
      label: [placeName(screen, place), bettor, rows.size <= FEW && units(screen, place, bettor)].filter(Boolean).join(" "),
      isDue: !made,
      buttons: CHOICES.filter((word) => word === made || words.has(word)).map((word) => ({
        key: `${key}/${word}`,
        label: say(`choice.${word}`),
        why: word === made ? "" : off(words.get(word)),
        pressed: made ? word === made : undefined,
        act: () => word !== made && start(words.get(word)),
      })),
    }));
}

function wordOf({ absent, choice }) {
  return absent ? "absent" : choice;
}

/** Return the bettor's stake at that box if wagers are entered. */
function units(screen, place, bettor) {
  const bets = screen.view.bets.filter((bet) => `B${bet.box}` === place && bet.bettor === bettor);
  return bets.length ? bets.reduce((all, bet) => all + bet.amount, 0) : "";
}

/** Let all, or all others, go on: one entry each. The button stays while nobody can, so that the rows keep their places. */
function goesOn(matter, open) {
  const isMade = ({ place, bettor = "" }) => matter.choices.some((one) => one.place === place && one.bettor === bettor);
  const continues = open.filter(({ arguments: said }) => wordOf(said) === "continue" && !isMade(said));
  const offers = continues.filter((one) => one.allowed); // without cards nobody continues
  const label = say(matter.choices.length ? "choice.others" : offers.length < continues.length ? "choice.with_cards" : "choice.all");
  const why = offers.length ? "" : continues.length ? off(continues[0]) : say("choice.nobody");
  const all = async () => {
    for (const offer of offers) {
      const choices = store.screen.offers.filter(
        (one) => one.operation === "choose_option" && wordOf(one.arguments) === "continue",
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
  return { key: "others", label, why, act: () => whileAsking(all) };
}
