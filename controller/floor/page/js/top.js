// Choices for the display: the pit, a table's name, language, colours.

import { pitName } from "./labels.js";
import { sorted, pitKey, state } from "./state.js";
import { el, keyed, text } from "/console/js/dom.js";
import { choose, language, languages, say, theme } from "/console/js/words.js";

const parts = {};

function build(region) {
  parts.title = el("h1");
  parts.simulated = el("span", { class: "simulated" });
  parts.pit = el("select", { "aria-label": say("top.pit"), onchange: () => state.set({ pit: parts.pit.value }) });
  parts.text = el("input", {
    type: "search",
    autocomplete: "off",
    "aria-label": say("top.search"),
    placeholder: say("top.search"),
    oninput: () => state.set({ text: parts.text.value.trim() }),
  });
  parts.language = el(
    "select",
    { class: "languages", "aria-label": say("top.language"), onchange: () => choose("language", parts.language.value) },
    ...Object.entries(languages).map(([code, name]) => el("option", { value: code, selected: code === language }, name)),
  );
  const button = (label, act) => el("button", { type: "button", onclick: act }, label);
  region.replaceChildren(
    parts.title,
    parts.simulated,
    parts.pit,
    parts.text,
    parts.language,
    button(say(`menu.theme.${theme}`), () => choose("theme", theme === "dark" ? "light" : "dark")),
  );
}

/** Focus the search field. */
export function search() {
  parts.text.focus();
}

export function render() {
  if (!parts.title) build(document.getElementById("top"));
  const rows = sorted();
  const sites = [...new Set(rows.map((row) => row.site))];
  text(parts.title, sites.length === 1 ? sites[0] : say("region.top"));
  text(parts.simulated, rows.length && state.allSimulated() ? say("bar.simulated") : "");
  document.title = `${state.matters.length || ""} ${say("region.top")}`.trim();
  const pits = [...new Map(rows.map((row) => [pitKey(row), pitName(row)]))];
  if (state.pit && !pits.some(([key]) => key === state.pit)) state.set({ pit: "" });
  keyed(
    parts.pit,
    [["", say("top.all")], ...pits],
    ([key]) => key,
    ([key]) => el("option", { value: key }),
    (node, [, name]) => text(node, name),
  );
  if (parts.pit.value !== state.pit) parts.pit.value = state.pit;
  parts.pit.hidden = pits.length < 2;
}
