"""The cost of a shuffle: the difference of each wager's house edge from the exact one, in simulated decks.

One round is dealt from the top of each shuffled deck, with one unit on every box of the layout. No bettor makes use of
knowledge; the gain of a player who bets on the better boxes shows in the figures by box. The deck goes in either as a
new one each time, or as collected: the hands from box 1 on, the Dealer's last, each as it was dealt, on top of the rest
of the deck, for 60 rounds from a new deck of which the first 10 do not count. Other habits of collecting give other
figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from math import ceil, nan
from typing import Final, NamedTuple

import numpy as np

from controller.games.specification import Game, Unit
from controller.rules.law import Law, read_law
from controller.rules.odds import wager_odds
from shuffle_audit.dealing import Dealing, Net, dealing, net
from shuffle_audit.faces import NEW_DECK, Faces, faces_out
from shuffle_audit.models.shuffle_model import ShuffleModel

WARM_UP: Final = 10
ROUNDS: Final = 50
_AT_ONCE: Final = 10_000  # decks in one step


class Start(StrEnum):
    """The order in which a deck goes into the shuffler."""

    NEW_DECK = "new deck"
    COLLECTED = "as collected"


class Cost(NamedTuple):
    """One wager, on all boxes together (`box` 0) or on one, in parts of the stake: `exact` is its house edge under
    uniform orders, `edge` the simulated one, `error` the standard error of that.
    """

    game: str
    wager: str
    title: str
    unit: Unit
    start: Start
    box: int
    exact: float
    edge: float
    error: float

    @property
    def change(self) -> float:
        """The change of the house edge by the shuffle; negative if the player gains."""
        return self.edge - self.exact

    @property
    def errors(self) -> float:
        """The change in standard errors; not a number if all tables had the same sum."""
        return self.change / self.error if self.error else nan


def first_reading(game: Game) -> Law:
    """Return the law with all defaults, and the first option in the document where a reading must be chosen."""
    return read_law(game, {one.id: one.words[0] for one in game.settings if one.must_be_chosen})


def costs(
    law: Law, model: ShuffleModel, unit: Unit, start: Start, random: np.random.Generator, decks: int = 100_000
) -> list[Cost]:
    """Return the cost of every wager in force, on all boxes and on each, from `decks` decks (for `Start.COLLECTED`
    rounded up to a multiple of 50).

    The error is that of the mean over tables of one round or fifty: boxes of a round share the Dealer's hand, and
    rounds of a table share a deck. At least 2 decks are needed, as collected 51.
    """
    deal = dealing(law, unit)
    tables = decks if start is Start.NEW_DECK else ceil(decks / ROUNDS)
    sums = [np.zeros((2, 1)) for _ in law.wagers]
    for begin in range(0, tables, _AT_ONCE):
        count = min(_AT_ONCE, tables - begin)
        for number, gained in enumerate(_gains(law, deal, model, start, random, count)):
            sums[number] = sums[number] + np.stack([gained.sum(axis=0), (gained**2).sum(axis=0)])
    found = []
    for wager, (total, squares) in zip(law.wagers, sums, strict=True):
        exact = float(wager_odds(law, wager).house_edge)
        mean = total / tables
        error = np.sqrt(np.maximum(squares / tables - mean**2, 0.0) / (tables - 1))
        named = law.game.id, wager.id, str(wager.title), unit, start
        found += [Cost(*named, box, exact, -float(mean[box]), float(error[box])) for box in range(len(mean))]
    return found


def _gains(
    law: Law, deal: Dealing, model: ShuffleModel, start: Start, random: np.random.Generator, tables: int
) -> list[Net]:
    """Return for each wager a bettor's gain a round, by table, on all boxes and on each."""
    rounds = 1 if start is Start.NEW_DECK else ROUNDS
    found: list[Net] = []
    for out in _rounds(deal, model, start, random, tables):
        hands = deal.hands(out)
        gained = [_with_mean(net(law, wager, hands)) / rounds for wager in law.wagers]
        found = [one + more for one, more in zip(found, gained, strict=True)] if found else gained
    return found


def _with_mean(by_box: Net) -> Net:
    """Put a column for all boxes before those of the boxes, if there are several."""
    mean = by_box.mean(axis=1, keepdims=True)
    return np.concatenate([mean, by_box], axis=1) if by_box.shape[1] > 1 else mean


def _rounds(
    deal: Dealing, model: ShuffleModel, start: Start, random: np.random.Generator, tables: int
) -> Iterator[Faces]:
    """Yield the decks from the top, round after round, without those that do not count."""
    deck = np.tile(NEW_DECK, (tables, 1))
    warm_up, rounds = (0, 1) if start is Start.NEW_DECK else (WARM_UP, ROUNDS)
    for number in range(warm_up + rounds):
        out = faces_out(model.shuffle(random, *deck.shape), deck)
        deck = deal.collected(out)
        if number >= warm_up:
            yield out
