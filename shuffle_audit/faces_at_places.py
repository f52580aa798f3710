"""A procedure that finds a shuffler that looks at faces: a card, or a kind of card, that comes to a place too often or
too rarely.

The number of decks of D in which a kind with m of n cards comes to a place is binomial with m/n, whatever went in. The
kinds share the alarms equally, and within a kind all cells of kinds and places do. `favoured_places` asks from where a
card came to a place; this procedure asks which card it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from controller.rules.hands import pictures, points
from firmware_bridge.cards import DECK, RANKS, SUITS
from shuffle_audit.cells import Cells, bernoulli
from shuffle_audit.orders import in_blocks
from shuffle_audit.shown import NOT_KNOWN, ShownFaces

ID: Final = "faces-at-places"
WORDS: Final = "Decks in which the most unusual card or kind of card came to a place"
SOURCE: Final = "Fuchs, Kenett 1980"
SHARE: Final = 0.005
LOW: Final = 0.5
SUIT_NAMES: Final = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}


class Sorting(NamedTuple):
    """A way to sort cards: `of[face]` is the number of its kind, and `names` names the kinds that are compared."""

    of: npt.NDArray[np.int64]
    names: tuple[str, ...]


def points_in_words() -> tuple[str, ...]:
    return tuple("1 point" if count == 1 else f"{count} points" for count in range(10))


@cache
def sortings() -> tuple[Sorting, ...]:
    """Return ranks, suits, points, colours, and pictures. If two kinds make up the deck, only one is compared."""
    return (
        Sorting(np.array([card.rank - 1 for card in DECK]), tuple(f"rank {rank}" for rank in RANKS)),
        Sorting(np.array([SUITS.index(card.suit) for card in DECK]), tuple(SUIT_NAMES[suit] for suit in SUITS)),
        Sorting(np.array([points([card]) for card in DECK]), points_in_words()),
        Sorting(np.array([int(card.suit not in "DH") for card in DECK]), ("red",)),
        Sorting(np.array([int(not pictures([card])) for card in DECK]), ("a picture",)),
    )


SORTED: Final = 1 + len(sortings())
"""The ways to sort: each card for itself, and by `sortings`."""


def cells(shown: ShownFaces) -> Iterator[Cells]:
    """Yield the cells: each card at each place and, if faces are known, each kind."""
    size = len(shown.names)
    yield from _at_places(shown, np.arange(size), shown.names)
    if shown.faces is not None:
        for one in sortings():
            yield from _at_places(shown, one.of[shown.faces], one.names)


def _at_places(shown: ShownFaces, kind: npt.NDArray[np.int64], names: Sequence[str]) -> Iterator[Cells]:
    """Yield the cells of kinds and places, grouped by the number of decks that show a place and the size of a kind."""
    size, kinds = len(shown.names), len(names)
    weight = float(SORTED * kinds * size)
    sizes = np.bincount(kind, minlength=kinds)[:kinds]
    compared = np.where(kind < kinds, kind, NOT_KNOWN)
    cell_counts, seen = np.zeros(kinds * size, np.int64), np.zeros(size, np.int64)
    for block in in_blocks(shown.cards):
        kind_at = np.where(block == NOT_KNOWN, NOT_KNOWN, compared[block])
        cell_counts += np.bincount((kind_at * size + np.arange(size))[kind_at != NOT_KNOWN], minlength=kinds * size)
        seen += (block != NOT_KNOWN).sum(axis=0)
    table = cell_counts.reshape(kinds, size)
    for decks in np.unique(seen[seen > 0]).tolist():
        for cards in np.unique(sizes[(sizes > 0) & (sizes < size)]).tolist():
            rows, places = np.flatnonzero(sizes == cards), np.flatnonzero(seen == decks)
            counts = table[np.ix_(rows, places)].ravel()
            yield Cells(bernoulli(cards / size), decks, counts, _named(names, rows, places), weight, LOW)


def _named(names: Sequence[str], rows: npt.NDArray[np.int64], places: npt.NDArray[np.int64]) -> Callable[[int], str]:
    return lambda at: f"{names[rows[at // len(places)]]} at place {places[at % len(places)] + 1}"
