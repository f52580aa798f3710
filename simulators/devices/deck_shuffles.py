"""How a simulated shuffler shuffles, and in which order decks are put into it."""

from __future__ import annotations

from random import Random
from typing import Protocol

from firmware_bridge.cards import DECK, Card


class DeckShuffle(Protocol):
    """The shuffle of one device."""

    def shuffle(self, cards: list[Card]) -> None:
        """Put these cards, the top one first, in another order, in place."""

    def next_deck(self) -> list[Card]:
        """The deck that a person puts in next, the top card first."""


class UniformShuffle:
    """Each order is equally likely, whatever went in. So a deck goes in as a new one: it makes no difference."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def shuffle(self, cards: list[Card]) -> None:
        self._random.shuffle(cards)

    def next_deck(self) -> list[Card]:
        return list(DECK)
