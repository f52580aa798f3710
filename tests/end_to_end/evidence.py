"""The invariants of a finished run: the journal compared with the device's own log and the plan."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import Any, NamedTuple, TypeVar

import msgspec

from controller.api.bodies import encode_hook
from controller.api.in_language import in_language
from controller.api.view import LinkView, TableView, view_of
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.folder import JournalFolder
from controller.table import events
from controller.table.events import AnyEvent, Event
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.model import HeldCard
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge import observations
from simulators.devices.base import LoggedReport
from tests.end_to_end.child import CarriedOut
from tests.end_to_end.stage import Stage

E = TypeVar("E", bound=Event)

CARDS_FIELD = {"SetDispensed": 5, "CardDrawn": 5, "CardsDrawnTogether": 6}
MOVE_CARDS = ("Dispense", "Shuffle", "UnloadStub")
LINK_FIELDS = ("link", "age", "links", "code", "sentence", "hint")  # fields of DeviceView that no journal entry has


class Card(NamedTuple):
    """A card by its place in the shuffle and the number of its face, in the same form for the
    device and the journal.
    """

    shuffle: int
    ordinal: int
    face: int


class Evidence:
    """A closed journal, read from its beginning, and the device's own notes."""

    def __init__(self, stage: Stage) -> None:
        self._plan = stage.plan
        files: JournalFolder[AnyInput, AnyEvent] = JournalFolder.open_to_read(
            stage.journal, JOURNAL_TYPES, local_key=stage.journal_key
        )
        with closing(files.reader(files.files[-1])) as newest:
            self.journal = newest.header.identity.id
        self.head = files.verify()
        self._entries = list(files.entries())
        log = stage.device_log.read_bytes() if stage.device_log.exists() else b""
        self.device_log = [msgspec.json.decode(line, type=LoggedReport) for line in log.splitlines()]
        commands = stage.command_log.read_bytes() if stage.command_log.exists() else b""
        self.carried_out = [msgspec.json.decode(line, type=CarriedOut) for line in commands.splitlines()]

    def of(self, kind: type[E]) -> list[E]:
        """Return the events of a kind, in order."""
        return [entry.value for entry in self._entries if isinstance(entry.value, kind)]

    def fold(self) -> TableState:
        """Return the state to which the journal folds."""
        state = TableState()
        for entry in self._entries:
            if isinstance(entry.value, Event):
                state = evolve(state, entry.value, entry.number)
        return state

    # -- the checks ------------------------------------------------------------------------------------------------

    def check(self, shown: TableView) -> None:
        """Check everything. `shown` is what the API showed last."""
        self.check_reports()
        self.check_cards()
        self.check_commands()
        self.check_irregularities()
        self.check_shown(shown)

    def check_reports(self) -> None:
        """Check that every report from the device occurs exactly once and in order."""
        taken = [(event.boot, event.number, event.observed) for event in self.of(events.ReportTaken)]
        assert taken == [
            (line.boot, line.number, getattr(observations, line.report).__struct_config__.tag)
            for line in self.device_log
        ]
        assert [number for _, number, _ in taken] == list(range(1, len(taken) + 1))

    def check_cards(self) -> None:
        """Check that the cards that left the device, were lifted and were dealt are the same in both accounts."""
        left, lifted = self._cards_of_device()
        assert self._cards_that_left() == left
        assert Counter(self._cards_given_out()) == Counter(lifted)
        dealt = [_card(card) for event in self.of(events.CardsDealt) for card in event.cards]
        assert max(Counter(dealt).values()) == 1, "a card was dealt twice"
        assert set(dealt) <= set(lifted)

    def check_commands(self) -> None:
        """Check that the device carried out only what the journal holds, and nothing twice."""
        issued = {
            entry.number: type(entry.value.command).__name__
            for entry in self._entries
            if isinstance(entry.value, events.CommandIssued)
        }
        assert self.carried_out
        assert max(Counter(done.id for done in self.carried_out).values()) == 1, "a command was carried out twice"
        assert {(done.id, done.order) for done in self.carried_out} <= set(issued.items())
        closed = Counter(
            event.command_id
            for event in self.of(Event)
            if isinstance(event, events.CommandDone | events.CommandRefused | events.CommandLapsed)
        )
        assert closed == Counter(issued.keys()), "a command was left open, or closed twice"
        moved = {done.id for done in self.carried_out if done.done and done.order in MOVE_CARDS}
        said = {event.command_id for event in self.of(events.CommandDone) if issued[event.command_id] in MOVE_CARDS}
        assert said == moved, "what the journal says of a command is not what the device did"

    def check_irregularities(self) -> None:
        """Check that each planned irregularity occurs once and no other, that all are resolved, and the number of
        rounds.
        """
        rows: dict[int, tuple[int, str]] = {}
        resolved: list[int] = []
        for entry in self._entries:
            match entry.value:
                case events.IrregularityRaised() as raised:
                    rows[entry.number] = (entry.round, raised.row.id)
                case events.IrregularityConfirmed() | events.FactStated() as judged:
                    rows[judged.irregularity] = (rows[judged.irregularity][0], judged.row.id)
                case events.IrregularityResolved() as closed:
                    resolved.append(closed.irregularity)
        assert sorted(rows.values()) == sorted(
            (planned.number, planned.expected[1]) for planned in self._plan if planned.expected
        )
        assert sorted(resolved) == sorted(rows)
        over = [event for event in self.of(events.PhaseEntered) if event.phase in (Phase.CONCLUDED, Phase.VOIDED)]
        assert len(over) == len(self._plan)

    def check_shown(self, shown: TableView) -> None:
        """Check that the API's answers agree with the journal."""
        assert shown.journal == self.journal
        folded = _without_link(in_language(view_of(self.fold(), LinkView()), None))
        assert folded == _without_link(shown)

    # -- two accounts of the cards ---------------------------------------------------------------------------------

    def _cards_of_device(self) -> tuple[list[Card], list[Card]]:
        """Return the cards that left the device by its own log, and those that people lifted or drew."""
        left: list[Card] = []
        lifted: list[Card] = []
        tray: list[Card] = []
        for line in self.device_log:
            if line.report == "SetRemoved":
                lifted += tray
            if line.report in ("SetRemoved", "StubUnloaded", "DeckLoaded"):
                tray = []
            if line.report in CARDS_FIELD:
                cards = _cards_in(line)
                left += cards
                if line.report == "SetDispensed":
                    tray += cards
                else:
                    lifted += cards
        return left, lifted

    def _cards_that_left(self) -> list[Card]:
        left: list[Card] = []
        for event in self.of(Event):
            match event:
                case events.SetInTray(cards=cards):
                    left += map(_card, cards)
                case events.CardsDealt(cards=cards, source="device"):
                    left += map(_card, cards)
                case events.CardsSetAside(cards=cards, from_tray=False):
                    left += map(_card, cards)
        return left

    def _cards_given_out(self) -> list[Card]:
        given: list[Card] = []
        for event in self.of(Event):
            match event:
                case events.CardsDealt(cards=cards, source="device" | "tray"):
                    given += map(_card, cards)
                case events.CardsSetAside(cards=cards):
                    given += map(_card, cards)
        return given


def _card(held: HeldCard) -> Card:
    assert held.face is not None
    return Card(held.shuffle, held.ordinal, held.face.expose().number)


def _cards_in(line: LoggedReport) -> list[Card]:
    shuffle, first = line.fields[1], line.fields[2]
    faces: Any = line.fields[CARDS_FIELD[line.report]]
    if isinstance(faces, int):
        faces = [faces]
    return [Card(shuffle, first + place, face) for place, face in enumerate(faces)]


def _without_link(view: TableView) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(view, enc_hook=encode_hook)
    del shown["journal"]
    for name in LINK_FIELDS:
        del shown["device"][name]
    return shown
