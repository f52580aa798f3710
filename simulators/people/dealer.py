"""The simulated dealer, players and supervisors, who see only the cards on the table and the screen.

They act in lock-step: before every act they wait until the screen shows everything that the device has reported and no
command is open. So a run depends on its seed alone, however the processes are scheduled.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from controller.api.bodies import BEGINNING, EventId
from controller.api.client import ApiClient, NotInJournalError, TableUnreachableError
from controller.api.irregularity_view import IrregularityView
from controller.api.view import TableView
from controller.games import game
from controller.games.specification import Choice, Kind, RulingAction, StepKind, Unit
from controller.roles import Role
from controller.rules.dealing_order import DEALER, Place, box, dealing_order, order_after_first_card
from controller.table import operations
from controller.table.operations import AnyOperation
from controller.table.phases import Phase, Service
from firmware_bridge.cards import Card
from firmware_bridge.messages import MessageError, message
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, Crew, CrewClient, CrewMember, member_for
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import Mishap, PlannedRound, PlannedWager

NAP: Final = 0.05  # seconds between checks of a daemon that is absent or shows nothing new
PATIENCE: Final = 25  # refusals in a row before the simulation gives up
BEFORE_ROUND: Final = frozenset({Phase.IDLE, Phase.CONCLUDED, Phase.VOIDED})

GOES_ON: Final = {
    Kind.SIMULTANEOUS: RulingAction.NAME_ORDER,
    Kind.WRONG_COUNT: RulingAction.REMOVE_HANDS,
    Kind.WRONG_DISTRIBUTION: RulingAction.RECONSTRUCT,
}
WHY: Final = {
    RulingAction.VOID: "the order of this deal is not certain",
    RulingAction.CONTINUE: "no one gains by it; play goes on",
    RulingAction.NAME_ORDER: "they are received in this order",
    RulingAction.RECONSTRUCT: "the hands go back to their places",
    RulingAction.REMOVE_HANDS: "a hand that does not have three cards cannot play",
}


class SimulationError(Exception):
    """Raised when the simulated people and the daemon contradict each other: a bug in either."""


class PinNotKnownError(MessageError):
    """Raised when the table accepts the PIN of none of these people."""


class ForeignRoundError(MessageError):
    """Raised when the table is in a round whose cards these people have not seen."""


class SimulatedDealer:
    """Plays the planned rounds and stops between rounds."""

    def __init__(
        self,
        device: SimulatedDevice,
        table: PhysicalTable,
        socket: Path,
        plan: list[PlannedRound],
        random: Random,
        crew: Crew = CREW,
    ) -> None:
        self._device = device
        self._mechanism = device.mechanism
        self._table = table
        self._socket = socket
        self._plan = plan
        self._played = 0  # rounds of the table when these people came
        self._begun = 0  # the number of the round that these people have begun
        self._random = random
        self._crew = crew
        self._news = asyncio.Event()
        self._round: PlannedRound | None = None
        self._order: tuple[Place, ...] = ()  # empty until a First Card says where the deal begins
        self._placed = 0  # positions of the dealing order that are filled
        self._mishap_over = False
        self._exchanged: tuple[Place, Place] | None = None  # the two hands that change places in this round
        self._refusals = 0
        self._entered: set[str] = set()  # bettors that the table knows

    async def play(self) -> int:
        """Play all planned rounds. Return the journal entry at which the screen showed all of it."""
        async with ApiClient(self._socket) as client:
            self._client = client
            self._voice = CrewClient(client, self._random)
            follower = asyncio.create_task(self._follow())
            try:
                view = await self._quiet_view()
                if view.phase not in (Phase.CLOSED, *BEFORE_ROUND):
                    raise ForeignRoundError(
                        message("The table is in a round that other people began."),
                        message("Finish or void that round first (`cardshoe operate`)."),
                    )
                self._played = view.round
                while await self._act(view):
                    view = await self._quiet_view()
                return view.entry
            finally:
                follower.cancel()
                with suppress(asyncio.CancelledError):
                    await follower

    # -- reading the screen ----------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        """Wake the people whenever something new is on the screen."""
        after = BEGINNING
        while True:
            try:
                after = after if after.journal else EventId((await self._client.state()).journal)
                async for event in self._client.events(after):
                    after = EventId(after.journal, event["entry"]) if event else after
                    self._news.set()
            except NotInJournalError as other:
                after = EventId(other.newest.journal)
            except TableUnreachableError:
                pass
            await asyncio.sleep(NAP)

    async def _quiet_view(self) -> TableView:
        while True:
            self._news.clear()
            with suppress(TableUnreachableError):
                view = await self._client.state()
                if self._is_quiet(view):
                    return view
            await self._nap()

    async def _nap(self) -> None:
        """Wait until something new is on the screen, or a moment."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NAP):
                await self._news.wait()

    def _is_quiet(self, view: TableView) -> bool:
        """Return whether people may act. A relieved dealer waits for the table, or until nobody is on duty."""
        device, link = view.device, self._device.link
        relieved = view.dealer not in ("", self._crew[0].id)
        if relieved or not device.connected or device.open_commands or not self._device.idle:
            return False
        taken = device.last_report if device.boot == link.boot else 0
        ready = view.service == Service.IN_SERVICE or (
            view.service == Service.RECONCILING and device.status_agrees and view.phase not in BEFORE_ROUND
        )
        return taken == link.last_number and ready

    async def _enter(self, view: TableView, operation: AnyOperation, member: CrewMember | None = None) -> bool:
        """Enter an operation, by default as the dealer, and return whether the table accepted it."""
        await self._table.spend("speak")
        request = self._voice.request(member or self._crew[0], view.round, operation)
        while True:
            try:
                answer = await self._voice.send(request)
                break
            except TableUnreachableError:
                await asyncio.sleep(NAP)  # the same request is sent again: its answer is kept
        self._refusals = 0 if answer.accepted else self._refusals + 1
        if self._refusals > PATIENCE and answer.code in ("pin", "pin-locked"):
            raise PinNotKnownError(
                answer.sentence,
                message("Name the table's configuration and its PINs: --dealer FILE --pin ID=PIN."),
            )
        if self._refusals > PATIENCE:
            raise SimulationError(f"{type(operation).__name__} was refused again and again: {answer.sentence}")
        return answer.accepted

    # -- one act ---------------------------------------------------------------------------------------------------

    async def _act(self, view: TableView) -> bool:
        """Do the next thing. Return False when the last round is over."""
        if view.service == Service.RECONCILING:
            await self._table.spend("look")
            await self._enter(view, operations.ContinueRound())
        elif view.irregularities:
            await self._deal_with(view, view.irregularities[0])
        elif view.moves:
            await self._enter(view, operations.Reconstruct())
        elif view.phase == Phase.CLOSED:
            await self._enter(view, operations.OpenTable() if view.dealer else operations.DealerOn())
        elif view.phase in BEFORE_ROUND:
            return await self._before_round(view)
        elif view.round - self._played > len(self._plan):
            return False  # somebody else has begun a round after the last planned one
        else:
            await self._in_round(view)
        return True

    async def _before_round(self, view: TableView) -> bool:
        if view.phase == Phase.VOIDED and not view.chips_paid:
            await self._enter(view, operations.RecordSettled())
            return True
        if self._is_over(view):
            return False
        if self._table.needs_deck:
            await self._table.gather_and_load()
        elif not view.deck.shuffled:
            await self._enter(view, operations.ShuffledOutside("batch shuffler 1"))
        else:
            self._begin_round(view)
            await self._enter(view, operations.PlaceYourBets())
        return True

    def _is_over(self, view: TableView) -> bool:
        return view.round - self._played >= len(self._plan)

    def _begin_round(self, view: TableView) -> None:
        """Take up the plan of the next round, or of the round that somebody else has begun meanwhile."""
        self._begun = view.round + 1 if view.phase in BEFORE_ROUND else view.round
        planned = self._plan[self._begun - self._played - 1]
        self._round = planned
        self._order = ()
        self._placed = 0
        self._mishap_over = False
        self._exchanged = None
        self._table.begin_round()
        rules = game(view.game)
        if rules.first_card is None:
            self._begin_deal(planned, dealing_order(rules.grammar(Unit(view.unit)), planned.boxes))

    def _begin_deal(self, planned: PlannedRound, order: tuple[Place, ...]) -> None:
        self._order = order
        self._table.arm(planned, order)

    async def _in_round(self, view: TableView) -> None:
        if self._begun != view.round:
            self._begin_round(view)
        assert self._round is not None
        await self._lay_out_aside(view)
        match view.phase:
            case Phase.BETTING:
                await self._while_betting(view, self._round)
            case Phase.FIRST_CARD:
                await self._show_first_card(view, self._round)
            case Phase.DEALING_SETS:
                await self._deal_set(view, self._round)
            case Phase.DEALING_SINGLES:
                await self._deal_card(view, self._round)
            case Phase.EXAMINING:
                await self._while_examining(view, self._round)
            case Phase.EXPOSING:
                await self._open_next_hand(view)
            case Phase.SETTLING:
                await self._settle(view)

    async def _while_betting(self, view: TableView, planned: PlannedRound) -> None:
        due = self._wager_due(view, planned)
        if due is not None:
            await self._bet(view, due)
        elif not view.boxes and not game(view.game).every_hand:
            await self._enter(view, operations.OccupyBoxes(planned.boxes))
        elif planned.mishap is Mishap.BEFORE_NO_MORE_BETS and not self._mishap_over:
            self._mishap_over = True
            shoe = self._mechanism.profile.kind == "shoe"
            self._table.lay_aside(self._mechanism.draw(forced=True) if shoe else self._mechanism.lift_set())
        else:
            await self._enter(view, operations.NoMoreBets())

    def _wager_due(self, view: TableView, planned: PlannedRound) -> PlannedWager | None:
        """Return the next planned wager that is not on the layout."""
        lying = {(bet.bettor, bet.wager, bet.box) for bet in view.bets}
        return next((one for one in planned.wagers if (one.bettor, one.wager, one.box) not in lying), None)

    async def _bet(self, view: TableView, due: PlannedWager) -> None:
        if due.bettor in self._entered:
            await self._enter(view, operations.PlaceWager(due.bettor, due.wager, due.box, due.amount))
        elif await self._enter(view, operations.EnterBettor(due.bettor, due.seat)):
            self._entered.add(due.bettor)

    async def _show_first_card(self, view: TableView, planned: PlannedRound) -> None:
        """Draw the First Card, look at it and enter it, so that it is known where the deal begins."""
        if self._table.first_card is None:
            waiting = self._table.aside  # a card that was taken too early is used as the First Card
            if not view.first_card:
                waiting.extend(self._mechanism.lift_set() if Unit(view.unit) is Unit.SETS else self._mechanism.draw())
            if not waiting:
                raise SimulationError("the device gives no First Card and does not say why")
            self._table.first_card = waiting.pop(0)
            return
        rules = game(view.game)
        assert rules.first_card is not None
        card = self._table.first_card
        self._begin_deal(planned, order_after_first_card(rules.first_card, rules.grammar(Unit(view.unit)), card.rank))
        if view.round % 2 or not await self._enter(view, operations.ShowFirstCard()):
            await self._enter(view, operations.ShowFirstCard(card))

    async def _deal_set(self, view: TableView, planned: PlannedRound) -> None:
        first = self._placed + 1
        cards = self._mechanism.lift_set()
        if planned.mishap is Mishap.ONE_TOO_MANY and self._placed + view.tray == len(self._order):
            self._table.lay_aside(self._mechanism.lift_set())  # another set slipped out and is lifted too
        await self._deliver(view, cards, view.tray)
        await self._perhaps_err(view, planned, range(first, self._placed + 1))

    async def _deal_card(self, view: TableView, planned: PlannedRound) -> None:
        before = self._device.link.last_number
        drawn = self._mechanism.draw()
        if planned.mishap is Mishap.SIMULTANEOUS and self._placed + 1 == planned.card_in(self._order):
            self._table.lay_aside(drawn)
            return
        if drawn:
            await self._deliver(view, drawn, 1)
            await self._perhaps_err(view, planned, range(self._placed, self._placed + 1))
        elif before == self._device.link.last_number:
            raise SimulationError("the shoe gives no card and does not say why")
        if planned.mishap is Mishap.ONE_TOO_MANY and self._placed == len(self._order):
            self._table.lay_aside(self._mechanism.draw(forced=True))

    async def _deliver(self, view: TableView, cards: list[Card], seen: int) -> None:
        """Lay cards where the screen says. A card that the sensor missed goes unnoticed to the first place."""
        for card in cards[seen:]:
            await self._table.deliver(self._order[self._placed], [card])
        for card in cards[:seen]:
            if self._placed == len(self._order):
                self._table.lay_aside([card])  # left over where cards came together earlier
                continue
            await self._table.deliver(self._order[self._placed], [card])
            self._placed += 1

    async def _lay_out_aside(self, view: TableView) -> None:
        """Lay out cards that waited and have places now."""
        while self._placed < view.dealt and self._table.aside:
            await self._table.deliver(self._order[self._placed], [self._table.aside.pop(0)])
            self._placed += 1

    async def _perhaps_err(self, view: TableView, planned: PlannedRound, covered: range) -> None:
        """Make or notice the people's own mistake right after these cards were laid out."""
        at = planned.card_in(self._order)
        if at not in covered or self._mishap_over:
            return
        place = self._order[at - 1]
        if planned.mishap is Mishap.EXPOSED_CARD:
            self._mishap_over = True
            card = min(len(self._table.hands[place]), 3)
            await self._report(Kind.EXPOSED_CARD, place, card=card)
        elif planned.mishap in (Mishap.WRONG_COUNT, Mishap.WRONG_COUNT_HANDLED):
            self._mishap_over = True
            if planned.mishap is Mishap.WRONG_COUNT_HANDLED:
                self._table.handled = True
                await self._enter(await self._quiet_view(), operations.HandleCards(place))
            await self._report(Kind.WRONG_COUNT, place, counted=len(self._table.hands[place]))
        elif planned.mishap is Mishap.EXCHANGED:
            self._mishap_over = True
            await self._find_exchanged(place, next(other for other in self._order if other != place))

    async def _find_exchanged(self, one: Place, other: Place) -> None:
        """Exchange two hands, and enter each card by the number under which it left the device."""
        self._exchanged = one, other
        self._table.exchange(one, other)
        lying = {one: other, other: one}
        dealt = enumerate(self._order[: self._placed], start=self._table.before_the_deal + 1)
        cards = tuple(operations.CardAt(number, lying[place]) for number, place in dealt if place in lying)
        await self._enter(await self._quiet_view(), operations.PlaceCards(cards))

    async def _report(self, kind: Kind, place: str, *, card: int | None = None, counted: int | None = None) -> None:
        """Report once the screen shows the cards concerned."""
        view = await self._quiet_view()
        await self._enter(view, operations.ReportIrregularity(kind, place, card, counted))

    async def _while_examining(self, view: TableView, planned: PlannedRound) -> None:
        for hand in view.hands:
            if hand.place != DEALER and not hand.dead and not hand.handled:
                self._table.handled = True
                await self._enter(view, operations.HandleCards(hand.place))
                return
        returning = game(view.game).step(StepKind.RETURNING) is not None
        hidden = [hand.place for hand in view.hands if hand.place != DEALER and not hand.dead and not hand.shown]
        await self._expose(view, hidden[0] if returning and hidden else DEALER)

    async def _open_next_hand(self, view: TableView) -> None:
        waiting = next((hand for hand in view.hands if not hand.dead and not hand.shown), None)
        if waiting is None:
            raise SimulationError("every hand lies open and the round does not go on")
        await self._expose(view, waiting.place)

    async def _expose(self, view: TableView, place: str) -> None:
        """Enter a hand as seen; in every other round confirm the device's reading if the table allows that."""
        if view.round % 2 or not await self._enter(view, operations.ExposeHand(place)):
            await self._enter(view, operations.ExposeHand(place, self._table.cards_at(place)))

    async def _settle(self, view: TableView) -> None:
        if view.deck.stub is None and not view.device.unloads_stub:
            await self._count_stub(view)
        elif not view.chips_paid:
            await self._enter(view, operations.RecordSettled())
        else:
            await self._enter(view, operations.ConcludeRound())

    async def _count_stub(self, view: TableView) -> None:
        await self._table.spend("count")
        await self._enter(view, operations.CountCards("stub", self._table.count_stub(), witness="supervisor"))

    # -- irregularities --------------------------------------------------------------------------------------------

    async def _deal_with(self, view: TableView, found: IrregularityView) -> None:
        await self._table.spend("look")
        member = member_for(self._crew, found.who)
        match found.stage:
            case "claimed":
                await self._confirm(view, found, member)
            case "ordering":
                await self._name_order(view, found, member)
            case "choosing":
                await self._choose(view, found)
            case "moving":
                await self._put_right(view, found, member)
            case "ruling":
                await self._rule(view, found, member)

    async def _confirm(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        if "counted_wrong" in found.asks:
            await self._count_stub(view)
            return
        if self._mechanism.jammed:
            self._mechanism.clear_jam()
            return
        facts = self._table.facts(found.asks)
        if member.role is Role.DEALER and found.asks:
            member = member_for(self._crew, Role.PIT_SUPERVISOR.word)
        await self._enter(view, operations.ConfirmIrregularity(found.id, found.revision, facts), member)

    async def _name_order(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        """Name the reverse of the order in which they were read, and lay them out accordingly."""
        backwards = tuple(reversed(found.ordinals))
        if await self._enter(view, operations.NameOrder(found.id, found.revision, backwards), member):
            self._table.turn_round()

    async def _put_right(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        """Move the cards as the screen shows."""
        if await self._enter(view, operations.Reconstruct(found.id, found.revision), member):
            self._table.move([(move.source, move.place) for move in found.moves])

    async def _choose(self, view: TableView, found: IrregularityView) -> None:
        assert self._round is not None
        place = found.choices_due[0]
        withdraws = place in {box(number) for number in self._round.withdraws}
        choice = Choice.WITHDRAW if withdraws else Choice.CONTINUE
        bettor = next((due.bettor for due in found.bettors_due if due.place == place), "")
        await self._enter(view, operations.ChooseOption(found.id, found.revision, place, choice, bettor=bettor))

    async def _rule(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        """Rule every third round void and continue the others. Clear a jammed device first."""
        if self._mechanism.jammed:
            self._mechanism.clear_jam()
            return
        action = RulingAction.VOID if view.round % 3 == 0 else GOES_ON.get(Kind(found.kind), RulingAction.CONTINUE)
        authority = ", ".join(filter(None, (member.role.word, found.clause)))
        backwards = tuple(reversed(found.ordinals)) if action is RulingAction.NAME_ORDER else ()
        places = (found.place,) if action is RulingAction.REMOVE_HANDS and found.place else ()
        rule = operations.Rule(found.id, found.revision, action, authority, WHY[action], places, backwards)
        if not await self._enter(view, rule, member):
            return
        if backwards:
            self._table.turn_round()
        if action is RulingAction.RECONSTRUCT and self._exchanged is not None:
            self._table.exchange(*self._exchanged)
