"""What a shuffle is to the program: it can be made; where its distribution is known, each order has a probability."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from shuffle_audit.orders import Orders, unshuffled

LogRatios = npt.NDArray[np.float64]
"""For each deck the natural logarithm of its probability under a model over that where all orders are equally likely;
minus infinity: the model never makes it."""


class ShuffleModel(Protocol):
    """`words`: what it is, for people, to follow "a deck after"."""

    @property
    def words(self) -> str: ...

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        """So many decks, each shuffled once."""


class KnownModel(ShuffleModel, Protocol):
    """A model with a known distribution."""

    def log_ratios(self, orders: Orders) -> LogRatios: ...


class SuspectedModel(KnownModel, Protocol):
    """A known model that decks are compared with. `name`: as `named.model_named` reads it."""

    @property
    def name(self) -> str: ...


class Uniform:
    """Each order is equally likely."""

    name = "uniform"
    words = "a uniform shuffle"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        return random.permuted(unshuffled(decks, cards), axis=1)

    def log_ratios(self, orders: Orders) -> LogRatios:
        return np.zeros(len(orders))


UNIFORM = Uniform()
