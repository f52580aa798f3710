"""The faces of cards, where they are known, as arrays; and runs of one kind of card in the order out.

A face is the card's number on the wire less 1: 0 to 51, clubs, diamonds, hearts, spades, each from ace to king.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from controller.rules.hands import pictures, points
from firmware_bridge.cards import DECK, SUITS, Card, UnknownCardError
from shuffle_audit.exact import run_numbers
from shuffle_audit.orders import Counts, DeckOrders, OrderError, Orders, Stored, in_blocks, stored
from shuffle_audit.packed_decks import packed

Faces: TypeAlias = npt.NDArray[np.int64]
"""The face at each place, in one row for each deck or one row for all."""

NEW_DECK: Final[Faces] = np.arange(len(DECK))
"""The order from the top: clubs, diamonds, hearts, spades, each from ace to king."""


class Kinds(NamedTuple):
    """A way to sort cards: `of[face]` is a number from 0 to `kinds` - 1."""

    id: str
    words: str
    of: Faces
    kinds: int


def _kinds(name: str, words: str, kind: Callable[[Card], int], count: int) -> Kinds:
    return Kinds(name, words, np.array([kind(card) for card in DECK]), count)


KINDS: Final = (
    _kinds("runs-of-colour", "Runs of cards of one colour", lambda card: int(card.suit in "DH"), 2),
    _kinds("runs-of-pictures", "Runs of pictures alone or of point cards alone", lambda card: pictures([card]), 2),
    _kinds("runs-of-points", "Runs of cards with the same points", lambda card: points([card]), 10),
    _kinds("runs-of-suit", "Runs of cards of one suit", lambda card: SUITS.index(card.suit), len(SUITS)),
)


SYMBOLS: Final = str.maketrans("♠♤♥♡♦♢♣♧", "SSHHDDCC", "\ufe0e\ufe0f")  # the last two only choose how a symbol is drawn
NUMBERS: Final = {"1": "A", "14": "A", "11": "J", "12": "Q", "13": "K"}


@lru_cache(maxsize=1024)
def _card(name: str) -> Card:
    """Return the card of a name: rank and suit in either order, a suit as letter or symbol, a rank as letter or number.
    Raise `UnknownCardError`.

    >>> [_card(name).code for name in ("A♠", "S10", "1S", "th", "KD")]
    ['AS', 'TS', 'AS', 'TH', 'KD']
    """
    plain = name.translate(SYMBOLS).upper()
    rank, suit = (plain[1:], plain[0]) if plain[:1] in SUITS else (plain[:-1], plain[-1:])
    return Card.parse(NUMBERS.get(rank, rank) + suit) if rank else Card.parse(name)


def faces_of(names: Sequence[str]) -> Faces:
    """Return the faces of cards by name (`AS`, `10H`, `♥T`). Raise `OrderError` for a name that is not a card's."""
    try:
        return np.array([_card(name).number - 1 for name in names], np.int64)
    except UnknownCardError as error:
        raise OrderError("no-card", str(error)) from error


def faces_of_decks(decks: Sequence[DeckOrders]) -> Faces:
    """Return the faces of the orders in, a row for each deck. Raise `OrderError` for a name that is not a card's."""
    return np.stack([faces_of(deck.before) for deck in decks]) if decks else np.empty((0, 0), np.int64)


def face_or_none(name: str) -> int:
    """Return the face of a name, or -1 for a name that is not a card's."""
    try:
        return _card(name).number - 1
    except UnknownCardError:
        return -1


def faces_if_known(decks: Sequence[DeckOrders]) -> Stored | None:
    """Return the faces of the orders in of whole decks, a row for each, or None if a name is not a card's, a deck has a
    card twice, or the decks have different cards.
    """
    all_decks = packed(decks)
    face = stored(np.array([face_or_none(name) for name in all_decks.names]), len(DECK))
    faces = face[all_decks.before[all_decks.whole]]
    first = np.unique(faces[:1])
    if len(first) < faces.shape[1] or (first < 0).any():
        return None
    same = ((np.sort(block, axis=1) == first).all() for block in in_blocks(faces))
    return faces if all(same) else None


def unknown_face(decks: Sequence[DeckOrders]) -> str:
    """Return the first name in the orders in of whole decks that is not a card's, or "" if there is none."""
    all_decks = packed(decks)
    odd = np.array([face_or_none(name) < 0 for name in all_decks.names])
    for block in in_blocks(all_decks.before[all_decks.whole]):
        if (found := odd[block].ravel()).any():
            return all_decks.names[int(block.ravel()[found.argmax()])]
    return ""


def faces_out(orders: Orders, faces: Faces) -> Faces:
    """Return the faces from the top of each deck after the shuffle; `faces` are those before it."""
    return np.take_along_axis(np.broadcast_to(faces, orders.shape), orders, axis=1)


def runs(out: Faces, kinds: Kinds) -> Counts:
    """Count the runs of one kind in each order out."""
    kind = kinds.of[out]
    found: Counts = 1 + (kind[:, 1:] != kind[:, :-1]).sum(axis=1, dtype=np.int64)
    return found


def numbers_of_runs(faces: Stored, kinds: Kinds) -> tuple[int, ...]:
    """Return in how many ways the cards of these decks form k runs. Raise `OrderError` if the decks have different
    numbers of a kind, since they then have no common distribution. No decks count as no cards.
    """
    rows = np.atleast_2d(faces)
    if not len(rows):
        return run_numbers(())
    first = _sizes(rows[:1], kinds)[0]
    number = 1
    for block in in_blocks(rows):
        if (others := (_sizes(block, kinds) != first).any(axis=1)).any():
            number += int(others.argmax())
            raise OrderError("mixed-faces", f"Deck {number} has not as many cards of each kind as deck 1.")
        number += len(block)
    return run_numbers(tuple(int(size) for size in first))


def _sizes(faces: Stored, kinds: Kinds) -> Counts:
    """Count the cards of each kind in each deck."""
    decks = len(faces)
    cell = kinds.of[faces] + kinds.kinds * np.arange(decks)[:, None]
    found: Counts = np.bincount(cell.ravel(), minlength=decks * kinds.kinds).reshape(decks, kinds.kinds)
    return found
