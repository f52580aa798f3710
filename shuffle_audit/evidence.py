"""Evidence against a shuffle, which may be checked after each deck.

A bettor against the shuffle begins with 1 unit and spreads it over models of bad shuffles, and over the deck at which a
machine may have become bad: deck s = 1, 2, ... has the share 1/(s(s+1)), half of it the first one. From that deck on,
the stake on a model is multiplied by how much more likely each order is under it than under a uniform shuffle. With the
ratio L(j, m) of deck j under model m of k, the evidence after deck t is

    1/(t+1) + sum over s = 1..t of 1/(s(s+1)) * (1/k) * sum over m of L(s, m) * ... * L(t, m);

1/(t+1) is not yet staked. Under a uniform shuffle each part is a nonnegative martingale, and the shares add up to 1. So
the bettor gains nothing on average, and the chance of ever having 1/a units is at most a (Ville 1939), however often
the evidence is checked. The models need a known distribution. Decks that are known in part are added as relative orders
of fewer cards (`partial_orders`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, log, log10
from typing import Final

import msgspec
import numpy as np

from shuffle_audit.models.faults import NotAlways, StickingPairs
from shuffle_audit.models.riffle import Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, LogRatios, SuspectedModel
from shuffle_audit.orders import Counts, Orders, Stored, in_blocks, stored

OF_EVIDENCE: Final = 0.1
"""The evidence's part of the chance of a false alarm; the procedures of `verdict` have the rest."""
SUSPECTED: Final[tuple[SuspectedModel, ...]] = (
    *(Riffle(passes) for passes in range(1, 10)),
    *(Shelves(shelves, from_top=top) for shelves in (1, 2, 4, 8, 10, 15, 20, 30, 50, 100) for top in (False, True)),
    *(NotAlways(chance) for chance in (0.001, 0.01, 0.1)),
    *(StickingPairs(chance) for chance in (0.01, 0.02, 0.05, 0.1, 0.2)),
)


class ShuffleEvidence:
    """The evidence on `models`, which have equal shares."""

    def __init__(self, models: Sequence[SuspectedModel] = SUSPECTED) -> None:
        self.models = tuple(models)
        self.decks = 0
        self._logs: LogRatios = np.full(len(self.models), -np.inf)
        self._rise = np.zeros(len(self.models))
        self._since = np.zeros(len(self.models), np.int64)
        self._highest = 0.0
        self._likeliest = 0  # the likeliest model when the evidence was highest
        self.log = 0.0
        """The natural logarithm of the evidence so far."""

    def add(self, orders: Stored) -> LogRatios:
        """Add decks and return the natural logarithm of the evidence after each."""
        course = [self._add(block) for block in in_blocks(orders, max(orders.shape[1], len(self.models)))]
        return np.concatenate(course) if course else np.empty(0)

    def _add(self, orders: Orders) -> LogRatios:
        """Add one deck or more."""
        ratios = ratios_of(orders, self.models)
        numbers = self.decks + np.arange(1, len(orders) + 1)
        logs = np.empty_like(ratios)
        for at, (share, ratio) in enumerate(zip(_shares(numbers, len(self.models)), ratios, strict=True)):
            self._logs = logs[at] = np.logaddexp(self._logs, share) + ratio
            self._since = np.where(self._rise > 0, self._since, self.decks + at + 1)
            self._rise = np.maximum(self._rise, 0) + ratio
        self.decks += len(orders)
        course = with_rest(logs, numbers)
        self.log = float(course[-1])
        best = int(np.argmax(course))
        if course[best] > self._highest:
            self._highest, self._likeliest = float(course[best]), int(np.argmax(logs[best]))
        return course

    @property
    def likeliest(self) -> SuspectedModel:
        """The model with the largest stake when the evidence was highest, the first if it never rose. Later good decks
        do not change it. Without evidence it means nothing.
        """
        return self.models[self._likeliest]

    @property
    def lately(self) -> int:
        """The number of last decks that together give the most evidence for the likeliest model; 0 if no deck was
        added.
        """
        return self.decks + 1 - int(self._since[self._likeliest]) if self.decks else 0


def ratios_of(orders: Orders, models: Sequence[SuspectedModel] = SUSPECTED) -> LogRatios:
    """Return a row for each deck with a column for each model. What several models count is counted once."""
    cards = orders.shape[1]
    counts = {counted: counted(orders) for counted in dict.fromkeys(model.counted for model in models)}
    return np.stack([model.by_count(cards)[counts[model.counted]] for model in models], axis=1)


def bet_on(logs: LogRatios, deck: int, ratios: LogRatios) -> LogRatios:
    """Return the logarithm of the stake on each model (last axis) after `deck` (from 1); `logs` are those before."""
    found: LogRatios = np.logaddexp(logs, _shares(deck, logs.shape[-1])) + ratios
    return found


def _shares(decks: int | Counts, models: int) -> LogRatios:
    """Return the logarithm of what is staked on each model from the deck of this number on."""
    found: LogRatios = -np.log(decks * (decks + 1.0) * models)
    return found


def with_rest(logs: LogRatios, decks: int | Counts) -> LogRatios:
    """Return the natural logarithm of the evidence: the stakes on models (last axis) and the part not yet staked.
    `decks` is the number of decks so far.
    """
    most = logs.max(axis=-1)
    staked = most + np.log(np.exp(logs - most[..., None]).sum(axis=-1))
    found: LogRatios = np.logaddexp(staked, -np.log(decks + 1.0))
    return found


class Suspect(msgspec.Struct, frozen=True):
    """A model with `log10`, the decimal logarithm of how many times likelier the decks are under it than under uniform
    orders; null if the model never makes one of them.
    """

    model: str
    words: str
    log10: float | None


def suspects(
    orders: Stored, models: Sequence[SuspectedModel] = (UNIFORM, *SUSPECTED), *, others: Sequence[Stored] = ()
) -> tuple[Suspect, ...]:
    """Return the models, likeliest first; equal ones keep their order. `others` are decks known in part, by their
    number of cards.

    The likelihood ratio of a model is the product over all decks of the order's probability under it, over 1/n!. The
    best of many models exceeds the uniform one by chance, so without an alarm of the verdict the ratios say nothing.
    """
    logs = [0.0] * len(models)
    for one in (one for one in (orders, *others) if len(one)):
        for at, found in enumerate(_sums(one, models)):
            logs[at] += found
    sums = [each / log(10) for each in logs]
    ranked = sorted(zip(models, sums, strict=True), key=lambda one: -one[1])
    return tuple(Suspect(model.name, model.words, each if isfinite(each) else None) for model, each in ranked)


def _sums(orders: Stored, models: Sequence[SuspectedModel]) -> Iterator[float]:
    """Yield the sum of each model's log ratios."""
    cards = orders.shape[1]
    counts = {
        counted: np.concatenate([stored(counted(block), cards + 1) for block in in_blocks(orders)])
        for counted in dict.fromkeys(model.counted for model in models)
    }
    for model in models:
        yield float(model.by_count(cards)[counts[model.counted]].sum())


def best_fit(ranked: Sequence[Suspect], level: float) -> Suspect | None:
    """Return the first model, if the ratio is so large that a uniform shuffle reaches it with a chance of at most the
    evidence's part of the level, else None.

    A ratio is 1 on average under uniform orders, so the best of k reaches a limit at most k times as often as one
    (Markov).
    """
    best = ranked[0]
    needed = log10(len(ranked) / (level * OF_EVIDENCE))
    return best if best.log10 is not None and best.log10 >= needed else None
