"""The settlement of one wager by whole hands, and the predicates of the shapes that wagers pay on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

import msgspec

from controller.games.wager_specification import SHAPES, Looks, Shape, Wager
from controller.rules.hands import THREE_PICTURES, pictures, points, rank_key
from controller.rules.law import Law
from firmware_bridge.cards import Card
from firmware_bridge.messages import Message, message

Cards: TypeAlias = Sequence[Card]
JACK, QUEEN, KING = 11, 12, 13


class Verdict(StrEnum):
    WON = "won"
    LOST = "lost"
    RETURNED = "returned"


class Settled(msgspec.Struct, frozen=True):
    """The outcome of one wager. `net` is what the bettor gains for each unit staked: -1 when lost, 0 when returned.

    `because` has slots for the game's own names of the owners of hands (`OwnWords.own`).
    """

    verdict: Verdict
    net: Fraction
    clause: str
    because: Message


LOST: Final = message("no paying result")


def settle(law: Law, wager: Wager, box: Cards, dealer: Cards) -> Settled:
    """Settle one wager on a box whose hand is `box`. A hand that the wager does not look at may be empty.

    Raises `SettingError` where the wager depends on a reading that has not been chosen.
    """
    for price in law.prices(wager):
        if holds(price.shape, wager.looks, box, dealer) and (
            price.points is None or points(dealer if price.shape is Shape.LOWER else box) == price.points
        ):
            return Settled(Verdict.WON, price.odds, price.clause, price.name or price.pays_on)
    if wager.returned is not None and holds(wager.returned, wager.looks, box, dealer):
        own = ((shape, clause) for shape, clause in wager.returned_by if holds(shape, wager.looks, box, dealer))
        shape, clause = next(own, (wager.returned, wager.returned_clause))
        return Settled(Verdict.RETURNED, Fraction(0), clause, SHAPES[shape])
    return Settled(Verdict.LOST, Fraction(-1), wager.clause, LOST)


def holds(shape: Shape, looks: Looks, box: Cards, dealer: Cards) -> bool:
    """Return whether these hands have the shape."""
    if shape in OF_ONE:
        return OF_ONE[shape](dealer if looks is Looks.DEALER else box)
    return OF_BOTH[shape](box, dealer)


def is_three(cards: Cards, rank: int) -> bool:
    """Return whether all cards have this rank (RTP 1.1.4.4 to 1.1.4.6, P3 1.1.4.1 to 1.1.4.3)."""
    return all(card.rank == rank for card in cards)


def is_picture_pair(cards: Cards) -> bool:
    """Return whether the hand is two pictures of the same rank and a non-picture (RTP 1.1.4.1, P3 1.1.4.5)."""
    shown = [card.rank for card in cards if card.rank >= JACK]
    return len(shown) == 2 and shown[0] == shown[1]


def is_any_king(cards: Cards) -> bool:
    """Return whether just one card is a king and not all are pictures.

    RTP 1.1.4.2, 1.1.4.2.1 to 1.1.4.2.3, reading 10.
    """
    return sum(card.rank == KING for card in cards) == 1 and pictures(cards) < 3


def matched_pictures(box: Cards, dealer: Cards) -> int:
    """Count the pictures that match by rank, using each card once (P3 1.1.3, 4.3).

    >>> matched_pictures([Card.parse(c) for c in ("JC", "9D", "7S")], [Card.parse(c) for c in ("JD", "JH", "6S")])
    1
    """
    ours = Counter(card.rank for card in box if card.rank >= JACK)
    theirs = Counter(card.rank for card in dealer if card.rank >= JACK)
    return sum((ours & theirs).values())


def is_straight(cards: Cards) -> bool:
    """Return whether the ranks are consecutive. The ace is low or high, never between: not K A 2 (F3 item 8)."""
    ranks = sorted(card.rank for card in cards)
    return ranks == [1, QUEEN, KING] or (ranks[1] == ranks[0] + 1 and ranks[2] == ranks[1] + 1)


def is_flush(cards: Cards) -> bool:
    return len({card.suit for card in cards}) == 1


def has_pair(cards: Cards) -> bool:
    return len({card.rank for card in cards}) < 3


def _same_points_below_three_pictures(box: Cards, dealer: Cards) -> bool:
    one_sided = (rank_key(box) == THREE_PICTURES) != (rank_key(dealer) == THREE_PICTURES)
    return points(box) == points(dealer) and not one_sided


OfOne: TypeAlias = Callable[[Cards], bool]
OfBoth: TypeAlias = Callable[[Cards, Cards], bool]  # called with the box's hand and the Dealer's

# Three pictures: TP 1.1.2, RTP 1.1.4.3, NC 1.17, P3 1.1.4.4. The same ranks: P3 1.1.1, 3.13.2.
OF_ONE: Final[dict[Shape, OfOne]] = {
    Shape.THREE_PICTURES: lambda hand: pictures(hand) == 3,
    Shape.THREE_KINGS: lambda hand: is_three(hand, KING),
    Shape.THREE_QUEENS: lambda hand: is_three(hand, QUEEN),
    Shape.THREE_JACKS: lambda hand: is_three(hand, JACK),
    Shape.PICTURE_PAIR: is_picture_pair,
    Shape.ANY_KING: is_any_king,
    Shape.STRAIGHT_FLUSH: lambda hand: is_straight(hand) and is_flush(hand),
    Shape.THREE_OF_A_KIND: lambda hand: len({card.rank for card in hand}) == 1,
    Shape.STRAIGHT: is_straight,
    Shape.FLUSH: is_flush,
    Shape.PAIR: has_pair,
}
OF_BOTH: Final[dict[Shape, OfBoth]] = {
    Shape.HIGHER: lambda box, dealer: rank_key(box) > rank_key(dealer),
    Shape.LOWER: lambda box, dealer: rank_key(box) < rank_key(dealer),
    Shape.SAME_RANKING: lambda box, dealer: rank_key(box) == rank_key(dealer),
    Shape.SAME_POINTS: lambda box, dealer: points(box) == points(dealer),
    Shape.SAME_POINTS_BELOW_THREE_PICTURES: _same_points_below_three_pictures,
    Shape.THREE_PICTURES_EITHER: lambda box, dealer: pictures(box) == 3 or pictures(dealer) == 3,
    Shape.THREE_PICTURES_BOTH: lambda box, dealer: pictures(box) == pictures(dealer) == 3,
    Shape.SAME_RANKS: lambda box, dealer: sorted(c.rank for c in box) == sorted(c.rank for c in dealer),
    Shape.MATCHED_ONE: lambda box, dealer: matched_pictures(box, dealer) == 1,
    Shape.MATCHED_TWO: lambda box, dealer: matched_pictures(box, dealer) == 2,
    Shape.MATCHED_THREE: lambda box, dealer: matched_pictures(box, dealer) == 3,
}
