"""Evidence that is gathered deck after deck, at which one may look after each of them.

A bettor against the shuffle begins with 1 unit and spreads it over models of bad shuffles. After each deck what lies on
a model is multiplied by how much more likely that order is under it than where every order is equally likely. Where
every order is, he gains nothing on average, and the chance that he ever has 1/a units is at most a (Ville 1939), at
whatever moment and however often one looks. What he has is the evidence. It needs models with a known distribution.
Decks that are known in part are added as relative orders of fewer cards (`partial_orders`).

`Evidence` bets from the first deck on: `audit run` and `plan`. `EvidenceSinceAnyDeck` is for the monitor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from shuffle_audit.models.riffle import Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import LogRatios, SuspectedModel
from shuffle_audit.orders import Orders

SUSPECTED: Final[tuple[SuspectedModel, ...]] = (
    *(Riffle(passes) for passes in range(1, 10)),
    *(Shelves(shelves, from_top=top) for shelves in (1, 2, 4, 8, 10, 15, 20, 30, 50, 100) for top in (False, True)),
)


class Evidence:
    """`models`: which are suspected, each with the same share at the beginning."""

    def __init__(self, models: Sequence[SuspectedModel] = SUSPECTED) -> None:
        self.models = tuple(models)
        self.decks = 0
        self._logs: LogRatios = np.full(len(self.models), -np.log(len(self.models)))

    def add(self, orders: Orders) -> LogRatios:
        """The natural logarithm of the evidence after each of these decks."""
        ratios = np.stack([model.log_ratios(orders) for model in self.models], axis=1)
        course = self._logs + np.cumsum(ratios, axis=0)
        self.decks += len(orders)
        if len(orders):
            self._logs = course[-1]
        found: LogRatios = np.logaddexp.reduce(course, axis=1)
        return found

    @property
    def log(self) -> float:
        """The natural logarithm of the evidence so far."""
        return float(np.logaddexp.reduce(self._logs))

    @property
    def likeliest(self) -> SuspectedModel:
        """The model under which these decks are the most likely; what that says without evidence is nothing."""
        return self.models[int(np.argmax(self._logs))]


class EvidenceSinceAnyDeck(Evidence):
    """A part of the unit begins at each deck, so that good decks before do not hide a machine that became bad.

    At deck s = 1, 2, ... the share 1/(s(s+1)) is spread over the k models; what is not used yet is kept, 1/(t+1) after
    deck t. With the ratio L(j, m) of deck j under model m, the evidence after deck t is

        1/(t+1) + sum over s = 1..t of 1/(s(s+1)) * (1/k) * sum over m of L(s, m) * ... * L(t, m).

    Each part is a nonnegative martingale where every order is equally likely, and the shares add up to 1: the evidence
    is one too, and begins with 1. So the chance that it ever reaches 1/a is at most a, as of `Evidence`.
    """

    def __init__(self, models: Sequence[SuspectedModel] = SUSPECTED) -> None:
        super().__init__(models)
        self._logs = np.full(len(self.models), -np.inf)
        self._rise = np.zeros(len(self.models))
        self._since = np.zeros(len(self.models), np.int64)

    def add(self, orders: Orders) -> LogRatios:
        ratios = np.stack([model.log_ratios(orders) for model in self.models], axis=1)
        course = np.empty(len(orders))
        for at, ratio in enumerate(ratios):
            self.decks += 1
            self._logs = bet_on(self._logs, self.decks, ratio)
            self._since = np.where(self._rise > 0, self._since, self.decks)
            self._rise = np.maximum(self._rise, 0) + ratio
            course[at] = self.log
        return course

    @property
    def log(self) -> float:
        return float(with_rest(self._logs, self.decks))

    @property
    def lately(self) -> int:
        """So many of the last decks together say most for the likeliest model; 0: none was added."""
        return self.decks + 1 - int(self._since[int(np.argmax(self._logs))]) if self.decks else 0


def bet_on(logs: LogRatios, deck: int, ratios: LogRatios) -> LogRatios:
    """What lies on each model (last axis) after a deck, from 1, of these ratios; `logs`: before. As logarithms."""
    share = -np.log(deck * (deck + 1.0) * logs.shape[-1])
    found: LogRatios = np.logaddexp(logs, share) + ratios
    return found


def with_rest(logs: LogRatios, decks: int) -> LogRatios:
    """The natural logarithm of the evidence: what lies on the models (last axis), and what is not used yet."""
    found: LogRatios = np.logaddexp(np.logaddexp.reduce(logs, axis=-1), -np.log(decks + 1.0))
    return found
