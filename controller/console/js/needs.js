// What is asked for each argument that an operation still needs. A name with a point is that operation's own.
// Kinds are drawn by steps.js.

const PHRASES = {
  reason: ["mistake", "device", "player", "house"],
  pause: ["dispute", "spill", "drop", "call"],
  ruling: ["seen", "camera", "agreed", "house"],
};

/** By argument: `{kind, ...}`. */
export const STEPS = {
  place: { kind: "place" },
  box: { kind: "box" },
  places: { kind: "places" },
  boxes: { kind: "boxes" },
  cards: { kind: "faces" },
  card: { kind: "faces", count: 1 },
  "place_cards.cards": { kind: "where" },
  "deal_by_hand.cards": { kind: "number", most: 52 },
  "instruct_device.cards": { kind: "number", most: 5 },
  number: { kind: "number", most: 60 },
  count: { kind: "number", most: 60 },
  counted: { kind: "number", most: 10 },
  amount: { kind: "number", most: 1e12 },
  of_round: { kind: "number", most: 1e9 },
  witness: { kind: "person" },
  by: { kind: "person" },
  authority: { kind: "signer" },
  reason: { kind: "phrase", phrases: PHRASES.reason },
  "pause_table.reason": { kind: "phrase", phrases: PHRASES.pause },
  because: { kind: "phrase", phrases: PHRASES.reason },
  text: { kind: "phrase", phrases: PHRASES.ruling },
  pile: { kind: "pile" },
  kind: { kind: "report" },
  entry: { kind: "entry" },
  bet: { kind: "bet" },
  bets: { kind: "bets" },
  wager: { kind: "wager" },
  bettor: { kind: "bettor" },
  "enter_bettor.bettor": { kind: "words" },
  deck: { kind: "deck" },
  "bring_deck.deck": { kind: "words" },
  back: { kind: "words" },
  seal: { kind: "words" },
  ordinals: { kind: "order" },
  sign: { kind: "sign" },
};

/** Where each phase has which acts, beside the one that comes next. The others are in the menu. */
export const SECONDARY = {
  closed: ["dealer_on", "bring_deck"],
  idle: ["load_deck", "shuffled_outside", "cut_deck", "close_table"],
  concluded: ["load_deck", "shuffled_outside", "cut_deck", "dealer_off", "close_table"],
  voided: ["place_your_bets", "load_deck", "correct_entry", "close_table"],
  betting: ["place_wager", "reject_excess", "cancel_start"],
  first_card: ["show_first_card", "reopen_bets"],
  dealing_sets: ["reopen_bets", "place_cards", "handle_cards"],
  dealing_singles: ["reopen_bets", "place_cards", "handle_cards"],
  examining: ["expose_hand", "handle_cards"],
  exposing: ["expose_hand", "handle_cards"],
  settling: ["record_settled", "count_cards", "correct_entry", "correct_bet"],
  maintenance: ["instruct_device"],
};

/** Shown in every phase, where the table stands still or a device is gone. */
export const STANDING = ["continue_round", "resume_table", "return_to_service", "deal_by_hand"];

/** The menu's acts, in groups. */
export const MENU = {
  people: ["sign_on", "dealer_on", "take_over", "dealer_off", "lock_screen"],
  round: [
    "abandon_round",
    "deal_by_hand",
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
