// Questions about bets: the box, the bettor, the wager, the amount.

import { several, tiles } from "./choices.js";
import { answer, draft, known } from "./flow.js";
import { betName } from "./labels.js";
import { placeName, say } from "./words.js";

const MOST = 4; // bets of a kind: each tap on a box allows one more, then any number

function boxesOf(screen) {
  return Object.entries(screen.layout.labels).filter(([place]) => place !== "D");
}

function tapped(screen) {
  return {
    picking: new Set(boxesOf(screen).map(([place]) => place)),
    pick: (place) => answer(Number(place.slice(1))),
  };
}

/** Steps of `steps.js`, by kind. */
export const BETS = {
  box: (screen) => tapped(screen),

  // The bettor's seat.
  seat: (screen) => ({ ...tapped(screen), right: [{ key: "stands", label: say("seat.stands"), act: () => answer(null) }] }),

  // Boxes as entered or in force, to be changed; `none`: an empty choice is allowed.
  boxes: (screen, flow, { field, none }, about) => {
    const list = boxesOf(screen).map(([place, label]) => [Number(place.slice(1)), label]);
    const shown = several(flow, list, about[field ?? "boxes"], none);
    const pick = (place) => shown.list.find((one) => `B${one.key}` === place).act();
    const picked = { ...shown, picking: tapped(screen).picking, pick };
    if (field) return picked;
    const marked = shown.list.filter((one) => one.pressed).map((one) => one.key);
    const was = about.boxes ?? [];
    const facts = was.length ? [say("boxes.was", { boxes: was.join(say("join.comma")) }), say("boxes.now", { boxes: marked.join(say("join.comma")) })] : [];
    const shape = { ...picked, list: [], selection: marked, facts, isSaid: true }; // tapped on the stage
    if (!flow.values.instead) return shape;
    const isSame = marked.join() === was.join();
    return { ...shape, question: say("ask.boxes.wrong"), right: shown.right.map((one) => ({ ...one, why: one.why || (isSame ? say("boxes.same") : "") })) };
  },

  // The most bets of a kind on a box: each tap adds one.
  limits: (screen, flow) => {
    const limits = flow.draft ?? known(flow).fewer_wagers;
    const named = new Set([...boxesOf(screen).map(([place]) => Number(place.slice(1))), ...limits.map(([box]) => box)]);
    const tap = (box, most) => {
      const others = limits.filter(([one]) => one !== box);
      const next = most === undefined ? 1 : most + 1;
      draft(next > MOST ? others : [...others, [box, next]]);
    };
    const list = [...named].map((box) => {
      const most = limits.find(([one]) => one === box)?.[1];
      const place = placeName(screen, box ? `B${box}` : "D");
      const label = most === undefined ? say("limits.none", { place }) : say("limits.most", { place, most });
      return { key: box, label, pressed: most !== undefined, act: () => tap(box, most) };
    });
    const done = { key: "done", label: say("act.done"), tone: "primary", act: () => answer(limits) };
    return { list, right: [done] };
  },

  bettors: (screen, flow) => {
    const held = known(flow).one_box;
    const all = [...new Set([...screen.layout.bettors, ...held])];
    return several(
      flow,
      all.map((name) => [name, name]),
      held,
      true,
    );
  },

  bettor: (screen, flow, { unknown }) => ({
    list: tiles(screen.layout.bettors.map((name) => ({ key: name, label: name }))),
    right: [unknown && { key: "unknown", label: say("which.unknown"), act: () => answer("") }],
  }),

  bet: (screen) => ({
    list: tiles(screen.view.bets.map((bet) => ({ key: bet.number, label: betName(screen, bet) }))),
  }),

  bets: (screen, flow) =>
    several(
      flow,
      screen.view.bets.map((bet) => [bet.number, betName(screen, bet)]),
    ),

  wager: (screen) => ({ list: tiles(screen.layout.wagers.map((wager) => ({ key: wager.id, label: wager.name }))) }),
};
