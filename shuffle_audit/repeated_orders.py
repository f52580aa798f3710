"""A shuffle that comes again: two decks of which the cards went the same ways.

Of D decks the chance that any two have the same of n! equally likely orders is at most the sum over all pairs,
D (D-1) / 2 / n! (von Mises 1939 for the exact one). A generator that begins again with the same seed, or has few
states, repeats itself while each deck by itself looks good.
"""

from __future__ import annotations

from math import comb, exp, lgamma, log
from typing import Final

from shuffle_audit.orders import Orders

ID: Final = "repeated-orders"
WORDS: Final = "Decks that were shuffled exactly as an earlier one was"
SOURCE: Final = "von Mises 1939"
SHARE: Final = 0.01


def repeated(orders: Orders) -> int:
    """How many decks have the order of an earlier one."""
    return len(orders) - len({one.tobytes() for one in orders})


def bound(decks: int, cards: int) -> float:
    """No less than the chance that any order comes again, and than how many are expected to. Not above 1."""
    pairs = comb(decks, 2)
    return min(1.0, exp(log(pairs) - lgamma(cards + 1))) if pairs else 0.0
