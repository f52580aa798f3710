// One sentence: what is most urgent on the floor, or that the page is out of date.

import { age } from "./labels.js";
import { inContact, isMeant, since, state } from "./state.js";
import { el, mark, text } from "/console/js/dom.js";
import { knows, say, time } from "/console/js/words.js";

const parts = {};
const TONES = ["amber", "red"];
let heardAt = 0; // ns of UTC: the time of day of the server's last message

/** Return the sentence: `{text, tone}`. */
export function headline() {
  const { contact, rows, matters } = state;
  if (contact === null) return { text: say("headline.waiting"), tone: "amber" };
  if (!inContact()) return { text: say("headline.server", { time: time(heardAt) }), tone: "red" };
  if (contact.away_since) return { text: broker(contact), tone: "red" };
  const meant = [...rows.values()].filter(isMeant);
  const stands = meant.filter((row) => row.tone === "red");
  if (stands.length) {
    const oldest = matters.find((one) => stands.includes(rows.get(one.row)));
    const words = say("headline.stands", { n: stands.length });
    const since_ = oldest && age(oldest.since);
    return { text: since_ ? `${words} ${say("headline.oldest", { age: since_ })}` : words, tone: "red" };
  }
  const acts = meant.filter((row) => row.tone === "amber").length;
  if (acts) return { text: say("headline.acts", { n: acts }), tone: "amber" };
  return { text: say(rows.size ? "headline.calm" : "headline.none"), tone: "" };
}

/** Return why there is no broker, and since when. */
function broker({ why, away_since }) {
  const reason = say(knows(`broker.${why}`) ? `broker.${why}` : "broker.floor-unreachable");
  if (!state.rows.size) return reason;
  return `${reason} ${say("headline.old", { time: time((Date.now() - since(away_since)) * 1e6) })}`;
}

export function render() {
  const region = document.getElementById("headline");
  if (!parts.text) {
    parts.text = el("h2", { class: "text" });
    region.replaceChildren(el("span", { class: "sign" }), parts.text);
  }
  if (state.silence === 0) heardAt = Date.now() * 1e6;
  const said = headline();
  text(parts.text, said.text);
  for (const tone of TONES) mark(region, tone, said.tone === tone);
}
