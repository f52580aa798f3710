"""The place to which each card of a round belongs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from controller.games.own_words import DEALER as DEALERS_PLACE
from controller.games.specification import FirstCard, Game, Grammar, Order
from controller.rules.layout import DEALERS_SPOT

Place: TypeAlias = str
DEALER: Final[Place] = DEALERS_PLACE


def box(number: int) -> Place:
    """Return the place of a betting box. Box 1 is at the Dealer's left; the Banker's own spot has the Dealer's hand.

    >>> box(1), box(DEALERS_SPOT)
    ('B1', 'D')
    """
    return DEALER if number == DEALERS_SPOT else f"B{number}"


def dealing_order(grammar: Grammar, boxes: Sequence[int]) -> tuple[Place, ...]:
    """Return the place of every card of the round, first to last. The Dealer comes last.

    >>> from controller.games import game
    >>> from controller.games.specification import Unit
    >>> dealing_order(game("NC").grammar(Unit.SINGLES), [6, 1])
    ('B1', 'B6', 'D', 'B1', 'B6', 'D', 'B1', 'B6', 'D')
    """
    return _deal(grammar, [*(box(number) for number in sorted(set(boxes))), DEALER])


def served_boxes(game: Game, wagered: Sequence[int]) -> tuple[int, ...]:
    """Return the boxes that take cards: those with a wager, or all boxes where every hand is dealt (F3 PM2).

    >>> from controller.games import game
    >>> served_boxes(game("F3"), [2]), served_boxes(game("TP"), [6, 2])
    ((1, 2, 3), (2, 6))
    """
    return tuple(range(1, game.boxes[2] + 1)) if game.every_hand else tuple(sorted(set(wagered)))


def first_served(first_card: FirstCard, rank: int) -> Place:
    """Return the place that the rank of the First Card (1 ace to 13 king) points to (F3 PM5).

    >>> from controller.games import game
    >>> first_served(game("F3").first_card, 13), first_served(game("F3").first_card, 11)
    ('D', 'B2')
    """
    return next(place for place, ranks in first_card.starts if rank in ranks)


def order_after_first_card(first_card: FirstCard, grammar: Grammar, rank: int) -> tuple[Place, ...]:
    """Return the place of every card after the First Card, going round from the chosen start (F3 PM2, PM5).

    >>> from controller.games import game
    >>> from controller.games.specification import Unit
    >>> f3 = game("F3")
    >>> order_after_first_card(f3.first_card, f3.grammar(Unit.SINGLES), 2)[::3]
    ('B1', 'B2', 'B3', 'D')
    """
    start = first_card.order.index(first_served(first_card, rank))
    return _deal(grammar, [*first_card.order[start:], *first_card.order[:start]])


def _deal(grammar: Grammar, places: Sequence[Place]) -> tuple[Place, ...]:
    if grammar.order is Order.BY_ROUND:
        return tuple(places) * grammar.cards_each
    return tuple(place for place in places for _ in range(grammar.cards_each))
