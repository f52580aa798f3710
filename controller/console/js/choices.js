// Lists for tapping one item or several.

import { answer, draft } from "./flow.js";
import { say } from "./words.js";

/** Return tiles of which one answers the step. */
export function tiles(list, value = (one) => one.key) {
  return list.map((one) => ({ ...one, act: () => answer(value(one)) }));
}

/** Return tiles to mark and a button to end. `first`: those marked at first; `none`: an empty choice is allowed. */
export function several(flow, list, first = [], none = false) {
  const marked = flow.draft ?? first;
  const toggle = (key) => {
    const now = marked.includes(key) ? marked.filter((one) => one !== key) : [...marked, key];
    draft(list.map(([one]) => one).filter((one) => now.includes(one))); // in the order of the list
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
