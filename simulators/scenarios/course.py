"""The table of a scenario: what its header says of game, device and hands, and what its steps have led to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Row, Unit
from controller.table import events, operations
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.model import Irregularity
from controller.table.settings import ChosenReading, Settings
from controller.table.state import TableState
from firmware_bridge.cards import DECK, Card
from simulators.devices.scripted_device import ScriptedDevice
from simulators.devices.stacked_deck import stacked
from simulators.scenarios.table_course import Refusal, StepError, TableCourse

MIXED: Final = tuple(DECK[(23 * place + 7) % len(DECK)] for place in range(len(DECK)))  # the same for every scenario
ABILITIES: Final = {
    "stages": {"stages": True},
    "keeps_stub": {"unloads_stub": False},
    "reads_no_faces": {"recognises_cards": False},
}
"""What may follow the unit in the header: a set waits before bets close; the stub stays inside; faces are not read."""


class TableSetting(msgspec.Struct, frozen=True):
    """What the header of a file says of the table.

    `hands`: the cards that places are to get, in their order. `wagers`: laid in every round; none: the boxes are
    occupied, it is not said by whom.
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


class Course(TableCourse[ScriptedDevice]):
    """The table of a scenario, and what has happened since the last look at it.

    `rows`: of each irregularity, by its id, the row as it stands or stood last. `subject`: the irregularity that steps
    and expectations are about: the one raised last, unless a step names another.
    """

    def __init__(self, setting: TableSetting) -> None:
        rules = game(setting.game)
        boxes = tuple(range(1, rules.boxes[2] + 1)) if rules.every_hand else setting.boxes
        settings = Settings(setting.game, setting.unit, rules.boxes[2], True, setting.readings)
        super().__init__(settings, boxes, lambda send: _device(setting, boxes, send))
        self.setting = setting
        self.history: list[AnyEvent] = []
        self.rows: dict[int, Row] = {}
        self.subject = 0
        self.refusal: Refusal | None = None  # of the last step, if it was refused
        self._news: list[tuple[int, AnyEvent]] = []
        self._host_starts = 0
        self.start_host()
        self.connect()
        self.do(operations.OpenTable())

    def news(self) -> list[tuple[int, AnyEvent]]:
        """The events since the last call, with their entry numbers."""
        taken, self._news = self._news, []
        return taken

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

    def start_host(self) -> None:
        """The PC has power, and the daemon begins on it."""
        self._host_starts += 1
        name = f"start-{self._host_starts}"
        self.start_daemon(name, name, table="scenario")

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        for entry, event in numbered:
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
