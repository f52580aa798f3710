// The panel's content in each step of an act: `ask(name, screen, flow)` fills its columns.

import { overlooked } from "./actions.js";
import { BETS } from "./bets.js";
import { several, tiles } from "./choices.js";
import { answer, argument, choose, draft, known, signers, stepOf } from "./flow.js";
import { openCards } from "./grid.js";
import { entryLabel, entryName, matterAt, pileName, reportName } from "./labels.js";
import { GROUPS, OFTEN, REPLACED, STEPS } from "./needs.js";
import { countersign, sign } from "./signing.js";
import { lose } from "./store.js";
import { capital, placeName, say } from "./words.js";

const CARDS = 3; // of a hand
const LAST_COUNTS = new Set(["occupy_boxes", "conclude_round"]);
const PILES = ["stub", "tray", "burnt", "aside", "dropped", "discards", "deck"];

/** Return `{question, facts, list, right, pad, grid, input, picking, pick}` of the open step. */
export function ask(step, screen, flow) {
  const name = step.split("/").at(-1);
  const { kind, ...more } = STEPS[name] ?? { kind: "words" };
  const about = known(flow);
  const words = { place: about.place ? placeName(screen, about.place) : "", act: say(`op.${flow.offer.operation}`) };
  const own = say(`ask.${name}`, words);
  const question = own === `ask.${name}` ? say(`ask.${argument(name).name}`, words) : own;
  return { question, ...KINDS[kind](screen, flow, more, about) };
}

/** Return the places that may be meant. */
function placesFor(screen, flow, about) {
  const report = screen.reports.find((one) => one.kind === about.kind);
  if (report?.places.length && !about.earlier) return report.places;
  const hands = screen.view.hands.filter((hand) => hand.count > 0).map((hand) => hand.place);
  const boxes = Object.keys(screen.layout.labels);
  return hands.length && flow.offer.operation !== "report_irregularity" ? hands : boxes;
}

/** Return what lies at the place that is asked for, if it is not a hand. */
function whose(screen, { kind }) {
  if (GROUPS.bets.includes(kind)) return "bet";
  return screen.reports.find((one) => one.kind === kind)?.card ? "card" : "";
}

