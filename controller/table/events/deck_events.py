"""Events of the table's recorded decks, and of which one is in the device."""

from __future__ import annotations

from controller.messages import AnyText
from controller.table.events.base import Event
from controller.table.events.changes import with_deck, with_decks, with_new_deck, with_record
from controller.table.model import (
    Deck,
    RecordedDeck,
)
from controller.table.state import TableState

LAST = 4  # decks in order that left the table: a round may prove later that they were not


class DeckBrought(Event, frozen=True, tag="deck_brought"):
    """`witness_id`: the person of the configuration who saw the count; empty: `witness` is a name and no more.

    `another`: the person said that it is not the deck out of use whose back it has.
    """

    deck: str
    back: str
    seal: str
    count: int
    by: str
    witness: str
    witness_id: str = ""
    another: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        record = RecordedDeck(self.deck, self.back, self.seal)
        away = tuple(one for one in state.decks.taken_away if one.label != self.deck)
        return with_decks(state, recorded=(*state.decks.recorded, record), taken_away=away, keeps_records=True)


class DeckTakenOut(Event, frozen=True, tag="deck_taken_out"):
    """`witness_id`: as in `DeckBrought`."""

    deck: str
    reason: str
    count: int
    by: str
    witness: str
    witness_id: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        decks = state.decks
        gone = tuple(record for record in decks.recorded if record.label == self.deck)
        away = (*(one for one in decks.taken_away if one.label != self.deck), *gone)
        kept = tuple(one for number, one in enumerate(away, 1) if one.quarantined or number > len(away) - LAST)
        left = tuple(record for record in decks.recorded if record.label != self.deck)
        return with_decks(state, recorded=left, taken_away=kept)


class DeckNamed(Event, frozen=True, tag="deck_named"):
    """The deck in the device is this recorded one. `number`: the device's number for it."""

    deck: str
    number: int
    by: str
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_deck(state, self.waiting, label=self.deck)


class DeckShuffledOutside(Event, frozen=True, tag="deck_shuffled_outside"):
    """A recorded deck was shuffled before it was loaded."""

    deck: str
    by: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_record(state, self.deck, shuffled_by=self.by)


class DeckComesIntoPlay(Event, frozen=True, tag="deck_comes_into_play"):
    """The waiting deck replaces the used one. `deck`: the device's number for it."""

    deck: int

    def apply(self, state: TableState, entry: int) -> TableState:
        if state.decks.in_play.used:
            state = with_record(state, state.decks.in_play.label, shuffled_by="")
        return with_new_deck(state, state.decks.waiting or Deck(), waiting=None)


class DeckQuarantined(Event, frozen=True, tag="deck_quarantined"):
    """Out of use until it is released or, where it is not recorded, until another deck is loaded.

    `deck` empty: the deck in the device, which is not recorded. `irregularity` 0: a person put it out of use.
    """

    deck: str
    reason: AnyText
    by: str
    irregularity: int = 0
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.deck:
            return with_record(state, self.deck, quarantined=self.reason, shuffled_by="")
        return with_deck(state, self.waiting, quarantined=self.reason)


class DeckReleased(Event, frozen=True, tag="deck_released"):
    """`witness_id`: as in `DeckBrought`."""

    deck: str
    reason: str
    count: int
    by: str
    witness: str
    waiting: bool = False
    witness_id: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        if self.deck:
            return with_record(state, self.deck, quarantined="")
        return with_deck(state, self.waiting, quarantined="")


class DeckCut(Event, frozen=True, tag="deck_cut"):
    """`deck`: the device's number for it. The cutting card is none of the 52."""

    deck: int
    by: str
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_deck(state, self.waiting, cut=True)
