"""The cards on the simulated table and the hands that move them: what a dealer sees and does."""

from __future__ import annotations

from firmware_bridge.cards import DECK, Card
from simulators.mechanism import ArmedFaults, Mechanism
from simulators.pace import Pace
from simulators.plan import PlannedRound

SECONDS = {"deliver": 0.5, "gather": 2.0, "look": 0.8, "speak": 0.7, "count": 6.0}


class PhysicalTable:
    """One device and the layout around it. Every motion costs table time, on the device's clock and for the pace."""

    def __init__(self, mechanism: Mechanism, pace: Pace) -> None:
        self.mechanism = mechanism
        self.hands: dict[str, list[Card]] = {}
        self.aside: list[Card] = []
        self.handled = False
        self._pace = pace
        self._deck_number = 0
        self._gathered = False

    async def spend(self, what: str) -> None:
        self.mechanism.clock.advance(int(SECONDS[what] * 1000))
        await self._pace.wait(SECONDS[what])

    @property
    def needs_deck(self) -> bool:
        return not self._gathered

    async def gather_and_load(self) -> None:
        """Collect every card and put the deck back: a shuffler shuffles it, for a shoe it is shuffled by hand."""
        await self.spend("gather")
        self.hands, self.aside, self.handled = {}, [], False
        self.mechanism.faults = ArmedFaults()
        shoe = self.mechanism.profile.kind == "shoe"
        self.mechanism.load(self.mechanism.shuffled_by_hand() if shoe else list(DECK), deck=1)
        self._gathered = True

    def begin_round(self, planned: PlannedRound) -> None:
        """What will go wrong in this round is set before its first card moves."""
        self.mechanism.faults = planned.faults
        self._gathered = False

    async def deliver(self, place: str, cards: list[Card]) -> None:
        """Lay cards at a place."""
        await self.spend("deliver")
        self.hands.setdefault(place, []).extend(cards)

    def lay_aside(self, cards: list[Card]) -> None:
        self.aside.extend(cards)

    def cards_at(self, place: str) -> tuple[Card, ...]:
        return tuple(self.hands[place])

    def count_stub(self) -> int:
        """Count by hand what is left: what lies in the device and its tray, without a card that is stuck inside."""
        inside = len(self.mechanism.inside) + len(self.mechanism.tray)
        return inside - self.mechanism.faults.stuck
