"""To which place each card of a round belongs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from controller.games.specification import Grammar, Order

Place: TypeAlias = str
DEALER: Final[Place] = "D"


def box(number: int) -> Place:
    """The place of a betting box; box 1 is at the Dealer's left."""
    return f"B{number}"


def dealing_order(grammar: Grammar, boxes: Sequence[int]) -> tuple[Place, ...]:
    """The place of every card of the round, first to last, the Dealer last.

    >>> from controller.games import game
    >>> from controller.games.specification import Unit
    >>> dealing_order(game("NC").grammar(Unit.SINGLES), [6, 1])
    ('B1', 'B6', 'D', 'B1', 'B6', 'D', 'B1', 'B6', 'D')
    """
    places = [*(box(number) for number in sorted(set(boxes))), DEALER]
    if grammar.order is Order.BY_ROUND:
        return tuple(places) * grammar.cards_each
    return tuple(place for place in places for _ in range(grammar.cards_each))
