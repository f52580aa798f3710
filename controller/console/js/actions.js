// The acts: which of them each phase, every state and the menu show, and their buttons.

import { moves } from "./arrows.js";
import { needsSign, start, step } from "./flow.js";
import { shown } from "./operate.js";
import { end } from "./second.js";
import { movedLabel, placeOrPile } from "./labels.js";
import { store } from "./store.js";
import { knows, placeName, say } from "./words.js";

/** The acts of each phase beside the next one. The others are in the menu. */
const SECONDARY = {
  closed: ["dealer_on", "bring_deck"],
  idle: ["load_deck", "shuffled_outside", "cut_deck", "close_table"],
  concluded: ["load_deck", "shuffled_outside", "cut_deck", "dealer_off", "close_table"],
  voided: ["place_your_bets", "load_deck", "correct_entry", "close_table"],
  betting: ["place_wager", "reject_excess", "cancel_start"],
  first_card: ["show_first_card", "reopen_bets"],
  dealing_sets: ["reopen_bets", "place_cards", "handle_cards"],
  dealing_singles: ["reopen_bets", "place_cards", "handle_cards"],
  exposing: ["handle_cards"],
  settling: ["count_cards", "correct_entry", "correct_bet"],
  maintenance: ["instruct_device"],
};

/** Acts shown in every phase while possible: the table is held, a device is gone, or bets are on the layout. */
const STANDING = ["continue_round", "resume_table", "deal_by_hand", "record_settled"];

/** The menu's acts, in groups. */
export const MENU = {
  people: ["sign_on", "dealer_on", "take_over", "dealer_off", "lock_screen", "remove_screen"],
  round: [
    "abandon_round",
    "deal_by_hand",
    "players_examined",
    "name_exposed",
    "place_cards",
    "handle_cards",
    "correct_entry",
    "correct_bet",
  ],
  decks: [
    "bring_deck",
    "load_deck",
    "count_cards",
    "count_again",
    "take_deck_out",
    "quarantine_deck",
    "release_deck",
    "shuffled_outside",
    "cut_deck",
  ],
  bets: [
    "enter_bettor",
    "bettor_leaves",
    "place_wager",
    "change_wager",
    "take_back_wager",
    "reject_excess",
    "restrict_betting",
  ],
  device: ["return_to_service", "begin_maintenance", "end_maintenance", "instruct_device", "recall_cards"],
};

/** Acts shown in every state: Problem and Pause. */
const ALWAYS = ["report_irregularity", "pause_table"];

const BETWEEN_ROUNDS = ["closed", "idle", "concluded", "voided"];
const COMING = ["dealer_on", "sign_on", "take_over"]; // ways in which a dealer comes on duty
const SLOW = new Set(["record_settled", "conclude_round"]); // taps on hands at the same place come before these
const BESIDE = 4; // acts beside the next one; the others are in the menu

/** Return the label of an offer's button. */
export function label(screen, offer) {
  const { place, instruction, pile, viewed, overlooked, another } = offer.arguments;
  if (offer.operation === "reconstruct") return movedLabel(moves(screen.view));
  if (viewed) return say("op.handle_cards.viewed");
  if (overlooked) return say("op.place_wager.overlooked");
  if (another) return say("op.bring_deck.another");
  if (place && knows(`op.${offer.operation}.at`))
    return say(`op.${offer.operation}.at`, { place: placeName(screen, place) });
  if (instruction) return say(`instruct.${instruction}`);
  if (offer.operation === "rule") return say(`ruling.${offer.arguments.action}`);
  if (offer.operation === "record_settled" && isNobodyPaid(screen.view)) return say("op.record_settled.none");
  if (screen.view.bets_to_return && knows(`op.${offer.operation}.voided`)) return say(`op.${offer.operation}.voided`);
  if (pile && knows(`op.${offer.operation}.of`)) return say(`op.${offer.operation}.of`, { pile: placeOrPile(screen, pile) });
  return say(`op.${offer.operation}`);
}

/** Return whether bets are only taken and returned. */
function isNobodyPaid({ dues }) {
  return dues.length > 0 && dues.every((due) => due.act !== "pay");
}

/** Return a button that enters an offer. */
export function act(screen, offer, tone) {
  const named = Object.values(offer.arguments)
    .filter((value) => typeof value !== "object")
    .join("/");
  return {
    key: `${offer.operation}/${named}`,
    label: label(screen, offer),
    tone,
    why: offer.allowed ? "" : offer.sentence,
    slow: SLOW.has(offer.operation),
    act: () => (offer.operation === "conclude_round" ? end(screen, offer) : start(offer)),
  };
}

/**
 * Return the next act, for the biggest button. A lapsed first request to end the round counts again. Between rounds
 * nothing is offered beside coming on duty; in a round cards lie, and others may enter an act.
 */
export function primary(screen) {
  const ends = (one) => one.asked && one.allowed && one.operation === "conclude_round";
  const offer = screen.offers.find((one) => one.primary) ?? screen.offers.find(ends);
  const dealt = !offer && screen.view.phase.startsWith("dealing"); // by the device: nothing is entered
  const on = (offer || dealt) && comingOn(screen, offer ?? { role: "dealer" });
  const alone = on && BETWEEN_ROUNDS.includes(screen.view.phase);
  return [on && act(screen, on, "primary"), offer && !alone && act(screen, offer, on ? "" : "primary")].filter(Boolean);
}

