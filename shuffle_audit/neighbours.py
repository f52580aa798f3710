"""A procedure that finds cards that follow each other too often or too rarely: places at any distance, two places, two
cards, two ranks or two suits.

A link is a pair of cards of which the second follows the first. Any j links that fit together leave n - j blocks in
(n - j)! orders, so the counts of links have exact distributions by inclusion and exclusion. With e(j) the number of
ways to choose j links that fit together, e(j) (n - j)! / n! is the mean of C(T, j).

    distance k, going round the order in   e(j) = [x^j] ((1 + x)^L - x^L)^(n/L), L = n / gcd(n, k): all but whole rounds
    a cards and b other cards              e(j) = C(a, j) C(b, j) j!
    a cards among themselves               e(j) = C(a - 1, j) a! / (a - j)!, Lah numbers
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from math import comb, factorial, gcd, perm
from typing import Final

import numpy as np
import numpy.typing as npt

from shuffle_audit import exact
from shuffle_audit.cells import Cells, bernoulli
from shuffle_audit.exact import Distribution
from shuffle_audit.faces_at_places import sortings
from shuffle_audit.orders import Counts, Orders, Stored, in_blocks
from shuffle_audit.shown import ShownFaces

ID: Final = "neighbours"
WORDS: Final = "The most unusual number of cards that follow others"
SOURCE: Final = "Whitworth 1901"
SHARE: Final = 0.005
LOW: Final = 0.1
KINDS: Final = 5
"""Distances, pairs of places, of cards, of ranks, and of suits, which share the alarms equally."""


def linked(cards: int, ways: Sequence[int]) -> tuple[int, ...]:
    """Return in how many orders of `cards` cards exactly k links hold. `ways[j]`: how to choose j that fit together."""
    least = [factorial(cards - j) * way for j, way in enumerate(ways)]
    most = len(least)
    return tuple(sum((-1) ** (j - k) * comb(j, k) * least[j] for j in range(k, most)) for k in range(most))


@cache
def at_distance(cards: int, cycle: int) -> Distribution:
    """Return the distribution of the number of cards that follow the card k places above, going round, where k has
    `cycle` steps until it comes back.
    """
    own = [comb(cycle, j) for j in range(cycle)]
    ways = [1]
    for _ in range(cards // cycle):
        ways = [sum(ways[i] * own[j - i] for i in range(max(0, j - cycle + 1), min(j + 1, len(ways))))
                for j in range(len(ways) + cycle - 1)]  # fmt: skip
    return exact.distribution(linked(cards, ways))


@cache
def of_kinds(cards: int, first: int, second: int) -> Distribution:
    """Return the distribution of the number of times that one of `first` cards is followed by one of `second` other
    cards; with `second` 0, by another one of themselves.
    """
    if not second:
        return exact.distribution(linked(cards, [comb(first - 1, j) * perm(first, j) for j in range(first)]))
    fewer = min(first, second)
    return exact.distribution(
        linked(cards, [comb(first, j) * comb(second, j) * factorial(j) for j in range(fewer + 1)])
    )


def cells(orders: Stored, shown: ShownFaces | None) -> Iterator[Cells]:
    """Yield the cells of whole decks: of places by their orders, of cards by those that came out whole."""
    size = orders.shape[1]
    if size > 1 and len(orders):
        yield from _distances(orders)
        yield _pairs(orders, [f"place {place + 1}" for place in range(size)])
    if shown is None or len(shown.names) < 2:
        return
    whole = shown.whole
    if not len(whole):
        return
    yield _pairs(whole, shown.names)
    if shown.faces is not None:
        for one in sortings()[:2]:
            yield from _kinds(whole, one.of[shown.faces], one.names)


def _distances(orders: Stored) -> Iterator[Cells]:
    decks, size = orders.shape
    counts = np.zeros(size, np.int64)
    for block in in_blocks(orders):
        counts += np.bincount(((block[:, 1:] - block[:, :-1]) % size).ravel(), minlength=size)
    cycles = np.array([0, *(size // gcd(size, step) for step in range(1, size))])
    for cycle in np.unique(cycles[1:]).tolist():
        own = np.flatnonzero(cycles == cycle)
        yield Cells(
            at_distance(size, cycle), decks, counts[own], _named_by(own, "place i+{} follows place i"),
            float(KINDS * (size - 1)), LOW,
        )  # fmt: skip


def _named_by(numbers: npt.NDArray[np.int64], words: str) -> Callable[[int], str]:
    return lambda at: words.format(numbers[at])


def _pairs(cards: Stored, names: Sequence[str]) -> Cells:
    decks, size = cards.shape
    others = _followers(cards, np.arange(size), size)[~np.eye(size, dtype=bool)]
    return Cells(bernoulli(1 / size), decks, others, _following(names), float(KINDS * len(others)), LOW)


def _following(names: Sequence[str]) -> Callable[[int], str]:
    """Return the name of a pair by its number among all with different members."""

    def name(at: int) -> str:
        first, second = divmod(at, len(names) - 1)
        return f"{names[second + (second >= first)]} follows {names[first]}"

    return name


def _followers(cards: Stored, kind: npt.NDArray[np.int64], kinds: int) -> Counts:
    """Count how often a card of one kind (rows) is followed by one of another."""
    found = np.zeros(kinds * kinds, np.int64)
    for block in in_blocks(cards):
        of = kind[block]
        found += np.bincount((of[:, :-1] * kinds + of[:, 1:]).ravel(), minlength=kinds * kinds)
    return found.reshape(kinds, kinds)


def _kinds(cards: Stored, kind: npt.NDArray[np.int64], names: Sequence[str]) -> Iterator[Cells]:
    decks, size = cards.shape
    kinds = len(names)
    table = _followers(cards, kind, kinds).ravel()
    sizes = np.bincount(kind, minlength=kinds)
    groups: dict[tuple[int, int], list[int]] = {}
    for first in range(kinds):
        for second in range(kinds):
            own = sizes[first], 0 if first == second else sizes[second]
            if sizes[first] and sizes[second] and own != (1, 0):
                groups.setdefault((int(own[0]), int(own[1])), []).append(first * kinds + second)
    weight = float(KINDS * sum(map(len, groups.values())))
    for (first, second), pairs in groups.items():
        yield Cells(of_kinds(size, first, second), decks, table[pairs], _kind_named(names, pairs), weight, LOW)


def _kind_named(names: Sequence[str], pairs: Sequence[int]) -> Callable[[int], str]:
    return lambda at: f"{names[pairs[at] % len(names)]} follows {names[pairs[at] // len(names)]}"


def counted(orders: Orders, step: int) -> Counts:
    """Count in each deck the cards that follow the card `step` places above them, going round."""
    found: Counts = ((orders[:, 1:] - orders[:, :-1]) % orders.shape[1] == step).sum(axis=1, dtype=np.int64)
    return found
