"""Devices that number nothing: the table counts their cards itself, and people say when a deck is put in.

A shoe of another maker may tell that a card left it and no more. Then the card is the next one of the deck in play, and
the deck is whatever people last said lies in it. What was drawn while nobody listened is not known: such a device is
asked for a count after every loss (interruptions.py).
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.state import TableState
from firmware_bridge.cards import Concealed
from firmware_bridge.observations import AnyObservation, CardDrawn, CardsDrawnTogether


def counts(state: TableState) -> bool:
    """Whether the device numbers its cards, tells of decks and gives a status."""
    return state.device.capabilities is None or state.device.capabilities.counts


def numbered(state: TableState, seen: AnyObservation) -> AnyObservation:
    """What the device told, with the numbers that it does not give."""
    if counts(state) or not isinstance(seen, CardDrawn | CardsDrawnTogether):
        return seen
    deck = state.decks.in_play
    first = deck.dispensed + 1
    faces = (seen.card,) if isinstance(seen, CardDrawn) else seen.cards
    named = tuple(_at(face, deck.shuffle, first + place) for place, face in enumerate(faces))
    left = max(0, deck.loaded - deck.dispensed - len(faces))
    seen = replace(seen, shuffle=deck.shuffle, ordinal=first, remaining=left, deck=deck.deck)
    return replace(seen, card=named[0]) if isinstance(seen, CardDrawn) else replace(seen, cards=named)


def _at(face: Concealed | None, shuffle: int, ordinal: int) -> Concealed | None:
    return None if face is None else Concealed(face.expose(), shuffle, ordinal)
