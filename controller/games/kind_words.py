"""The usual names of the kinds of irregularities, as phrases with an article."""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind
from firmware_bridge.messages import Message, message

KINDS: Final[dict[Kind, Message]] = {
    Kind.FOREIGN_CARD: message("a foreign card"),
    Kind.DECK_COUNT: message("a shortage or excess in the deck"),
    Kind.UNSHUFFLED: message("unshuffled cards"),
    Kind.COUNT_IN_DOUBT: message("the count is in doubt"),
    Kind.WRONG_COUNT: message("a wrong number of cards in a hand"),
    Kind.EXPOSED_CARD: message("a card exposed in dealing"),
    Kind.FACE_UP_IN_DEVICE: message("a card face up in the device"),
    Kind.SIMULTANEOUS: message("cards that came together"),
    Kind.OTHER_DEALING_ERROR: message("another dealing error"),
    Kind.TECHNICAL_STOP: message("a technical stop of the device"),
    Kind.BEFORE_NO_MORE_BETS: message('cards drawn before "No more bets"'),
    Kind.WRONG_DISTRIBUTION: message("cards in the wrong place or order"),
    Kind.POWER_FAILURE: message("a power failure"),
    Kind.CARD_IN_SHUFFLING: message("a card dropped or exposed in shuffling"),
    Kind.DROPPED_CARD: message("a card dropped in dealing"),
    Kind.LATE_BET: message('a bet after "No more bets"'),
    Kind.SIDE_WITHOUT_MAIN: message("a side wager without a main one"),
    Kind.DEALER_EXPOSED_EARLY: message("the {dealer}'s hand exposed too early"),
    Kind.WRONG_VIEWER: message("a hand viewed by the wrong person, or a second hand"),
    Kind.PLAYER_EXPOSED: message("a card that a Player exposed or dropped"),
    Kind.OUTSIDE_LIMITS: message("a wager outside the limits"),
}
