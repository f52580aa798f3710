"""The hands and eyes of a dealer who is a person at the console: they move the cards, and say what lies on the table.

The simulated dealer knows what comes next. What he would do with cards is done here; what he would enter is left to
the person, who is told what only eyes can see: where bets lie, a card that fell open, what a Player says.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from msgspec.structs import replace

from controller.api.client import TableUnreachableError
from controller.api.irregularity_view import IrregularityView
from controller.api.view import TableView
from controller.games import game
from controller.games.specification import FACT_QUESTIONS, Kind, Unit
from controller.rules.dealing_order import DEALER, Place, box, dealing_order
from controller.table import operations
from controller.table.operations import AnyOperation
from controller.table.phases import Phase
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewMember
from simulators.people.dealer import BEFORE_ROUND, SimulatedDealer
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import PlannedRound

REPORTED_WITH: Final = {
    Kind.EXPOSED_CARD: "A card of {place} lies face up. Tap Problem.",
    Kind.WRONG_COUNT: "{place} has {counted} cards. Tap Problem.",
}


def line_of_sight(view: TableView, operation: AnyOperation) -> str:
    """What the person has to know to enter it that only eyes can see; empty: the screen says everything."""
    match operation:
        case operations.OccupyBoxes(boxes):
            return f"Bets lie at {_named(view, [box(number) for number in boxes])}: tap them."
        case operations.ReportIrregularity(kind, place, _, counted) if kind in REPORTED_WITH:
            at = _named(view, [place or DEALER])
            return REPORTED_WITH[kind].format(place=f"{at[:1].upper()}{at[1:]}", counted=counted)
        case operations.HandleCards(place):
            return f"A Player picks up the cards of {_named(view, [place])}. Tap Player touched cards."
        case operations.CountCards(_, count):
            return f"{CREW[1].name} and you count the stub: {count} cards."
        case operations.ExposeHand(place, cards) if cards is not None:
            return f"{_named(view, [place])} shows {' '.join(card.code for card in cards)}."
        case operations.ShowFirstCard(card) if card is not None:
            return f"The First Card is {card.code}."
    return ""


def _named(view: TableView, places: list[Place]) -> str:
    return game(view.game).words.of_all(places)


class VisitorsHands(SimulatedDealer):
    """Waits for the person after every act; `tell` is called with what the person sees."""

    def __init__(
        self,
        device: SimulatedDevice,
        table: PhysicalTable,
        socket: Path,
        plan: list[PlannedRound],
        random: Random,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(device, table, socket, plan, random, CREW)
        self._tell = tell
        self._told = ""

    # -- what is entered by the person -----------------------------------------------------------------------------

    async def _say(self, view: TableView, operation: AnyOperation, member: CrewMember | None = None) -> bool:
        self._see(line_of_sight(view, operation))
        await self._entered_after(view)
        return True

    def _see(self, line: str) -> None:
        """Once, as long as nothing else is to be seen."""
        if line and line != self._told:
            self._told = line
            self._tell(line)

    async def _entered_after(self, view: TableView, until: Callable[[TableView], bool] = lambda view: True) -> None:
        """Until something was recorded after `view`, and `until` is true of the table."""
        while True:
            with suppress(TableUnreachableError):
                now = await self._client.state()
                if now.entry > view.entry and until(now):
                    return
            await self._nap()

    # -- before and in a round -------------------------------------------------------------------------------------

    async def _before_round(self, view: TableView) -> bool:
        if view.phase == Phase.VOIDED and not view.chips_paid:
            await self._entered_after(view)
            return True
        if view.round >= len(self._plan):
            return False
        if self._table.needs_deck:
            self._see("The cards are collected and the deck is put in.")
            await self._table.gather_and_load()
        elif not view.deck.shuffled:
            self._see("The deck is shuffled by hand.")
            await self._entered_after(view)
        else:
            self._begin_round(view.round + 1, view)
            await self._entered_after(view, lambda now: now.phase not in BEFORE_ROUND)
        return True

    async def _in_round(self, view: TableView) -> None:
        """While play stands still the hands rest."""
        if view.paused or view.held:
            await self._entered_after(view)
            return
        await super()._in_round(view)

    def _deal_as_marked(self, view: TableView, planned: PlannedRound) -> PlannedRound:
        """The person may have marked other boxes than those at which bets lie: the cards go where the table says."""
        rules = game(view.game)
        if self._placed or view.boxes == planned.boxes or rules.first_card is not None:
            return planned
        order = dealing_order(rules.grammar(Unit(view.unit)), view.boxes)
        self._round = marked = replace(planned, boxes=view.boxes, card=min(planned.card, len(order)))
        self._begin_deal(marked, order)
        return marked

    async def _deal_set(self, view: TableView, planned: PlannedRound) -> None:
        planned = self._deal_as_marked(view, planned)
        await self._table.spend("turn")
        if view.tray:
            await super()._deal_set(view, planned)
        else:
            await self._nap()

    async def _deal_card(self, view: TableView, planned: PlannedRound) -> None:
        planned = self._deal_as_marked(view, planned)
        await self._table.spend("turn")
        await super()._deal_card(view, planned)

    async def _report(self, kind: Kind, place: str, *, card: int | None = None, counted: int | None = None) -> None:
        """The hands rest until it is reported."""
        view = await self._quiet_view()
        self._see(line_of_sight(view, operations.ReportIrregularity(kind, place, card, counted)))
        await self._entered_after(view, lambda now: bool(now.irregularities))

    async def _find_exchanged(self, one: Place, other: Place) -> None:
        view = await self._quiet_view()
        self._exchanged = one, other
        self._table.exchange(one, other)
        both = _named(view, sorted((one, other)))
        self._see(f"The cards of {both} lie at each other's place. Tap Cards lie elsewhere, or Problem.")
        await self._entered_after(view, lambda now: bool(now.irregularities))

    async def _while_examining(self, view: TableView, planned: PlannedRound) -> None:
        self._table.handled = True
        self._see("The Players look at their hands, and are done.")
        await self._entered_after(view)

    async def _expose(self, view: TableView, place: str) -> None:
        """The device has read the faces. Where the table does not take its word, people read them from the cards."""
        offers = await self._client.lawful() or []
        asks = any(
            one["operation"] == "expose_hand" and one["arguments"].get("place") == place and one["needs"]
            for one in offers
        )
        await self._say(view, operations.ExposeHand(place, self._table.cards_at(place) if asks else None))

    # -- irregularities --------------------------------------------------------------------------------------------

    async def _confirm(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        if "counted_wrong" in found.asks:
            await self._count_stub(view)
            return
        if self._mechanism.jammed:
            self._mechanism.clear_jam()
            self._see("You clear the jam.")
            return
        truth = self._table.facts(found.asks)
        if not found.asks:
            self._see("You look at the cards: it is as the screen asks.")
        answers = [f"{FACT_QUESTIONS[name]} {'Yes' if getattr(truth, name) else 'No'}." for name in found.asks]
        self._see(" ".join(answers))
        await self._entered_after(view)

    async def _name_order(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        self._see("They lie in the order of their numbers.")
        await self._entered_after(view)

    async def _choose(self, view: TableView, found: IrregularityView) -> None:
        """What every bettor says, at once."""
        assert self._round is not None
        leaving = {box(number) for number in self._round.withdraws}
        said = [
            f"{_named(view, [place])} {'takes the bets back' if place in leaving else 'goes on'}"
            for place in found.choices_due
        ]
        self._see(f"Asked: {', '.join(said)}.")
        await self._entered_after(view, lambda now: not any(one.choices_due for one in now.irregularities))

    async def _put_right(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        await self._entered_after(view)
        now = await self._client.state()
        if not any(one.id == found.id and one.moves for one in now.irregularities) and self._exchanged is not None:
            self._table.exchange(*self._exchanged)
            self._exchanged = None

    async def _rule(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        if self._mechanism.jammed:
            self._mechanism.clear_jam()
            self._see("You clear the jam.")
            return
        self._see(f"{member.name} is called, and rules as you think right.")
        await self._entered_after(view)
