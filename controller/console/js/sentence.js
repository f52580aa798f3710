// Region B: one sentence about the next act, coloured by its urgency.

import { symbol } from "./cards.js";
import { attr, el, mark, text } from "./dom.js";
import { face } from "./grid.js";
import { ring } from "./sound.js";
import { inContact, store } from "./store.js";
import { placeName, say } from "./words.js";

const parts = {};
const TONES = ["plain", "amber", "red"];
const BLINKS = 5000; // ms: five times, once a second (parts.css)
const SMALLER = ["", "long"]; // 40 px, 36 px
const CARDS = 3; // of a hand
const SMALLEST = [266, 426]; // px: a third of the smallest screen
const FACE_DOWN = "??";
const MARGIN = 8; // px, above and below the sentence together
let alarmed = new Set();

/**
 * Return what region B says: `{text, count, tone}`. The panel may put its own question there (`store.own.headline`).
 * Tones: "red": the cards must stop; "amber": a person must act; "plain".
 */
export function headline(screen) {
  if (isTooSmall()) return { text: say("window.small"), count: "", tone: "amber" };
  if (!screen) return { text: say("contact.waiting"), count: "", tone: "amber" };
  if (store.stopped && !inRound(screen.view)) return { text: say("contact.ended"), count: "", tone: "plain" };
  if (store.stopped) return { text: say("contact.stopped"), count: "", tone: "red" };
  if (!inContact()) return { text: say("contact.none"), count: "", tone: "red" };
  if (store.own.headline) return { count: "", tone: tone(screen.view), ...store.own.headline };
  const { view } = screen;
  const matter = view.irregularities.find((found) => found.blocks);
  if (matter) return { text: asked(matter), count: "", tone: "red" };
  const own = ownWords(screen);
  return { text: own || view.headline, count: own ? counted(view) : "", tone: tone(view) };
}

/** Return whether text has less than a third of its height on the smallest screen, so that nobody can read it. */
function isTooSmall() {
  const [narrow, wide] = [innerWidth, innerHeight].sort((one, other) => one - other);
  return narrow < SMALLEST[0] || wide < SMALLEST[1];
}

/** Return whether cards must stop, or a person must act before the deal goes on. */
function tone(view) {
  const lost = !view.device.connected || view.device.stopped !== "" || view.service !== "in_service";
  if (view.irregularities.some((found) => found.blocks)) return "red";
  if (view.held && !view.paused) return view.moves.length ? "amber" : "red"; // all is decided, and people move cards
  if (lost && inRound(view) && ["first_card", "dealing_sets", "dealing_singles"].includes(view.phase)) return "red";
  return view.paused || lost || view.count_due ? "amber" : "plain";
}

function inRound(view) {
  return view.round > 0 && !["closed", "idle", "concluded", "voided", "maintenance"].includes(view.phase);
}

/** Return the deal in a few words while nothing prevents it. */
function ownWords(screen) {
  const { view } = screen;
  if (!isPlainDeal(view)) return "";
  const place = inSentence(screen, view.next_place);
  const lies = view.hands.find((hand) => hand.place === view.next_place);
  if (view.phase === "dealing_singles") return say("deal.single", { card: (lies?.count ?? 0) + 1, all: CARDS, place });
  return say(view.tray ? "deal.lay" : "deal.comes", { n: view.cards_due, place });
}

/** Return the name of a place within a sentence. */
function inSentence(screen, place) {
  const name = placeName(screen, place);
  return place === "D" ? say("deal.dealer", { name }) : name;
}

/** Return what else people have to know about the next cards of a plain deal. */
export function dealNotes(screen) {
  const { view } = screen;
  const name = placeName(screen, view.next_place);
  const isOut = view.hands.find((hand) => hand.place === view.next_place)?.dead;
  const rest = view.phase === "dealing_sets" && view.tray > view.cards_due ? view.tray - view.cards_due : 0;
  return [begins(screen), isOut && say("deal.out", { name }), rest && say("deal.rest", { n: rest }), faceUp(screen)].filter(Boolean);
}

