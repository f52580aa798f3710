"""The words of what people do with decks, and with cards beside the hands, in a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.roles import Role
from controller.table import operations
from controller.table.model import Pile
from firmware_bridge.cards import DECK_SIZE
from simulators.scenarios import step_forms
from simulators.scenarios.course import Course
from simulators.scenarios.step_forms import Act, Word
from simulators.scenarios.tokens import Tokens


def _read_bring(tokens: Tokens) -> Act:
    name, back = tokens.take("the name of a deck"), tokens.take("a back")
    return lambda course: course.do(operations.BringDeck(name, back, f"seal of {name}", DECK_SIZE, step_forms.WITNESS))


def _read_load(tokens: Tokens) -> Act:
    """It is put in before a person says which deck it is."""
    name = tokens.take("the name of a deck")

    def load(course: Course) -> None:
        course.heartbeat()
        course.device.load()
        course.do(operations.LoadDeck(name))

    return load


def _read_quarantine(tokens: Tokens) -> Act:
    name = tokens.take("the name of a deck")
    return lambda course: course.do(operations.QuarantineDeck(name, "looked odd"))


def _read_release(tokens: Tokens) -> Act:
    role = tokens.role(Role.PIT_SUPERVISOR)
    name = tokens.take("the name of a deck")
    release = operations.ReleaseDeck(name, "examined card by card", DECK_SIZE, step_forms.WITNESS)
    return lambda course: course.do(release, role)


def _read_dropped(tokens: Tokens) -> Act:
    ordinals = tokens.numbers("the number of a card")
    cards = tuple(operations.CardAt(ordinal, Pile.DROPPED) for ordinal in ordinals)
    return lambda course: course.do(operations.PlaceCards(cards))


def _read_count(tokens: Tokens) -> Act:
    count = step_forms.counted(tokens)
    return lambda course: course.do(count)


DECK_STEPS: Final[Mapping[str, Word]] = {
    "bring deck": Word("bring deck NAME BACK", "a deck comes to the table, counted", _read_bring),
    "load deck": Word("load deck NAME", "this one of the table's decks is put into the device", _read_load),
    "quarantine deck": Word("quarantine deck NAME", "it is out of use", _read_quarantine),
    "release deck": Word("release deck NAME [by ROLE]", "it was examined and may be used again", _read_release),
    "dropped": Word("dropped NUMBERS", "the cards that left under these numbers lie on the floor", _read_dropped),
    "count": Word("count NUMBER [in PILE]", "so many cards were counted by hand, in the stub or there", _read_count),
}
