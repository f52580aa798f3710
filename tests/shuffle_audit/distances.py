"""Exact distances of a shuffle from uniform, by the classes of orders that it makes equally likely.

Total variation: the most by which the chance of any set of orders differs. Separation: 1 minus the least probability
over the uniform one. Worst ratio: the largest deviation from 1 of a probability over the uniform one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

from shuffle_audit.exact import orders_of, peak_numbers, rising_sequence_numbers
from shuffle_audit.models import riffle, shelf


class Distances(NamedTuple):
    total_variation: float
    separation: float
    worst_ratio: float


def of_riffles(passes: int, cards: int = 52) -> Distances:
    """Return the distances after k riffles (Bayer and Diaconis 1992, table 1)."""
    numbers = rising_sequence_numbers(cards)
    return _by_classes(numbers[1:], lambda k: riffle.probability(2**passes, cards, k + 1), cards)


def of_shelves(shelves: int, cards: int = 52) -> Distances:
    """Return the distances after one pass (Diaconis, Fulman, Holmes 2013, table 1)."""
    return _by_classes(peak_numbers(cards), lambda k: shelf.probability(shelves, cards, k), cards)


def _by_classes(numbers: Sequence[int], probability: Callable[[int], Fraction], cards: int) -> Distances:
    whole = orders_of(cards)
    uniform = Fraction(1, whole)
    found = [(number, probability(k)) for k, number in enumerate(numbers) if number]
    variation = sum(number * abs(each - uniform) for number, each in found) / 2
    ratios = [each * whole for _, each in found]
    return Distances(float(variation), float(1 - min(ratios)), float(max(abs(1 - one) for one in ratios)))
