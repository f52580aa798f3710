"""A shuffle of a deck of which only the first places of the order out are known."""

from __future__ import annotations

import numpy as np

from shuffle_audit.models.shuffle_model import ShuffleModel
from shuffle_audit.orders import Orders, inverse


class FirstPlaces:
    """`whole`: of how many cards the deck is; as many of them are known as are asked for."""

    def __init__(self, model: ShuffleModel, whole: int) -> None:
        self._model = model
        self._whole = whole

    @property
    def words(self) -> str:
        return self._model.words

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        """The relative orders of the first so many cards."""
        known = self._model.shuffle(random, decks, self._whole)[:, :cards]
        return inverse(np.argsort(known, axis=1))
