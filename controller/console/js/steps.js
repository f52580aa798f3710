// What the panel asks in each step of an act: `ask(name, screen, flow)` gives what its columns show.

import { answer, argument, choose, digits, draft, sign, signers } from "./flow.js";
import { openCards } from "./grid.js";
import { STEPS } from "./needs.js";
import { store } from "./store.js";
import { placeName, say, time } from "./words.js";

const CARDS = 3; // of a hand
const PILES = ["stub", "tray", "burnt", "aside", "dropped", "discards", "deck"];

/** `{question, facts, middle, right, pad, grid, input, picking, pick}` of the open step. */
export function ask(name, screen, flow) {
  const { kind, ...more } = STEPS[name] ?? { kind: "words" };
  const at = flow.values.place ?? flow.offer.arguments.place;
  const about = { place: at ? placeName(screen, at) : "" };
  const question =
    say(`ask.${name}`, about) === `ask.${name}` ? say(`ask.${argument(name)}`, about) : say(`ask.${name}`, about);
  return { question, ...KINDS[kind](screen, flow, more, name) };
}

/** The places that may be meant. */
function placesFor(screen, flow) {
  const report = screen.reports.find((one) => one.kind === flow.values.kind);
  if (report?.places.length) return report.places;
  const hands = screen.view.hands.filter((hand) => hand.count > 0).map((hand) => hand.place);
  const boxes = Object.keys(screen.layout.labels);
  return hands.length && flow.offer.operation !== "report_irregularity" ? hands : boxes;
}

function tiles(list, value = (one) => one.key) {
  return list.map((one) => ({ ...one, act: () => answer(value(one)) }));
}

