"""Decks with unknown cards: each becomes the relative order of the cards that are known on both sides.

Where every order of n cards is equally likely, so is each of the k! relative orders of k of them, if the choice of
these k does not depend on where they came from: the first k places, the places of exposed hands, k cards chosen by
their faces. So a relative order is the order of a deck of k cards: each procedure has its exact distribution with n =
k, and each model's likelihood of an order of k cards, times k!, is 1 on average, which is all that the evidence needs.

Whether the model still fits the machine only affects power. A shelf shuffle sends each card to its shelf independently,
and a riffle fills each place of the order out independently. So a shelf shuffle of k cards chosen by where they lay is
that of k cards, and so is a riffle of k places chosen in the order out. The other way round this is only approximate: a
fault is then found later, but no false one is.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError, order_of, verify_same_deck

LEAST_KNOWN: Final = 6
"""The least number of known cards of a partly known deck: fewer show hardly anything."""
Order: TypeAlias = npt.NDArray[np.int64]
"""One deck, as a row of `Orders`."""


def order_in_part(deck: DeckOrders) -> Order:
    """Return the relative order of the cards known on both sides, or a whole deck's order. Raise `OrderError`.

    >>> order_in_part(DeckOrders(("a", "b", "c", "d"), ("d", "?", "?", "b"))).tolist()
    [1, 0]
    """
    if deck.is_whole:
        return order_of(deck.before, deck.after)
    verify_cards(deck)
    both = (set(deck.before) & set(deck.after)) - {UNKNOWN}
    return order_of([one for one in deck.before if one in both], [one for one in deck.after if one in both])


def verify_cards(deck: DeckOrders) -> None:
    """Raise `OrderError` if the known cards of the two orders cannot belong to one deck. Without an order in, check
    only the order out.
    """
    before, after = ([one for one in cards if one != UNKNOWN] for cards in (deck.before or deck.after, deck.after))
    more = len(deck.before) - len(before) if deck.before else 0, len(deck.after) - len(after)
    verify_same_deck(before if deck.before else sorted(set(after)), after, more)
    if deck.before and len(deck.before) != len(deck.after):
        sentence = f"The order in has {len(deck.before)} cards, and the order out {len(deck.after)}."
        raise OrderError("card-count", sentence)
