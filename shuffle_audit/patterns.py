"""Counts of patterns in orders. Each function takes many decks and returns a number for each.

The places of the order in serve as the cards' labels: 0 is the card that lay on top.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import Counts, Orders, inverse

Marks = npt.NDArray[np.bool_]


def _count(marks: Marks) -> Counts:
    """Count the marks of each deck."""
    found: Counts = marks.sum(axis=1, dtype=np.int64)
    return found


def rising_sequences(orders: Orders) -> Counts:
    """Count runs of consecutive labels that appear in ascending order, with others between them.

    A deck that was not riffled has 1, or 2 after a cut; k riffles leave at most 2^k (Bayer and Diaconis 1992).
    """
    places = inverse(orders)
    return 1 + _count(places[:, 1:] < places[:, :-1])


def peaks(orders: Orders) -> Counts:
    """Count cards with a lower label on both sides. A shuffle that takes cards from the top and puts each above or
    below a pile leaves few of them.
    """
    middle = orders[:, 1:-1]
    return _count((middle > orders[:, :-2]) & (middle > orders[:, 2:]))


def valleys(orders: Orders) -> Counts:
    """Count cards with a higher label on both sides: they alone determine the probability of an order after a shelf
    shuffle that takes cards from the bottom (Diaconis, Fulman, Holmes 2013, theorem 3.1).
    """
    middle = orders[:, 1:-1]
    return _count((middle < orders[:, :-2]) & (middle < orders[:, 2:]))


def kept_pairs(orders: Orders, step: int = 1) -> Counts:
    """Count neighbours that were neighbours before: in the same direction (`step` 1) or reversed (-1)."""
    return _count(orders[:, 1:] - orders[:, :-1] == step)


def cards_in_place(orders: Orders) -> Counts:
    """Count cards that are in their old place."""
    return _count(orders == np.arange(orders.shape[1]))


def unchanged(orders: Orders) -> Counts:
    """Return 1 for each deck that came out as it went in, else 0."""
    found: Counts = (orders == np.arange(orders.shape[1])).all(axis=1).astype(np.int64)
    return found


def cycles(orders: Orders) -> Counts:
    """Count the cycles of the permutation: each card finds the lowest place of its cycle by doubling steps."""
    lowest, ahead = np.minimum(orders, np.arange(orders.shape[1])), orders
    for _ in range(int(orders.shape[1]).bit_length()):
        lowest = np.minimum(lowest, np.take_along_axis(lowest, ahead, axis=1))
        ahead = np.take_along_axis(ahead, ahead, axis=1)
    return _count(lowest == np.arange(orders.shape[1]))


def right_guesses(orders: Orders) -> Counts:
    """Count the cards that `guessed` names correctly."""
    return _count(guessed(orders))


def guessed(orders: Orders) -> Marks:
    """Return, for each card in turn, whether it is guessed correctly by a player who knows the original order and sees
    each card after guessing it.

    The player names the card next to the last one seen, in the direction of the last two, if it is still in the deck;
    else the next one that is; at first, the card that was on top. After a shelf shuffle piles go up and down in turn,
    after a riffle they go up: the guess follows both. Where every order is equally likely, any strategy is right with
    chance 1/c when c cards are left.
    """
    decks, cards = orders.shape
    row = np.arange(decks)
    above = np.tile(np.arange(1, cards + 3), (decks, 1))  # the nearest card that is left; 0 and cards + 1 are beyond
    below = above - 2
    found = np.zeros((decks, cards), bool)
    guess = np.ones(decks, np.int64)
    last, direction = np.zeros(decks, np.int64), np.ones(decks, np.int64)
    for place in range(cards):
        card = orders[:, place] + 1
        found[:, place] = guess == card
        up, down = above[row, card], below[row, card]
        above[row, down], below[row, up] = up, down
        if place:
            direction = np.where(card > last, 1, -1)
        last = card
        up = np.where(up <= cards, up, 0)
        guess = np.where(((direction > 0) & (up > 0)) | (down == 0), up, down)
    return found
