"""A simulated shuffler that shuffles by a model of `shuffle_audit`. It needs numpy, so it is imported only
when a model is named.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from firmware_bridge.cards import DECK, Card
from shuffle_audit.models.shuffle_model import ShuffleModel


class ModelledShuffle:
    """A shuffle by `model`. Its chances follow from the device's `random`, so a seed always gives the same decks.

    The first deck goes in as a new one. Each later one goes in in the order in which the last one was dealt: the first
    card on top, the stub below. This assumes that hands and discards are gathered in the order of the deal; other ways
    of gathering mix the deck a little more. A deck with a missing or repeated card is replaced by a new one.
    """

    def __init__(self, model: ShuffleModel, random: Random) -> None:
        self._model = model
        self._random = np.random.default_rng(random.getrandbits(128))
        self._next = list(DECK)

    def shuffle(self, cards: list[Card]) -> None:
        """Shuffle in place. If cards are missing, their places are left out of a whole deck's order."""
        places = self._model.shuffle(self._random, 1, max(len(cards), len(DECK)))[0].tolist()
        cards[:] = [cards[place] for place in places if place < len(cards)]
        self._next = list(cards) if Counter(cards) == Counter(DECK) else list(DECK)

    def next_deck(self) -> list[Card]:
        return list(self._next)
