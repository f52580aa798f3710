// Region C: the layout as the dealer sees it, with the dealer's hand at the lower edge and the boxes in an arc above.

import { moves, arrows } from "./arrows.js";
import { drawCards, symbol } from "./cards.js";
import { attr, el, flash, isFresh, keyed, mark, means, text } from "./dom.js";
import { pileName } from "./labels.js";
import { duesAt, isTicked } from "./payments.js";
import { counts, inContact, isCounting, store } from "./store.js";
import { placeName, say, time } from "./words.js";

const CARDS = 3; // of a hand
const FEW = 4; // the most boxes with space for words beside their cards
const MANY = 7; // the most boxes with space for large words
const DEALER = "D";
const DEALT = ["dealing_sets", "dealing_singles", "examining", "exposing", "settling"];
const OVER = ["concluded", "voided"];
const PRESSES = ["Enter", " "]; // as a button does
const OUTCOMES = ["win", "lose", "tie"];
const RANKS = { win: "higher", lose: "lower", tie: "tie" };
const AT_DEVICE = ["aside", "tray", "stub"]; // piles, to which moves go
const UNBROKEN = "\u00a0"; // a space at which no line ends
const upwards = matchMedia("(orientation: portrait)");
const parts = {};

function build(stage) {
  parts.places = el("div", { class: "places" });
  parts.device = el("div", { class: "device" });
  parts.ledger = el("p", { class: "ledger" });
  parts.first = el("div", { class: "first-card" }, el("p", { class: "label" }), el("div", { class: "cards" }));
  parts.asOf = el("p", { class: "as-of" });
  upwards.onchange = () => store.set({});
  parts.arrows = el("div", { class: "arrows", "aria-hidden": "true" });
  stage.append(parts.device, parts.ledger, parts.first, parts.places, parts.arrows, parts.asOf);
}

/** Draw region C. `screen`: the newest state, or null before the first. */
export function render(screen) {
  const stage = document.getElementById("stage");
  if (!parts.places) build(stage);
  mark(stage, "hatched", !inContact() || (screen && !screen.view.device.connected && screen.view.round > 0));
  if (!screen) return;
  const { view, layout } = screen;
  const places = [...Array(layout.boxes).keys()].map((index) => `B${index + 1}`);
  mark(stage, "few", isFew(layout.boxes));
  mark(stage, "many", layout.boxes > MANY);
  measure(stage, layout.boxes);
  keyed(
    parts.places,
    [...places, DEALER],
    (place) => place,
    create,
    (node, place) => {
      put(node, place, layout);
      update(node, place, screen);
    },
  );
  firstCard(screen);
  const inDoubt = view.irregularities.some((one) => one.blocks && one.kind === "deck_count" && one.stage === "claimed");
  const blind = isCounting() || inDoubt; // a count is not shown as the number of cards before it is confirmed
  const list = store.own.arrows?.length ? store.own.arrows : moves(view);
  const isDue = deckIsDue(screen);
  const isNamed = isDue || !view.ledger || list.some((move) => AT_DEVICE.includes(move.source) || AT_DEVICE.includes(move.place));
  const setsAside = list.some((move) => move.place === "aside");
  text(parts.device, blind || !isNamed ? "" : setsAside ? pileName("aside") : deviceLine(view)); // the ledger says the same
  mark(parts.device, "lit", isDue);
  text(parts.ledger, blind ? "" : ledgerLine(view));
  const old = !inContact() || !view.device.connected;
  text(parts.asOf, old && screen.last ? say("stage.as_of", { time: time(screen.last.utc_ns, true) }) : "");
  const { device, ledger, first } = parts; // the ledger names the cards of a pile
  const beside = { aside: device, tray: device, stub: device, first_card: first, burnt: ledger, dropped: ledger, discards: ledger };
  arrows(parts.arrows, parts.places, list, beside);
}

function create(place) {
  const node = el(
    "div",
    { class: "place", "data-place": place, onclick: ({ target }) => pickedCard(node, target) || tap(node) },
    el(
      "p",
      { class: "label" },
      el("span", { class: "name" }),
      el("span", { class: "short" }),
      el("span", { class: "seen" }),
    ),
    el("div", { class: "cards" }),
    el("div", { class: "mark" }),
  );
  node.onkeydown = (event) => {
    if (!PRESSES.includes(event.key)) return;
    event.preventDefault(); // keep the page from scrolling
    if (!event.repeat) tap(node);
  };
  return node;
}

/** Handle a tap on a numbered card if one is requested, and return whether it was one. */
function pickedCard(node, target) {
  const card = target.closest(".holder");
  if (!card || store.own.numbered !== node.dataset.place || !store.own.pickCard) return false;
  if (counts() && !isFresh(node)) store.own.pickCard(Number(card.dataset.placeInHand));
  else flash(node);
  store.drawNow();
  return true;
}

