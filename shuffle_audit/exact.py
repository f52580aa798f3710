"""How often each count comes where all n! orders are equally likely, in whole numbers; and sums over several decks.

A distribution is an array: element k is the probability of the count k. Sums of several decks are convolutions of it:
all their terms are positive, so that small tails are as exact as large ones.
"""

from __future__ import annotations

from functools import cache
from math import comb, factorial

import numpy as np
import numpy.typing as npt

Distribution = npt.NDArray[np.float64]


@cache
def rising_sequence_numbers(cards: int) -> tuple[int, ...]:
    """Eulerian numbers: element k counts the orders with k rising sequences (element 0 is 0)."""
    row = [1]
    for n in range(2, cards + 1):
        row = [(k + 1) * (row[k] if k < len(row) else 0) + (n - k) * (row[k - 1] if k else 0) for k in range(n)]
    return (0, *row)


@cache
def peak_numbers(cards: int) -> tuple[int, ...]:
    """Orders with k peaks; as many have k valleys."""
    row = [1]
    for n in range(2, cards + 1):
        row = [
            (2 * k + 2) * (row[k] if k < len(row) else 0) + (n - 2 * k) * (row[k - 1] if k else 0)
            for k in range((n - 1) // 2 + 1)
        ]
    return tuple(row)


@cache
def kept_pair_numbers(cards: int) -> tuple[int, ...]:
    """Orders with k neighbours that follow each other as before: as many in the other direction."""
    return tuple(comb(cards - 1, k) * (_derangements(cards - k) + _derangements(cards - k - 1)) for k in range(cards))


@cache
def in_place_numbers(cards: int) -> tuple[int, ...]:
    """Orders with k cards where they lay (rencontres numbers)."""
    return tuple(comb(cards, k) * _derangements(cards - k) for k in range(cards + 1))


@cache
def cycle_numbers(cards: int) -> tuple[int, ...]:
    """Orders with k cycles (unsigned Stirling numbers of the first kind)."""
    row = [1]
    for n in range(cards):
        row = [n * (row[k] if k < len(row) else 0) + (row[k - 1] if k else 0) for k in range(n + 2)]
    return tuple(row)


@cache
def _derangements(cards: int) -> int:
    if cards < 1:
        return 1 if cards == 0 else 0
    return (cards - 1) * (_derangements(cards - 1) + _derangements(cards - 2)) if cards > 1 else 0


def distribution(numbers: tuple[int, ...]) -> Distribution:
    """Of counts of orders: exact fractions, rounded once."""
    whole = sum(numbers)
    return np.array([number / whole for number in numbers])


@cache
def _guesses(cards: int) -> tuple[float, ...]:
    found = np.array([1.0])
    for left in range(1, cards + 1):
        found = np.convolve(found, (1 - 1 / left, 1 / left))
    return tuple(found)


def guess_distribution(cards: int) -> Distribution:
    """Of right guesses of a player who sees each card: each guess is right with 1 in so many as are left."""
    return np.array(_guesses(cards))


def of_decks(one: Distribution, decks: int) -> Distribution:
    """Of the sum of so many decks that do not depend on each other."""
    found, power = np.array([1.0]), one
    while decks:
        if decks & 1:
            found = np.convolve(found, power)
        decks >>= 1
        if decks:
            power = np.convolve(power, power)
    return found


def tails(sums: Distribution, value: int) -> tuple[float, float]:
    """The chance of that sum or a lower one, and of that or a higher one."""
    return min(1.0, float(sums[: value + 1].sum())), min(1.0, float(sums[value:].sum()))


def orders_of(cards: int) -> int:
    return factorial(cards)
