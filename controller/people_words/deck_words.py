"""Words for people's acts with decks, and with cards outside the hands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words import word as forms
from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import Tokens
from controller.people_words.word import Act, Word, entered
from controller.roles import Role
from controller.table import operations
from controller.table.model import Pile
from firmware_bridge.cards import DECK_SIZE


def _read_bring(tokens: Tokens) -> Act:
    seen_by = forms.witness(tokens)
    seal = tokens.tail("seal")
    name, back = tokens.take("the name of a deck"), tokens.take("a back")
    another = tokens.maybe("another")
    bring = operations.BringDeck(name, back, " ".join(seal or ()) or f"seal of {name}", DECK_SIZE, seen_by, another)
    return lambda table: table.enter(bring)


def _read_take_out(tokens: Tokens) -> Act:
    reason = forms.because(tokens, "worn")
    seen_by = forms.witness(tokens)
    name = tokens.take("the name of a deck")
    count = tokens.number("how many cards were counted") if tokens.maybe("count") else DECK_SIZE
    taken = operations.TakeDeckOut(name, reason, count, seen_by)
    return lambda table: table.enter(taken)


def _read_load(tokens: Tokens) -> Act:
    name = tokens.take("the name of a deck")
    return lambda table: table.put_in(name)


def _read_shuffled(tokens: Tokens) -> Act:
    by = " ".join(tokens.rest()) or "hand"
    return lambda table: table.enter(operations.ShuffledOutside(by))


def _read_quarantine(tokens: Tokens) -> Act:
    reason = forms.because(tokens, "looked odd")
    name = tokens.take("the name of a deck")
    return lambda table: table.enter(operations.QuarantineDeck(name, reason))


def _read_release(tokens: Tokens) -> Act:
    reason = forms.because(tokens, "examined card by card")
    seen_by = forms.witness(tokens)
    by = tokens.by(Role.PIT_SUPERVISOR)
    name = tokens.take("the name of a deck")
    release = operations.ReleaseDeck(name, reason, DECK_SIZE, seen_by)
    return lambda table: table.enter(release, by)


def _read_dropped(tokens: Tokens) -> Act:
    ordinals = tokens.numbers("the number of a card")
    cards = tuple(operations.CardAt(ordinal, Pile.DROPPED) for ordinal in ordinals)
    return lambda table: table.enter(operations.PlaceCards(cards))


def _read_count(tokens: Tokens) -> Act:
    count = forms.counted(tokens)
    return lambda table: table.enter(count)


DECK_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "bring deck": Word(
        "bring deck NAME BACK [another] [seal SEAL] [witness NAME]",
        "a deck comes to the table, counted",
        _read_bring,
        (operations.BringDeck,),
    ),
    "take deck out": Word(
        "take deck out NAME [count NUMBER] [witness NAME] [because TEXT]",
        "it leaves the table, counted; without a number it has all its cards",
        _read_take_out,
        (operations.TakeDeckOut,),
    ),
    "load deck": Word(
        "load deck NAME", "this one of the table's decks is put into the device", _read_load, (operations.LoadDeck,)
    ),
    "shuffled": Word(
        "shuffled [BY WHAT]",
        "the deck was shuffled by hand, or by this, for a device that does not shuffle",
        _read_shuffled,
        (operations.ShuffledOutside,),
    ),
    "cut deck": Word("cut deck", "the deck in a shoe was cut", entered(operations.CutDeck()), (operations.CutDeck,)),
    "quarantine deck": Word(
        "quarantine deck NAME [because TEXT]", "it is out of use", _read_quarantine, (operations.QuarantineDeck,)
    ),
    "release deck": Word(
        "release deck NAME [by ROLE] [witness NAME] [because TEXT]",
        "it was examined and may be used again",
        _read_release,
        (operations.ReleaseDeck,),
    ),
    "dropped": Word(
        "dropped NUMBERS",
        "the cards that left under these numbers lie on the floor",
        _read_dropped,
        (operations.PlaceCards,),
    ),
    "count": Word(
        "count NUMBER [in PILE] [witness NAME]",
        "so many cards were counted by hand, in the stub or there",
        _read_count,
        (operations.CountCards,),
    ),
}
