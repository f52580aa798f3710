// What the page knows: the rows and matters of the floor, and what this page alone has open. The server sends what has
// changed; nothing else is derived from it.

let waiting = false;
const drawers = [];

export const state = {
  /** By key: the rows of the floor. */
  rows: new Map(),
  /** Open irregularities, the oldest first; then what else needs a person. */
  matters: [],
  moreMatters: 0,
  /** {away_since, why, unread, unread_first, left_out}, or null before the first message. */
  contact: null,
  /** Whole seconds without a word from the server. */
  silence: 0,
  /** The key of the table whose story is open, and what was received of it. */
  chosen: null,
  story: null,
  /** What is shown of the floor: one pit ("" for all), tables whose name has this text. */
  pit: "",
  text: "",

  /** Change some of it; it is drawn with the next frame. */
  set(fields) {
    Object.assign(state, fields);
    draw();
  },

  /** Whether every table is a simulation. */
  allSimulated() {
    return [...state.rows.values()].every((row) => row.simulated);
  },

  /** `drawer()` is called once a frame in which something changed. */
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

/** The server's clock stands at `ms` now. */
export function setClock(ms) {
  clock = { ms, at: performance.now() };
}

/** Milliseconds since then, by the server's clock; null: it is not known. */
export function since(ms) {
  return ms ? Math.max(0, clock.ms + performance.now() - clock.at - ms) : null;
}

export const NO_CONTACT = 5; // s of silence, then what is shown is old

/** Whether the server speaks. */
export function inContact() {
  return state.contact !== null && state.silence < NO_CONTACT;
}

/** Whether what is shown is how the floor was. */
export function isOld() {
  return state.contact !== null && (!inContact() || state.contact.away_since > 0);
}

const collator = new Intl.Collator("en", { numeric: true });

/** The pit of a row, as the page calls it: with the site, where there are several. */
export function pitKey(row) {
  return `${row.site}/${row.pit}`;
}

/** Every row by site, pit and table, as people count. */
export function sorted() {
  return [...state.rows.values()].sort(
    (one, other) => collator.compare(pitKey(one), pitKey(other)) || collator.compare(one.table, other.table),
  );
}

/** Whether a row is of the pit that is chosen. */
export function isMeant(row) {
  return !state.pit || pitKey(row) === state.pit;
}

/** Whether it has the name that is looked for, too: this hides tiles, and nothing that is urgent. */
export function isShown(row) {
  return isMeant(row) && row.table.toLowerCase().includes(state.text.toLowerCase());
}
