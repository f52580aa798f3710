// The question for each argument that an operation still needs. A name with a point belongs to that operation. steps.js
// draws the kinds.

const PHRASES = {
  reason: ["mistake", "device", "player", "house"],
  pause: ["dispute", "spill", "drop", "call"],
  hand: ["device", "house"],
  maintenance: ["check", "cleaning", "device", "house"],
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
  witness: { kind: "person", second: true },
  by: { kind: "person" },
  authority: { kind: "signer" },
  reason: { kind: "phrase", phrases: PHRASES.reason },
  "pause_table.reason": { kind: "phrase", phrases: PHRASES.pause },
  "begin_maintenance.reason": { kind: "phrase", phrases: PHRASES.maintenance },
  because: { kind: "phrase", phrases: PHRASES.hand },
  text: { kind: "phrase", phrases: PHRASES.ruling },
  pile: { kind: "pile" },
  kind: { kind: "report" },
  entry: { kind: "entry" },
  bet: { kind: "bet" },
  bets: { kind: "bets" },
  wager: { kind: "wager" },
  bettor: { kind: "bettor" },
  "enter_bettor.bettor": { kind: "words" },
  "handle_cards.bettor": { kind: "bettor", unknown: true },
  seat: { kind: "seat" },
  "report_irregularity.card": { kind: "which" },
  "report_irregularity.sure": { kind: "sure" },
  "cancel_start.sure": { kind: "certain" },
  "dealer_off.sure": { kind: "certain" },
  closed_boxes: { kind: "boxes", field: "closed_boxes", none: true },
  fewer_wagers: { kind: "limits" },
  one_box: { kind: "bettors" },
  deck: { kind: "deck" },
  "bring_deck.deck": { kind: "words" },
  back: { kind: "words" },
  seal: { kind: "words" },
  ordinals: { kind: "order" },
  open: { kind: "ticks" },
  screen: { kind: "screen" },
  instead: { kind: "instead" },
  countersign: { kind: "countersign" },
  sign: { kind: "sign" },
};

/** Arguments that are asked again when an operation replaces a wrong entry; the rest stays as entered. */
export const REPLACED = {
  handle_cards: ["place"],
  expose_hand: ["cards"],
  show_first_card: ["card"],
  occupy_boxes: ["boxes"],
  count_cards: ["count"],
  report_irregularity: ["kind"],
};

/** Kinds of irregularities in groups of at most six, as they are listed. */
export const GROUPS = {
  cards: ["exposed_card", "dropped_card", "face_up_in_device", "foreign_card", "simultaneous", "before_no_more_bets"],
  hands: ["wrong_count", "wrong_distribution", "wrong_viewer", "player_exposed", "dealer_exposed_early", "other_dealing_error"],
  bets: ["late_bet", "outside_limits", "side_without_main"],
  device: ["technical_stop", "power_failure"],
  deck: ["deck_count", "count_in_doubt", "unshuffled", "card_in_shuffling"],
};

/** Kinds that are listed in every phase, so that they keep their places. */
export const OFTEN = new Set([
  "exposed_card",
  "wrong_count",
  "simultaneous",
  "face_up_in_device",
  "dropped_card",
  "player_exposed",
  "wrong_distribution",
  "wrong_viewer",
]);

/** A step before all others: the person who takes over ticks what is open; an act that one tap must not do. */
export const BEFORE = {
  take_over: (offer) => (offer.arguments.open?.length ? "open" : ""),
  cancel_start: () => "cancel_start.sure",
  dealer_off: () => "dealer_off.sure",
};