const KINDS = {
  ...BETS,
  sign,
  countersign,

  place: (screen, flow, more, about) => ({
    ...(whose(screen, about) ? { question: say(`ask.place.${whose(screen, about)}`) } : {}),
    picking: new Set(placesFor(screen, flow, about)),
    pick: (place) => answer(place),
  }),

  places: (screen, flow) =>
    several(
      flow,
      screen.view.hands.map((hand) => [hand.place, placeName(screen, hand.place)]),
    ),

  faces: (screen, flow, { count }, { place }) => {
    const hand = screen.view.hands.find((one) => one.place === place);
    const wanted = count ?? (hand?.count || CARDS);
    const taken = flow.draft ?? [];
    return {
      count: say("grid.count", { taken: taken.length, all: wanted }),
      grid: {
        taken,
        open: openCards(screen.view, flow.values.instead ? hand : undefined),
        tap: (code) => {
          if (taken.includes(code)) draft(taken.filter((one) => one !== code));
          else if (taken.length < wanted) draft([...taken, code]);
          else lose(say("grid.full"));
        },
      },
      facts: [flow.offer.operation === "expose_hand" && screen.layout.hands_by_device && say("faces.not_known")],
      filled: place ? { place, cards: taken } : undefined,
      right: [
        {
          key: "undo",
          label: say("act.undo"),
          act: () => draft(taken.slice(0, -1)),
          why: taken.length ? "" : say("grid.none"),
        },
        {
          key: "done",
          label: say("act.done"),
          tone: "primary",
          why:
            taken.length === wanted || (flow.offer.operation === "name_exposed" && taken.length)
              ? ""
              : say("grid.more", { n: wanted - taken.length }),
          act: () => answer(count === 1 ? taken[0] : taken),
        },
      ],
    };
  },

  where: (screen, flow) => {
    const { source } = flow.draft ?? {};
    const lying = screen.view.hands.filter((hand) => hand.ordinals?.length);
    if (!source)
      return {
        question: say("ask.where_from"),
        picking: new Set(lying.map((hand) => hand.place)),
        pick: (place) => draft({ source: place }),
      };
    const { ordinals } = lying.find((hand) => hand.place === source);
    if (!flow.draft.ordinals) {
      const each = ordinals.map((ordinal, at) => ({
        key: ordinal,
        label: say("order.card", { n: at + 1 }),
        act: () => draft({ source, ordinals: [ordinal] }),
      }));
      return {
        question: say("ask.report_irregularity.card", { place: placeName(screen, source) }),
        numbered: source,
        list: each,
        right: [{ key: "all", label: say("where.all"), tone: "primary", act: () => draft({ source, ordinals }) }],
      };
    }
    const others = Object.keys(screen.layout.labels).filter((place) => place !== source);
    const lies = (cards, place) => cards.map((ordinal) => ({ ordinal, place }));
    const found = lies(flow.draft.ordinals, flow.draft.place);
    const there = lying.find((hand) => hand.place === flow.draft.place);
    if (there)
      return {
        question: say("ask.where_swapped", { from: placeName(screen, source), place: placeName(screen, there.place) }),
        right: [
          {
            key: "yes",
            label: say("act.yes"),
            tone: "answer",
            act: () => answer([...found, ...lies(there.ordinals, source)]),
          },
          { key: "no", label: say("act.no"), tone: "answer", act: () => answer(found) },
        ],
      };
    const whole = flow.draft.ordinals.length === ordinals.length;
    const occupied = (place) => whole && lying.some((hand) => hand.place === place);
    const put = (place) =>
      occupied(place) ? draft({ ...flow.draft, place }) : answer(lies(flow.draft.ordinals, place));
    return {
      question: say("ask.where_to"),
      picking: new Set(others),
      pick: put,
      list: ["dropped", "discards"].map((pile) => ({ key: pile, label: pileName(pile), act: () => put(pile) })),
    };
  },

  number: (screen, flow, { most }) => ({
    pad: {
      typed: flow.draft ?? "",
      type: draft,
      done: () => answer(Number(flow.draft)),
      why: Number(flow.draft ?? 0) > most ? say("pad.most", { n: most }) : "",
    },
  }),

  person: (screen, flow, { second }) => ({
    ...(second && screen.layout.second_counter_signs ? { question: say("ask.witness.signs") } : {}),
    list: tiles(
      screen.people
        .filter((person) => !second || person.id !== screen.screen.dealer)
        .map((person) => ({ key: person.id, label: person.name })),
    ),
  }),

  // The card of the hand, by its number on the stage.
  which: (screen, flow, more, { place }) => {
    const all = screen.view.hands.find((one) => one.place === place)?.count ?? 0;
    const each = [...Array(all).keys()].map((at) => ({ key: at + 1, label: say("order.card", { n: at + 1 }) }));
    const unknown = { key: "unknown", label: say("which.unknown"), act: () => answer(null) };
    return { numbered: place, pickCard: answer, list: tiles(each), right: [unknown] };
  },

  // The person who rules signs, unless another of that rank is chosen.
  signer: (screen, flow) => ({
    right: signers(screen, flow.offer.role).map((person) => ({
      key: person.id,
      label: person.name,
      act: () => {
        choose(person.id);
        answer(person.id);
      },
    })),
  }),

  phrase: (screen, flow, { phrases }) => ({
    ...(screen.view.paused && flow.offer.operation === "pause_table" ? { question: say("ask.pause_table.reason.now") } : {}),
    right: tiles(phrases.map((name) => ({ key: say(`phrase.${name}`), label: say(`phrase.${name}`) }))),
    input: written(flow),
  }),

  words: (screen, flow) => ({ input: written(flow) }),

  pile: (screen) => ({
    list: tiles([
      ...PILES.filter((pile) => screen.view.ledger?.[pile] !== 0).map((pile) => ({ key: pile, label: pileName(pile) })),
      ...screen.view.hands.filter((hand) => hand.count).map((hand) => ({ key: hand.place, label: placeName(screen, hand.place) })),
    ]),
  }),

  // Reports by group, about the present round, or about the previous one once that is tapped.
  report: (screen, flow) => {
    const [now, before] = ["now", "earlier"].map((when) => screen.reports.filter((one) => one[when]));
    const chosen = flow.draft ?? {};
    const earlier = chosen.earlier || !now.length;
    const found = new Map((earlier ? before : now).map((one) => [one.kind, one]));
    const boxes = earlier ? [] : overlooked(screen); // not an irregularity before somebody says so
    const steps = (one) => {
      const asked = [
        one.place && (earlier || one.places.length) && "place",
        one.card && !earlier && one.places.length && "report_irregularity.card",
        one.counted && "counted",
      ].filter(Boolean);
      return asked.length ? asked : ["report_irregularity.sure"];
    };
    const report = (kind) => ({
      key: kind,
      label: say(`kind.${kind}`),
      why: found.has(kind) ? "" : say("report.not_now"),
      act: () => answer(kind, steps(found.get(kind)), earlier ? { earlier } : {}),
    });
    const listed = (group) => [
      ...GROUPS[group].filter((kind) => found.has(kind) || OFTEN.has(kind)).map(report),
      ...(group === "bets" ? boxes : []),
    ];
    const possible = (group) => listed(group).some((one) => !one.why);
    const groups = Object.keys(GROUPS);
    const open = chosen.group ?? groups.find(possible) ?? groups[0];
    const tabs = groups.map((group) => ({
      key: `group/${group}`,
      label: say(`group.${group}`),
      pressed: group === open,
      act: () => draft({ ...chosen, group }),
    }));
    const round = say("report.earlier", { round: screen.view.earlier_round });
    const toggle = { key: "earlier", label: round, pressed: earlier, act: () => draft({ earlier: !earlier }) };
    return {
      ...(earlier ? { question: say("ask.kind.earlier", { round: screen.view.earlier_round }) } : {}),
      ...(!earlier && cardsCome(screen.view) ? { count: say("report.cards_come") } : {}),
      tabs: [...tabs, ...(now.length && before.length ? [toggle] : [])],
      list: listed(open),
    };
  },

  // Reports without a place are confirmed, because a finger may have missed its button. The kinds lay at the same place.
  sure: (screen, flow, more, { kind }) => ({
    question: say("ask.sure", { what: reportName(screen, kind) }),
    right: [{ key: "sure", label: say("act.report"), tone: "primary", slow: true, act: () => answer(undefined) }],
  }),

  // An act without a question that cannot be undone: not where the next act was a moment ago.
  certain: (screen, flow) => ({
    list: [{ key: "certain", label: say(`op.${flow.offer.operation}`), tone: "second", slow: true, act: () => answer(undefined) }],
  }),

  entry: (screen) => ({
    list: newest(screen.view.entries).map((one) => ({
      key: one.entry,
      label: entryLabel(screen, one),
      why: one.late,
      act: () => answer(one.entry, one.operation in REPLACED ? ["instead"] : []),
    })),
  }),

  instead: (screen, flow) => {
    const wrong = screen.view.entries.find((one) => one.entry === flow.values.entry);
    if (!wrong) return {};
    const needs = REPLACED[wrong.operation].map((need) => `instead/${stepOf(wrong.operation, need)}`);
    // For another kind of irregularity the page asks for its own place and number.
    const kept = wrong.operation === "report_irregularity" ? {} : wrong.said;
    const was = { ...kept, operation: wrong.operation };
    return {
      facts: [say("instead.was", { entry: entryName(screen, wrong) })],
      right: [
        { key: "replace", label: say("instead.replace"), tone: "answer", act: () => answer(was, needs) },
        { key: "strike", label: say("instead.strike"), tone: "answer", act: () => answer(null) },
      ],
    };
  },

  ticks: (screen, flow, more, { open }) => {
    const ticked = flow.draft ?? [];
    const list = open.map((id) => {
      const found = screen.view.irregularities.find((one) => one.id === id);
      return {
        key: id,
        label: capital(matterAt(screen, found)),
        pressed: ticked.includes(id),
        act: () => draft(ticked.includes(id) ? ticked.filter((one) => one !== id) : [...ticked, id]),
      };
    });
    return {
      list,
      right: [
        {
          key: "done",
          label: say("act.done"),
          tone: "primary",
          why: open.every((id) => ticked.includes(id)) ? "" : say("ticks.more"),
          act: () => answer(open),
        },
      ],
    };
  },

  screen: (screen) => ({
    list: tiles(screen.view.screens.map((one) => ({ key: one.id, label: one.name }))),
  }),

  // If the table records decks, one is named; an empty name means the deck in the device.
  deck: (screen, flow) => {
    const recorded = screen.view.decks.map(({ label, back }) => ({ key: label, label: `${label} (${back})` }));
    const named = recorded.length && ["load_deck", "take_deck_out"].includes(flow.offer.operation);
    return { list: tiles([...(named ? [] : [{ key: "", label: say("deck.in_play") }]), ...recorded]) };
  },

  order: (screen, flow) => {
    const matter = screen.view.irregularities.find((one) => one.id === flow.offer.arguments.irregularity);
    const named = flow.draft ?? [];
    const all = matter?.ordinals ?? [];
    return {
      ...(named.length ? { question: say(named.length < all.length ? "ask.ordinals.next" : "ask.ordinals.all") } : {}),
      facts: [say("order.lie")],
      list: all.map((ordinal, at) => ({
        key: ordinal,
        label: named.includes(ordinal)
          ? say("order.named", { n: at + 1, at: named.indexOf(ordinal) + 1 })
          : say("order.card", { n: at + 1 }),
        pressed: named.includes(ordinal),
        act: () => !named.includes(ordinal) && draft([...named, ordinal]),
      })),
      right: [
        {
          key: "undo",
          label: say("act.undo"),
          act: () => draft(named.slice(0, -1)),
          why: named.length ? "" : say("grid.none"),
        },
        {
          key: "done",
          label: say("act.done"),
          tone: "primary",
          why: named.length === all.length ? "" : say("order.more"),
          act: () => answer(named),
        },
      ],
    };
  },
};

/**
 * Return the newest entries first. Of box marks only the last counts, which has all boxes; of the two requests to end
 * the round only the second.
 */
function newest(entries) {
  const last = (operation) => entries.findLast((one) => one.operation === operation);
  return entries.filter((one) => !LAST_COUNTS.has(one.operation) || one === last(one.operation)).reverse();
}

/** Return whether the device deals on its own, whatever the dealer does at the screen. */
function cardsCome(view) {
  return view.phase.startsWith("dealing") && !view.held && !view.paused && !view.by_hand;
}

/** Return a text field. */
function written(flow) {
  return { typed: flow.draft ?? "", type: draft, done: () => flow.draft?.trim() && answer(flow.draft.trim()) };
}

