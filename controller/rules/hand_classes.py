"""Hands by what a wager can tell apart: 455 multisets of ranks, and few classes of them for most wagers.

Whoever asks about many hands at once (odds, what a hand can still become) asks `settle` once for each class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, TypeAlias

from controller.games.wagers import NEEDS_SUITS, Looks, Price, Shape, Wager
from controller.rules.hands import rank_key
from controller.rules.shapes import JACK, KING, QUEEN
from firmware_bridge.cards import DECK, RANKS, Card

Ranks: TypeAlias = tuple[int, int, int]
Hand: TypeAlias = tuple[Card, Card, Card]

RANK_COUNT: Final = len(RANKS)
RANK_HANDS: Final[tuple[Ranks, ...]] = tuple(
    (first, second, third) for first, second, third in combinations_with_replacement(range(1, RANK_COUNT + 1), 3)
)
"""Every multiset of three ranks, each in ascending order. Its place here is the number by which it is known."""
NUMBER_OF: Final[dict[tuple[int, ...], int]] = {ranks: number for number, ranks in enumerate(RANK_HANDS)}


def has_three_ranks(ranks: Ranks) -> bool:
    """Whether no rank is there twice: only such a hand can be of one suit."""
    return len(set(ranks)) == len(ranks)


def unsuited(ranks: Ranks) -> Hand:
    """Cards of those ranks, not of one suit."""
    first, second, third = ranks
    return DECK[first - 1], DECK[RANK_COUNT + second - 1], DECK[2 * RANK_COUNT + third - 1]


def suited(ranks: Ranks) -> Hand:
    """Cards of those ranks and of one suit. The ranks must differ."""
    first, second, third = ranks
    return DECK[first - 1], DECK[second - 1], DECK[third - 1]


class Trait(Enum):
    """What about the ranks of a hand a shape depends on."""

    RANKING = "points and number of pictures"
    PICTURES = "how many jacks, queens and kings"
    RANKS = "all three ranks"


TRAITS: Final[dict[Shape, Trait]] = {
    Shape.HIGHER: Trait.RANKING,
    Shape.HIGHER_ON_SIX: Trait.RANKING,
    Shape.LOWER: Trait.RANKING,
    Shape.LOWER_ON_SIX: Trait.RANKING,
    Shape.SAME_RANKING: Trait.RANKING,
    Shape.SAME_POINTS: Trait.RANKING,
    Shape.SAME_POINTS_BELOW_THREE_PICTURES: Trait.RANKING,
    Shape.SAME_RANKS: Trait.RANKING,  # and on whether both are the same three: `minds_same_ranks`
    Shape.THREE_PICTURES: Trait.RANKING,
    Shape.THREE_PICTURES_EITHER: Trait.RANKING,
    Shape.THREE_KINGS: Trait.PICTURES,
    Shape.THREE_QUEENS: Trait.PICTURES,
    Shape.THREE_JACKS: Trait.PICTURES,
    Shape.PICTURE_PAIR: Trait.PICTURES,
    Shape.ANY_KING: Trait.PICTURES,
    Shape.MATCHED_ONE: Trait.PICTURES,
    Shape.MATCHED_TWO: Trait.PICTURES,
    Shape.MATCHED_THREE: Trait.PICTURES,
    Shape.STRAIGHT_FLUSH: Trait.RANKS,
    Shape.THREE_OF_A_KIND: Trait.RANKS,
    Shape.STRAIGHT: Trait.RANKS,
    Shape.FLUSH: Trait.RANKS,
    Shape.PAIR: Trait.RANKS,
}

_VALUE_OF: Final[dict[Trait, Callable[[Ranks], object]]] = {
    Trait.RANKING: lambda ranks: rank_key(unsuited(ranks)),
    Trait.PICTURES: lambda ranks: (ranks.count(JACK), ranks.count(QUEEN), ranks.count(KING)),
    Trait.RANKS: lambda ranks: ranks,
}


@dataclass(frozen=True)
class Classes:
    """A partition of the rank hands. `of[number]` is a rank hand's class; `first` and `last` are members of each class,
    the same one where a class has no other."""

    of: tuple[int, ...]
    first: tuple[Ranks, ...]
    last: tuple[Ranks, ...]


@cache
def classes_by(traits: frozenset[Trait]) -> Classes:
    """Rank hands that agree in all those traits are of one class."""
    ordered = sorted(traits, key=lambda trait: trait.value)
    members: dict[tuple[object, ...], list[Ranks]] = {}
    for ranks in RANK_HANDS:
        members.setdefault(tuple(_VALUE_OF[trait](ranks) for trait in ordered), []).append(ranks)
    number = {ranks: place for place, together in enumerate(members.values()) for ranks in together}
    return Classes(
        tuple(number[ranks] for ranks in RANK_HANDS),
        tuple(together[0] for together in members.values()),
        tuple(together[-1] for together in members.values()),
    )


def shapes_of(wager: Wager, prices: tuple[Price, ...]) -> frozenset[Shape]:
    """Every fact that decides the wager at those prices."""
    asked = {price.shape for price in prices}
    return frozenset(asked if wager.returned is None else asked | {wager.returned})


def traits_of(shapes: frozenset[Shape]) -> frozenset[Trait]:
    return frozenset(TRAITS[shape] for shape in shapes)


def minds_same_ranks(shapes: frozenset[Shape]) -> bool:
    """Whether it matters beyond the classes of both hands that they are of the same three ranks."""
    return Shape.SAME_RANKS in shapes


def minds_suits(wager: Wager, shapes: frozenset[Shape]) -> bool:
    """Whether it matters that a hand is of one suit. Raises `ValueError` for a wager on two hands that asks so."""
    if shapes.isdisjoint(NEEDS_SUITS):
        return False
    if wager.looks is Looks.BOTH:
        raise ValueError(f"{wager.title} asks for suits of two hands; only a wager on one hand can be counted by suits")
    return True
