// Lists of which one is tapped, or several.

import { answer, draft } from "./flow.js";
import { say } from "./words.js";

/** One of them answers the step. */
export function tiles(list, value = (one) => one.key) {
  return list.map((one) => ({ ...one, act: () => answer(value(one)) }));
}

/** Several may be meant: tapped on and off, then done. `first`: those marked at first; `none`: it may be none. */
export function several(flow, list, first = [], none = false) {
  const marked = flow.draft ?? first;
  const toggle = (key) => {
    const now = marked.includes(key) ? marked.filter((one) => one !== key) : [...marked, key];
    draft(list.map(([one]) => one).filter((one) => now.includes(one))); // as they stand in the list
  };
  return {
    list: list.map(([key, label]) => ({ key, label, pressed: marked.includes(key), act: () => toggle(key) })),
    right: [
      {
        key: "done",
        label: say("act.done"),
        tone: "primary",
        why: marked.length || none ? "" : say("several.none"),
        act: () => answer(marked),
      },
    ],
  };
}
