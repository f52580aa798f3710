"""Hands that were dealt at a table, from its journal: does any depend on which boxes are in play?

Under uniform orders each hand is any three cards, whichever boxes are in play. So hands and results of all boxes are
counted over all rounds, and again over the rounds in which a box is in play, for each box: a device that cheats only
when a given box is in play shows there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from controller.games import GAMES, game
from controller.rules.dealing_order import DEALER, Place
from controller.rules.hands import HAND_SIZE
from shuffle_audit.cells import Cells
from shuffle_audit.dealing import number_of
from shuffle_audit.faces import faces_of
from shuffle_audit.hands_dealt import compared, count, kinds_of
from shuffle_audit.money import first_reading

TableHands: TypeAlias = Mapping[Place, tuple[str, ...]]
"""The hands of a round by place, by the names of their cards."""


def table_cells(rounds: Sequence[TableHands], halves: int) -> Iterator[Cells]:
    """Yield the cells, with 1 / `halves` of the alarms."""
    boxes = sorted({place for hands in rounds for place in hands} - {DEALER}, key=lambda place: (len(place), place))
    places = (*boxes, DEALER)
    kinds = kinds_of(first_reading(game(next(iter(GAMES)))))
    hands = np.array([[_number(dealt.get(place, ())) for place in places] for dealt in rounds])
    weight = float(halves * (1 + len(boxes)) * compared(places, kinds))
    for counted in count(places, [hands], kinds):
        yield counted.cells(weight, "all rounds at the table")
    for at, box in enumerate(boxes):
        for counted in count(places, [hands[hands[:, at] >= 0]], kinds):
            yield counted.cells(weight, f"rounds with {box} in play")


def _number(names: Sequence[str]) -> int:
    """Return the number of a hand, or -1 if it has not three known cards."""
    return number_of(faces_of(names)) if len(names) == HAND_SIZE else -1
