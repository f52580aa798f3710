"""A simulated shuffler that shuffles after a model of `shuffle_audit`. It needs numpy."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from firmware_bridge.cards import DECK, Card
from shuffle_audit.models.shuffle_model import ShuffleModel


class ModelledShuffle:
    """A shuffle after `model`. Its chances follow from the device's `random`: the same seed makes the same decks.

    The first deck goes in in a new deck's order. Each later one goes in in the order in which the cards of the last one
    left the device: the first that was dealt is on top, and the stub lies below all that were dealt. So it is assumed
    that hands and discards are gathered in the order of the deal. Dealers who gather them in another order mix the deck
    a little more. A deck in which a card is missing or twice is replaced by a new one.
    """

    def __init__(self, model: ShuffleModel, random: Random) -> None:
        self._model = model
        self._random = np.random.default_rng(random.getrandbits(128))
        self._next = list(DECK)

    def shuffle(self, cards: list[Card]) -> None:
        """Where cards are missing, the places that they would have had are left out of a whole deck's order."""
        places = self._model.shuffle(self._random, 1, max(len(cards), len(DECK)))[0].tolist()
        cards[:] = [cards[place] for place in places if place < len(cards)]
        self._next = list(cards) if Counter(cards) == Counter(DECK) else list(DECK)

    def next_deck(self) -> list[Card]:
        return list(self._next)
