"""The cost of a shuffle in every game: the wagers whose house edge it changes by more than the simulation's noise.

Each game has its defaults, and the first option of a reading that must be chosen. It is dealt in sets and in singles,
once where both deal alike, from a new deck each time and from cards as collected (see `money`). A shuffle may deal
better hands to one box than to another, so each box has its own figures beside those of all together. The limit of
noise, in standard errors, is that of the normal distribution at which a share `NOISE` of such reports has a false
change at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from statistics import NormalDist
from typing import Final

import msgspec
import numpy as np

from controller.games import GAMES, game
from controller.games.specification import Unit
from shuffle_audit.games_dealt import deals
from shuffle_audit.hands_dealt import Deal
from shuffle_audit.models.shuffle_model import SuspectedModel
from shuffle_audit.money import Cost, Start, costs, first_reading

ROUNDS: Final = 100_000
"""Rounds for each game, unit and start."""
NOISE: Final = 0.01
STREAMS: Final = tuple(product(GAMES, Unit, Start))
"""What has a random stream of its own, also where sets and singles deal alike."""


class Change(msgspec.Struct, frozen=True):
    """The change of one wager in parts of the stake (`money.Cost`), on `box` or, if that is 0, on all boxes together;
    above 0 the house gains.
    """

    game: str
    wager: str
    title: str
    unit: str
    start: str
    exact: float
    change: float
    error: float
    box: int = 0


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


@cache
def simulated() -> tuple[tuple[Deal, Start], ...]:
    """Return what is simulated: each deal, from each order in."""
    return tuple(product(deals(), Start))


def money(
    model: SuspectedModel,
    seed: np.random.SeedSequence,
    rounds: int = ROUNDS,
    advance: Callable[[int], object] = lambda done: None,
) -> Money:
    """Simulate every game. `advance` is called with 1 after each of `simulated`.

    The same seed gives the same result.
    """
    found: list[tuple[str, Cost]] = []
    of = dict(zip(STREAMS, seed.spawn(len(STREAMS)), strict=True))
    for deal, start in simulated():
        own = of[deal.game, deal.units[0], start]
        law = first_reading(game(deal.game))
        charged = costs(law, model, deal.units[0], start, np.random.default_rng(own), rounds)
        found += [(deal.unit, one) for one in charged]
        advance(1)
    limit = NormalDist().inv_cdf(1 - NOISE / (2 * len(found)))
    beyond = [_change(*one) for one in found if abs(one[1].errors) > limit]
    beyond.sort(key=lambda one: -abs(one.change))
    most = max((one.error for _, one in found if not abs(one.errors) > limit), default=0.0)
    return Money(model.name, model.words, rounds, len(found), limit, tuple(beyond), most)


def _change(unit: str, one: Cost) -> Change:
    return Change(one.game, one.wager, one.title, unit, one.start.value, one.exact, one.change, one.error, one.box)
