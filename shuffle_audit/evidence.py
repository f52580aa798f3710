"""Evidence that is gathered deck after deck, at which one may look after each of them.

A bettor against the shuffle begins with 1 unit and spreads it over models of bad shuffles. After each deck what lies on
a model is multiplied by how much more likely that order is under it than where every order is equally likely. Where
every order is, he gains nothing on average, and the chance that he ever has 1/a units is at most a (Ville 1939), at
whatever moment and however often one looks. What he has is the evidence. It needs models with a known distribution.
Decks that are known in part are added as relative orders of fewer cards (`partial_orders`).
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
