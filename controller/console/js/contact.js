// Contact between stream and store: silence, its end, and a page older than the daemon.

import { follow } from "./stream.js";
import { NO_WORD, store } from "./store.js";
import { inLanguage, say } from "./words.js";

const BETWEEN_ROUNDS = ["closed", "idle", "concluded", "voided", "maintenance"];
let page = null;
let answered = null; // the last answer before the silence

/** Follow the table into the store. */
export function connect() {
  follow(
    inLanguage("/v1/screen"),
    {
      state: (screen) => {
        store.receive({ screen, stopped: false });
        renew(screen);
      },
      beat: (beat) => store.receive({ beat }),
      stopped: ({ seen = "" }) => store.receive({ stopped: true, beat: { ...store.beat, seen } }),
    },
    (silence, was) => {
      if (was < NO_WORD) answered = store.answer;
      if (silence === 0 && was >= NO_WORD) back(was);
      else store.receive({ silence });
    },
  );
}

/** Say how long the silence was, unless a tap was answered meanwhile. */
function back(seconds) {
  if (store.answer !== answered) {
    store.receive({ silence: 0 });
    return;
  }
  const entry = store.screen?.entry ?? 0;
  const sentence = say("contact.back", { n: seconds });
  store.receive({ silence: 0, answer: { accepted: true, entry, code: "", sentence, utc_ns: store.beat?.utc_ns ?? 0 } });
}

/** Reload the page if the daemon serves another version, but never in a round. */
function renew(screen) {
  page ??= screen.page;
  if (screen.page !== page && BETWEEN_ROUNDS.includes(screen.view.phase)) location.reload();
}
