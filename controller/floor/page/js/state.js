// The page's knowledge: the rows and matters of the floor, and what this page has open. The server sends changes;
// nothing else is derived from it.

let waiting = false;
const drawers = [];

export const state = {
  /** The rows of the floor, by key. */
  rows: new Map(),
  /** Open irregularities, the oldest first; then other matters that need a person. */
  matters: [],
  moreMatters: 0,
  /** {away_since, why, unread, unread_first, left_out}, or null before the first message. */
  contact: null,
  /** {minutes, rounds, irregularities, voids} of the last hour; a count of 0 may be missing. */
  hour: {},
  /** Whole seconds since the server's last message. */
  silence: 0,
  /** The key of the table whose story is open, and the received story. */
  chosen: null,
  story: null,
  /** The shown part of the floor: one pit ("" for all), tables with this text in their name. */
  pit: "",
  text: "",

  /** Change fields, and draw with the next frame. */
  set(fields) {
    Object.assign(state, fields);
    draw();
  },

  /** Return whether every table is a simulation. */
  allSimulated() {
    return [...state.rows.values()].every((row) => row.simulated);
  },

  /** Call `drawer()` once a frame after a change. */
  subscribe(drawer) {
    drawers.push(drawer);
    draw();
  },
};

/** Draw with the next frame. */
export function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    for (const drawer of drawers) drawer();
  });
}

let clock = { ms: 0, at: 0 };

/** Set the server's clock to `ms`. */
export function setClock(ms) {
  clock = { ms, at: performance.now() };
}

/** Return the milliseconds since then by the server's clock; null if unknown. */
export function since(ms) {
  return ms ? Math.max(0, clock.ms + performance.now() - clock.at - ms) : null;
}

export const NO_CONTACT = 5; // s of silence after which the page is out of date

/** Return whether the server is in contact. */
export function inContact() {
  return state.contact !== null && state.silence < NO_CONTACT;
}

/** Return whether the page is out of date. */
export function isOld() {
  return state.contact !== null && (!inContact() || state.contact.away_since > 0);
}

const collator = new Intl.Collator(undefined, { numeric: true });

/** Return the key of a row's pit, with its site. */
export function pitKey(row) {
  return `${row.site}/${row.pit}`;
}

/** Return every row by site, pit and table, in natural order. */
export function sorted() {
  return [...state.rows.values()].sort(
    (one, other) => collator.compare(pitKey(one), pitKey(other)) || collator.compare(one.table, other.table),
  );
}

/** Return whether a row belongs to the chosen pit. */
export function isMeant(row) {
  return !state.pit || pitKey(row) === state.pit;
}

/** Return whether it also has the searched name. The search hides tiles, but nothing urgent. */
export function isShown(row) {
  return isMeant(row) && row.table.toLowerCase().includes(state.text.toLowerCase());
}
