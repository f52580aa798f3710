"""Words for people's acts with decks, and with cards outside the hands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import CARD, COUNT, Tokens
from controller.people_words.word import Act, Word, counted, entering
from controller.roles import Role
from controller.table import operations
from controller.table.model import Pile
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.messages import message

DECK: Final = message("the name of a deck")


def _bring(tokens: Tokens) -> operations.BringDeck:
    seal = " ".join(tokens.tail("seal") or ())
    name, back = tokens.take(DECK), tokens.take(message("the back of its cards"))
    another = tokens.maybe("another")
    return operations.BringDeck(name, back, seal or f"seal of {name}", DECK_SIZE, tokens.seen_by, another)


def _take_out(tokens: Tokens) -> operations.TakeDeckOut:
    name = tokens.take(DECK)
    count = tokens.number(COUNT) if tokens.maybe("count") else DECK_SIZE
    return operations.TakeDeckOut(name, tokens.reason, count, tokens.seen_by)


def _read_load(tokens: Tokens) -> Act:
    name = tokens.take(DECK)
    return lambda table: table.put_in(name)


def _dropped(tokens: Tokens) -> operations.PlaceCards:
    ordinals = tokens.numbers(CARD)
    return operations.PlaceCards(tuple(operations.CardAt(ordinal, Pile.DROPPED) for ordinal in ordinals))


def _count_again(tokens: Tokens) -> operations.CountAgain:
    count = counted(tokens)
    return operations.CountAgain(count.pile, count.number, count.witness)


DECK_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "bring deck": entering(
        "bring deck NAME BACK [another] [seal SEAL] [witness NAME]",
        message("bring a deck to the table, counted"),
        operations.BringDeck,
        _bring,
    ),
    "take deck out": entering(
        "take deck out NAME [count NUMBER] [witness NAME] [because TEXT]",
        message("take a deck away from the table, counted; without a number all its cards are there"),
        operations.TakeDeckOut,
        _take_out,
        reason=message("worn"),
    ),
    "load deck": Word("load deck NAME", message("put this deck into the device"), _read_load, (operations.LoadDeck,)),
    "shuffled": entering(
        "shuffled [BY WHAT]",
        message("record that the deck was shuffled by hand or by that machine, for a device that does not shuffle"),
        operations.ShuffledOutside,
        lambda tokens: operations.ShuffledOutside(" ".join(tokens.rest()) or "hand"),
    ),
    "cut deck": entering("cut deck", message("record that the deck in a shoe was cut"), operations.CutDeck),
    "quarantine deck": entering(
        "quarantine deck NAME [because TEXT]",
        message("take a deck out of use"),
        operations.QuarantineDeck,
        lambda tokens: operations.QuarantineDeck(tokens.take(DECK), tokens.reason),
        reason=message("looked odd"),
    ),
    "release deck": entering(
        "release deck NAME [by ROLE] [witness NAME] [because TEXT]",
        message("release a deck that was examined"),
        operations.ReleaseDeck,
        lambda tokens: operations.ReleaseDeck(tokens.take(DECK), tokens.reason, DECK_SIZE, tokens.seen_by),
        by=Role.PIT_SUPERVISOR,
        reason=message("examined card by card"),
    ),
    "dropped": entering(
        "dropped NUMBERS",
        message("record that the cards with these numbers fell to the floor"),
        operations.PlaceCards,
        _dropped,
    ),
    "count again": entering(
        "count again NUMBER [in PILE] [witness NAME]",
        message("replace the last count, which was wrong"),
        operations.CountAgain,
        _count_again,
    ),
    "count": entering(
        "count NUMBER [in PILE] [witness NAME]",
        message("enter the cards counted by hand in the stub or in that pile"),
        operations.CountCards,
        counted,
    ),
}
