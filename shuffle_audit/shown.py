"""The cards of the orders out, by what they are and not by where they came from.

A shuffler that looks at faces cannot be seen in the places from which cards came. The order in does not matter here and
need not be known: under uniform orders each card comes to each place as often, whatever went in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from firmware_bridge.cards import DECK
from shuffle_audit.faces import Faces, faces_of
from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError, Stored, in_blocks, stored
from shuffle_audit.packed_decks import PackedDecks, packed

NOT_KNOWN = -1


class ShownFaces(NamedTuple):
    """Decks as far as the order out is known. `cards[d, j]` is the number of the card at place j of deck d, or -1.
    `names` has the name of each number. `faces` has its face, or is None if names are not those of cards.
    """

    cards: Stored
    names: tuple[str, ...]
    faces: Faces | None

    @property
    def out(self) -> Stored:
        """The face at each place, or -1. Faces must be known."""
        if self.faces is None:
            return self.cards
        found: Stored = stored(np.append(self.faces, NOT_KNOWN), len(DECK))[self.cards]
        return found

    @property
    def whole(self) -> Stored:
        """The cards of the decks that came out whole."""
        found: Stored = self.cards[(self.cards != NOT_KNOWN).all(axis=1)]
        return found

    @property
    def is_whole_deck(self) -> bool:
        """Return whether the deck has the faces of all 52 cards, so that the games can be dealt."""
        return self.faces is not None and len(self.faces) == len(DECK)


def shown_of(decks: Sequence[DeckOrders]) -> ShownFaces | str:
    """Return the decks' orders out, or why nothing can be said of their cards, as the end of a sentence.

    The cards of a deck are known if some order names all of them, or if they are the 52 cards by name.
    """
    size = len(decks[0].after) if decks else 0
    all_decks = packed(decks)
    names = sorted(set(all_decks.names) - {UNKNOWN})
    if not names:
        return "no card is known"
    try:
        faces = faces_of(names)
    except OrderError:
        faces = None
    if faces is not None and len(set(faces.tolist())) < len(names):
        number = dict(zip(names, faces.tolist(), strict=True))  # the same card is spelled in two ways
        faces = np.unique(faces)
        own = [number[name] for name in names]
        of = dict(zip(names, np.searchsorted(faces, own).tolist(), strict=True))
        names = [DECK[face].code for face in faces.tolist()]
    else:
        of = {name: at for at, name in enumerate(names)}
    if size == len(DECK) and faces is not None and len(names) < size:
        of = {name: int(faces[at]) for name, at in of.items()}
        names, faces = [card.code for card in DECK], np.arange(len(DECK))
    if len(names) != size:
        return "the decks do not have one and the same set of cards" if len(names) > size else "some cards never appear"
    of[UNKNOWN] = NOT_KNOWN
    cards = _numbered(all_decks, of, size)
    for ordered in (np.sort(block, axis=1) for block in in_blocks(cards)):
        if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NOT_KNOWN)).any():
            return "a deck has a card twice, spelled in two ways"
    return ShownFaces(cards, tuple(names), faces)


def _numbered(decks: PackedDecks, of: dict[str, int], size: int) -> Stored:
    """Return the orders out by the numbers of `of`."""
    number = stored(np.array([of[name] for name in decks.names]), size)
    found = np.empty(decks.after.shape, number.dtype)
    np.take(number, decks.after, out=found, mode="clip")
    return found