/** Return what region B says first of all if a dealer must come on duty first. */
export function comesFirst(screen) {
  const offer = screen.offers.find((one) => one.primary);
  const on = offer && BETWEEN_ROUNDS.includes(screen.view.phase) && comingOn(screen, offer);
  return on ? say(`coming.${on.operation}`) : undefined;
}

/** Return how a dealer comes on duty here. Higher ranks do not sign on: the table is taken over from them. */
function comingOn({ view, people, screen, offers }, { role }) {
  if (screen.dealer || role !== "dealer") return undefined;
  const deals = people.find((person) => person.id === view.dealer)?.role === "dealer";
  const ways = view.dealer ? (deals ? ["sign_on", "take_over"] : ["take_over"]) : ["dealer_on"];
  return ways.map((name) => offers.find((one) => one.operation === name && one.allowed)).find(Boolean);
}

/** Return why the next act is off, or the progress of a returning device. */
export function standing(screen) {
  const offer = screen.offers.find((one) => one.primary);
  const said = screen.view.next_steps.includes(offer?.sentence); // it is shown already
  if (offer?.operation !== "continue_round") return offer && !offer.allowed && !said ? [offer.sentence] : [];
  const { connected, status_agrees: agrees } = screen.view.device;
  return [
    say(connected ? "lost.answers" : "lost.waiting"),
    say(connected && agrees ? "lost.agrees" : "lost.not_compared"),
    say("lost.compare"),
  ];
}

/** Return the acts beside it. */
export function acts(screen) {
  const { phase } = screen.view;
  const beside = compares(screen) ? [] : (SECONDARY[phase] ?? []); // the others are in the menu
  const names = [...STANDING.filter((name) => standsStill(screen, name)), ...beside];
  const found = names
    .flatMap((name) => screen.offers.filter((one) => one.operation === name && !one.primary))
    .filter((one) => isMeant(screen, one));
  const shown = found.slice(0, phase === "maintenance" ? found.length : BESIDE);
  const first = comesFirst(screen);
  const asActs = shown.map((one) => act(screen, one)).map((one, at) => (first && waits(shown[at]) ? { ...one, why: first } : one));
  return [...differs(screen), ...asActs];
}

/** Return whether an act waits for a dealer, if none is signed on between rounds. */
function waits({ operation, role }) {
  return role === "dealer" && !COMING.includes(operation);
}

/** Return the report of a difference found when comparing the cards with the screen. */
function differs(screen) {
  const offer = screen.offers.find((one) => one.operation === "report_irregularity");
  return compares(screen) && offer?.allowed
    ? [{ ...act(screen, offer), key: "differs", label: say("act.differs") }]
    : [];
}

/** Return whether the table waits for people to compare it with the screen. */
function compares(screen) {
  return screen.offers.some((one) => one.primary && one.operation === "continue_round");
}

/** Return whether the act applies here. Single bets are entered only where bettors are. */
function isMeant({ view, layout }, { operation, arguments: known }) {
  if (known.overlooked) return false; // rare, so it is in the menu
  if (operation === "bring_deck") return view.decks.length > 0; // where no decks are recorded, it is in the menu
  return layout.bettors.length > 0 || !["place_wager", "reject_excess", "correct_bet"].includes(operation);
}

/** Return Problem and Pause, which are shown in every state. */
export function always(screen) {
  return ALWAYS.map((operation) => {
    const offer = screen.offers.find((one) => one.operation === operation);
    const isPaused = operation === "pause_table" && screen.view.paused;
    const again = isPaused ? (screen.view.paused === say("phrase.follows") ? ".again" : ".change") : "";
    const isClosed = operation === "pause_table" && screen.view.phase === "closed" && !isPaused;
    const off = offer ? (offer.allowed ? "" : offer.sentence) : say(screen.view.round ? "act.not_now" : "report.none");
    const begin = operation === "pause_table" ? pause : (_, problem) => start(problem);
    return {
      key: operation,
      label: say(`op.${operation}${again}`),
      tone: "steady",
      why: isClosed ? say("pause.closed") : off,
      act: () => begin(screen, offer),
    };
  });
}

/** Pause immediately and ask for the reason afterwards, unless a person has to sign. */
function pause(screen, offer) {
  if (screen.view.paused || needsSign(screen, offer)) return start(offer);
  const why = async ({ entry }) => {
    await shown(entry);
    const again = store.screen.offers.find((one) => one.operation === offer.operation && one.allowed);
    if (again && store.screen.view.paused && !step()) start(again);
  };
  return start(offer, { values: { reason: say("phrase.follows") }, then: why });
}

/** Return reports of overlooked bets if boxes are only marked: bets whose box was not marked. */
export function overlooked(screen) {
  const { view, layout, offers } = screen;
  const offer = offers.find((one) => one.operation === "correct_entry");
  const marked = view.entries.findLast((one) => one.operation === "occupy_boxes");
  if (!offer || layout.wagers_entered || view.phase === "closed") return [];
  const key = { key: "overlooked", label: say("op.correct_entry.overlooked") };
  if (!marked || view.phase === "betting") return [{ ...key, why: say("report.not_now") }];
  const values = { entry: marked.entry, instead: { ...marked.said, operation: marked.operation } };
  const begin = () => start(offer, { values, needs: ["instead/boxes", ...offer.needs] });
  const why = marked.late || (offer.allowed ? "" : offer.sentence);
  return [{ ...act(screen, offer), ...key, why, act: begin }];
}

/** Return whether an act that is shown only when possible is possible now. */
function standsStill(screen, name) {
  return screen.offers.some((one) => one.operation === name && one.allowed);
}
