"""The table of a test. Every step is checked against the fold, and each part of a round is one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec

from controller.games import game
from controller.games.specification import Choice, Disposition, Facts, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.events import AnyEvent
from controller.table.evolve import fold
from controller.table.inputs import AnyInput, DeviceGone
from controller.table.model import Irregularity
from controller.table.operations import AnyOperation
from controller.table.phases import Phase, Service
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.cards import Card
from simulators.scenarios.course import stacked as stacked_deck
from simulators.scenarios.table_course import TableCourse
from tests.support.uncooperative_device import UncooperativeDevice

EventT = TypeVar("EventT", bound=events.Event)


def cards(text: str) -> tuple[Card, ...]:
    """Return the cards written in a text.

    >>> cards("KD 10C")
    (KD, TC)
    """
    return tuple(Card.parse(word) for word in text.split())


def stacked(
    unit: Unit, boxes: Sequence[int], hands: Mapping[str, str], game_id: str = "NC", in_hand: bool = False
) -> list[Card]:
    """Return a deck whose order deals these hands; places that are not named get the remaining cards.

    `F` names the First Card of games that show one (an ace by default). With `in_hand` it is the first card of a hand.
    """
    wanted = {place: cards(text) for place, text in hands.items()}
    return stacked_deck(game(game_id), unit, boxes, wanted, in_hand=in_hand)


BOXES: Final = (1, 3, 6)  # occupied by default


class TableHarness(TableCourse[UncooperativeDevice]):
    """One table, which plays NC unless another game is named. `boxes` are occupied; in a game that deals every hand,
    all boxes are.

    `steps` keeps every input that led to a decision, with its numbered events.
    """

    def __init__(
        self,
        unit: Unit = Unit.SETS,
        boxes: tuple[int, ...] = BOXES,
        hands: Mapping[str, str] | None = None,
        *,
        count_by_hand: bool = True,
        settings: Settings | None = None,
        game_id: str = "NC",
        by_device: bool = True,
    ) -> None:
        rules = game(game_id)
        layout = range(1, rules.boxes[2] + 1)
        boxes = tuple(layout) if rules.every_hand else tuple(box for box in boxes if box in layout)
        settings = settings or Settings(game_id, unit, rules.boxes[2], count_stub_by_hand=count_by_hand)
        settings = msgspec.structs.replace(settings, hands_by_device=by_device)
        in_hand = ("first_card", "in_hand") in {(chosen.setting, chosen.option) for chosen in settings.readings}
        order = stacked(unit, boxes, hands or {}, game_id, in_hand)
        super().__init__(settings, boxes, lambda send: UncooperativeDevice(unit, order, send))
        self.steps: list[tuple[AnyInput, tuple[tuple[int, AnyEvent], ...]]] = []

    # -- inputs and events -----------------------------------------------------------------------------------------

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        assert fold(before, numbered) == self.state, "the events do not fold to the state that was decided"
        if numbered:
            self.steps.append((given, numbered))
            self.watch(before, given, numbered)
        else:
            assert self.state == before

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        """Called after every step; subclasses check the step here."""

    def events_of(self, event_type: type[EventT]) -> list[EventT]:
        """Return all events of a type, oldest first."""
        return [event for _, numbered in self.steps for _, event in numbered if isinstance(event, event_type)]

    def last(self, event_type: type[EventT]) -> EventT:
        return self.events_of(event_type)[-1]

    # -- people ----------------------------------------------------------------------------------------------------

    def refused(self, operation: AnyOperation, by: Role = Role.DEALER, **more: Any) -> tuple[str, str]:
        """Check that the operation is refused and changes nothing but the answers. Return the code and sentence of the
        refusal.
        """
        before = self.state
        answer = self.say(operation, by, **more)
        assert answer.code, f"{type(operation).__name__} was accepted"
        changed = [name for name in before.__struct_fields__ if getattr(before, name) != getattr(self.state, name)]
        assert changed == ["entry", "answers"], f"a refusal changed {changed}"
        return answer.code, str(answer.sentence)

    # -- the state ---------------------------------------------------------------------------------------------------

    def at(self, expected: Phase | Service) -> bool:
        return expected in (self.state.phase, self.state.service)

    def exit_is_held(self) -> bool:
        return self.device.exit_held

    def is_held(self) -> bool:
        return self.state.held

    def status_agrees(self) -> bool:
        return self.state.device.status_agrees

    def proposes(self, disposition: Disposition) -> bool:
        return self.open.row.disposition is disposition

    # -- the course of a round -------------------------------------------------------------------------------------

    def start(self, *, simulated: bool = True) -> TableHarness:
        """Start the daemon and connect the device."""
        self.device.simulated = self.device.simulated and simulated
        self.start_daemon("start-1", "pc-1", simulated=simulated)
        self.connect()
        return self

    def start_daemon_again(self, host_boot: str = "pc-1") -> None:
        """Restart the daemon. A different `host_boot` means that the PC lost power."""
        self.start_daemon("start-2", host_boot)

    def refuse_device(self) -> None:
        """Let the link keeper refuse the device."""
        self.device.linked = False
        self.give(DeviceGone("other-serial", "Another device is connected.", refused=True))

    def to_betting(self) -> TableHarness:
        if self.state.phase is Phase.CLOSED:
            self.do(operations.OpenTable())
        self.fresh_deck()
        self.do(operations.PlaceYourBets())
        self.do(operations.OccupyBoxes(self.boxes))
        return self

    def to_dealing(self) -> TableHarness:
        """Play up to the deal: the first card or set is due, and a First Card was shown."""
        self.to_betting()
        self.close_bets()
        return self

    def take(self, times: int = 1) -> None:
        """Lift the set in the tray, or draw a card."""
        for _ in range(times):
            self.device.give_out()

    def deal(self) -> TableHarness:
        """Deal everything that is still due."""
        self.deal_all()
        examines = self.state.game.examining
        dealt = Phase.EXAMINING if examines else Phase.EXPOSING
        assert self.state.phase is dealt, f"stopped by {[found.row.id for found in self.state.open]}"
        return self

    def handle(self, place: str) -> None:
        self.do(operations.HandleCards(place))

    def expose(self, place: str, seen: str = "") -> None:
        self.do(operations.ExposeHand(place, cards(seen) if seen else None))

    def expose_all(self) -> TableHarness:
        """Expose every hand in play."""
        self.open_all()
        return self

    def settle(self) -> TableHarness:
        self.count_and_pay()
        return self

    def conclude(self) -> TableHarness:
        self.conclude_round()
        assert self.state.phase is Phase.CONCLUDED
        return self

    def finish(self) -> TableHarness:
        """Play from anywhere in the deal to the end of the round."""
        return self.deal().expose_all().settle().conclude()

    # -- irregularities --------------------------------------------------------------------------------------------

    @property
    def open(self) -> Irregularity:
        """The only open irregularity."""
        (found,) = self.state.open
        return found

    def report(self, kind: Kind, place: str | None = None, **more: Any) -> None:
        self.do(operations.ReportIrregularity(kind, place, **more))

    def confirm(self, by: Role = Role.PIT_SUPERVISOR, found: Irregularity | None = None, **facts: bool) -> None:
        found = found or self.open
        self.decide(operations.ConfirmIrregularity(found.id, found.revision, msgspec.convert(facts, Facts)), by)

    def deny(self, by: Role = Role.PIT_SUPERVISOR, found: Irregularity | None = None) -> None:
        found = found or self.open
        self.do(operations.DenyIrregularity(found.id, found.revision, "checked, and it is not so"), by)

    def name_order(self, *ordinals: int) -> None:
        self.do(operations.NameOrder(self.open.id, self.open.revision, ordinals), Role.PIT_SUPERVISOR)

    def choose(self, **choices: Choice) -> None:
        """Enter the bettors' choices in the irregularity that waits for them."""
        for place, choice in choices.items():
            found = next(one for one in self.state.open if one.stage == "choosing")
            self.do(operations.ChooseOption(found.id, found.revision, place, choice))

    def all_continue(self) -> None:
        self.choose(**dict.fromkeys(self.state.round.live_places, Choice.CONTINUE))

    def rule(
        self,
        action: RulingAction,
        by: Role = Role.SHIFT_MANAGER,
        found: Irregularity | None = None,
        places: tuple[str, ...] = (),
        ordinals: tuple[int, ...] = (),
    ) -> None:
        found = found or self.open
        ruling = operations.Rule(found.id, found.revision, action, "shift manager", "so decided", places, ordinals)
        self.decide(ruling, by)

    def swap(self, first: str, second: str) -> None:
        """Enter that the hands of two places are swapped."""
        cards = [operations.CardAt(card.ordinal, second) for card in self.state.round.hands[first].cards]
        cards += [operations.CardAt(card.ordinal, first) for card in self.state.round.hands[second].cards]
        self.do(operations.PlaceCards(tuple(cards)))

    def put_right(self, by: Role = Role.DEALER) -> None:
        self.do(operations.Reconstruct(self.open.id, self.open.revision), by)

    def count(self, number: int) -> None:
        self.count_stub(number)
