"""Machines with a fault: they do not always shuffle, cards stick together, a place is favoured."""

from __future__ import annotations

import numpy as np

from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel
from shuffle_audit.orders import Orders, unshuffled


class NotAlways:
    """With that chance a deck comes out as it went in."""

    def __init__(self, chance: float, else_: ShuffleModel = UNIFORM) -> None:
        self.chance = chance
        self._else = else_

    @property
    def words(self) -> str:
        return f"{self._else.words} that is left out with {self.chance:.0%}"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        out = random.random((decks, 1)) < self.chance
        return np.where(out, unshuffled(decks, cards), self._else.shuffle(random, decks, cards))


class StickingPairs:
    """Each card sticks to the one below it with that chance, and both go as one."""

    def __init__(self, chance: float) -> None:
        self.chance = chance

    @property
    def words(self) -> str:
        return f"a uniform shuffle in which neighbours stick with {self.chance:.0%}"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        """Blocks of cards that stick are put in a uniform order: each has a key, and its cards have it, too."""
        starts = random.random((decks, cards)) >= self.chance
        starts[:, 0] = True
        block = np.cumsum(starts, axis=1) - 1
        keys = np.take_along_axis(random.random((decks, cards)), block, axis=1)
        return np.argsort(keys, axis=1, kind="stable")


class FavouredPlace:
    """With that chance the card that lay at place `before` comes to place `after`, whatever the shuffle did."""

    def __init__(self, chance: float, before: int, after: int) -> None:
        self.chance = chance
        self.before = before
        self.after = after

    @property
    def words(self) -> str:
        return (
            f"a uniform shuffle in which card {self.before + 1} comes to place {self.after + 1} with {self.chance:.0%}"
        )

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = UNIFORM.shuffle(random, decks, cards)
        moved = np.flatnonzero(random.random(decks) < self.chance)
        lies = np.argmax(found[moved] == self.before, axis=1)
        found[moved, lies] = found[moved, self.after]
        found[moved, self.after] = self.before
        return found
