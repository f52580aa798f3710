"""The faults that will still happen in a mechanism: those planned for this deal, and those armed by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from firmware_bridge import observations
from firmware_bridge.cards import Card
from firmware_bridge.observations import AnyObservation


class Jam(NamedTuple):
    """A jam: its zone (by default where cards move), whether the door opens, and whether it clears automatically."""

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
"""Faults that the device reports of itself: a report, or a fault in every status until a self-test is passed."""

CARD_STUCK: Final = "card-stuck"  # planned only: one card stays inside when the stub comes out
STUB_MISCOUNTED: Final = "stub-miscounted"  # planned only: the stub's counter counts one card too few
UNSEEN_CARD: Final = "unseen-card"  # planned only: one more card leaves, and the sensor does not see it
LOCK_SLIPS: Final = "lock-slips"  # planned only: when this card's set is lifted, the lock lets another set out


class ArmedFault(msgspec.Struct, frozen=True):
    """A fault by name, with the card at which it happens.

    `at` counts from 1: cards of the deal as the device counts them, or of the next deck before it is shuffled. It is 0
    for a fault of the whole deal.
    """

    name: str
    at: int = 0


class ArmedFaults:
    """Armed faults, each of which happens once. `planned` is replaced at every deal; `named` wait until they happen."""

    def __init__(self) -> None:
        self.planned: list[ArmedFault] = []
        self.named: list[ArmedFault] = []

    def places(self, name: str, ordinals: range) -> set[int]:
        """Return all of these cards at which the fault will happen."""
        return {one.at for one in self._all() if one.name == name and one.at in ordinals}

    def pending(self, name: str, ordinals: range) -> int:
        """Return the first of these cards at which the fault will happen, or 0."""
        return min(self.places(name, ordinals), default=0)

    def take(self, ordinals: range, *names: str) -> ArmedFault | None:
        """Disarm and return the first of these faults that is due at one of these cards, if any."""
        due = [one for one in self._all() if one.name in names and one.at in ordinals]
        if not due:
            return None
        taken = min(due, key=lambda one: one.at)
        (self.planned if taken in self.planned else self.named).remove(taken)
        return taken

    def is_planned(self, name: str) -> bool:
        """Return whether a fault of the whole deal is planned."""
        return any(one.name == name for one in self.planned)

    def load(self, cards: Sequence[Card]) -> list[Card]:
        """Return the deck that is loaded in place of these cards."""
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
