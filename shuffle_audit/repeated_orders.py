"""A procedure that finds repeated shuffles: two decks whose cards moved in the same way. Like `favoured_places`, it has
its own bound and no null distribution, so it is a module of its own.

For D decks the chance that any two have the same of n! equally likely orders is at most the sum over all pairs, D (D-1)
/ 2 / n! (von Mises 1939 has the exact one). Partly known decks are compared by relative order with those of as many
known cards. A generator that restarts with the same seed, or has few states, repeats itself although each deck looks
good.
"""

from __future__ import annotations

from math import comb, exp, factorial, lgamma, log
from typing import Final

import numpy as np

from shuffle_audit.orders import Stored, hashes_of

ID: Final = "repeated-orders"
WORDS: Final = "Decks that were shuffled exactly like an earlier one"
SOURCE: Final = "von Mises 1939"
SHARE: Final = 0.01
FEW: Final = 8  # cards; with more, repeated orders are rare


def repeated(orders: Stored) -> int:
    """Count the decks that have the same order as an earlier deck. Only decks with the same hash are compared."""
    _, of, decks = np.unique(hashes_of(orders), return_inverse=True, return_counts=True)
    alike = np.flatnonzero(decks[of] > 1)
    return len(alike) - len({orders[at].tobytes() for at in alike})


def bound(decks: int, cards: int) -> float:
    """Return an upper bound of the chance that any order repeats, at most 1."""
    pairs = comb(decks, 2)
    return min(1.0, exp(log(pairs) - lgamma(cards + 1))) if pairs else 0.0


def mean_and_variance(decks: int, cards: int) -> tuple[float, float]:
    """Return the mean and variance of the number of repeated orders; with many cards, those of rare pairs."""
    if cards > FEW:
        return bound(decks, cards), bound(decks, cards)
    orders = factorial(cards)
    once, neither = (1 - 1 / orders) ** decks, (1 - 2 / orders) ** decks if orders > 1 else 0.0
    distinct = orders * (1 - once)
    return decks - distinct, max(0.0, orders * (orders - 1) * neither + orders * once - (orders * once) ** 2)
