// What is done with the bets when the hands have been compared: per bet where wagers are entered, else per box, as the
// table says it.

import { betName } from "./labels.js";
import { say } from "./words.js";

/** What each bet comes to, in a line, until the round is ended. */
export function due(screen) {
  const { view } = screen;
  if (view.phase !== "settling" || view.bets_to_return) return [];
  const settled = [...view.settlement].sort((one, other) => boxOf(screen, one) - boxOf(screen, other));
  const lines = settled.length ? settled.map((one) => forBet(screen, one)) : view.payments;
  return view.chips_paid && lines.length ? [["title", say("pay.was")], ...lines] : lines;
}

/** In the order of the boxes, as chips are paid. */
function boxOf(screen, { number }) {
  return screen.view.bets.find((one) => one.number === number)?.box ?? 0;
}

/** "Box 1, Ann, Initial Bet 100: pay 95". */
function forBet(screen, settled) {
  const lies = screen.view.bets.find((one) => one.number === settled.number);
  return say("pay.bet", { bet: lies ? betName(screen, lies) : settled.number, dues: dues(settled) });
}

/** What was won is paid, and the bet stays the bettor's. Of another bet a part may be lost, returned or held. */
function dues({ verdict, ...parts }) {
  if (verdict === "won") return say("pay.paid", { n: parts.paid });
  const moved = ["collected", "returned", "held"].filter((name) => Number(parts[name]));
  return moved.map((name) => say(`pay.${name}`, { n: parts[name] })).join(say("join.comma"));
}
