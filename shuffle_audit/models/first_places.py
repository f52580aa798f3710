"""A shuffle of a deck whose order out is known only at the first places."""

from __future__ import annotations

import numpy as np

from shuffle_audit.models.shuffle_model import ShuffleModel
from shuffle_audit.orders import Orders, inverse


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
