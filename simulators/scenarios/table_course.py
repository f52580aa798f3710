"""A table without a daemon, and the course of a round, for scenarios and for the tests of the table.

Inputs go in, `controller.table.decide` answers, and a scripted device obeys. Nothing takes time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Generic, NamedTuple, TypeVar

from controller.games.specification import StepKind, Unit
from controller.people_words.table_of_words import NothingDoneError
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.table import events, operations
from controller.table.decide import decide
from controller.table.decision import RefusedError
from controller.table.events import AnyEvent
from controller.table.exposing import ENTER_CARDS, examined_due, verify_by_device
from controller.table.inputs import AnyInput, DaemonStarted, DeviceConnected, DeviceGone, PersonActed, StatusReceived
from controller.table.model import Answer, Hand
from controller.table.operations import AnyOperation
from controller.table.phases import DEALING, Phase
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.cards import Card
from firmware_bridge.messages import AnyText, message
from simulators.devices.scripted_device import ScriptedDevice, faces_of

DeviceT = TypeVar("DeviceT", bound=ScriptedDevice)
CABLE_PULLED: Final = message("The cable was pulled.")
NO_POWER: Final = message("The device has no power.")
ENDLESS: Final = 500  # inputs that may follow from one
PEOPLE: Final = {role: role.value.replace("_", "-") for role in Role}


class EndlessError(Exception):
    """Raised when table and device answer each other endlessly."""


class StepRefusal(NamedTuple):
    code: str
    sentence: str


class RefusedStepError(Exception):
    """Raised when the table refuses a step."""

    def __init__(self, refusal: StepRefusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


class TableCourse(Generic[DeviceT]):
    """A table and its device. `boxes` are occupied in every round. `make_device` is called with the function that takes
    the device's inputs.
    """

    def __init__(
        self,
        settings: Settings,
        boxes: tuple[int, ...],
        make_device: Callable[[Callable[[AnyInput], None]], DeviceT],
    ) -> None:
        self.settings = settings
        self.boxes = boxes
        self.state = TableState()
        self.device = make_device(self.give)
        self._waiting: deque[AnyInput] = deque()
        self._busy = False
        self._operations = 0

    # -- inputs and events

    def give(self, given: AnyInput) -> None:
        """Take one input and all its consequences, in the daemon's order. Raise `EndlessError` if they never end."""
        self._waiting.append(given)
        if self._busy:
            return
        self._busy = True
        try:
            for _ in range(ENDLESS):
                if not self._waiting:
                    return
                self._take(self._waiting.popleft())
            raise EndlessError(f"{ENDLESS} inputs followed from one")
        finally:
            self._busy = False

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        """Handle an input that was decided, in subclasses. `state` is the one after its numbered events."""

    def _take(self, given: AnyInput) -> None:
        """Decide an input. The device obeys only after all of its events."""
        before = self.state
        decided = decide(before, given)
        numbered = tuple(enumerate(decided.events, start=before.entry + 2))
        self.state = decided.state
        self.observed(before, given, numbered)
        for entry, event in numbered:
            if isinstance(event, events.CommandIssued):
                self.device.obey(entry, event.command)
            elif isinstance(event, events.DeviceLost):
                self.device.linked = False  # reports from now on wait for the next link

    # -- people

    def say(
        self,
        operation: AnyOperation,
        role: Role = Role.DEALER,
        *,
        round_number: int | None = None,
        operation_id: str = "",
    ) -> Answer:
        """Let a person act and return the table's answer. `round_number` is the one on the person's screen."""
        self._operations += 1
        operation_id = operation_id or f"op-{self._operations}"
        looked_at = self.state.round.number if round_number is None else round_number
        self.give(PersonActed(operation_id, PEOPLE[role], role, looked_at, operation))
        return next(answer for answer in self.state.answers if answer.operation_id == operation_id)

    def do(self, operation: AnyOperation, role: Role = Role.DEALER) -> None:
        """Let a person act. Raise `RefusedStepError` if the table refuses."""
        answer = self.say(operation, role)
        if answer.code:
            raise RefusedStepError(StepRefusal(answer.code, str(answer.sentence)))

    def decide(self, operation: operations.ConfirmIrregularity | operations.Rule, role: Role) -> None:
        """Let a person decide about an irregularity. A void must be entered twice."""
        self.do(operation, role)
        asked = self.state.find_open(operation.irregularity)
        if asked is not None and asked.void_asked:
            self.do(operation, role)

    # -- the link

    def start_daemon(self, start: str, host_boot: str, *, table: str = "T1", simulated: bool = True) -> None:
        """Start the daemon. A new `host_boot` means that the PC had lost power."""
        self.device.linked = False
        self.give(DaemonStarted(table, simulated, self.settings, start, host_boot))

    def connect(self) -> None:
        """Connect: the status comes first, then the reports that were kept, then a heartbeat."""
        self.device.linked = True
        self.give(DeviceConnected(self.device.identity, self.device.status))
        self.device.release_waiting()
        self.heartbeat()

    def heartbeat(self) -> None:
        """Report the device's status, if it has a link."""
        if self.device.linked:
            self.give(StatusReceived(self.device.status))

    def lose_link(self, sentence: AnyText = CABLE_PULLED) -> None:
        self.device.linked = False
        self.give(DeviceGone("link-lost", sentence))

    # -- the course of a round

    def fresh_deck(self) -> None:
        """Load the deck. A shuffler shuffles it on a command; a shoe's was shuffled by hand."""
        self.device.load()
        if self.device.unit is Unit.SINGLES:
            self.do(operations.ShuffledOutside("batch shuffler"))

    def open_first_card(self) -> None:
        self.device.give_out()
        drawn = self.state.round.first_card
        seen = faces_of((drawn,)) if drawn is not None and not self.settings.hands_by_device else ()
        self.do(operations.ShowFirstCard(seen[0] if seen else None))

    def close_bets(self) -> None:
        """Enter "No more bets"; a First Card is then turned over."""
        self.do(operations.NoMoreBets())
        if self.state.phase is Phase.FIRST_CARD:
            self.open_first_card()

    def deal_one(self) -> None:
        """Lift a set or draw a card. Raise `NothingDoneError` if none is due."""
        self.move_cards()
        before = self.state.round.dealt
        self.device.give_out()
        if self.state.round.dealt == before:
            raise NothingDoneError("nothing was dealt: no card is due; write `take` for what is taken out of turn")

    def deal_all(self) -> None:
        """Deal whatever is due, until something stops the deal."""
        for _ in range(len(self.state.round.places)):
            self.move_cards()
            if self.state.phase not in DEALING:
                return
            self.deal_one()

    def move_cards(self) -> None:
        """Move cards as the screen shows, once all else is decided."""
        if self.state.moves_due:
            self.do(operations.Reconstruct())

    def open_all(self) -> None:
        """Expose the hands: the Dealer's first, or last if the Players' hands are returned before."""
        self.move_cards()
        players_first = self.state.game.step(StepKind.RETURNING) is not None
        players = self.state.round.live_places
        if examined_due(self.state):
            self.do(operations.PlayersExamined())
        for place in (*players, DEALER) if players_first else (DEALER, *players):
            if not self.hand_at(place).shown:
                self.do(operations.ExposeHand(place, self._faces_to_enter(place)))

    def _faces_to_enter(self, place: str) -> tuple[Card, ...] | None:
        """Return the cards dealt to the place if the table does not trust what the device read."""
        try:
            verify_by_device(self.state, place)
        except RefusedError as refused:
            return faces_of(self.hand_at(place).cards) if refused.code == ENTER_CARDS else None
        return None

    def hand_at(self, place: str) -> Hand:
        """Return a hand. Raise `NothingDoneError` if there is no hand at that place."""
        hand = self.state.round.hands.get(place)
        if hand is None:
            raise NothingDoneError(f"no hand lies at {place} yet; deal it before")
        return hand

    def count_and_pay(self) -> None:
        """Count the stub unless it is counted, and pay the chips."""
        if self.state.decks.in_play.stub is None:
            out = self.state.decks.in_play.stub_out  # if it was given out, the whole set is at the place
            self.count_stub(self.state.stub_due if out else self.device.left)
        self.do(operations.RecordSettled())

    def count_stub(self, number: int) -> None:
        self.do(operations.CountCards("stub", number, witness="a witness"))

    def conclude_round(self) -> None:
        """Conclude the round, which must be entered twice."""
        self.do(operations.ConcludeRound())
        self.do(operations.ConcludeRound())

    def finish_round(self) -> None:
        """Play from wherever the deal is to the end of the round."""
        self.deal_all()
        self.open_all()
        self.count_and_pay()
        self.conclude_round()
