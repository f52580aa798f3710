"""A deck in the order that deals wanted hands, for a device whose order is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from controller.games.specification import Game, Unit
from controller.rules.dealing_order import dealing_order, order_after_first_card
from firmware_bridge.cards import DECK, Card

FIRST_CARD: Final = "F"  # where hands name the First Card


def stacked(
    rules: Game,
    unit: Unit,
    boxes: Sequence[int],
    hands: Mapping[str, Sequence[Card]],
    *,
    spare: Sequence[Card] = DECK,
    in_hand: bool = False,
) -> list[Card]:
    """Places and cards of a hand that are not named get what is left, in the order of `spare`, a whole deck.

    `in_hand`: the First Card is the first card of a hand (reading 18).
    """
    wanted = {place: list(cards) for place, cards in hands.items()}
    named = {card for cards in wanted.values() for card in cards}
    rest = [card for card in spare if card not in named]
    shown: list[Card] = []
    if rules.first_card is None:
        places = dealing_order(rules.grammar(unit), boxes)
    else:
        shown = [wanted[FIRST_CARD][0] if FIRST_CARD in wanted else rest.pop(0)]
        places = order_after_first_card(rules.first_card, rules.grammar(unit), shown[0].rank)[1 if in_hand else 0 :]
    order = [wanted[place].pop(0) if wanted.get(place) else rest.pop(0) for place in places]
    return shown + order + rest