/** Handle a tap on a place, or its digit key, if one is requested. */
export function tap(node) {
  const { place } = node.dataset;
  const takes = counts() && !isFresh(node);
  if (!store.own.picking?.has(place)) return;
  if (takes) store.own.pick?.(place);
  else flash(node);
  store.drawNow();
}

/** Set the numbers from which stage.css makes the cards as large as the boxes allow. */
function measure(stage, boxes) {
  const { columns } = rows(boxes);
  for (const [name, value] of [
    ["--boxes", Math.max(boxes, 1)],
    ["--columns", columns],
  ]) {
    if (stage.style.getPropertyValue(name) !== String(value)) stage.style.setProperty(name, value);
  }
}

/**
 * Place the boxes in an arc, box 1 at the dealer's left, or at the right if the deal goes the other way. Upright, they
 * are in two rows in the order of the deal, with the dealer's hand at the end of the second; few are in one row.
 */
function put(node, place, layout) {
  const number = place === DEALER ? 0 : Number(place.slice(1));
  const last = layout.boxes - 1;
  const across = last ? (number - 1) / last : 0.5;
  const turn = (at) => (layout.clockwise ? at : 1 - at);
  const x = number ? turn(across) : 0.5;
  const far = 2 * x - 1;
  const { row, column } = upright(number, layout.boxes);
  for (const [name, value] of [
    ["--across", x],
    ["--down", number ? 1 - Math.sqrt(1 - 0.96 * far * far) : 1],
    ["--row", row],
    ["--column", turn(column)],
  ]) {
    if (node.style.getPropertyValue(name) !== String(value)) node.style.setProperty(name, value);
  }
}

/** Return the columns upright, and how many boxes are in the first row. */
function rows(boxes) {
  const above = boxes < FEW ? boxes : Math.ceil((boxes + 1) / 2);
  return { above, columns: Math.max(above, 2) };
}

/** Return whether the boxes have space for their names; upright, if they are in one row. */
function isFew(boxes) {
  return boxes < FEW || (boxes === FEW && !upwards.matches);
}

/** Return whether the words of a place are beside its cards: upright, only the dealer's hand below few boxes has space. */
function isSided(boxes, place) {
  return upwards.matches ? isFew(boxes) && place === DEALER : isFew(boxes) || place === DEALER;
}

/** Return the row of a box (1: the dealer's own, nearer to him) and its place across, from 0 to 1. */
function upright(number, boxes) {
  const { above, columns } = rows(boxes);
  const at = (column) => column / (columns - 1);
  if (!number) return { row: 1, column: boxes < FEW ? 0.5 : 1 };
  if (number > above) return { row: 1, column: at(number - above - 1) };
  return { row: 0, column: above < columns ? 0.5 : at(number - 1) };
}

function update(node, place, screen) {
  const { view } = screen;
  const hand = view.hands.find((one) => one.place === place);
  const number = Number(place.slice(1));
  const bet = place === DEALER || (store.own.selection ?? view.boxes).includes(number);
  const takes = bet || Boolean(hand?.count); // cards may lie without a bet, if the box was marked wrongly
  const [label, cards, under] = node.children;
  const due = turns(screen);
  const next = due[0] === place && view.phase !== "betting" && !view.bets_to_return && !store.own.selection;
  // While boxes are being marked, the colours show the marks.
  const matter = store.own.selection ? undefined : matterAt(view, place);
  const picking = Boolean(store.own.picking?.has(place)) && inContact();

  mark(node, "empty", !takes);
  const moved = !store.own.flow && view.round && moves(view).some((move) => move.source === place || move.place === place);
  mark(node, "lit", (store.own.flow ? isAskedAbout(place) : moved || due.includes(place)) && !matter);
  mark(node, "red", matter?.blocks);
  mark(node, "amber", matter && !matter.blocks);
  mark(node, "dead", hand?.dead);
  mark(node, "numbered", store.own.numbered === place);
  mark(node, "past", OVER.includes(view.phase) && !view.ledger?.hands); // collected: the result of the last round
  mark(node, "picking", picking);
  means(node, picking ? store.own.picks : "");
  attr(node, "role", picking ? "button" : "group");
  attr(node, "tabindex", picking ? 0 : false);
  attr(node, "aria-label", placeName(screen, place));

  const few = isFew(screen.layout.boxes) || place === DEALER;
  mark(node, "named", few);
  mark(node, "sided", isSided(screen.layout.boxes, place));
  text(label.children[0], few ? placeName(screen, place) : String(number));
  const entered = store.own.filled?.place === place; // its cards are entered again, so the old ones give no result
  const goesBack = view.bets_to_return && bet && place !== DEALER;
  text(label.children[1], hand?.shown && !entered ? short(hand.cards) : "");
  seen(label.children[2], hand);
  drawCards(cards, codes(view, hand, place, takes), next && view.phase === "dealing_singles" ? (hand?.count ?? 0) : -1);
  const dues = entered || matter ? [] : duesAt(screen, place);
  mark(node, "done", dues.length && isTicked(screen, place));
  const found = result(screen, { hand: entered ? undefined : hand, place, bet, next, matter, goesBack });
  const display = document.body.classList.contains("display"); // players read results; what the dealer does is his
  const paid = display ? dues.filter((due) => due.name && due.paid) : [];
  underHand(under, display ? [found, ...paid] : dues.length ? forDues(dues, hand, isTicked(screen, place)) : [found], screen);
}

