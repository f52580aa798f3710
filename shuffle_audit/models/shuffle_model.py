"""The interface of a model: it can shuffle and, if its distribution is known, give an order's probability."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import Counts, Orders, inverse, unshuffled

LogRatios = npt.NDArray[np.float64]
"""For each deck, the natural logarithm of its probability under a model over the uniform one; minus infinity if the
model never makes it."""


class ShuffleModel(Protocol):
    """A shuffle. `words` names it for people, to follow "a deck after"."""

    @property
    def words(self) -> str: ...

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        """Return `decks` decks, each shuffled once."""


class KnownModel(ShuffleModel, Protocol):
    """A model with a known distribution."""

    def log_ratios(self, orders: Orders) -> LogRatios: ...


class SuspectedModel(KnownModel, Protocol):
    """A known model that decks are compared with. `named.model_named` reads `name`. The probability of an order depends
    only on what is `counted` in it.
    """

    @property
    def name(self) -> str: ...

    @property
    def counted(self) -> Callable[[Orders], Counts]: ...

    def by_count(self, cards: int) -> LogRatios:
        """Return the log ratio of an order by its count."""


def _nothing(orders: Orders) -> Counts:
    return np.zeros(len(orders), np.int64)


class Uniform:
    """Each order is equally likely."""

    name = "uniform"
    words = "a uniform shuffle"

    @property
    def counted(self) -> Callable[[Orders], Counts]:
        return _nothing

    def by_count(self, cards: int) -> LogRatios:
        return np.zeros(1)

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        return random.permuted(unshuffled(decks, cards), axis=1)

    def log_ratios(self, orders: Orders) -> LogRatios:
        return np.zeros(len(orders))


UNIFORM = Uniform()


class FirstPlaces:
    """Shuffles decks of `whole` cards and shows as many of the first places as asked for."""

    def __init__(self, model: ShuffleModel, whole: int) -> None:
        self._model = model
        self._whole = whole

    @property
    def words(self) -> str:
        return self._model.words

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        """Return the relative orders of the first `cards` cards."""
        known = self._model.shuffle(random, decks, self._whole)[:, :cards]
        return inverse(np.argsort(known, axis=1))
