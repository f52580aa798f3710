"""The decks of the table, and which of them lies in the device."""

from __future__ import annotations

from controller.table.events.base import Event


class DeckBrought(Event, frozen=True, tag="deck_brought"):
    deck: str
    back: str
    seal: str
    count: int
    by: str
    witness: str


class DeckTakenOut(Event, frozen=True, tag="deck_taken_out"):
    deck: str
    reason: str
    count: int
    by: str
    witness: str


class DeckNamed(Event, frozen=True, tag="deck_named"):
    """What lies in the device is this recorded deck. `number`: the device's name for it."""

    deck: str
    number: int
    by: str
    waiting: bool = False


class DeckShuffledOutside(Event, frozen=True, tag="deck_shuffled_outside"):
    """A recorded deck was shuffled before it was loaded."""

    deck: str
    by: str


class DeckComesIntoPlay(Event, frozen=True, tag="deck_comes_into_play"):
    """The waiting deck takes the place of the one that was dealt from. `deck`: the device's name for it."""

    deck: int


class DeckQuarantined(Event, frozen=True, tag="deck_quarantined"):
    """Out of use until it is released or, where it is not recorded, until another deck is loaded.

    `deck` empty: no recorded deck is concerned, but what lies in the device. `irregularity` 0: a person says so.
    """

    deck: str
    reason: str
    by: str
    irregularity: int = 0
    waiting: bool = False


class DeckReleased(Event, frozen=True, tag="deck_released"):
    deck: str
    reason: str
    count: int
    by: str
    witness: str
    waiting: bool = False


class DeckCut(Event, frozen=True, tag="deck_cut"):
    """`deck`: the device's name for it. The cutting card is none of the 52."""

    deck: int
    by: str
    waiting: bool = False
