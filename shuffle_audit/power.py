"""The power of an audit: how often its verdict finds a model of a bad shuffle, and how many decks that needs.

The audits are simulated once: the first decks of each serve for every number of decks and every level, so that answers
from the same draws differ only by decks and level, not by chance. Sampled procedures, those of faces and repeated
orders are left out, so that the true power is no lower.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shuffle_audit import exact, favoured_places
from shuffle_audit.evidence import OF_EVIDENCE, SUSPECTED, bet_on, ratios_of, with_rest
from shuffle_audit.favoured_places import FullestCells
from shuffle_audit.models.shuffle_model import ShuffleModel
from shuffle_audit.orders import Orders
from shuffle_audit.procedures import PROCEDURES, Procedure
from shuffle_audit.verdict import OF_PROCEDURES

AT_ONCE: Final = 20_000  # decks that are shuffled and counted together
Progress = Callable[[int], object]
"""Called with the number of decks drawn since the last call."""


class Power(NamedTuple):
    """The result of `audits` simulated audits of `decks` decks each: `found` of them ended with "bad"."""

    decks: int
    found: int
    audits: int

    @property
    def share(self) -> float:
        return self.found / self.audits

    @property
    def error(self) -> float:
        """The standard error of the share."""
        return sqrt(self.share * (1 - self.share) / self.audits)


class Draws:
    """Simulated audits of a model, drawn as far as needed. The same seed draws the same decks."""

    def __init__(
        self, model: ShuffleModel, cards: int, audits: int, seed: int, progress: Progress = lambda decks: None, *,
        whole: bool = True,
    ) -> None:  # fmt: skip
        """Prepare the draws. With `whole`, the decks are known as a whole, so that places count."""
        self.audits = audits
        self._model = model
        self._size = cards
        self._random = np.random.default_rng(seed)
        self._progress = progress
        self._sums = np.zeros((len(PROCEDURES), audits, 0), np.int32)  # over the decks so far
        self._cells = FullestCells(audits, cards) if whole else None
        self._fullest = np.zeros((audits, 0), np.int64)  # the fullest cell, after each deck
        self._logs = np.full((audits, len(SUSPECTED)), -np.inf)
        self._most = np.zeros((audits, 0))  # the highest evidence so far, after each deck

    def power(self, decks: int, level: float) -> Power:
        """Return the power of `decks` decks (at least 1) at this chance of a false alarm over the whole verdict."""
        while self._most.shape[1] < decks:
            self._draw()
        bad = self._most[:, decks - 1] >= -log(level * OF_EVIDENCE)
        for procedure, sums in zip(PROCEDURES, self._sums, strict=True):
            bad |= (_adjusted(procedure, self._size, decks) <= level * OF_PROCEDURES)[sums[:, decks - 1]]
        if self._cells is not None and favoured_places.is_tested(decks, self._size):
            alarms = favoured_places.chances(decks, self._size) <= level * OF_PROCEDURES * favoured_places.SHARE
            bad |= alarms[self._fullest[:, decks - 1]]
        return Power(decks, int(bad.sum()), self.audits)

    def least_decks(self, power: float, level: float, at_most: int) -> Power | None:
        """Return the power at the least number of decks that reaches `power`, by doubling and then bisection, or None
        if no number up to `at_most` does.
        """
        low, reached = 0, self.power(1, level)
        while reached.share < power:
            if reached.decks >= at_most:
                return None
            low, reached = reached.decks, self.power(min(2 * reached.decks, at_most), level)
        while reached.decks - low > 1:
            middle = self.power((low + reached.decks) // 2, level)
            if middle.share < power:
                low = middle.decks
            else:
                reached = middle
        return reached

    def _draw(self) -> None:
        """Double the number of decks drawn, so that the draws do not depend on the questions."""
        step = max(1, min(self._most.shape[1], AT_ONCE // self.audits))
        orders = self._model.shuffle(self._random, self.audits * step, self._size)
        shape = (self.audits, step)
        before = self._sums[:, :, -1:] if self._sums.shape[2] else np.zeros((len(PROCEDURES), self.audits, 1), np.int32)
        counts = np.stack([one.counted(orders).reshape(shape) for one in PROCEDURES])
        sums = counts.cumsum(axis=2, dtype=np.int32) + before
        self._sums = np.concatenate([self._sums, sums], axis=2)
        if self._cells is not None:
            fullest = self._cells.add(orders.reshape(*shape, self._size))
            self._fullest = np.concatenate([self._fullest, fullest], axis=1)
        self._most = np.concatenate([self._most, self._evidence(orders)], axis=1)
        self._progress(len(orders))

    def _evidence(self, orders: Orders) -> npt.NDArray[np.float64]:
        """Return the highest evidence up to each of these decks. It begins at 1, with the logarithm 0."""
        ratios = ratios_of(orders).reshape(self.audits, -1, len(SUSPECTED))
        drawn = self._most.shape[1]
        found = self._most[:, -1:] if drawn else np.zeros((self.audits, 1))
        for deck in range(ratios.shape[1]):
            self._logs = bet_on(self._logs, drawn + deck + 1, ratios[:, deck])
            found = np.column_stack([found, with_rest(self._logs, drawn + deck + 1)])
        return np.maximum.accumulate(found, axis=1)[:, 1:]


@lru_cache(maxsize=128)
def _adjusted(procedure: Procedure, cards: int, decks: int) -> npt.NDArray[np.float64]:
    """Return the procedure's adjusted p for every sum of its counts, as `procedures.examine` does for one sum."""
    sums = exact.of_decks(procedure.null(cards), decks)
    tails = (np.cumsum(sums), procedure.low), (np.cumsum(sums[::-1])[::-1], 1 - procedure.low)
    ps = [tail / part for tail, part in tails if part]
    found: npt.NDArray[np.float64] = np.minimum.reduce(ps) / procedure.share
    return found
