// What is paid, taken and returned: at each box on the stage, and as a list of boxes in the order of paying, whose lines
// the dealer ticks off by a tap there or at the box. A tick is the dealer's own note and enters nothing.

import { symbol } from "./cards.js";
import { attr, el, keyed, mark, text } from "./dom.js";
import { store } from "./store.js";
import { placeName, say } from "./words.js";

const FEW = 4; // boxes with space for any name
const SHORT = 6; // the longest name of a wager that stands beside its act at a box
const LINE = 11; // characters of an act beside another one
const MOST = 2; // acts at a box; more are added up, and the list has each

/** Return `{place, dues}` for each place, in the order of paying. */
function byPlace({ view }) {
  const places = [...new Set(view.dues.map((due) => due.place))];
  return places.map((place) => ({ place, dues: view.dues.filter((due) => due.place === place) }));
}

/** Return what is done: "PAY 1:2", "PAY 95", "TAKE". */
function act({ act: name, amount, won, staked }) {
  if (staked) return say("due.odds", { won, staked });
  return say(`due.${name}`, { amount }).trim();
}

/**
 * Return the acts at a place, to be written there: `{name, words, paid}`. Several wagers are named, or added up by act.
 * An amount that is too long beside another act is only in the list.
 */
export function duesAt({ view, layout }, place) {
  const dues = view.dues.filter((due) => due.place === place);
  if (dues.length < 2) return dues.map((due) => ({ words: act(due) }));
  const named = dues.length <= MOST && dues.every((due) => layout.boxes <= FEW || due.wager.length <= SHORT);
  const lines = named ? dues : addedUp(dues);
  return lines.map((due) => {
    const words = act(due);
    return { name: named ? wagerOf(layout, due.wager) : "", words: words.length > LINE ? act({ ...due, amount: "" }) : words, paid: due.act === "pay" };
  });
}

/** Return the name of a wager. Where some bets win when the hand loses, it is not to be read as the result. */
function wagerOf({ wagers }, name) {
  return wagers.filter((wager) => wager.main).length > 1 ? say("due.of", { wager: name }) : name;
}

/** Return one due for each act. */
function addedUp(dues) {
  const sums = new Map();
  for (const { act: name, amount } of dues) sums.set(name, (sums.get(name) ?? 0) + Number(amount));
  return [...sums].map(([name, sum]) => ({ act: name, amount: sum || "" }));
}

/** Return whether the dealer has ticked the place off, or everything is recorded as paid. */
export function isTicked({ view }, place) {
  return view.chips_paid || (store.own.paid?.round === view.round && store.own.paid.places.includes(place));
}

/** Tick a place off, or take its tick back. */
export function tick(place) {
  const { view } = store.screen;
  const ticked = store.own.paid?.round === view.round ? store.own.paid.places : [];
  const places = ticked.includes(place) ? ticked.filter((one) => one !== place) : [...ticked, place];
  store.set({ paid: { round: view.round, places } });
  store.drawNow();
}

/** Return what the panel shows while chips are moved: the places of the list, which may be tapped on the stage as well. */
export function paying(screen) {
  const { view } = screen;
  if (!view.dues.length) return {};
  const list = byPlace(screen);
  if (view.chips_paid) return { dues: list };
  return { dues: list, picking: new Set(list.map((one) => one.place)), pick: tick };
}

/** Draw the list of places. */
export function drawDues(parent, list, screen) {
  keyed(
    parent,
    list,
    ({ place }) => place,
    ({ place }) =>
      el(
        "button",
        { type: "button", class: "payment", onclick: () => !store.screen.view.chips_paid && tick(place) },
        el("span", { class: "chip" }),
        el("span", { class: "each" }),
        symbol("tick", { class: "sign" }),
      ),
    (node, { place, dues }) => {
      const [chip, each] = node.children;
      const ticked = isTicked(screen, place);
      mark(node, "ticked", ticked);
      attr(node, "aria-pressed", String(ticked));
      attr(node, "data-due", place);
      attr(node, "aria-label", placeName(screen, place));
      text(chip, place === "D" ? placeName(screen, place) : place.slice(1));
      keyed(
        each,
        dues.map((due, at) => [at, due]),
        ([at]) => at,
        () => el("span", { class: "one" }, el("span", { class: "name" }), el("b")),
        (line, [, due]) => {
          const whose = [due.bettor, dues.length > 1 || due.bettor ? wagerOf(screen.layout, due.wager) : ""].filter(Boolean).join(" ");
          text(line.children[0], whose);
          text(line.children[1], act(due));
        },
      );
    },
  );
}
