"""The properties of the hands that decide a wager, so that odds and open outcomes can be found by classes of hands.

For a shape of one hand they are found by asking its predicate about all 22,100 hands, once. Pairs of hands are far too
many for that: for a shape of two hands `TRAITS` states them, and a sample of hands with other suits and other ranks
must agree. So no class is coarser than the predicate; a wager for which that cannot be shown is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from functools import cache
from itertools import combinations
from typing import Final, NamedTuple, cast

from controller.games.wager_specification import Looks, Price, Shape, Wager
from controller.rules.hand_counting import (
    NUMBER_OF,
    RANK_HANDS,
    Hand,
    Ranks,
    Trait,
    classes_by,
)
from controller.rules.payouts import OF_BOTH, OF_ONE, OfBoth, OfOne
from firmware_bridge.cards import DECK


class CountingError(ValueError):
    """The odds of a wager cannot be counted with its data. The message is a sentence with a next step."""


class Suits(IntEnum):
    """The way in which suits matter, in ascending order."""

    NONE = 0
    ONE_SUIT = 1  # only whether all three cards have the same suit
    CARDS = 2  # suits matter in any other way: each card must be known


class Dependence(NamedTuple):
    """The properties that decide a wager. `same_ranks`: also whether both hands have the same three ranks."""

    traits: frozenset[Trait]
    suits: Suits
    same_ranks: bool


TRAITS: Final[dict[Shape, Trait]] = {
    Shape.HIGHER: Trait.RANKING,
    Shape.LOWER: Trait.RANKING,
    Shape.SAME_RANKING: Trait.RANKING,
    Shape.SAME_POINTS: Trait.RANKING,
    Shape.SAME_POINTS_BELOW_THREE_PICTURES: Trait.RANKING,
    Shape.SAME_RANKS: Trait.RANKING,  # also on whether both hands have the same three ranks
    Shape.THREE_PICTURES_EITHER: Trait.RANKING,
    Shape.THREE_PICTURES_BOTH: Trait.RANKING,
    Shape.MATCHED_ONE: Trait.PICTURES,
    Shape.MATCHED_TWO: Trait.PICTURES,
    Shape.MATCHED_THREE: Trait.PICTURES,
}
"""The trait of each hand's ranks on which a shape of two hands depends."""


def dependence(wager: Wager, prices: Iterable[Price]) -> Dependence:
    """Return what the wager depends on at these prices.

    Raises `CountingError` for a wager on one hand that pays on two, for one on two hands that depends on suits, and for
    a shape of two hands whose entry in `TRAITS` is missing or wrong.
    """
    prices = tuple(prices)
    shapes = {price.shape for price in prices} | ({wager.returned} if wager.returned is not None else set())
    traits, suits = set(), Suits.NONE
    for shape in sorted(shapes):
        trait, needed = _shape_dependence(wager, shape)
        traits.add(trait)
        suits = max(suits, needed)
    if any(price.points is not None for price in prices):
        traits.add(Trait.RANKING)
    if suits is not Suits.NONE:
        traits = {Trait.RANKS}
    return Dependence(frozenset(traits), suits, Shape.SAME_RANKS in shapes)


def _shape_dependence(wager: Wager, shape: Shape) -> tuple[Trait, Suits]:
    if shape in OF_ONE:
        trait, suits = of_one_hand(OF_ONE[shape])
        if wager.looks is Looks.BOTH and suits is not Suits.NONE:
            raise CountingError(
                f"{wager.title} looks at two hands and pays on {shape.name}: only a wager on one hand can be counted"
                " by suits, so give it looks of one hand"
            )
        return trait, suits
    if wager.looks is not Looks.BOTH:
        raise CountingError(
            f"{wager.title} looks at one hand and pays on a fact of two ({shape.name}); give it Looks.BOTH"
        )
    if shape not in TRAITS:
        raise CountingError(
            f"it is not known what {shape.name} depends on; enter it in TRAITS of controller/rules/dependence.py"
        )
    found = untrue_of(TRAITS[shape], OF_BOTH[shape])
    if found:
        raise CountingError(f"{shape.name} {found}; TRAITS of controller/rules/dependence.py does not hold for it")
    return TRAITS[shape], Suits.NONE


@cache
def _every_hand() -> tuple[tuple[Hand, ...], tuple[int, ...]]:
    """Return all hands of the deck, and for each twice the number of its ranks, plus one if all its cards have one
    suit.
    """
    hands = tuple(combinations(DECK, 3))
    cells = tuple(
        2 * NUMBER_OF[tuple(sorted(card.rank for card in hand))] + (len({card.suit for card in hand}) == 1)
        for hand in hands
    )
    return hands, cells


@cache
def of_one_hand(predicate: OfOne) -> tuple[Trait, Suits]:
    """Find what a fact of one hand depends on by asking it of every hand."""
    hands, cells = _every_hand()
    facts = set(zip(cells, map(bool, map(predicate, hands)), strict=True))
    fact_of = dict(facts)
    if len(facts) > len(fact_of):
        return Trait.RANKS, Suits.CARDS
    of_ranks = [fact_of[2 * number] for number in range(len(RANK_HANDS))]
    if any(fact is not of_ranks[cell // 2] for cell, fact in facts):
        return Trait.RANKS, Suits.ONE_SUIT
    for trait in (Trait.RANKING, Trait.PICTURES):
        of = classes_by(frozenset({trait})).of
        if len(set(zip(of, of_ranks, strict=True))) == max(of) + 1:
            return trait, Suits.NONE
    return Trait.RANKS, Suits.NONE


_PARTNERS: Final = (0, 101)  # distances between the rank hands that are compared


@cache
def untrue_of(trait: Trait, predicate: OfBoth) -> str:
    """Return how a fact of two hands depends on more than that trait of each; empty if no tried hands show it.

    Each rank hand is tried against others, with cards that have a rank but no suit: a predicate that reads a suit
    raises, whatever it does with it. Where ranks are compared, two hands of the same ranks are left out: a wager that
    depends on them counts those separately.
    """
    classes = classes_by(frozenset({trait}))
    for number, ranks in enumerate(RANK_HANDS):
        for step in _PARTNERS:
            other = RANK_HANDS[(number + step) % len(RANK_HANDS)]
            try:
                fact = predicate(_ranks_alone(ranks), _ranks_alone(other))
            except AttributeError:
                return "depends on suits, and odds of two hands are not counted by suits"
            like = classes.last[classes.of[number]]
            other_like = classes.first[classes.of[(number + step) % len(RANK_HANDS)]]
            if ranks == other or like == other_like:
                continue
            if predicate(_ranks_alone(like), _ranks_alone(other_like)) != fact:
                return f"depends on more than {trait.value}"
    return ""


class RankAlone(NamedTuple):
    """A card whose rank alone is known. Reading its suit, code or number raises `AttributeError`."""

    rank: int


def _ranks_alone(ranks: Ranks) -> Hand:
    return cast("Hand", tuple(map(RankAlone, ranks)))
