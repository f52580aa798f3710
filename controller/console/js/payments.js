// Payments after the hands are compared: by bet if wagers are entered, else by box in the table's words.

import { betName } from "./labels.js";
import { say } from "./words.js";

/** Return a line for each bet's result, until the round is ended. */
export function due(screen) {
  const { view } = screen;
  if (view.phase !== "settling" || view.bets_to_return) return [];
  const settled = [...view.settlement].sort((one, other) => boxOf(screen, one) - boxOf(screen, other));
  const lines = settled.length ? settled.map((one) => forBet(screen, one)) : view.payments;
  return view.chips_paid && lines.length ? [["title", say("pay.was")], ...lines] : lines;
}

/** Return the box, because chips are paid in the order of boxes. */
function boxOf(screen, { number }) {
  return screen.view.bets.find((one) => one.number === number)?.box ?? 0;
}

/** Return a line such as "Box 1, Ann, Initial Bet 100: pay 95". */
function forBet(screen, settled) {
  const lies = screen.view.bets.find((one) => one.number === settled.number);
  return say("pay.bet", { bet: lies ? betName(screen, lies) : settled.number, dues: dues(settled) });
}

/** Return the amounts. A won bet stays the bettor's; other bets may be lost, returned or held in part. */
function dues({ verdict, ...parts }) {
  if (verdict === "won") return say("pay.paid", { n: parts.paid });
  const moved = ["collected", "returned", "held"].filter((name) => Number(parts[name]));
  return moved.map((name) => say(`pay.${name}`, { n: parts[name] })).join(say("join.comma"));
}
