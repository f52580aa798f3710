"""Shuffles of a simulated shuffler, and the order in which decks are put into it."""

from __future__ import annotations

from random import Random
from typing import Protocol

from firmware_bridge.cards import DECK, Card


class DeckShuffle(Protocol):
    """The shuffle of one device."""

    def shuffle(self, cards: list[Card]) -> None:
        """Shuffle cards in place; the top card is first."""

    def next_deck(self) -> list[Card]:
        """Return the deck that a person puts in next, from the top."""


class UniformShuffle:
    """A shuffle that makes each order equally likely, whatever went in. So a deck may go in like a new one."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def shuffle(self, cards: list[Card]) -> None:
        self._random.shuffle(cards)

    def next_deck(self) -> list[Card]:
        return list(DECK)