/** Return whether an open act concerns the place, which lights it; a place that may be tapped stands out. */
function isAskedAbout(place) {
  const { flow, picking, selection } = store.own;
  if (selection) return selection.includes(Number(place.slice(1)));
  return !picking && place === (flow.values.place ?? flow.offer.arguments.place);
}

/** Return the places that are due, the next one first. */
function turns(screen) {
  const { view, offers } = screen;
  if (view.held || view.paused || store.own.still || store.own.headline?.tone === "red") return [];
  if (view.bets_to_return) return view.boxes.map((number) => `B${number}`);
  if (view.phase === "betting") return (store.own.selection ?? view.boxes).map((number) => `B${number}`);
  if (view.phase.startsWith("dealing")) {
    const goes = view.service === "in_service" || view.by_hand;
    return goes && view.next_place ? [view.next_place] : [];
  }
  if (view.phase !== "examining" && view.phase !== "exposing") return [];
  const open = offers.filter((offer) => offer.operation === "expose_hand" && offer.allowed);
  const first = open.filter((offer) => offer.primary).map((offer) => offer.arguments.place);
  if (offers.length) return view.phase === "exposing" ? [...new Set([...first, ...places(open)])] : first;
  return view.hands.filter((hand) => !hand.shown && !hand.dead).map((hand) => hand.place);
}

function places(offers) {
  return offers.map((offer) => offer.arguments.place);
}

/** Return the matter at a place, preferably one that holds the table. */
function matterAt(view, place) {
  if (store.own.quiet) return undefined;
  const lies = view.hands.find((hand) => hand.place === place)?.ordinals ?? [];
  const isNamed = (found) => (found.place ? found.place === place : found.stage === "claimed" && lies.some((one) => found.ordinals.includes(one)));
  const here = (found) => isNamed(found) && found.round === view.round && !found.next_deck;
  const about = view.irregularities.filter(here);
  return about.find((found) => found.blocks) ?? about[0];
}

/** Return a hand's class in short: 3P, 2P9, P8, 8. */
function short(cards) {
  const pictures = cards.filter((card) => "JQK".includes(card[0])).length;
  if (pictures === CARDS) return "3P";
  const points = cards.reduce((sum, card) => sum + (card[0] === "A" ? 1 : Number.parseInt(card, 10) || 0), 0) % 10;
  return `${["", "P", "2P"][pictures]}${points}`;
}

/** Return the drawings of a hand: its cards, then empty slots while it is dealt. */
function codes(view, hand, place, takes) {
  const { filled } = store.own;
  if (filled?.place === place) return pad([...filled.cards]);
  const known = (hand?.cards ?? []).map((code, at) => (isSeen(hand, code, at) ? "?" : code));
  while (known.length < (hand?.count ?? 0)) known.push("?");
  return takes && (DEALT.includes(view.phase) || hand) ? pad(known) : [];
}

function pad(cards) {
  while (cards.length < CARDS) cards.push("");
  return cards;
}

/** Show that a hand was touched or looked at, until it is turned over. */
function seen(node, hand) {
  const signs = hand && !hand.shown ? [hand.handled && "hand", hand.viewed && "eye"].filter(Boolean) : [];
  keyed(
    node,
    signs,
    (sign) => sign,
    (sign) => {
      const drawn = symbol(sign, { class: "sign" });
      return el("span", { title: say(`stage.${sign}`), role: "img", "aria-label": say(`stage.${sign}`) }, drawn);
    },
  );
}

const LONG = 8; // characters of an act in large type
const WRAPS = { few: 11, many: 9 }; // in a line

/** Show lines under a hand: `{sign, name, words, tone}`. */
function underHand(node, list, { layout }) {
  const fits = layout.boxes > MANY ? WRAPS.many : WRAPS.few;
  keyed(
    node,
    list.filter(({ sign, words }) => sign || words).map((line, at) => ({ ...line, at })),
    ({ sign, at }) => `${at}${sign ?? ""}`,
    ({ sign }) =>
      el("p", {}, sign && symbol(sign, { class: "sign" }), el("span", { class: "of" }), el("span", { class: "said" })),
    (line, { name = "", words, tone }) => {
      attr(line, "class", tone || null);
      text(line.querySelector(".of"), name);
      text(line.querySelector(".said"), words);
      mark(line, "long", words.length > LONG);
      mark(line, "wraps", words.length > fits);
    },
  );
}

