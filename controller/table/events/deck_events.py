"""Events about the table's recorded decks, and about which one is in the device."""

from __future__ import annotations

from controller.table.events.base import Event, with_deck, with_decks, with_new_deck, with_record
from controller.table.events.lines import Fields, done_by, for_next, of_its_deck, with_slots, witnessed_by
from controller.table.model import (
    Deck,
    RecordedDeck,
)
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, message

LAST = 4  # decks that left the table in good order: a round may later prove otherwise


class DeckBrought(Event, frozen=True, tag="deck_brought"):
    """A deck was brought to the table.

    `witness_id`: the configured person who witnessed the count; empty: `witness` is only a name.
    `another`: the person said that it is not the quarantined deck with the same back.
    """

    line = with_slots(
        message(
            "deck {deck} is brought to the table: back {back}, seal {seal_named}, {count} cards counted by {by} and "
            "{witnessed_by}"
        ),
        seal_named=lambda event: event["seal"] or message("none"),
        witnessed_by=witnessed_by,
    )

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
    """A deck was taken away from the table. `witness_id`: as in `DeckBrought`."""

    line = with_slots(
        message("deck {deck} leaves the table with {count} cards: {reason}; witness: {witnessed_by}"),
        witnessed_by=witnessed_by,
    )

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
    """The deck in the device was identified as this recorded one. `number`: the device's number for it."""

    line = of_its_deck(message("deck {deck} is in the device"))

    deck: str
    number: int
    by: str
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_deck(state, self.waiting, label=self.deck)


class DeckShuffledOutside(Event, frozen=True, tag="deck_shuffled_outside"):
    """A recorded deck was shuffled before it was loaded."""

    line = with_slots(message("deck {deck} shuffled outside the device by {by}"), by=done_by)

    deck: str
    by: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_record(state, self.deck, shuffled_by=self.by)


class DeckComesIntoPlay(Event, frozen=True, tag="deck_comes_into_play"):
    """The waiting deck replaces the used one. `deck`: the device's number for it."""

    line = message("the waiting deck is in play")

    deck: int

    def apply(self, state: TableState, entry: int) -> TableState:
        if state.decks.in_play.used:
            state = with_record(state, state.decks.in_play.label, shuffled_by="")
        return with_new_deck(state, state.decks.waiting or Deck(), waiting=None)


def _named(event: Fields) -> Message:
    if event["deck"]:
        return message("deck {deck}", deck=event["deck"])
    return for_next(message("the deck in the device"), event)


class DeckQuarantined(Event, frozen=True, tag="deck_quarantined"):
    """A deck is out of use until it is released or, if it is not recorded, until another deck is loaded.

    `deck` empty: the deck in the device, which is not recorded. `irregularity` 0: a person took it out of use.
    """

    line = with_slots(message("{named_deck} is out of use: {reason}"), named_deck=_named)

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
    """A quarantined deck was released for use. `witness_id`: as in `DeckBrought`."""

    line = with_slots(
        message("{named_deck} may be used again: {reason}; witness: {witnessed_by}"),
        named_deck=_named,
        witnessed_by=witnessed_by,
    )

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
    """The deck was cut. `deck`: the device's number for it. The cutting card is not one of the 52."""

    line = message("the deck was cut by {by}")

    deck: int
    by: str
    waiting: bool = False

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_deck(state, self.waiting, cut=True)
