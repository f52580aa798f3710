// Drawings of cards: rank above suit, a back, an unread card, an empty slot.

import { attr, el, keyed, mark, svg } from "./dom.js";

const SYMBOLS = "/console/cards.svg";
const RANK = /^(10|[2-9TJQKA])([SHDC])$/;
const FACE_UP = "^^";

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
    const narrow = rank === "10" ? { textLength: 38, lengthAdjust: "spacingAndGlyphs" } : {};
    const letter = svg("text", { x: 22, y: 43, ...narrow });
    letter.textContent = rank;
    card.append(letter, svg("use", { href: `${SYMBOLS}#${face[2]}`, x: 6, y: 51, width: 32, height: 32 }));
  } else if (code === FACE_UP || code === "?") {
    const letter = svg("text", { x: 22, y: 62 });
    letter.textContent = code === "?" ? "?" : "!";
    card.append(letter);
  } else if (code) {
    card.append(svg("use", { href: `${SYMBOLS}#lozenges`, width: 44, height: 92 }));
  }
  return card;
}

function kind(code) {
  if (RANK.test(code)) return "HD".includes(code.at(-1)) ? "face red-suit" : "face";
  return { "": "slot", "?": "unread", [FACE_UP]: "face-up" }[code] ?? "back";
}

/** Draw a row of cards into `row`, at most three cards wide: more overlap. `lit`: the index of a lit slot. */
export function drawCards(row, codes, lit = -1) {
  mark(row, "crowded", codes.length > 3);
  if (codes.length > 3) row.style.setProperty("--count", codes.length);
  keyed(
    row,
    codes.map((code, index) => ({ code, index })),
    ({ code, index }) => `${index}:${code}`,
    ({ code }) => el("span", { class: `holder ${kind(code)}` }, draw(code)),
    (holder, { index }) => {
      mark(holder, "lit", index === lit);
      attr(holder, "data-place-in-hand", index + 1);
    },
  );
}
