// The page of a display, which operates nothing. `?for=surveillance` adds the open matters and the device;
// `?side=players` shows the layout from the players' side.

import * as bar from "./bar.js";
import { connect } from "./contact.js";
import { el, keyed, mark, text } from "./dom.js";
import * as sentence from "./sentence.js";
import { asked } from "./sentence.js";
import * as stage from "./stage.js";
import { inContact, store } from "./store.js";
import { load, placeName, say, time } from "./words.js";

const address = new URLSearchParams(location.search);
const surveillance = address.get("for") === "surveillance";

/** What players read in each phase; in all others they wait. */
const SAYS = {
  betting: "betting",
  first_card: "no_more_bets",
  dealing_sets: "dealing",
  dealing_singles: "dealing",
  examining: "no_more_bets",
  exposing: "results",
  settling: "results",
  concluded: "results",
};

function headline({ view }) {
  const stands = view.held || view.paused || view.service !== "in_service" || !inContact();
  const key = stands ? "wait" : (SAYS[view.phase] ?? "wait");
  return { text: say(`display.${key}`), count: "", tone: "plain" };
}

/** Draw every open matter, and the device in words. */
function matters(screen) {
  const { view } = screen;
  const lines = view.irregularities.map((found) => ({
    key: found.id,
    blocking: found.blocks,
    line: [time(found.noticed_utc_ns), found.place && placeName(screen, found.place), found.clause, asked(found)]
      .filter(Boolean)
      .join(" · "),
  }));
  const cause = view.service === "in_service" ? "" : view.service_cause;
  const device = view.device.sentence || view.device.stopped || cause;
  if (device) lines.push({ key: "device", blocking: false, line: device });
  for (const line of view.warnings) lines.push({ key: line, blocking: false, line });
  keyed(
    document.getElementById("matters"),
    lines,
    ({ key }) => key,
    () => el("p"),
    (node, { line, blocking }) => {
      text(node, line);
      mark(node, "blocking", blocking);
    },
  );
}

await load();
mark(document.body, "surveillance", surveillance);
mark(document.body, "mirrored", address.get("side") === "players");
document.getElementById("matters").hidden = !surveillance;
store.set({ quiet: !surveillance });
connect();
store.subscribe(() => {
  const { screen } = store;
  if (screen && !surveillance) store.own.headline = headline(screen);
  for (const region of [sentence, stage, bar]) region.render(screen);
  if (screen && surveillance) matters(screen);
});