/** Return where the First Card lets the deal begin, until the next place gets cards. */
function begins(screen) {
  const { first_card: card, hands, next_place: place } = screen.view;
  const isFirst = hands.every((hand) => !hand.count || hand.place === place);
  if (!card || card === FACE_DOWN || !isFirst) return "";
  return say("first_card.begins", { card: face(card), place: inSentence(screen, place) });
}

/** Return whether the deal goes on and the page describes it in its own words. */
export function isPlainDeal(view) {
  const plain = tone(view) === "plain" && !view.burn_due && !view.by_hand && view.next_place;
  return Boolean(plain) && view.phase.startsWith("dealing");
}

/** Return where a face-up card in the device goes (NC 5.10), if it is one of the deal. */
function faceUp({ view, layout }) {
  const one = view.face_up.find(({ place }) => place === view.next_place) ?? view.face_up[0];
  if (!one) return "";
  if (one.place !== view.next_place) return say("deal.face_up_later", { place: layout.labels[one.place] });
  if (view.cards_due === 1) return say("deal.face_up_it");
  return one.card ? say("deal.face_up", { card: one.card }) : say("deal.face_up_one");
}

/** Return the first question: the claim, then the first open question, or the count if only that answers it. */
export function asked(matter) {
  const [claim] = matter.claims;
  if (matter.asks[0] === "counted_wrong" && !claim) return matter.headline;
  return claim?.question ?? matter.questions[0] ?? matter.headline;
}

/** Return the number of the next set, or of the next single card. */
function counted(view) {
  const each = view.phase === "dealing_sets" ? CARDS : 1;
  return say("deal.count", { next: Math.floor(view.dealt / each) + 1, all: Math.ceil(view.to_deal / each) });
}

/** Draw region B. `screen`: the newest state, or null before the first. */
export function render(screen) {
  const region = document.getElementById("sentence");
  if (!parts.text) {
    parts.text = el("h1", { class: "text" });
    parts.count = el("p", { class: "count" });
    region.replaceChildren(
      symbol("octagon", { class: "octagon" }),
      symbol("triangle", { class: "triangle" }),
      parts.text,
      parts.count,
    );
  }
  const said = headline(screen);
  text(parts.text, said.text);
  text(parts.count, said.count);
  for (const tone of TONES) mark(region, tone, said.tone === tone);
  fit(region, said);
  focus();
  if (screen) alarm(region, screen.view);
}

/** Move the keyboard's focus to a question that opens, so that Tab reaches its answers, and give it back afterwards. */
function focus() {
  const asked = (inContact() && store.own.headline?.asks) || "";
  if (asked && asked !== parts.asked && !store.own.sheet) {
    attr(parts.text, "tabindex", -1); // a display has no focus, and asks nothing
    parts.text.focus({ preventScroll: true });
  }
  if (!asked && parts.asked) parts.text.blur();
  parts.asked = asked;
}

/** Reduce the font size of a sentence until it fits. */
function fit(region, said) {
  const key = `${said.text}|${said.count}|${said.tone}|${region.clientWidth}|${document.fonts.status}`;
  if (parts.fitted === key) return;
  parts.fitted = key;
  for (const size of SMALLER) {
    for (const other of SMALLER.slice(1)) mark(region, other, other === size);
    if (parts.text.offsetHeight <= region.clientHeight - MARGIN) return;
  }
}

/** Blink the frame for a new blocking matter. */
function alarm(region, view) {
  const blocking = view.irregularities.filter((found) => found.blocks).map((found) => found.id);
  const fresh = blocking.some((id) => !alarmed.has(id));
  alarmed = new Set(blocking);
  if (!fresh) return;
  ring();
  region.classList.add("blinking");
  clearTimeout(parts.stop);
  parts.stop = setTimeout(() => region.classList.remove("blinking"), BLINKS);
}
