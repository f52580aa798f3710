"""What people do with whole decks: the table's own, and the one in the device."""

from __future__ import annotations

from controller.table.operations.base import Operation


class BringDeck(Operation, frozen=True, tag="bring_deck"):
    """A deck comes to the table: the casino's name for it, its back, the seal of its box, counted with a witness."""

    deck: str
    back: str
    seal: str
    count: int
    witness: str


class TakeDeckOut(Operation, frozen=True, tag="take_deck_out"):
    """A deck leaves the table, counted with a witness."""

    deck: str
    reason: str
    count: int
    witness: str


class LoadDeck(Operation, frozen=True, tag="load_deck"):
    """Which of the table's decks it is that was put into the device: the device has a number for it and no name.

    Where the device cannot tell that a deck was put in, this says so; `deck` is empty if the table records none.
    """

    deck: str = ""


class QuarantineDeck(Operation, frozen=True, tag="quarantine_deck"):
    """A deck is out of use until it is released; `deck` empty: the one in play."""

    deck: str
    reason: str


class ReleaseDeck(Operation, frozen=True, tag="release_deck"):
    """It was examined and counted, with a witness, and may be used again; `deck` empty: the one in play."""

    deck: str
    reason: str
    count: int
    witness: str


class CutDeck(Operation, frozen=True, tag="cut_deck"):
    """The deck in a manual shoe was cut. The cutting card is none of the 52."""
