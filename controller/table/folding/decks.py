"""Which decks the table has, and which of them lies in the device."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import sets, with_deck, with_record
from controller.table.model import RecordedDeck
from controller.table.state import TableState


@sets(events.DeckBrought)
def _deck_brought(state: TableState, event: events.DeckBrought, entry: int) -> TableState:
    record = RecordedDeck(event.deck, event.back, event.seal)
    return replace(state, decks=(*state.decks, record), keeps_decks=True)


@sets(events.DeckTakenOut)
def _deck_taken_out(state: TableState, event: events.DeckTakenOut, entry: int) -> TableState:
    return replace(state, decks=tuple(record for record in state.decks if record.label != event.deck))


@sets(events.DeckNamed)
def _deck_named(state: TableState, event: events.DeckNamed, entry: int) -> TableState:
    return with_deck(state, event.waiting, label=event.deck)


@sets(events.DeckShuffledOutside)
def _deck_shuffled_outside(state: TableState, event: events.DeckShuffledOutside, entry: int) -> TableState:
    return with_record(state, event.deck, shuffled_by=event.by)


@sets(events.DeckQuarantined)
def _deck_quarantined(state: TableState, event: events.DeckQuarantined, entry: int) -> TableState:
    if event.deck:
        return with_record(state, event.deck, quarantined=event.reason, shuffled_by="")
    return with_deck(state, event.waiting, quarantined=event.reason)


@sets(events.DeckReleased)
def _deck_released(state: TableState, event: events.DeckReleased, entry: int) -> TableState:
    if event.deck:
        return with_record(state, event.deck, quarantined="")
    return with_deck(state, event.waiting, quarantined="")


@sets(events.DeckCut)
def _deck_cut(state: TableState, event: events.DeckCut, entry: int) -> TableState:
    return with_deck(state, event.waiting, cut=True)
