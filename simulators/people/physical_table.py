"""The cards on the simulated table, and what a dealer does with them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from controller.games.specification import Facts
from controller.rules.dealing_order import Place
from firmware_bridge.cards import Card
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Mechanism
from simulators.people.plan import AS_IT_IS, PlannedRound

SECONDS = {"turn": 1.5, "deliver": 0.5, "gather": 2.0, "look": 0.8, "speak": 0.7, "count": 6.0}


class PhysicalTable:
    """One device and the layout around it. Every motion costs table time, both on the device's clock and in the
    pace.
    """

    def __init__(self, mechanism: Mechanism, pace: Tempo) -> None:
        self.mechanism = mechanism
        self.hands: dict[Place, list[Card]] = {}
        self.first_card: Card | None = None
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
        """Collect every card and put the deck back; a shoe's deck is shuffled by hand first."""
        await self.spend("gather")
        self.hands, self.first_card, self.aside, self.handled = {}, None, [], False
        self.mechanism.faults.planned = []
        self.mechanism.load(self.mechanism.next_deck(), deck=1)
        self._gathered = True

    def begin_round(self) -> None:
        self._gathered = False

    def arm(self, planned: PlannedRound, order: Sequence[Place]) -> None:
        """Arm the faults of this deal, before its first card moves and after its First Card."""
        self.mechanism.faults.planned = planned.faults(order, before=self.before_the_deal)

    @property
    def before_the_deal(self) -> int:
        """The number of cards that left the device ahead of the deal."""
        return int(self.first_card is not None)

    async def deliver(self, place: Place, cards: list[Card]) -> None:
        """Lay cards at a place."""
        await self.spend("deliver")
        self.hands.setdefault(place, []).extend(cards)

    def lay_aside(self, cards: list[Card]) -> None:
        self.aside.extend(cards)

    def turn_round(self) -> None:
        """Reverse cards that came together."""
        self.aside.reverse()
        self.mechanism.tray.reverse()

    def exchange(self, one: Place, other: Place) -> None:
        """Exchange two hands; one of them may have no cards yet."""
        self.hands[one], self.hands[other] = self.hands.get(other, []), self.hands.get(one, [])

    def move(self, moves: Sequence[tuple[Place, Place]]) -> None:
        """Move cards from place to place simultaneously. The first card at a place goes first."""
        taken = [(place, self.hands[source].pop(0)) for source, place in moves if self.hands.get(source)]
        for place, card in taken:
            self.hands.setdefault(place, []).append(card)

    def cards_at(self, place: Place) -> tuple[Card, ...]:
        return tuple(self.hands[place])

    def facts(self, asked: Sequence[str]) -> Facts:
        """Return the facts asked for, as they are on this table."""
        truth = replace(AS_IT_IS, handled=self.handled)
        return Facts(**{name: getattr(truth, name) for name in asked})

    def count_stub(self) -> int:
        """Count the stub by hand: the cards in device and tray, without one that is stuck inside."""
        inside = len(self.mechanism.inside) + len(self.mechanism.tray)
        return inside - self.mechanism.cards_stuck
