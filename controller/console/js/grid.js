// The 52 cards. Only cards that are face up on the table are dimmed: the grid must not reveal what the device has read.

import { buttons } from "./buttons.js";
import { el } from "./dom.js";
import { say } from "./words.js";

const SUITS = { S: "\u2660", H: "\u2665", D: "\u2666", C: "\u2663" };
const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"];

/** Return a card by its code, as people read it. */
export function face(code) {
  return `${code.slice(0, -1).replace("T", "10")}${SUITS[code.slice(-1)] ?? ""}`;
}

/** Return the cards that everybody can see. `corrected`: a hand whose faces are entered again. */
export function openCards(view, corrected) {
  const hands = view.hands.filter((hand) => hand !== corrected);
  const open = hands.flatMap((hand) => hand.cards).filter((card) => /^[A-Z0-9]+$/.test(card));
  if (/^[A-Z0-9]+$/.test(view.first_card)) open.push(view.first_card);
  return new Set(open);
}

/** Draw the grid. `taken`: cards that were tapped, and are removed by another tap; `open`: face-up cards; `tap(code)`. */
export function grid(parent, { taken, open, tap }) {
  if (!parent.cards) {
    parent.cards = el("div", { class: "grid" });
    parent.replaceChildren(parent.cards);
  }
  const list = Object.keys(SUITS).flatMap((suit) =>
    RANKS.map((rank) => {
      const code = `${rank === "10" ? "T" : rank}${suit}`;
      const label = face(code);
      const isTaken = taken.includes(code);
      return {
        key: code,
        label,
        tone: suit === "H" || suit === "D" ? "red-suit" : "",
        pressed: isTaken,
        meaning: isTaken, // a double tap does not remove the card
        act: () => tap(code),
        why: open.has(code) && !isTaken ? say("grid.lies_open", { card: label }) : "",
      };
    }),
  );
  buttons(parent.cards, list);
}