const KINDS = {
  place: (screen, flow) => ({ picking: new Set(placesFor(screen, flow)), pick: (place) => answer(place) }),

  box: (screen) => ({
    picking: new Set(Object.keys(screen.layout.labels).filter((place) => place !== "D")),
    pick: (place) => answer(Number(place.slice(1))),
  }),

  places: (screen, flow) =>
    several(
      flow,
      screen.view.hands.map((hand) => [hand.place, placeName(screen, hand.place)]),
    ),

  bets: (screen, flow) =>
    several(
      flow,
      screen.view.bets.map((bet) => [bet.number ?? bet.id, betWords(screen, bet)]),
    ),

  faces: (screen, flow, { count }) => {
    const hand = screen.view.hands.find(
      (one) => one.place === flow.values.place || one.place === flow.offer.arguments.place,
    );
    const wanted = count ?? (hand?.count || CARDS);
    const taken = flow.draft ?? [];
    const place = flow.offer.arguments.place ?? flow.values.place;
    return {
      count: say("grid.count", { taken: taken.length, all: wanted }),
      grid: {
        taken,
        open: openCards(screen.view),
        tap: (code) => taken.length < wanted && draft([...taken, code]),
      },
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
        label: say("where.card", { n: at + 1 }),
        act: () => draft({ source, ordinals: [ordinal] }),
      }));
      return {
        question: say("ask.where_which", { place: placeName(screen, source) }),
        right: [
          { key: "all", label: say("where.all"), tone: "primary", act: () => draft({ source, ordinals }) },
          ...each,
        ],
      };
    }
    const others = Object.keys(screen.layout.labels).filter((place) => place !== source);
    const put = (place) => answer(flow.draft.ordinals.map((ordinal) => ({ ordinal, place })));
    return {
      question: say("ask.where_to"),
      picking: new Set(others),
      pick: put,
      right: ["dropped", "discards"].map((pile) => ({ key: pile, label: say(`pile.${pile}`), act: () => put(pile) })),
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

  person: (screen) => ({ right: tiles(screen.people.map((person) => ({ key: person.id, label: person.name }))) }),

  signer: (screen, flow) => ({
    right: tiles(signers(screen, flow.offer.role).map((person) => ({ key: person.id, label: person.name }))),
  }),

  phrase: (screen, flow, { phrases }) => ({
    right: tiles(phrases.map((name) => ({ key: say(`phrase.${name}`), label: say(`phrase.${name}`) }))),
    input: written(flow),
  }),

  words: (screen, flow) => ({ input: written(flow) }),

  pile: (screen) => ({
    right: tiles([
      ...PILES.map((pile) => ({ key: pile, label: say(`pile.${pile}`) })),
      ...screen.view.hands.map((hand) => ({ key: hand.place, label: placeName(screen, hand.place) })),
    ]),
  }),

  report: (screen) => ({
    list: screen.reports
      .filter((one) => one.now || one.earlier)
      .map((one) => ({
        key: one.kind,
        label: one.label,
        act: () =>
          answer(one.kind, [...(one.place && one.places.length ? ["place"] : []), ...(one.counted ? ["counted"] : [])]),
      })),
  }),

  entry: (screen) => ({
    list: screen.view.entries.map((one) => ({
      key: one.entry,
      label: `${one.entry} ${said(screen, one)}`,
      act: () => answer(one.entry),
    })),
  }),

  bet: (screen) => ({
    list: tiles(screen.view.bets.map((bet) => ({ key: bet.number ?? bet.id, label: betWords(screen, bet) }))),
  }),

  wager: (screen) => ({ right: tiles(screen.layout.wagers.map((wager) => ({ key: wager.id, label: wager.name }))) }),

  bettor: (screen) => ({ right: tiles(screen.layout.bettors.map((bettor) => bettorTile(bettor))) }),

  deck: (screen, flow) => ({
    right: tiles([
      { key: "", label: say("deck.in_play") },
      ...screen.view.decks.map((deck) => ({ key: deck.name ?? deck.deck, label: String(deck.name ?? deck.deck) })),
    ]),
  }),

  order: (screen, flow) => {
    const matter = screen.view.irregularities.find((one) => one.id === flow.offer.arguments.irregularity);
    const named = flow.draft ?? [];
    const all = matter?.ordinals ?? [];
    return {
      list: all.map((ordinal, at) => ({
        key: ordinal,
        label: named.includes(ordinal) ? `${named.indexOf(ordinal) + 1}` : say("order.card", { n: at + 1 }),
        pressed: named.includes(ordinal),
        act: () => !named.includes(ordinal) && draft([...named, ordinal]),
      })),
      right: [
        { key: "undo", label: say("act.undo"), act: () => draft(named.slice(0, -1)) },
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

  sign: (screen, flow) => {
    const able = signers(screen, flow.offer.role);
    const signer = able.find((person) => person.id === flow.signer) ?? (able.length === 1 ? able[0] : undefined);
    if (!signer)
      return { list: able.map((person) => ({ key: person.id, label: person.name, act: () => choose(person.id) })) };
    if (flow.signer !== signer.id) flow.signer = signer.id;
    const locked = signer.locked_until_utc_ns > (store.beat?.utc_ns ?? 0);
    return {
      facts: [
        ["name", signer.name],
        locked
          ? say("sign.locked", { time: time(signer.locked_until_utc_ns) })
          : say("sign.tries", { n: signer.tries_left }),
      ],
      pad: {
        typed: flow.pin,
        hidden: true,
        type: digits,
        done: sign,
        why: locked ? say("sign.locked", { time: time(signer.locked_until_utc_ns) }) : "",
      },
    };
  },
};

KINDS.boxes = (screen, flow) =>
  several(
    flow,
    Object.entries(screen.layout.labels)
      .filter(([place]) => place !== "D")
      .map(([place, label]) => [Number(place.slice(1)), label]),
  );

/** Several may be meant: tapped on and off, then done. */
function several(flow, list) {
  const marked = flow.draft ?? [];
  const toggle = (key) => draft(marked.includes(key) ? marked.filter((one) => one !== key) : [...marked, key]);
  return {
    list: list.map(([key, label]) => ({ key, label, pressed: marked.includes(key), act: () => toggle(key) })),
    right: [
      {
        key: "done",
        label: say("act.done"),
        tone: "primary",
        why: marked.length ? "" : say("several.none"),
        act: () => answer(marked),
      },
    ],
  };
}

/** A text that is typed. */
function written(flow) {
  return { typed: flow.draft ?? "", type: draft, done: () => flow.draft?.trim() && answer(flow.draft.trim()) };
}

function bettorTile(bettor) {
  const name = typeof bettor === "string" ? bettor : (bettor.bettor ?? bettor.name);
  return { key: name, label: name };
}

function betWords(screen, bet) {
  const wager = screen.layout.wagers.find((one) => one.id === bet.wager)?.name ?? bet.wager;
  return [bet.bettor, wager, bet.box ? placeName(screen, `B${bet.box}`) : "", bet.amount].filter(Boolean).join(" ");
}

/** An entry in a few words. */
export function said(screen, one) {
  const { place, boxes, kind, pile, number } = one.said;
  const about = [
    place && placeName(screen, place),
    boxes?.join(", "),
    kind && report(screen, kind),
    pile && say(`pile.${pile}`),
    number,
  ];
  return [say(`op.${one.operation}`), ...about]
    .filter((part) => part !== undefined && part !== null && part !== "")
    .join(" ");
}

function report(screen, kind) {
  return screen.reports.find((one) => one.kind === kind)?.label ?? kind;
}
