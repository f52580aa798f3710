"""A table without a daemon: a scenario's steps go in, `controller.table.decide` answers, the device obeys."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Row, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.decide import decide
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput, DaemonStarted, DeviceConnected, DeviceGone, PersonActed, StatusReceived
from controller.table.model import Irregularity
from controller.table.operations import AnyOperation
from controller.table.settings import ChosenReading, Settings
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card
from simulators.devices.scripted_device import ScriptedDevice
from simulators.devices.stacked_deck import stacked

MIXED: Final = tuple(DECK[(23 * place + 7) % len(DECK)] for place in range(len(DECK)))  # the same for every scenario
ABILITIES: Final = {
    "stages": {"stages": True},
    "keeps_stub": {"unloads_stub": False},
    "reads_no_faces": {"recognises_cards": False},
}
"""What may follow the unit in the header: a set waits before bets close; the stub stays inside; faces are not read."""

ENDLESS: Final = 500  # inputs that follow from one


class EndlessError(Exception):
    """Table and device keep each other busy for ever."""


class InTurn:
    """`take` gets one input after another: what comes because of one, while it is taken, waits behind it."""

    def __init__(self, take: Callable[[AnyInput], None]) -> None:
        self._take = take
        self._queue: deque[AnyInput] = deque()
        self._busy = False

    def put(self, given: AnyInput) -> None:
        """One input and everything that follows from it. Raises `EndlessError`."""
        self._queue.append(given)
        if self._busy:
            return
        self._busy = True
        try:
            for _ in range(ENDLESS):
                if not self._queue:
                    return
                self._take(self._queue.popleft())
            raise EndlessError(f"{ENDLESS} inputs followed from one")
        finally:
            self._busy = False


class TableSetting(msgspec.Struct, frozen=True):
    """What the header of a file says of the table.

    `hands`: the cards that places are to get, in their order. `wagers`: laid in every round; none: the boxes are
    occupied and nobody says by whom.
    """

    game: str
    unit: Unit = Unit.SETS
    abilities: tuple[str, ...] = ()
    boxes: tuple[int, ...] = (1, 3, 6)
    readings: tuple[ChosenReading, ...] = ()
    hands: tuple[tuple[str, tuple[Card, ...]], ...] = ()
    wagers: tuple[operations.PlaceWager, ...] = ()


def _device(setting: TableSetting, boxes: Sequence[int], send: Callable[[AnyInput], None]) -> ScriptedDevice:
    """With the abilities that the header names and the deck that deals its hands."""
    in_hand = ("first_card", "in_hand") in {(chosen.setting, chosen.option) for chosen in setting.readings}
    order = stacked(game(setting.game), setting.unit, boxes, dict(setting.hands), spare=MIXED, in_hand=in_hand)
    device = ScriptedDevice(setting.unit, order, send)
    for ability in setting.abilities:
        device.capabilities = replace(device.capabilities, **ABILITIES[ability])
    return device


class Refusal(NamedTuple):
    code: str
    sentence: str


class RefusedStepError(Exception):
    """The table did not accept what a step asked for."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


class StepError(Exception):
    """A step came to nothing, in a sentence."""


class Course:
    """The table as it stands, and what has happened since anybody last looked.

    `rows`: of each irregularity, by its id, the row as it stands or stood last. `subject`: the irregularity that steps
    and expectations are about: the one raised last, unless a step names another.
    """

    def __init__(self, setting: TableSetting) -> None:
        rules = game(setting.game)
        self.setting = setting
        self.boxes = tuple(range(1, rules.boxes[2] + 1)) if rules.every_hand else setting.boxes
        self.state = TableState()
        self._inputs = InTurn(self._take)
        self.device = _device(setting, self.boxes, self._inputs.put)
        self.history: list[AnyEvent] = []
        self.rows: dict[int, Row] = {}
        self.subject = 0
        self.refusal: Refusal | None = None  # of the last step, if it was refused
        self._news: list[tuple[int, AnyEvent]] = []
        self._operations = 0
        self._settings = Settings(setting.game, setting.unit, rules.boxes[2], True, setting.readings)
        self._host_starts = 0
        self.start_host()
        self.connect()
        self.say(operations.OpenTable())

    def news(self) -> list[tuple[int, AnyEvent]]:
        """The events since the last call, with their entry numbers."""
        taken, self._news = self._news, []
        return taken

    def say(self, operation: AnyOperation, role: Role = Role.DEALER) -> None:
        """A person does something. Raises `RefusedStepError` when the table refuses it."""
        self._operations += 1
        name = f"step-{self._operations}"
        self._inputs.put(PersonActed(name, role.value.replace("_", "-"), role, self.state.round.number, operation))
        answer = next(answer for answer in self.state.answers if answer.operation_id == name)
        if answer.code:
            raise RefusedStepError(Refusal(answer.code, answer.sentence))

    def decide(self, operation: operations.ConfirmIrregularity | operations.Rule, role: Role) -> None:
        """A person decides about an irregularity; a void is asked for twice."""
        self.say(operation, role)
        asked = self.state.find_open(operation.irregularity)
        if asked is not None and asked.void_asked:
            self.say(operation, role)

    def about(self) -> Irregularity:
        """The open irregularity that a step is about."""
        found = self.state.find_open(self.subject)
        if found is None and len(self.state.open) == 1:
            found = self.state.open[0]
        if found is None:
            listed = ", ".join(one.row.id for one in self.state.open)
            raise StepError(f"write `about CELL` first: open are {listed}" if listed else "no irregularity is open")
        self.subject = found.id
        return found

    # -- the link

    def start_host(self) -> None:
        """The PC has power, and the daemon begins on it."""
        self._host_starts += 1
        name = f"start-{self._host_starts}"
        self.device.linked = False
        self._inputs.put(DaemonStarted("scenario", True, self._settings, name, name))

    def connect(self) -> None:
        """The status first, then what the device had kept, then a heartbeat."""
        self.device.linked = True
        self._inputs.put(DeviceConnected(self.device.identity, self.device.status))
        self.device.release_waiting()
        self.heartbeat()

    def heartbeat(self) -> None:
        """The device says how it stands, if anybody can hear it."""
        if self.device.linked:
            self._inputs.put(StatusReceived(self.device.status))

    def lose_link(self, sentence: str) -> None:
        self.device.linked = False
        self._inputs.put(DeviceGone("link-lost", sentence))

    # -- inputs and events

    def _take(self, given: AnyInput) -> None:
        decided = decide(self.state, given)
        numbered = list(enumerate(decided.events, start=self.state.entry + 2))
        self.state = decided.state
        for entry, event in numbered:
            self._note(entry, event)
        for entry, event in numbered:
            if isinstance(event, events.CommandIssued):
                self.device.obey(entry, event.command)

    def _note(self, entry: int, event: AnyEvent) -> None:
        self.history.append(event)
        self._news.append((entry, event))
        match event:
            case events.IrregularityRaised(row=row):
                self.rows[entry] = row
                self.subject = entry
            case (
                events.IrregularityConfirmed(irregularity=found, row=row)
                | events.FactStated(irregularity=found, row=row)
                | events.IrregularityReopened(irregularity=found, row=row)
            ):
                self.rows[found] = row
