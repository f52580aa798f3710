"""The simulated bettors: a guest at each box, and occasionally a visitor who bets on another guest's box."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

import msgspec

from controller.games.wager_specification import Wager
from controller.rules.law import Law
from controller.rules.layout import DEALERS_SPOT

AMOUNTS: Final = (10, 20, 50, 100)  # units; even, so that half of each is whole
SIDE_WAGER: Final = 0.3  # the chance of each side wager that a guest may add
VISITOR: Final = "visitor"
VISITS: Final = 0.4  # the chance that the visitor bets in a round


class PlannedWager(msgspec.Struct, frozen=True):
    """A bet placed while bets are open. `seat` is its bettor's box, or None for a standing visitor."""

    bettor: str
    seat: int | None
    wager: str
    box: int
    amount: int


def plan_wagers(law: Law, boxes: Sequence[int], random: Random) -> tuple[PlannedWager, ...]:
    """Return the bets of a round with these occupied boxes: a main wager on each, and some side wagers."""
    main = [wager for wager in law.wagers if wager.main]
    sides = [wager for wager in law.wagers if not wager.main]
    planned = []
    for box in boxes:
        chosen = [random.choice(main), *(side for side in sides if random.random() < SIDE_WAGER)]
        planned += [_guest_wager(wager, box, random) for wager in chosen]
    if random.random() < VISITS:
        box, wager = random.choice(boxes), random.choice(main)
        planned.append(PlannedWager(VISITOR, None, wager.id, box, random.choice(AMOUNTS)))
    return tuple(planned)


def _guest_wager(wager: Wager, box: int, random: Random) -> PlannedWager:
    lies_on = DEALERS_SPOT if wager.on_dealer else box
    return PlannedWager(f"guest {box}", box, wager.id, lies_on, random.choice(AMOUNTS))
