"""The shuffler or shoe of a scenario: it does what it is told, and whatever else a step makes it do.

It knows cards, not bytes; `simulators.mechanism` is the device that speaks to a daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from controller.games.specification import Unit
from controller.table.inputs import AnyInput, CommandAnswered, DeviceReported
from firmware_bridge import commands, observations
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import AnyObservation, Capabilities, DeviceIdentity, DeviceStatus

SHUFFLER: Final = Capabilities(
    recognises_cards=True,
    senses_orientation=True,
    senses_double_draw=True,
    senses_tray=True,
    holds_exit=True,
    unloads_stub=True,
    dispenses="on_command",
    stages=False,
    retains_reports=True,
)
SHOE: Final = replace(SHUFFLER, senses_tray=False, unloads_stub=False)
ABILITIES: Final = {
    "stages": {"stages": True},
    "keeps_stub": {"unloads_stub": False},
    "reads_no_faces": {"recognises_cards": False},
}
"""What may follow the unit in the header: a set waits before bets close; the stub stays inside; faces are not read."""
ZONE: Final = "transport"
DECK_NUMBER: Final = 1


class ScenarioDevice:
    """`send` takes what reaches the host; while there is no link, reports wait.

    `next_set`: so many cards are in the next set, instead of those ordered. `jams_next`: the next movement jams.
    `miscount`: so many more (or fewer) cards than there are does it count in the stub.
    """

    def __init__(
        self, unit: Unit, abilities: Sequence[str], order: Sequence[Card], send: Callable[[AnyInput], None]
    ) -> None:
        self.unit = unit
        self.capabilities = SHUFFLER if unit is Unit.SETS else SHOE
        for ability in abilities:
            self.capabilities = replace(self.capabilities, **ABILITIES[ability])
        self.inside: list[Card] = []  # next card out first
        self.tray: list[Card] = []
        self.linked = True
        self.exit_held = True
        self.next_set = 0
        self.jams_next = False
        self.miscount = 0
        self._order = list(order)
        self._send = send
        self._boot = 1
        self._last_report = 0
        self._last_command = 0
        self._faults: tuple[str, ...] = ()
        self._last: list[Card] = []  # the cards that left last
        self._shuffle = self._loaded = self._dispensed = self._sets = 0
        self._waiting: list[DeviceReported] = []

    # -- what it says of itself

    @property
    def identity(self) -> DeviceIdentity:
        return DeviceIdentity(
            kind="shuffler" if self.unit is Unit.SETS else "shoe",
            unit="sets" if self.unit is Unit.SETS else "singles",
            maker="cardshoe",
            model="scenario",
            serial="S-1",
            firmware="1.0",
            firmware_digest="0" * 64,
            capabilities=self.capabilities,
            simulated=True,
            deck_size=len(DECK),
            boot=self._boot,
        )

    @property
    def status(self) -> DeviceStatus:
        return DeviceStatus(
            boot=self._boot,
            last_report=self._last_report,
            uptime_ms=0,
            shuffle=self._shuffle,
            loaded=self._loaded,
            dispensed=self._dispensed,
            remaining=self._loaded - self._dispensed,
            sets_dispensed=self._sets,
            tray_occupied=bool(self.tray),
            exit_held=self.exit_held,
            moving=False,
            last_command=self._last_command,
            faults=self._faults,
        )

    @property
    def left(self) -> int:
        """How many cards a person would count in it."""
        return len(self.inside) + len(self.tray)

    def report(self, seen: AnyObservation) -> None:
        """The next numbered report."""
        self._last_report += 1
        evidence = Evidence(str(self._last_report).encode())
        made = DeviceReported(self._boot, self._last_report, 0, seen, evidence)
        if self.linked:
            self._send(made)
        else:
            self._waiting.append(made)

    def hand_over(self) -> None:
        """What it had kept while there was no link."""
        waiting, self._waiting = self._waiting, []
        for made in waiting:
            self._send(made)

    # -- what people and mishaps do with it

    def load(self) -> None:
        """A whole deck is put in: a shuffler will bring it into its order, a shoe gets it so; never twice the same."""
        if self._loaded:
            self._order = [*self._order[1:], *self._order[:1]]
        self.inside, self.tray = list(self._order), []
        self._loaded, self._dispensed, self._shuffle = len(self.inside), 0, 0
        named = None
        if self.unit is Unit.SINGLES:
            named = self._shuffle = self._last_report + 1
        self.report(observations.DeckLoaded(DECK_NUMBER, self._loaded, named))

    def give_out(self, *, foreign: int = 0) -> None:
        """The set is lifted from the tray, or a card is drawn, whether the exit is locked or not."""
        if self.unit is Unit.SETS:
            taken, self.tray = self.tray, []
            self.report(observations.SetRemoved(self._shuffle, self._dispensed - len(taken) + 1))
            return
        ordinal = self._dispensed + 1
        (face,) = self._take(1)
        left = self._loaded - self._dispensed
        self.report(observations.CardDrawn(self._shuffle, ordinal, left, DECK_NUMBER, face, False, foreign))

    def draw_together(self, count: int, *, order_known: bool) -> None:
        ordinal = self._dispensed + 1
        faces = self._take(count)
        left = self._loaded - self._dispensed
        drawn = observations.CardsDrawnTogether(self._shuffle, ordinal, left, DECK_NUMBER, order_known, faces)
        self.report(drawn)

    def form_set(self, count: int) -> None:
        """A set falls into the tray, ordered or not."""
        ordinal = self._dispensed + 1
        faces = self._take(count)
        self.tray += self._last
        self._sets += 1
        left = self._loaded - self._dispensed
        self.report(observations.SetDispensed(self._shuffle, ordinal, left, DECK_NUMBER, faces))

    def find_face_up(self, ordinal: int) -> None:
        """Its sensor sees that a card lies face up inside: the one that will leave as number `ordinal`."""
        seen = Concealed(self._order[ordinal - 1], self._shuffle, ordinal)
        self.report(observations.FaceUpFound(self._shuffle, ordinal, DECK_NUMBER, seen))

    def lose_unseen(self, count: int) -> None:
        """Cards leave it and its counter does not move."""
        del self.inside[:count]

    def skip(self, count: int) -> None:
        """Cards leave it, its counter moves, and it reports nothing."""
        self._take(count)

    def jam(self) -> None:
        self.jams_next, self._faults = False, (f"jam: {ZONE}",)
        self.report(observations.Jammed(ZONE))

    def clear(self) -> None:
        self._faults = ()
        self.report(observations.JamCleared(ZONE))

    def start_again(self) -> None:
        """The power is back: the exit is locked, the reports that waited are gone."""
        self._boot, self._last_report, self.exit_held = self._boot + 1, 0, True
        self._waiting.clear()
        self.report(observations.Started("power"))

    # -- what the host tells it

    def obey(self, command_id: int, command: AnyCommand) -> None:
        if not self.linked:
            return
        reason = self._carry_out(command)
        if not reason and command.moves_cards:
            self._last_command = command_id
        self._send(CommandAnswered(command_id, not reason, reason))

    def _carry_out(self, command: AnyCommand) -> str:
        """The reason why it cannot; empty when it could."""
        if isinstance(command, commands.HoldExit | commands.ReleaseExit):
            self.exit_held = isinstance(command, commands.HoldExit)
            return ""
        if self.jams_next:
            self.jam()
        if self._faults:
            return self._faults[0]
        match command:
            case commands.Dispense(count=count):
                size, self.next_set = self.next_set or count, 0
                self.form_set(size)
            case commands.Shuffle():
                self._shuffle_deck()
            case commands.UnloadStub():
                left = self.left + self.miscount
                self.inside, self.tray, self.miscount = [], [], 0
                self.report(observations.StubUnloaded(DECK_NUMBER, left))
        return ""

    def _shuffle_deck(self) -> None:
        self.report(observations.ShuffleStarted(DECK_NUMBER))
        self._shuffle = self._last_report
        self.report(observations.ShuffleFinished(DECK_NUMBER, self._shuffle, len(self.inside)))

    def _take(self, count: int) -> tuple[Concealed | None, ...]:
        self._last, self.inside = self.inside[:count], self.inside[count:]
        first = self._dispensed + 1
        self._dispensed += len(self._last)
        if not self.capabilities.recognises_cards:
            return (None,) * len(self._last)
        return tuple(Concealed(card, self._shuffle, first + place) for place, card in enumerate(self._last))
