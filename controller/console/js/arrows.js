// Arrows on region C for the moves of cards, numbered as in the panel.

import { svg } from "./dom.js";

const SHORT = 44; // px by which an arrow ends before its goal
const ABOVE = 22; // px by which an arrow stays above a line of text
const TURN = 30; // px: the radius of an arrow that turns a card

/** Return the moves that an open matter asks for, or those that remain once all is decided. */
export function moves(view) {
  const found = view.irregularities.find((one) => one.stage === "moving" && one.moves.length);
  return drawn(found ? found.moves : view.moves);
}

/** Join the moves of single cards; a hand that moves whole is one move: `{n, source, place, ordinals}`. */
export function drawn(cards) {
  const joined = new Map();
  for (const { ordinal, source, place, card } of cards) {
    const key = `${source}>${place}${source === place ? card : ""}`;
    if (!joined.has(key)) joined.set(key, { source, place, card, ordinals: [] });
    joined.get(key).ordinals.push(ordinal);
  }
  return inOrder([...joined.values()]).map((move, at) => ({ ...move, n: at + 1 }));
}

/** Order the moves so that a place is emptied before other cards come. In a cycle any may be first. */
function inOrder(moves_) {
  const left = [...moves_];
  const found = [];
  while (left.length) {
    const at = left.findIndex(({ place }) => !left.some(({ source }) => source === place));
    found.push(...left.splice(Math.max(at, 0), 1));
  }
  return found;
}

/**
 * Draw `list` into `layer`, between the nodes of `places`; `beside`: nodes of piles, by name. The arrow that turns a card
 * is on that card.
 */
export function arrows(layer, places, list, beside) {
  const wide = layer.clientWidth;
  const high = layer.clientHeight;
  const key = JSON.stringify([wide, high, list]);
  if (layer.dataset.drawn === key) return;
  layer.dataset.drawn = key;
  const frame = layer.getBoundingClientRect();
  const middle = ({ source, place, card }, at) => {
    const turned = source === place && card ? ` > :nth-child(${card})` : "";
    const cards = places.querySelector(`[data-place="${CSS.escape(at)}"] .cards${turned}`) ?? beside[at];
    if (!cards || cards.hidden) return [wide / 2, high / 2];
    const { left, top, right, width, height } = cards.getBoundingClientRect();
    if (cards === beside.dropped) return [right - SHORT - frame.left, top - ABOVE - frame.top]; // the piles are named last
    const down = cards === beside.aside ? -ABOVE : height / 2; // keeps the text there legible
    return [left + width / 2 - frame.left, top + down - frame.top];
  };
  const drawing = svg("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}` });
  const head = svg("marker", {
    id: "head",
    viewBox: "0 0 10 10",
    refX: 8,
    refY: 5,
    markerWidth: 4,
    markerHeight: 4,
    orient: "auto",
  });
  head.append(svg("path", { d: "M0 0L10 5L0 10z" }));
  const begins = (move) => {
    const { source, n } = move;
    const [x, y] = middle(move, source);
    return beside[source] ? [x + (n - 1) * SHORT, y] : [x, y]; // several arrows start there
  };
  drawing.append(head, ...list.flatMap((move) => arrow(move, begins(move), middle(move, move.place))));
  layer.replaceChildren(drawing);
}

/**
 * Return a bent arrow with its number at its start, so that moves there and back are two lines. It ends beside the
 * other's number. A card that is turned in place has an arrow that comes back.
 */
function arrow({ n, source, place }, [fromX, fromY], [goalX, goalY]) {
  if (source === place) return turn(n, fromX, fromY);
  const far = Math.hypot(goalX - fromX, goalY - fromY) || 1;
  const toX = goalX - ((goalX - fromX) / far) * SHORT;
  const toY = goalY - ((goalY - fromY) / far) * SHORT;
  const bend = (toX - fromX) / 5;
  const path = `M${fromX} ${fromY}Q${(fromX + toX) / 2} ${(fromY + toY) / 2 - bend} ${toX} ${toY}`;
  return [svg("path", { class: "line", d: path, "marker-end": "url(#head)" }), ...numbered(n, fromX, fromY)];
}

function turn(n, x, y) {
  const path = `M${x} ${y - TURN}A${TURN} ${TURN} 0 1 1 ${x - TURN} ${y}`;
  return [svg("path", { class: "line", d: path, "marker-end": "url(#head)" }), ...numbered(n, x, y - TURN)];
}

function numbered(n, x, y) {
  const number = svg("text", { x, y: y + 9 });
  number.textContent = String(n);
  return [svg("circle", { cx: x, cy: y, r: 20 }), number];
}
