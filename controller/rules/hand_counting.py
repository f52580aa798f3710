"""Counts of the ways to deal a hand, by ranks, and classes of hands that a wager pays alike.

The 455 multisets of ranks fall into few classes for most wagers. Odds, and what a hand can still become, are found by
calling `settle` once for each class; no cards are dealt and nothing is sampled. `controller.rules.dependence` says what
a wager depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from itertools import combinations_with_replacement, product
from math import comb
from typing import Final, TypeAlias

from controller.rules.hands import rank_key
from controller.rules.payouts import JACK, KING, QUEEN
from firmware_bridge.cards import DECK, RANKS, SUITS, Card

Ranks: TypeAlias = tuple[int, int, int]
Hand: TypeAlias = tuple[Card, Card, Card]

RANK_COUNT: Final = len(RANKS)
RANK_HANDS: Final[tuple[Ranks, ...]] = tuple(
    (first, second, third) for first, second, third in combinations_with_replacement(range(1, RANK_COUNT + 1), 3)
)
"""Every multiset of three ranks, each in ascending order. The index is the number of the rank hand."""
NUMBER_OF: Final[dict[tuple[int, ...], int]] = {ranks: number for number, ranks in enumerate(RANK_HANDS)}


def has_three_ranks(ranks: Ranks) -> bool:
    """Return whether all three ranks differ. Only such a hand can be of one suit."""
    return len(set(ranks)) == len(ranks)


def unsuited(ranks: Ranks) -> Hand:
    """Return cards of these ranks that are not all of one suit."""
    first, second, third = ranks
    return DECK[first - 1], DECK[RANK_COUNT + second - 1], DECK[2 * RANK_COUNT + third - 1]


def suited(ranks: Ranks) -> Hand:
    """Return cards of these ranks, all of one suit. The ranks must differ."""
    first, second, third = ranks
    return DECK[first - 1], DECK[second - 1], DECK[third - 1]


class Trait(Enum):
    """A property of a hand's ranks that a wager may depend on."""

    RANKING = "points and number of pictures"
    PICTURES = "how many jacks, queens and kings"
    RANKS = "all three ranks"


_VALUE_OF: Final[dict[Trait, Callable[[Ranks], object]]] = {
    Trait.RANKING: lambda ranks: rank_key(unsuited(ranks)),
    Trait.PICTURES: lambda ranks: (ranks.count(JACK), ranks.count(QUEEN), ranks.count(KING)),
    Trait.RANKS: lambda ranks: ranks,
}


@dataclass(frozen=True)
class Classes:
    """A partition of the rank hands. `of[number]` is the class of a rank hand.

    `first` and `last` hold two members of each class, which are the same if the class has only one
    member.
    """

    of: tuple[int, ...]
    first: tuple[Ranks, ...]
    last: tuple[Ranks, ...]


@cache
def classes_by(traits: frozenset[Trait]) -> Classes:
    """Return the partition whose classes agree in all these traits."""
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


@dataclass(frozen=True)
class CountedDeck:
    """A deck with all cards of some ranks (1 ace to 13 king) in some suits (letters of `CDHS`)."""

    ranks: tuple[int, ...] = tuple(range(1, RANK_COUNT + 1))
    suits: str = SUITS

    @property
    def cards(self) -> tuple[Card, ...]:
        return tuple(card for card in DECK if card.rank in self.ranks and card.code[1] in self.suits)

    @cached_property
    def hands(self) -> int:
        """The number of hands of three cards."""
        return comb(len(self.ranks) * len(self.suits), 3)

    @cached_property
    def pairs(self) -> int:
        """The number of ordered pairs of hands that share no card."""
        return self.hands * comb(len(self.ranks) * len(self.suits) - 3, 3)


WHOLE_DECK: Final = CountedDeck()


def left_after(deck: CountedDeck, taken: Sequence[int] = ()) -> list[int]:
    """Return how many cards of each rank are left after these ranks were taken. Index 0 is unused."""
    left = [len(deck.suits) if rank in deck.ranks else 0 for rank in range(RANK_COUNT + 1)]
    for rank in taken:
        left[rank] -= 1
    return left


_PAIRS_OF: Final = (0, 0, 1, 3, 6)  # C(n, 2), by the number n of cards left of a rank
_TRIPLES_OF: Final = (0, 0, 0, 1, 4)
_TRIPS: Final = tuple((number, ranks[0]) for number, ranks in enumerate(RANK_HANDS) if ranks[0] == ranks[2])
_PAIRED: Final = tuple(
    (number, ranks[1], ranks[2] if ranks[0] == ranks[1] else ranks[0])
    for number, ranks in enumerate(RANK_HANDS)
    if len(set(ranks)) == 2
)
_MIXED: Final = tuple((number, *ranks) for number, ranks in enumerate(RANK_HANDS) if has_three_ranks(ranks))


def ways_by_ranks(left: Sequence[int]) -> list[int]:
    """Return the number of ways to deal each rank hand from `left[rank]` cards of each rank (0 to 4)."""
    ways = [0] * len(RANK_HANDS)
    for number, rank in _TRIPS:
        ways[number] = _TRIPLES_OF[left[rank]]
    for number, twice, once in _PAIRED:
        ways[number] = _PAIRS_OF[left[twice]] * left[once]
    for number, first, second, third in _MIXED:
        ways[number] = left[first] * left[second] * left[third]
    return ways


@dataclass(frozen=True)
class HandCount:
    """The number of hands of one class with a single suit, and the number of those with several."""

    suited: int
    unsuited: int


@cache
def count_hands(deck: CountedDeck, traits: frozenset[Trait]) -> tuple[HandCount, ...]:
    """Return the number of hands of the deck in each class of `classes_by(traits)`."""
    classes = classes_by(traits)
    all_ways, in_suit = [0] * len(classes.first), [0] * len(classes.first)
    left = left_after(deck)
    for ranks, ways, of in zip(RANK_HANDS, ways_by_ranks(left), classes.of, strict=True):
        all_ways[of] += ways
        in_suit[of] += _ways_in_one_suit(deck, ranks)
    return tuple(HandCount(inside, total - inside) for inside, total in zip(in_suit, all_ways, strict=True))


def _ways_in_one_suit(deck: CountedDeck, ranks: Ranks) -> int:
    return len(deck.suits) if has_three_ranks(ranks) and set(ranks) <= set(deck.ranks) else 0


@dataclass(frozen=True)
class PairCount:
    """The ordered pairs of hands from two given classes: those with the same three ranks, and the others."""

    same_ranks: int
    other: int


@cache
def count_pairs(deck: CountedDeck, traits: frozenset[Trait]) -> dict[tuple[int, int], PairCount]:
    """Count the ways to deal both hands for each two classes of `classes_by(traits)`. Callers share the result."""
    of = classes_by(traits).of
    size = max(of) + 1
    every, same = [[0] * size for _ in range(size)], [0] * size
    for number, (ranks, ways) in enumerate(zip(RANK_HANDS, ways_by_ranks(left_after(deck)), strict=True)):
        if not ways:
            continue
        row, then = every[of[number]], ways_by_ranks(left_after(deck, ranks))
        for second, of_second in zip(then, of, strict=True):
            row[of_second] += ways * second
        same[of[number]] += ways * then[number]
    return {
        (ours, theirs): PairCount(equal, every[ours][theirs] - equal)
        for ours, theirs in product(range(size), repeat=2)
        for equal in (same[ours] if ours == theirs else 0,)
    }
