"""What is counted in an order. Each function takes many decks and gives a number for each.

The places of the order in serve as the cards' labels: 0 is the card that lay on top.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import Counts, Orders, inverse

Marks = npt.NDArray[np.bool_]


def _number(marks: Marks) -> Counts:
    """How many there are in each deck."""
    found: Counts = marks.sum(axis=1, dtype=np.int64)
    return found


def rising_sequences(orders: Orders) -> Counts:
    """Runs of labels in a row that lie in this order, with others between them.

    1 for a deck that was cut by no riffle, at most 2 after one riffle, at most 2^k after k (Bayer and Diaconis 1992).
    """
    places = inverse(orders)
    return 1 + _number(places[:, 1:] < places[:, :-1])


def peaks(orders: Orders) -> Counts:
    """Cards with a lower label on both sides of it. A shuffle that takes cards from the top and puts each above or
    below a pile leaves few of them.
    """
    middle = orders[:, 1:-1]
    return _number((middle > orders[:, :-2]) & (middle > orders[:, 2:]))


def valleys(orders: Orders) -> Counts:
    """Cards with a higher label on both sides of it: all that the probability of an order depends on after a shelf
    shuffle that takes the cards from the bottom (Diaconis, Fulman, Holmes 2013, theorem 3.1).
    """
    middle = orders[:, 1:-1]
    return _number((middle < orders[:, :-2]) & (middle < orders[:, 2:]))


def kept_pairs(orders: Orders, step: int = 1) -> Counts:
    """Neighbours that were neighbours: `step` 1: in the same direction, -1: in the other one."""
    return _number(orders[:, 1:] - orders[:, :-1] == step)


def cards_in_place(orders: Orders) -> Counts:
    """Cards that lie where they lay."""
    return _number(orders == np.arange(orders.shape[1]))


def cycles(orders: Orders) -> Counts:
    """Of the permutation. Each card looks for the lowest place of its cycle, twice as far each time."""
    lowest, ahead = np.minimum(orders, np.arange(orders.shape[1])), orders
    for _ in range(int(orders.shape[1]).bit_length()):
        lowest = np.minimum(lowest, np.take_along_axis(lowest, ahead, axis=1))
        ahead = np.take_along_axis(ahead, ahead, axis=1)
    return _number(lowest == np.arange(orders.shape[1]))


def right_guesses(orders: Orders) -> Counts:
    """Cards that a player names rightly who knows the order in and sees each card after his guess: see `guessed`."""
    return _number(guessed(orders))


def guessed(orders: Orders) -> Marks:
    """Of each card, in the order in which they come, whether a player names it rightly who knows the order in and sees
    each card after his guess.

    He names the card next to the last one that he saw, in the direction in which the last two went, as long as it is
    still in the deck; else the next one that is, and at the beginning the one that lay on top. After a shelf shuffle
    piles go up and down in turn, after a riffle they go up: the guess follows both. Whatever he does, where every order
    is equally likely each guess is right with 1 in so many as are left.
    """
    decks, cards = orders.shape
    left = np.ones((decks, cards + 2), bool)  # with a card beyond each end that is never left
    left[:, 0] = left[:, -1] = False
    row = np.arange(decks)
    found = np.zeros((decks, cards), bool)
    guess = np.ones(decks, np.int64)
    last, direction = np.zeros(decks, np.int64), np.ones(decks, np.int64)
    for place in range(cards):
        card = orders[:, place] + 1
        found[:, place] = guess == card
        left[row, card] = False
        if place:
            direction = np.where(card > last, 1, -1)
        last = card
        guess = _next_left(left, card, direction)
    return found


def _next_left(left: Marks, card: Counts, direction: Counts) -> Counts:
    """The nearest card that is left from there on, else in the other direction; 0: none is."""
    ends = np.arange(left.shape[1])
    above = np.where(left & (ends > card[:, None]), ends, left.shape[1]).min(axis=1)
    below = np.where(left & (ends < card[:, None]), ends, 0).max(axis=1)
    up = np.where(above < left.shape[1], above, below)
    down = np.where(below > 0, below, np.where(above < left.shape[1], above, 0))
    return np.where(direction > 0, up, down)
