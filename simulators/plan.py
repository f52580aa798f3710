"""What a seed makes happen: for each round the occupied boxes, one irregularity or none, and what people choose.

The plan is a function of its arguments alone, so that whoever knows the seed can say beforehand which irregularities a
run must show. A fault's place is the ordinal of a card in dealing order, never a time.
"""

from __future__ import annotations

from enum import StrEnum
from random import Random
from typing import Final

import msgspec

from controller.games.specification import Kind, Unit
from simulators.mechanism import SET_SIZE, ArmedFaults


class Mishap(StrEnum):
    """What goes wrong in a round, as the physical table has it."""

    EXPOSED_CARD = "exposed card"
    SIMULTANEOUS = "simultaneous cards"
    FACE_UP = "card face up in the device"
    FACE_UP_EARLY = 'card face up in the device before "No more bets"'
    BEFORE_NO_MORE_BETS = 'taken before "No more bets"'
    WRONG_COUNT = "wrong count, nobody has handled cards"
    WRONG_COUNT_HANDLED = "wrong count, cards were handled"
    ONE_TOO_MANY = "one too many"
    END_COUNT_SHORT = "wrong end count"
    END_COUNT_MISCOUNTED = "the end count was miscounted"
    JAM = "jam"


EXPECTED: Final = {
    Mishap.EXPOSED_CARD: (Kind.EXPOSED_CARD, "I12"),
    Mishap.SIMULTANEOUS: (Kind.SIMULTANEOUS, "I15"),
    Mishap.FACE_UP: (Kind.FACE_UP_IN_DEVICE, "I14"),
    Mishap.FACE_UP_EARLY: (Kind.FACE_UP_IN_DEVICE, "I14"),
    Mishap.BEFORE_NO_MORE_BETS: (Kind.BEFORE_NO_MORE_BETS, "I28"),
    Mishap.WRONG_COUNT: (Kind.WRONG_COUNT, "I09"),
    Mishap.WRONG_COUNT_HANDLED: (Kind.WRONG_COUNT, "I11"),
    Mishap.ONE_TOO_MANY: (Kind.OTHER_DEALING_ERROR, "I16"),
    Mishap.END_COUNT_SHORT: (Kind.DECK_COUNT, "I02"),
    Mishap.END_COUNT_MISCOUNTED: (Kind.DECK_COUNT, "I02"),
    Mishap.JAM: (Kind.TECHNICAL_STOP, "I19"),
}
HEADLINES: Final = (Mishap.EXPOSED_CARD, Mishap.SIMULTANEOUS, Mishap.FACE_UP)


class PlannedRound(msgspec.Struct, frozen=True):
    """One round. `card` is the ordinal at which the mishap happens, 0 for none; `withdraws`: who takes bets back."""

    number: int
    boxes: tuple[int, ...]
    mishap: Mishap | None = None
    card: int = 0
    withdraws: frozenset[int] = frozenset()

    @property
    def expected(self) -> tuple[Kind, str] | None:
        """The irregularity that the daemon must raise, with the number that it has among I01 to I28."""
        return EXPECTED[self.mishap] if self.mishap else None

    @property
    def faults(self) -> ArmedFaults:
        """What the mechanism is to do wrong; mishaps of people arm nothing."""
        cards = SET_SIZE * (len(self.boxes) + 1)
        match self.mishap:
            case Mishap.SIMULTANEOUS:
                return ArmedFaults(double_feed_at=self.card)
            case Mishap.FACE_UP | Mishap.FACE_UP_EARLY:
                return ArmedFaults(face_up_at=self.card)
            case Mishap.WRONG_COUNT | Mishap.WRONG_COUNT_HANDLED:
                return ArmedFaults(unseen_extra_at=self.card)
            case Mishap.ONE_TOO_MANY:
                return ArmedFaults(slip_at=cards)
            case Mishap.END_COUNT_SHORT:
                return ArmedFaults(stuck=1)
            case Mishap.END_COUNT_MISCOUNTED:
                return ArmedFaults(miscount=-1)
            case Mishap.JAM:
                return ArmedFaults(jam_at=self.card)
        return ArmedFaults()


def plan_rounds(
    seed: int, unit: Unit, rounds: int, *, box_count: int = 7, mishaps: float = 0.4, stages: bool = True
) -> list[PlannedRound]:
    """The rounds of a run. The first three mishaps are the headline ones; the rest come with chance `mishaps`.

    `stages`: a set waits in the tray before bets are closed, so that it can be taken too early.
    """
    random = Random(f"{seed}/{unit}/plan")
    first_rounds = _headline_rounds(rounds)
    possible = [mishap for mishap in Mishap if mishap not in _impossible(unit, stages)]
    planned: list[PlannedRound] = []
    for number in range(1, rounds + 1):
        boxes = tuple(sorted(random.sample(range(1, box_count + 1), random.randint(2, min(5, box_count)))))
        mishap = random.choice(possible) if random.random() < mishaps else None
        mishap = first_rounds.get(number, mishap)
        card = _card_of(mishap, len(boxes) + 1, random)
        withdraws = frozenset(box for box in boxes if random.random() < 0.25)
        planned.append(PlannedRound(number, boxes, mishap, card, withdraws))
    return planned


def _impossible(unit: Unit, stages: bool) -> frozenset[Mishap]:
    if unit is Unit.SINGLES:  # a shoe counts nothing at the end, and shows no card before it is drawn
        return frozenset({Mishap.END_COUNT_MISCOUNTED, Mishap.FACE_UP_EARLY})
    return frozenset() if stages else frozenset({Mishap.FACE_UP_EARLY, Mishap.BEFORE_NO_MORE_BETS})


def _headline_rounds(rounds: int) -> dict[int, Mishap | None]:
    """The first round goes smoothly when there is one to spare; then the headlines follow each other."""
    first = 2 if rounds > len(HEADLINES) else 1
    begin: dict[int, Mishap | None] = {1: None} if first == 2 else {}
    return begin | {first + place: mishap for place, mishap in enumerate(HEADLINES)}


def _card_of(mishap: Mishap | None, hands: int, random: Random) -> int:
    """Where in the deal it happens; never with the last hand's cards, after which there is nothing left to see."""
    if mishap is None:
        return 0
    if mishap is Mishap.FACE_UP_EARLY:
        return random.randint(1, SET_SIZE)
    if mishap in (Mishap.WRONG_COUNT, Mishap.WRONG_COUNT_HANDLED):
        return random.randint(1, hands - 1)
    return random.randint(SET_SIZE + 1, SET_SIZE * (hands - 1))
