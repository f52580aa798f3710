"""A table that deals rounds from decks of known orders, and its journal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from controller.table import operations
from firmware_bridge.cards import DECK, Card
from shuffle_audit.models.named import model_named
from tests.journal_commands.made import JournaledTable
from tests.table.deck_hands import take_out


class DealingTable(JournaledTable):
    """A table that deals to as many boxes as the layout has. Each new deck has its own name."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.boxes = tuple(range(1, 8))
        self.stakes: dict[int, int] = {}
        """What is staked on boxes, for the rounds that follow."""
        self.start_daemon("start-1", "pc-1", table="BAC-07")
        self.connect()
        self.do(operations.OpenTable())
        self._brought = 0

    def bring_new(self, *, sealed: bool = True) -> str:
        """Record a new deck, sealed by its maker or without a seal, and return its name."""
        self._brought += 1
        name = f"D{self._brought}"
        seal = f"seal {self._brought}" if sealed else ""
        self.do(operations.BringDeck(name, f"back {name}", seal, 52, "a witness"))
        return name

    def take_out(self, name: str) -> None:
        self.do(take_out(name))

    def begin(self, name: str, order: Sequence[Card]) -> None:
        """Put the deck in, shuffled into that order, and close the bets."""
        self.device.order, self.device.same_order = list(order), True
        self.device.load()
        self.do(operations.LoadDeck(name))
        self.do(operations.PlaceYourBets())
        self.do(operations.OccupyBoxes(self.boxes))
        self.bets(*((f"bettor {box}", "main", box, amount) for box, amount in self.stakes.items()))
        self.do(operations.NoMoreBets())

    def play(self, name: str, order: Sequence[Card]) -> None:
        """Play a whole round."""
        self.begin(name, order)
        self.finish()

    def play_new(self, model: str, decks: int, seed: int = 1) -> list[list[Card]]:
        """Play `decks` new decks, each shuffled once from its maker's order, dealt and taken away; return the orders
        out.
        """
        made = shuffled_new(model, decks, seed)
        for order in made:
            name = self.bring_new()
            self.play(name, order)
            self.take_out(name)
        return made


def shuffled_new(model: str, decks: int, seed: int = 1) -> list[list[Card]]:
    orders = model_named(model).shuffle(np.random.default_rng(seed), decks, 52)
    return [[DECK[card] for card in order] for order in orders.tolist()]
