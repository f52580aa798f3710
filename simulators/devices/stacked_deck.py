"""Builds a deck in the order that deals wanted hands, for a device whose order is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from controller.games.specification import Game, Unit
from controller.rules.dealing_order import dealing_order, order_after_first_card
from firmware_bridge.cards import DECK, Card

FIRST_CARD: Final = "F"  # names the First Card among hands


class HandsError(ValueError):
    """Raised for hands that no deck deals. The message is a sentence without its full stop."""


def stacked(
    rules: Game,
    unit: Unit,
    boxes: Sequence[int],
    hands: Mapping[str, Sequence[Card]],
    *,
    spare: Sequence[Card] = DECK,
    in_hand: bool = False,
) -> list[Card]:
    """Return the deck. Places and cards that are not named get what is left, in the order of `spare`, a whole deck.

    With `in_hand`, the First Card is the first card of a hand (reading 18). Raise `HandsError`.
    """
    wanted = {place: list(cards) for place, cards in hands.items()}
    named = [card for cards in wanted.values() for card in cards]
    if twice := [card for card in named if named.count(card) > 1]:
        raise HandsError(f"{twice[0].code} is named twice, and the deck has it once")
    rest = [card for card in spare if card not in named]
    shown: list[Card] = []
    if rules.first_card is None:
        places = dealing_order(rules.grammar(unit), boxes)
    else:
        shown = [wanted[FIRST_CARD].pop(0) if FIRST_CARD in wanted else rest.pop(0)]
        places = order_after_first_card(rules.first_card, rules.grammar(unit), shown[0].rank)[1 if in_hand else 0 :]
    order = [wanted[place].pop(0) if wanted.get(place) else rest.pop(0) for place in places]
    for place, over in wanted.items():
        if over:
            named_there, dealt = len(hands[place]), len(hands[place]) - len(over)
            served = ", ".join(dict.fromkeys([FIRST_CARD] * len(shown) + list(places)))
            raise HandsError(
                f"`hand {place}` names {named_there} card{'s' * (named_there != 1)}, and the deck deals {dealt} there; "
                f"dealt to are {served}{' (F, the First Card, is one of a hand)' if in_hand else ''}"
            )
    return shown + order + rest
