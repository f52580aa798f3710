"""The faults that will still happen in a mechanism: those of a plan for this deal, and those armed by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from firmware_bridge import observations
from firmware_bridge.cards import Card
from firmware_bridge.observations import AnyObservation


class Jam(NamedTuple):
    """How the mechanism jams: where, if not where it moves cards; whether its door opens; whether it frees itself."""

    zone: str = ""
    opens_door: bool = False
    clears: bool = False


JAMS: Final = {
    "jam": Jam(),
    "door-jam": Jam("door", opens_door=True),
    "platform-fault": Jam("platform", clears=True),
    "jam-recovery": Jam(clears=True),
}
ADMITTED: Final[dict[str, AnyObservation | str]] = {
    "self-test-failure": observations.SelfTestFinished(False, "exit sensor"),
    "low-power": observations.PowerLow(),
    "memory-failure": observations.CheckFailed("memory"),
    "program-failure": observations.CheckFailed("program"),
    "status-fault": "fan",
}
"""What the device says of itself: a report, or a fault in every status until a self-test is passed."""

CARD_STUCK: Final = "card-stuck"  # of a plan alone: one card stays inside when the stub comes out
STUB_MISCOUNTED: Final = "stub-miscounted"  # of a plan alone: the stub's counter counts one card less than there is
UNSEEN_CARD: Final = "unseen-card"  # of a plan alone: one card more leaves, and the sensor does not see it
LOCK_SLIPS: Final = "lock-slips"  # of a plan alone: when this card's set is lifted, the lock lets another set out


class ArmedFault(msgspec.Struct, frozen=True):
    """A fault by its name, and the card at which it happens.

    `at` counts from 1: cards of the deal as the device counts them, or of the next deck as it lies before it is
    shuffled. 0 for a fault of the whole deal.
    """

    name: str
    at: int = 0


class ArmedFaults:
    """`planned` is replaced at every deal; a fault of `named` waits until it happens. Each happens once."""

    def __init__(self) -> None:
        self.planned: list[ArmedFault] = []
        self.named: list[ArmedFault] = []

    def places(self, name: str, ordinals: range) -> set[int]:
        """All of these cards at which the fault will happen."""
        return {one.at for one in self._all() if one.name == name and one.at in ordinals}

    def pending(self, name: str, ordinals: range) -> int:
        """The first of these cards at which it will happen; 0: at none."""
        return min(self.places(name, ordinals), default=0)

    def take(self, ordinals: range, *names: str) -> ArmedFault | None:
        """The first of these faults that happens at one of these cards, if there is one; it is no longer armed."""
        due = [one for one in self._all() if one.name in names and one.at in ordinals]
        if not due:
            return None
        taken = min(due, key=lambda one: one.at)
        (self.planned if taken in self.planned else self.named).remove(taken)
        return taken

    def is_planned(self, name: str) -> bool:
        """Whether a fault of the whole deal is planned."""
        return any(one.name == name for one in self.planned)

    def load(self, cards: Sequence[Card]) -> list[Card]:
        """The deck that is loaded when these cards should be."""
        loaded = list(cards)
        whole = range(1, len(loaded) + 1)
        while fault := self.take(whole, "duplicate-card"):
            loaded[fault.at - 1] = loaded[fault.at % len(loaded)]
        while fault := self.take(whole, "extra-card"):
            loaded.insert(fault.at - 1, loaded[fault.at % len(loaded)])
        while fault := self.take(whole, "missing-card"):
            del loaded[fault.at - 1]
        return loaded

    def _all(self) -> list[ArmedFault]:
        return [*self.planned, *self.named]
