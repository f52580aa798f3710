"""Decks shuffled by a model, for the tests of verdicts and commands."""

from __future__ import annotations

from typing import Final

import numpy as np

from shuffle_audit.models.named import model_named
from shuffle_audit.orders import UNKNOWN, DeckOrders

NEW_DECK: Final = tuple(rank + suit for suit in "SHDC" for rank in "A23456789TJQK")


def shuffled(model: str, decks: int, seed: int = 1, cards: int = 52) -> list[DeckOrders]:
    """Return new decks of `cards` cards, each shuffled once."""
    before = NEW_DECK[:cards]
    orders = model_named(model, cards).shuffle(np.random.default_rng(seed), decks, cards)
    return [DeckOrders(before, tuple(before[card] for card in order)) for order in orders.tolist()]


def from_random_orders(model: str, decks: int, seed: int = 1, cards: int = 52) -> list[DeckOrders]:
    """Return decks of `cards` cards, each shuffled once from a random order."""
    random = np.random.default_rng([seed, decks])
    found = []
    for deck in shuffled(model, decks, seed, cards):
        name = dict(zip(NEW_DECK, random.permutation(NEW_DECK[:cards]).tolist(), strict=False))
        found.append(DeckOrders(tuple(name[card] for card in deck.before), tuple(name[card] for card in deck.after)))
    return found


def without_the_order_in(decks: list[DeckOrders]) -> list[DeckOrders]:
    return [DeckOrders((), deck.after) for deck in decks]


def seen_at(deck: DeckOrders, places: list[int]) -> DeckOrders:
    """Keep of each order out only the cards at these places."""
    return DeckOrders(deck.before, tuple(card if at in places else UNKNOWN for at, card in enumerate(deck.after)))


def first_seen(decks: list[DeckOrders], cards: int) -> list[DeckOrders]:
    """Keep of each order out only the first cards."""
    return [seen_at(deck, list(range(cards))) for deck in decks]
