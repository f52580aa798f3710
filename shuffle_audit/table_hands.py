"""Hands that were dealt at a table, from its journal: does any depend on which boxes are in play, or on the stakes?

Under uniform orders each hand is any three cards, whichever boxes are in play and whatever is staked. So hands and
results of all boxes are counted over all rounds, and again over the rounds in which a box is in play, for each box: a
device that cheats only when a given box is in play shows there. Where the journal has bets, the hands of the box with
the highest and of the box with the lowest stake are counted, whichever boxes these are, and all hands of the rounds
with higher stakes than half of the rounds before: a device that deals by the bets shows there.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from controller.games import GAMES, game
from controller.rules.dealing_order import DEALER, Place
from controller.rules.hands import HAND_SIZE
from shuffle_audit.cells import Cells
from shuffle_audit.dealing import Hands, number_of
from shuffle_audit.faces import faces_of
from shuffle_audit.hands_dealt import compared, count, kinds_of
from shuffle_audit.money import first_reading

BY_STAKE: Final = ("the box with the highest stake", "the box with the lowest stake", DEALER)
HIGH_STAKES: Final = "rounds with higher stakes than half of the rounds before"


class TableRound(NamedTuple):
    """The hands of a round by place, by the names of their cards, and what was staked on each box when the deal began,
    all wagers together; empty if no bets were entered.
    """

    hands: Mapping[Place, tuple[str, ...]]
    stakes: Mapping[Place, int] = {}


def table_cells(rounds: Sequence[TableRound], halves: int) -> Iterator[Cells]:
    """Yield the cells, with 1 / `halves` of the alarms, which all groups of rounds and hands share equally."""
    named = {place for one in rounds for place in (*one.hands, *one.stakes)} - {DEALER}
    boxes = sorted(named, key=lambda place: (len(place), place))
    places = (*boxes, DEALER)
    hands: Hands = np.array([[_number(one.hands.get(place, ())) for place in places] for one in rounds])
    stakes = np.array([[one.stakes.get(place, 0) for place in boxes] for one in rounds])
    groups = [("all rounds at the table", places, hands)]
    groups += [(f"rounds with {box} in play", places, hands[hands[:, at] >= 0]) for at, box in enumerate(boxes)]
    if stakes.any():
        groups += [
            ("rounds with different stakes", BY_STAKE, _by_stake(hands, stakes)),
            (HIGH_STAKES, places, hands[_are_high(stakes.sum(axis=1).tolist())]),
        ]
    kinds = kinds_of(first_reading(game(next(iter(GAMES)))))
    for where, at_places, dealt in groups:
        weight = float(halves * len(groups) * compared(at_places, kinds))
        for counted in count(at_places, [dealt], kinds):
            yield counted.cells(weight, where)


def _by_stake(hands: Hands, stakes: npt.NDArray[np.int64]) -> Hands:
    """Return the hands of the box with the highest stake, of that with the lowest one, and of the Dealer. A stake that
    another box equals is neither.
    """
    found = []
    for dealt, staked in zip(hands, stakes, strict=True):
        ranked = np.flatnonzero(staked)[np.argsort(staked[staked > 0], kind="stable")]
        high = low = -1
        if len(ranked) > 1:
            high = dealt[ranked[-1]] if staked[ranked[-1]] > staked[ranked[-2]] else -1
            low = dealt[ranked[0]] if staked[ranked[0]] < staked[ranked[1]] else -1
        found.append((high, low, dealt[-1] if len(ranked) > 1 else -1))
    return np.array(found)


def _are_high(staked: Sequence[int]) -> list[int]:
    """Return the rounds with more at stake than half of the rounds before. Later rounds do not matter: somebody who
    doubles a stake until he wins makes the highest stakes those that win.
    """
    before: list[int] = []
    found = []
    for at, stake in enumerate(staked):
        if stake and before and stake > before[len(before) // 2]:
            found.append(at)
        if stake:
            insort(before, stake)
    return found


def _number(names: Sequence[str]) -> int:
    """Return the number of a hand, or -1 if it has not three known cards."""
    return number_of(faces_of(names)) if len(names) == HAND_SIZE else -1
