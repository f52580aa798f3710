"""Shuffles of a dealer's hands: packets whose order is turned round, a cut, cards washed on the table."""

from __future__ import annotations

import numpy as np

from shuffle_audit.orders import Orders, one_after_the_other, unshuffled


class Overhand:
    """Packets are slid off the top, each onto the ones before: their order is turned round, the cards within stay.

    `breaks`: the chance that a packet ends between two neighbours (Pemantle 1989); a strip cut has few of them.
    """

    def __init__(self, passes: int, breaks: float, words: str = "overhand shuffles") -> None:
        self.passes = passes
        self.breaks = breaks
        self._name = words

    @property
    def words(self) -> str:
        return f"{self.passes} {self._name}, {self.breaks:.0%} breaks"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found = unshuffled(decks, cards)
        for _ in range(self.passes):
            packet = np.cumsum(random.random((decks, cards)) >= 1 - self.breaks, axis=1, dtype=np.int64)
            found = one_after_the_other(found, np.argsort(-packet, axis=1, kind="stable"))
        return found


def strip_cuts(passes: int, cards: int, strips: int = 8) -> Overhand:
    """Stripping a deck of so many cards: so many packets on average."""
    return Overhand(passes, (strips - 1) / (cards - 1), "strip cuts")


class Cut:
    """One cut at a place that is equally likely among all, the deck as it was included."""

    words = "a cut alone"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        at = random.integers(cards, size=(decks, 1))
        return (unshuffled(decks, cards) + at) % cards


class Wash:
    """Cards washed on the table: so many times two of them change places, each pair as likely as another.

    For n cards it takes about n ln(n) / 2 exchanges until a deck is mixed (Diaconis and Shahshahani 1981): 103 for 52.
    `seconds` at `exchanges` a second is a rough model: how fast hands are is measured nowhere.
    """

    def __init__(self, seconds: float, exchanges: float = 5.0) -> None:
        self.seconds = seconds
        self.exchanges = exchanges

    @property
    def words(self) -> str:
        return f"a wash of {self.seconds:g} seconds"

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        found, row = unshuffled(decks, cards), np.arange(decks)
        for _ in range(round(self.seconds * self.exchanges)):
            one, other = random.integers(cards, size=(2, decks))
            found[row, one], found[row, other] = found[row, other], found[row, one]
        return found
