// The page's changes to the document. A node stays while its content changes, so that no button is exchanged under a
// finger. Text is set as text; no function here turns a string into HTML.

const SVG = "http://www.w3.org/2000/svg";
const SEEN = 8; // px below the edge that hide nothing
const MARK = 32; // px at the lower edge, with the sign for more below

/**
 * Return a new element. `attributes`: strings; true for one without a value; false, null or undefined for none; a
 * function for an event (`onclick`).
 */
export function el(tag, attributes = {}, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/** Return a new element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node[name] = value;
    else attr(node, name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Set a node's text, if it differs. */
export function text(node, string) {
  if (node.textContent !== string) node.textContent = string;
  return node;
}

/** Set an attribute, or remove it (false, null, undefined), if it differs. */
export function attr(node, name, value) {
  if (value === false || value === null || value === undefined) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
    return node;
  }
  const wanted = value === true ? "" : String(value);
  if (node.getAttribute(name) !== wanted) node.setAttribute(name, wanted);
  return node;
}

/** Set or remove one class. */
export function mark(node, name, on) {
  if (node.classList.contains(name) !== Boolean(on)) node.classList.toggle(name, Boolean(on));
  return node;
}

/**
 * Give `parent` one child for each item, in order. `key(item)` tells them apart, `create(item)` makes a new node,
 * `update(node, item, index)` updates any. Other children of `parent` are removed, also duplicates of a key.
 */
export function keyed(parent, items, key, create, update = () => {}) {
  const known = new Map([...parent.children].map((node) => [node.dataset.key, node]));
  let after = null;
  items.forEach((item, index) => {
    const name = String(key(item));
    let node = known.get(name);
    if (node) known.delete(name);
    else {
      node = create(item);
      node.dataset.key = name;
    }
    update(node, item, index);
    const place = after ? after.nextSibling : parent.firstChild;
    if (place !== node) parent.insertBefore(node, place);
    after = node;
  });
  while (parent.lastChild !== after) parent.lastChild.remove();
}

/** Return whether some of its content lies below its edge now. */
function isBelow(node) {
  return node.scrollHeight - node.scrollTop - node.clientHeight > SEEN;
}

/** Scroll at a tap on the mark, and keep the tap from what lies below it. */
function atMark(node, event) {
  const under = node.getBoundingClientRect().bottom - event.clientY;
  if (event.clientY === 0 || under >= MARK || !isBelow(node)) return; // 0: by a key
  event.stopPropagation();
  node.scrollBy({ top: node.clientHeight - MARK });
}

/** Mark a node that scrolls while something in it lies below its edge; a tap at the mark scrolls to it. */
export function edge(node) {
  const look = () => mark(node, "more", isBelow(node));
  if (!node.onscroll) {
    node.onscroll = look;
    node.addEventListener("click", (event) => atMark(node, event), { capture: true });
  }
  look();
}

const DEAD = 350; // ms after the meaning changed
const SLOW = 1200; // ms after a row of taps, which must not continue here

/** Note what a tap at `node` means now. If that blocks taps for long, a filling bar shows it. */
export function means(node, meaning) {
  if (node.meaning === meaning) return;
  node.meaning = meaning;
  node.since = performance.now();
  if (!node.slow) return;
  const fills = [{ transform: "scaleX(0)" }, { transform: "scaleX(1)" }];
  node.animate(fills, { duration: SLOW, pseudoElement: "::before" });
}

/** Return whether the meaning has just changed, so that a tap already on its way was meant for the old one. */
export function isFresh(node) {
  return performance.now() - node.since < (node.slow ? SLOW : DEAD);
}

const FLASH = 240; // ms

/** Show that a tap at `node` did not count. */
export function flash(node) {
  node.animate([{ opacity: 0.4 }, { opacity: 1 }], { duration: FLASH });
}
