"""Which hands a place can still become, from the cards that nobody knows the place of.

Cards of one rank are alike here, so a completion is a multiset of ranks. A multiset is kept as a number of thirteen
four-bit digits, one a rank: whether the unknown cards hold all that two hands would draw is then one subtraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations_with_replacement
from typing import Final, NamedTuple, TypeAlias

from controller.rules.hand_classes import NUMBER_OF, RANK_COUNT, RANK_HANDS, has_three_ranks
from controller.rules.hands import HAND_SIZE
from firmware_bridge.cards import SUITS, Card

KnownRanks: TypeAlias = tuple[int, ...]  # ascending

_DIGIT: Final = 4  # bits
FLAGS: Final = sum(8 << _DIGIT * place for place in range(RANK_COUNT))
"""The high bit of every digit: set before a subtraction, it is gone from each digit of which too much was taken."""
ALL_SUITS: Final = (1 << len(SUITS)) - 1


def _as_number(ranks: Iterable[int]) -> int:
    return sum(1 << _DIGIT * (rank - 1) for rank in ranks)


class Completion(NamedTuple):
    """One way to fill a hand: `drawn` as a number and as `ranks`; `hand` is the number of the rank hand it becomes."""

    drawn: int
    ranks: tuple[int, ...]
    hand: int


@cache
def completions(known: KnownRanks) -> tuple[Completion, ...]:
    """Every way to fill a hand of which those ranks are known, from cards without end."""
    return tuple(
        Completion(_as_number(drawn), drawn, NUMBER_OF[tuple(sorted((*known, *drawn)))])
        for drawn in combinations_with_replacement(range(1, RANK_COUNT + 1), HAND_SIZE - len(known))
    )


class Unknown:
    """The cards of a deck of which nobody knows where they are: all that may complete a hand."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self.count = 0
        self.supply = FLAGS
        """How many there are of each rank, as a number, under the flags."""
        self.suits = [0] * (RANK_COUNT + 1)
        """By rank, a bit for each suit in which it is there."""
        for card in cards:
            self.count += 1
            self.supply += 1 << _DIGIT * (card.rank - 1)
            self.suits[card.rank] |= 1 << SUITS.index(card.code[1])

    def possible(self, known: KnownRanks) -> list[Completion]:
        """The completions of one hand for which there are cards enough."""
        supply, flags = self.supply, FLAGS
        return [way for way in completions(known) if (supply - way.drawn) & flags == flags]

    def suited_or_not(self, known: Sequence[Card], way: Completion) -> tuple[bool, bool]:
        """Whether the completed hand can be of one suit, and whether it can be of several."""
        if not has_three_ranks(RANK_HANDS[way.hand]):
            return False, True
        in_suit = ALL_SUITS
        for card in known:
            in_suit &= 1 << SUITS.index(card.code[1])
        ways = 1
        for rank in way.ranks:
            in_suit &= self.suits[rank]
            ways *= self.suits[rank].bit_count()
        return in_suit != 0, ways > in_suit.bit_count()