/** Return what is done with the chips at a hand, after a tick, or after the sign of the result if that is one line. */
function forDues(dues, hand, ticked) {
  const outcome = hand?.dead ? "out" : OUTCOMES.includes(hand?.outcome) ? hand.outcome : undefined;
  return dues.map((due) => ({ ...due, sign: ticked ? "tick" : dues.length === 1 ? outcome : undefined, tone: "due" }));
}

/** Return the sign and the word under a hand. */
function result({ view, layout }, { hand, place, bet, next, matter, goesBack }) {
  if (goesBack) return { words: say("due.return", { amount: "" }).trim(), tone: "due" };
  if (view.phase === "betting" && bet && place !== DEALER) return { words: layout.every_hand ? "" : say("stage.bet") };
  if (hand?.dead) return { sign: "out", words: say("stage.out") };
  if (view.phase !== "voided" && OUTCOMES.includes(hand?.outcome))
    return { sign: hand.outcome, words: say(`stage.${wordFor(hand, layout)}`) };
  if (matter) return about(matter);
  if (hand?.cards.includes("^^")) return { words: say("stage.face_up") };
  if (isUnread(hand)) return { words: say("stage.face_up") };
  if (next) return { words: say("stage.next") };
  if (!bet && !layout.every_hand) return { words: say("stage.no_bet"), tone: "no-bet" };
  return { words: "" };
}

/** Return the word for a result: where some bets win when the hand loses, it says how the hand ranks. */
function wordFor({ outcome, half }, { wagers }) {
  if (wagers.filter((wager) => wager.main).length > 1) return RANKS[outcome];
  return half ? "half" : outcome;
}

/** Return whether a card of a hand is drawn as "?": people saw it, and its face is not entered. */
export function isUnread(hand) {
  return Boolean(hand) && (hand.count > hand.cards.length || hand.cards.some((code, at) => isSeen(hand, code, at)));
}

function isSeen(hand, code, at) {
  return code === "??" && Boolean(hand.exposed?.includes(at + 1));
}

/** Return the words under a place in question: the counted cards, or that it is in question. */
function about(matter) {
  const sign = matter.blocks ? "octagon" : "triangle";
  const counted = matter.counted !== null && matter.counted !== undefined;
  const words = counted ? say("stage.cards", { n: matter.counted }) : say(matter.blocks ? "stage.stop" : "stage.check");
  return { sign, words };
}

function firstCard(screen) {
  const { view, layout } = screen;
  const shown = layout.first_card && (view.first_card || view.phase === "first_card");
  attr(parts.first, "hidden", !shown);
  if (!shown) return;
  text(parts.first.children[0], say("pile.first_card"));
  mark(parts.first, "lit", view.phase === "first_card" && !view.held);
  drawCards(parts.first.children[1], [view.first_card]);
}

/** Return whether the device needs attention before a round can begin. */
function deckIsDue({ view, offers }) {
  const begins = offers.find((offer) => offer.operation === "place_your_bets");
  return view.phase === "maintenance" || Boolean(begins && !begins.allowed && !view.paused && !view.bets_to_return);
}

function deviceLine(view) {
  const word = say(`device.${view.device.kind || "device"}`);
  const left = view.deck.loaded - view.deck.dispensed;
  const waits = view.next_deck ? view.next_deck.loaded : left;
  const n = Math.max(view.ledger ? view.ledger.stub : waits, 0);
  const also = [view.tray && say("stage.tray", { n: view.tray }), view.aside && say("stage.aside", { n: view.aside })];
  return [say("stage.device", { device: word, n }), ...also.filter(Boolean)].join(" · ");
}

/** Return where the cards of the deck are: "52 cards: 37 in shuffler, 15 dealt". */
function ledgerLine(view) {
  const { ledger } = view;
  if (!ledger) return "";
  const { stub, hands, first_card: first, burnt, tray, aside, dropped, discards } = ledger;
  const device = say(`device.${view.device.kind || "device"}`).toLocaleLowerCase();
  const piles = { stub, tray, dealt: hands + first, burnt, aside, dropped, discards };
  const counted = Object.entries(piles).filter(([, n]) => n).map(([pile, n]) => say(`ledger.${pile}`, { n, device }));
  return say("ledger.all", { n: ledger.total, piles: counted.map((one) => one.replaceAll(" ", UNBROKEN)).join(say("join.comma")) });
}
