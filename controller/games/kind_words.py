"""The usual names of the kinds of irregularities, as phrases with an article."""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind

KINDS: Final = {
    Kind.FOREIGN_CARD: "a foreign card",
    Kind.DECK_COUNT: "a shortage or excess in the deck",
    Kind.UNSHUFFLED: "unshuffled cards",
    Kind.COUNT_IN_DOUBT: "the count is in doubt",
    Kind.WRONG_COUNT: "a wrong number of cards to a hand",
    Kind.EXPOSED_CARD: "a card exposed in dealing",
    Kind.FACE_UP_IN_DEVICE: "a card face up in the device",
    Kind.SIMULTANEOUS: "cards that came together",
    Kind.OTHER_DEALING_ERROR: "another dealing error",
    Kind.TECHNICAL_STOP: "a technical stop of the device",
    Kind.BEFORE_NO_MORE_BETS: 'cards drawn before "No more bets"',
    Kind.WRONG_DISTRIBUTION: "cards at wrong places or in a wrong order",
    Kind.POWER_FAILURE: "a power failure",
    Kind.CARD_IN_SHUFFLING: "a card dropped or exposed in shuffling",
    Kind.DROPPED_CARD: "a card dropped in dealing",
    Kind.LATE_BET: 'a bet after "No more bets"',
    Kind.SIDE_WITHOUT_MAIN: "a side wager without a main one",
    Kind.DEALER_EXPOSED_EARLY: "the Dealer's hand exposed too early",
    Kind.WRONG_VIEWER: "a hand viewed by the wrong person, or a second hand",
    Kind.PLAYER_EXPOSED: "a card that a Player exposed or dropped",
    Kind.OUTSIDE_LIMITS: "a wager outside the limits",
}
