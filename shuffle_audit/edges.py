"""The cost of a shuffle in every game: the wagers whose house edge it changes by more than the simulation's noise.

Each game has its defaults, and the first option of a reading that must be chosen. It is dealt in sets and in singles,
from a new deck each time and from cards as collected (see `money`). The limit of noise, in standard errors, is that of
the normal distribution at which a share `NOISE` of such reports has a false change at all.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from statistics import NormalDist
from typing import Final

import msgspec
import numpy as np

from controller.games import GAMES, game
from controller.games.specification import Unit
from shuffle_audit.models.shuffle_model import SuspectedModel
from shuffle_audit.money import Cost, Start, costs, first_reading

ROUNDS: Final = 100_000
"""Rounds for each game, unit and start."""
NOISE: Final = 0.01
DEALS: Final = tuple(product(GAMES, Unit, Start))


class Change(msgspec.Struct, frozen=True):
    """The change of one wager, all boxes together, in parts of the stake (`money.Cost`); above 0 the house gains."""

    game: str
    wager: str
    title: str
    unit: str
    start: str
    exact: float
    change: float
    error: float


class Money(msgspec.Struct, frozen=True):
    """The costs of a shuffle, from `rounds` for each game, unit and start. Of `compared` changes, `beyond` are those of
    more than `limit` standard errors, largest first; `most_error` is the largest standard error of the others.
    """

    model: str
    words: str
    rounds: int
    compared: int
    limit: float
    beyond: tuple[Change, ...]
    most_error: float


def money(
    model: SuspectedModel,
    seed: np.random.SeedSequence,
    rounds: int = ROUNDS,
    advance: Callable[[int], object] = lambda done: None,
) -> Money:
    """Simulate every game. `advance` is called with 1 after each of `DEALS`. The same seed gives the same result."""
    found: list[Cost] = []
    for (name, unit, start), own in zip(DEALS, seed.spawn(len(DEALS)), strict=True):
        charged = costs(first_reading(game(name)), model, unit, start, np.random.default_rng(own), rounds)
        found += [one for one in charged if one.box == 0]
        advance(1)
    limit = NormalDist().inv_cdf(1 - NOISE / (2 * len(found)))
    beyond = [one for one in found if abs(one.errors) > limit]
    beyond.sort(key=lambda one: -abs(one.change))
    others = [one.error for one in found if not abs(one.errors) > limit]
    most = max(others, default=0.0)
    return Money(model.name, model.words, rounds, len(found), limit, tuple(map(_change, beyond)), most)


def _change(one: Cost) -> Change:
    return Change(one.game, one.wager, one.title, one.unit.value, one.start.value, one.exact, one.change, one.error)
