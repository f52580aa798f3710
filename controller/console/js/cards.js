// Drawings of cards: rank above suit, a back, an unread card, an empty slot.

import { attr, el, keyed, mark, svg } from "./dom.js";

const SYMBOLS = "/console/cards.svg";
const RANK = /^(10|[2-9TJQKA])([SHDC])$/;
const FACE_UP = "^^";
const CARDS = 3; // of a hand
const DRAWN = ["J", "10"];

/** Return a symbol of cards.svg. */
export function symbol(name, attributes = {}) {
  return svg("svg", { "aria-hidden": "true", ...attributes }, svg("use", { href: `${SYMBOLS}#${name}` }));
}

/** Draw a card by `code`: "KD", "10C", "??" (back), "^^" (face up out of turn), "?" (unread), "" (empty slot). */
function draw(code) {
  const face = RANK.exec(code);
  const card = svg("svg", { class: "card", viewBox: "0 0 44 92", "aria-hidden": "true" });
  if (code) card.append(svg("rect", { class: "paper", x: 1, y: 1, width: 42, height: 90, rx: 4 }));
  if (face) {
    const rank = face[1] === "T" ? "10" : face[1];
    card.append(letters(rank), svg("use", { class: "pip", href: `${SYMBOLS}#${face[2]}`, x: 6, y: 51, width: 32, height: 32 }));
  } else if (code === FACE_UP || code === "?") {
    const letter = svg("text", { x: 22, y: 62 });
    letter.textContent = code === "?" ? "?" : "!";
    card.append(letter);
  } else if (code) {
    card.append(svg("use", { href: `${SYMBOLS}#lozenges`, width: 44, height: 92 }));
  }
  return card;
}

/** Return a rank. J would hang below the line, and 10 is too wide: they are drawings in the weight of the letters. */
function letters(rank) {
  if (DRAWN.includes(rank)) return svg("use", { class: "rank", href: `${SYMBOLS}#${rank}`, x: 2, y: 7, width: 40, height: 37 });
  const letter = svg("text", { class: "rank", x: 22, y: 43 });
  letter.textContent = rank;
  return letter;
}

function kind(code) {
  if (RANK.test(code)) return "HD".includes(code.at(-1)) ? "face red-suit" : "face";
  return { "": "slot", "?": "unread", [FACE_UP]: "face-up" }[code] ?? "back";
}

/** Draw a row of cards into `row`, at most three cards wide: more are narrower. `lit`: the index of a lit slot. */
export function drawCards(row, codes, lit = -1) {
  keyed(
    row,
    codes.map((code, index) => ({ code, index })),
    ({ code, index }) => `${index}:${code}`,
    ({ code }) => el("span", { class: `holder ${kind(code)}` }, draw(code)),
    (holder, { index }) => {
      mark(holder, "lit", index === lit);
      attr(holder.firstChild, "preserveAspectRatio", codes.length > CARDS && "none");
      attr(holder, "data-place-in-hand", index + 1);
    },
  );
}
