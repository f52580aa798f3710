"""The hands and eyes of a human dealer at the console: moves the cards, and describes the table.

It is based on the simulated dealer, who knows what comes next. The card movements of the simulated dealer are carried
out; entries are left to the person, who is told what only eyes can see: where bets lie, an exposed card, what a Player
says. Decisions above the dealer's rank are signed by the person, or by a simulated supervisor who comes after a while.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from random import Random
from typing import Final

from msgspec.structs import replace

from controller.api.client import TableUnreachableError
from controller.api.irregularity_view import IrregularityView
from controller.api.screen_lines import face
from controller.api.view import TableView
from controller.games import game
from controller.games.specification import FACT_QUESTIONS, Choice, Kind, Unit
from controller.language import Speaker
from controller.rules.dealing_order import DEALER, Place, box, dealing_order
from controller.table import operations
from controller.table.operations import AnyOperation
from controller.table.phases import DEALING, Phase, Service
from firmware_bridge.messages import Message, counted, message, sentences
from firmware_bridge.plain_text import plain
from simulators.devices.mechanism import SET_SIZE
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewMember, member_for
from simulators.people.dealer import BEFORE_ROUND, SimulatedDealer
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import Mishap, PlannedRound
from simulators.people.supervisor import Patience, contradiction, lying_places

FACE_UP: Final = frozenset({Mishap.EXPOSED_CARD, Mishap.FACE_UP, Mishap.FACE_UP_EARLY})
REPORTED: Final = frozenset({Kind.EXPOSED_CARD, Kind.WRONG_COUNT})
AFTER_BETS: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING}


def line_of_sight(view: TableView, operation: AnyOperation) -> Message | None:
    """Return what a person must see to enter an operation, or None if the screen says everything."""

    def named(*places: Place) -> Message:
        return _named(view, list(places))

    match operation:
        case operations.OccupyBoxes(boxes):
            return message("Bets lie at {places}: tap them.", places=named(*map(box, boxes)))
        case operations.ReportIrregularity(Kind.EXPOSED_CARD, place, card) if card is not None:
            return message("Card {card} of {place} lies face up. Tap Problem.", card=card, place=named(place or DEALER))
        case operations.ReportIrregularity(Kind.EXPOSED_CARD, place):
            return message("A card of {place} lies face up. Tap Problem.", place=named(place or DEALER))
        case operations.ReportIrregularity(Kind.WRONG_COUNT, place, _, found):
            where = named(place or DEALER)
            return counted(
                "{place} has 1 card. Tap Problem.", "{place} has {count} cards. Tap Problem.", found or 0, place=where
            )
        case operations.HandleCards(place):
            return message("A Player handles the cards of {place}. Tap Player handled cards.", place=named(place))
        case operations.CountCards(_, count):
            return message("{name} and you count the stub: {count} cards.", name=CREW[1].name, count=count)
        case operations.ExposeHand(place, cards) if cards is not None:
            codes = " ".join(face(card.code) for card in cards)
            return message("{place} shows {cards}.", place=named(place), cards=codes)
        case operations.ShowFirstCard(card) if card is not None:
            return message("The First Card is {card}.", card=face(card.code))
    return None


def _is_out_of_service(view: TableView) -> bool:
    """Return whether a person must return the table to service, since its device is connected."""
    return view.service == Service.OUT_OF_SERVICE and view.device.connected


def _named(view: TableView, places: list[Place]) -> Message:
    return game(view.game).words.of_all(places)


class VisitorsHands(SimulatedDealer):
    """Waits for the person after every act. `tell` is called with what the person sees."""

    def __init__(
        self,
        device: SimulatedDevice,
        table: PhysicalTable,
        socket: Path,
        plan: list[PlannedRound],
        random: Random,
        tell: Callable[[str], None],
        say: Speaker,
        patience: Patience,
    ) -> None:
        super().__init__(device, table, socket, plan, random, CREW)
        self._tell = tell
        self._told: Message | None = None
        self._sees: Message | None = None  # what the page shows until the person has entered something
        self._shown = ""
        self._say = say
        self._patience = patience
        self._comes: CrewMember | None = None  # the member who decides open matters if the person does not
        self._announced: CrewMember | None = None  # the member who has been announced
        self._decides = False  # the supervisor is deciding
        self._moved = False  # the supervisor has also moved the cards
        self._bets: tuple[int, ...] = ()  # the boxes with bets, whatever is marked

    # -- what the person enters ---------------------------------------------------------------------------------

    async def _enter(self, view: TableView, operation: AnyOperation, member: CrewMember | None = None) -> bool:
        if self._decides:
            return await super()._enter(view, operation, member)
        if isinstance(operation, operations.NoMoreBets) and self._bets_unlike(view) is not None:
            operation = operations.OccupyBoxes(self._bets)  # until every bet is marked
        self._tell_once(line_of_sight(view, operation))
        await self._wait_for_entry(view)
        return True

    def _tell_once(self, line: Message | None) -> None:
        """Say a line once, until there is something else to see."""
        self._sees = line
        if line is not None and line != self._told:
            self._told = line
            self._tell(self._say(line))

    def _cancel_visit(self) -> None:
        """Say that nobody comes, because the person signed what the supervisor was coming for."""
        if self._announced is not None:
            self._tell(self._say(message("{name} does not come. The matter is decided.", name=self._announced.name)))
            self._announced = None

    async def _show(self, view: TableView) -> None:
        """Show the person at the page what is to be seen at the table, and who comes."""
        unlike = self._bets_unlike(view) if view.phase in AFTER_BETS and not view.irregularities else None
        lines = dict.fromkeys(line for line in (unlike, self._sees, self._coming()) if line is not None)
        said = plain(self._say(sentences(*lines))) if lines else ""
        if said != self._shown:
            await self._client.show_seen(said)
            self._shown = said

    async def _wait_for_entry(self, view: TableView, until: Callable[[TableView], bool] = lambda view: True) -> None:
        """Wait until something came after `view` and `until` is true of the table, or the supervisor decided."""
        while True:
            with suppress(TableUnreachableError):
                now = await self._client.state()
                await self._show(now)
                if now.entry > view.entry and until(now):
                    self._sees = None
                    await self._show(now)
                    return
                if self._comes is not None and self._patience.is_over and await self._supervise(now, self._comes):
                    return
            await self._nap()

    # -- before and in a round -------------------------------------------------------------------------------------

    async def _before_round(self, view: TableView) -> bool:
        self._cancel_visit()
        self._sees = None
        if view.phase == Phase.VOIDED and not view.chips_paid:
            await self._wait_for_entry(view)
            return True
        if self._is_over(view):
            return False
        if self._table.needs_deck:
            collected = message("The cards are collected and the deck is put in.")
            self._tell_once(collected if view.round else message("The deck is put in."))
            await self._show(view)
            await self._table.gather_and_load()
        elif not view.deck.shuffled:
            self._tell_once(message("You shuffle the deck by hand."))
            await self._wait_for_entry(view)
        else:
            self._begin_round(view)
            await self._wait_for_entry(view, lambda now: now.phase not in BEFORE_ROUND)
        return True

    def _begin_round(self, view: TableView) -> None:
        super()._begin_round(view)
        if self._round is not None:
            self._bets = self._round.boxes

    async def _in_round(self, view: TableView) -> None:
        """Wait while play is stopped."""
        if view.paused or view.held:
            await self._wait_for_entry(view)
            return
        self._cancel_visit()
        self._sees = None
        await super()._in_round(view)
        await self._show(view)

    def _deal_as_marked(self, view: TableView, planned: PlannedRound) -> PlannedRound:
        """Deal to the boxes that the person marked, even if bets lie elsewhere: cards go where the table says."""
        rules = game(view.game)
        if rules.first_card is not None:
            return planned
        order = dealing_order(rules.grammar(Unit(view.unit)), view.boxes)
        if view.boxes != planned.boxes:
            self._see_bets(view)
            self._round = planned = replace(planned, boxes=view.boxes, card=min(planned.card, len(order)))
            if not self._placed:
                self._begin_deal(planned, order)
        # corrected since: the remaining cards go where the screen says
        if self._placed and view.next_place is not None:
            due = 1 if Unit(view.unit) is Unit.SINGLES else SET_SIZE
            rest = (*[view.next_place] * due, *order[self._placed + due :])
            self._order = (*self._order[: self._placed], *rest)
        return planned

    def _lies_elsewhere(self, view: TableView) -> bool:
        """Return whether hands lie at each other's places, or the marked boxes are not those with bets."""
        places = {DEALER, *map(box, self._bets)}
        as_marked = set(view.boxes) == set(self._bets) and lying_places(self._table) <= places
        return self._exchanged is not None or not as_marked

    def _contradiction(self, view: TableView, found: IrregularityView) -> Message | None:
        """Return what on the table contradicts a person's report."""
        misplaced, exposed = self._lies_elsewhere(view), self._has_exposed()
        return contradiction(found, self._table, misplaced=misplaced, exposed=exposed)

    def _has_exposed(self) -> bool:
        """Return whether a card of this round came to lie face up at the table."""
        return self._round is not None and self._round.mishap in FACE_UP

    def _see_bets(self, view: TableView) -> None:
        if line := self._bets_unlike(view):
            self._tell_once(line)

    def _bets_unlike(self, view: TableView) -> Message | None:
        """Return where bets lie that are marked incorrectly."""
        if game(view.game).every_hand:
            return None
        marked, lie = set(view.boxes), set(self._bets)
        lines = [
            *(message("No bet lies at {place}.", place=_named(view, [box(one)])) for one in sorted(marked - lie)),
            *(message("A bet lies at {place}.", place=_named(view, [box(one)])) for one in sorted(lie - marked)),
        ]
        return sentences(*lines, message("Tap Problem, Bets, Box marked wrongly.")) if lines else None

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
        """Wait until the mishap is reported; the person's other reports are decided meanwhile."""
        view = await self._quiet_view()
        while view.phase not in BEFORE_ROUND and not any(one.kind == kind for one in view.irregularities):
            if view.irregularities:
                await self._act(view)
            else:
                self._tell_once(line_of_sight(view, operations.ReportIrregularity(kind, place, card, counted)))
                await self._wait_for_entry(view)
            view = await self._quiet_view()

    async def _find_exchanged(self, one: Place, other: Place) -> None:
        view = await self._quiet_view()
        self._exchanged = one, other
        self._table.exchange(one, other)
        both = _named(view, sorted((one, other)))
        self._tell_once(
            message(
                "The cards of {places} are in each other's place. Tap Cards lie elsewhere, or Problem.", places=both
            )
        )
        await self._wait_for_entry(view, lambda now: bool(now.irregularities))

    async def _while_examining(self, view: TableView, planned: PlannedRound) -> None:
        self._table.handled = True
        self._tell_once(await self._faces_to_read(view) or message("The Players have looked at their hands."))
        await self._wait_for_entry(view)

    async def _expose(self, view: TableView, place: str) -> None:
        self._tell_once(await self._faces_to_read(view))
        await self._wait_for_entry(view)

    async def _faces_to_read(self, view: TableView) -> Message | None:
        """Return the faces that people must read because the table does not take the device's word.

        It covers every hand that may be turned over now: the visitor chooses.
        """
        offers = [one for one in await self._client.lawful() or [] if one["operation"] == "expose_hand"]
        asked = [one["arguments"]["place"] for one in offers if one["needs"] and one["allowed"]]
        lie = [place for place in asked if self._table.hands.get(place)]
        shown = [operations.ExposeHand(place, self._table.cards_at(place)) for place in lie]
        return sentences(*(line_of_sight(view, one) for one in shown)) if shown else None

    # -- the supervisor ----------------------------------------------------------------------------------------------

    def _is_quiet(self, view: TableView) -> bool:
        """Let anybody who signs on act. A table that is out of service must be returned."""
        return _is_out_of_service(view) or super()._is_quiet(replace(view, dealer=""))

    async def _act(self, view: TableView) -> bool:
        """Leave matters that block nothing until the person opens them, unless a supervisor must decide."""
        if _is_out_of_service(view):
            await self._wait_for_decision(CREW[1], (view.service, view.service_cause), self._wait_for_entry(view))
            return True
        due = [one for one in view.irregularities if one.blocks or member_for(CREW, one.who) is not CREW[0]]
        return await super()._act(replace(view, irregularities=tuple(due)))

    async def _deal_with(self, view: TableView, found: IrregularityView) -> None:
        member = member_for(CREW, found.who)
        asked = found.id, found.revision, found.stage, found.void_asked, len(found.choices)
        permits = found.stage == "choosing" and self._permitted(found) is not None
        await self._wait_for_decision(CREW[1] if permits else member, asked, super()._deal_with(view, found))

    async def _wait_for_decision(self, member: CrewMember, asked: Hashable, entered: Awaitable[None]) -> None:
        """Announce the person who decides, unless a dealer may decide it."""
        begins = self._patience.begins(asked)
        if not begins:
            self._patience.again()  # the person has entered something else, and is still working on it
        elif member is not CREW[0]:
            self._announced = member
        self._comes = None if member is CREW[0] else member
        if begins and (coming := self._coming()):
            self._tell(self._say(coming))
        try:
            await entered
        finally:
            self._comes = None

    def _coming(self) -> Message | None:
        """Return who may sign, and when the supervisor comes if nobody does."""
        if (member := self._comes) is None:
            return None
        return message(
            "Sign as {name} ({rank}): PIN {pin}. Or {name} comes at {time}.",
            name=member.name,
            rank=member.role.named,
            time=f"{self._patience.ends.astimezone():%H:%M:%S}",
            pin=member.pin,
        )

    async def _supervise(self, view: TableView, member: CrewMember) -> bool:
        """Let a supervisor decide, and try again later after a refusal. A void is entered twice."""
        self._decides, self._announced = True, None
        try:
            await self._decide(view, member)
            now = await self._client.state()
            if any(one.void_asked for one in now.irregularities) and not any(
                one.void_asked for one in view.irregularities
            ):
                await self._decide(now, member)
            return self._refusals == 0
        finally:
            self._refusals = 0
            self._decides = False
            self._patience.again()

    async def _decide(self, view: TableView, member: CrewMember) -> None:
        """Decide by the facts on the table."""
        if _is_out_of_service(view):
            await self._enter(view, operations.ReturnToService(), member)
            return
        for found in view.irregularities:
            if permitted := self._permitted(found):
                await self._enter(view, permitted, member)
                return
            if member_for(CREW, found.who) is CREW[0]:
                continue
            why = self._contradiction(view, found)
            if why and "deny" in found.options:
                await self._enter(view, operations.DenyIrregularity(found.id, found.revision, self._say(why)), member)
            elif found.stage in DECIDES:
                await DECIDES[found.stage](self, view, found, member)
            if found.stage == "moving":
                self._exchanged, self._moved = None, True
            return

    def _leaving(self) -> set[Place]:
        """Return the places where the plan takes bets back, if allowed."""
        return {box(number) for number in self._round.withdraws} if self._round else set()

    def _permitted(self, found: IrregularityView) -> operations.ChooseOption | None:
        """Return a bettor's choice that a supervisor must permit, if it comes next."""
        leaving = self._leaving()
        withdraws = any(option.choice == Choice.WITHDRAW and option.role for option in found.options_detail)
        place = next((place for place in found.choices_due if withdraws and place in leaving), None)
        if place is None or found.stage != "choosing":
            return None
        bettor = next((due.bettor for due in found.bettors_due if due.place == place), "")
        return operations.ChooseOption(found.id, found.revision, place, Choice.WITHDRAW, bettor=bettor)

    # -- irregularities --------------------------------------------------------------------------------------------

    async def _confirm(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        if "counted_wrong" in found.asks:
            await self._count_stub(view)
            return
        if self._clears_jam():
            return
        place = found.place or ""
        if found.entered and self._table.hands.get(place):
            self._tell_once(line_of_sight(view, operations.ExposeHand(place, self._table.cards_at(place))))
        elif found.facts.counted_wrong:  # by a count at the page
            counted_right = operations.CountCards("stub", self._table.count_stub(), CREW[1].id)
            self._tell_once(line_of_sight(view, counted_right))
        elif why := self._contradiction(view, found):
            self._tell_once(message("You look at the cards. The report is wrong: {why}.", why=why))
        elif not found.asks:
            self._tell_once(message("You look at the cards. The report is right."))
        else:
            right = (message("The report is right."),) if found.noticed_by and found.claims else ()
            self._tell_once(sentences(*right, *self._answers(view, found)))
        await self._wait_for_entry(view)

    def _answers(self, view: TableView, found: IrregularityView) -> list[Message]:
        """Return the answers to the questions that the page asks in turn, short enough for two lines of the page."""
        truth, own = self._table.facts(found.asks), game(view.game).words.own
        yes = [name for name in found.asks if getattr(truth, name)]
        no = [name for name in found.asks if name not in yes]
        answers = [(own(FACT_QUESTIONS[name]), message("Yes.")) for name in yes]
        if len(no) > 1:
            rest = message("Answer NO to the other questions.") if yes else message("Answer NO to each question.")
            return [*chain.from_iterable(answers), rest]
        answers += [(own(FACT_QUESTIONS[name]), message("No.")) for name in no]
        return list(chain.from_iterable(answers))

    async def _name_order(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        self._tell_once(message("Card 1 came out first. Tap the cards by number."))
        await self._wait_for_entry(view)

    async def _choose(self, view: TableView, found: IrregularityView) -> None:
        """Say what every bettor chooses, all together."""
        leaving = self._leaving() | {place for place in found.choices_due if not self._table.hands.get(place)}
        may = not found.options_detail or any(one.choice == Choice.WITHDRAW for one in found.options_detail)
        places = [(place, _named(view, [place])) for place in found.choices_due]
        said = [
            message("{place} withdraws" if may and place in leaving else "{place} continues", place=named)
            for place, named in places
        ]
        self._tell_once(message("Asked: {choices:list}.", choices=tuple(said)))
        await self._wait_for_entry(view, lambda now: not any(one.choices_due for one in now.irregularities))

    async def _put_right(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        self._moved = False
        await self._wait_for_entry(view)
        now = await self._client.state()
        if not (self._moved or any(one.id == found.id for one in now.irregularities)):
            self._table.move([(move.source, move.place) for move in found.moves])
            self._exchanged = None

    async def _rule(self, view: TableView, found: IrregularityView, member: CrewMember) -> None:
        if self._clears_jam():
            return
        if why := self._contradiction(view, found):
            self._tell_once(message("You look at the cards. The report is wrong: {why}.", why=why))
        else:
            self._tell_once(message("{name} is called, and rules.", name=member.name))
        await self._wait_for_entry(view)

    def _clears_jam(self) -> bool:
        if not self._mechanism.jammed:
            return False
        self._mechanism.clear_jam()
        self._tell_once(message("You clear the jam."))
        return True


async def _name_as_numbered(
    dealer: VisitorsHands, view: TableView, found: IrregularityView, member: CrewMember
) -> None:
    """Name the order that the visitor would see on the table."""
    await dealer._enter(view, operations.NameOrder(found.id, found.revision, found.ordinals), member)


DECIDES: Final[dict[str, Callable[..., Awaitable[None]]]] = {
    "claimed": SimulatedDealer._confirm,
    "ordering": _name_as_numbered,
    "moving": SimulatedDealer._put_right,
    "ruling": SimulatedDealer._rule,
}
"""How simulated people act at each stage."""
