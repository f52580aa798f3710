"""A device that obeys every command immediately, and otherwise does what a scenario or a test makes it do.

It knows cards, not bytes; `simulators.devices.mechanism` is the device that speaks to a daemon. The search over many
thousands of states has its own device, which is a value (`tests.search.device`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from controller.games.specification import Unit
from controller.table.inputs import AnyInput, CommandAnswered, DeviceReported
from controller.table.model import HeldCard
from firmware_bridge import commands, observations
from firmware_bridge.capabilities import Capabilities, DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import AnyObservation

SETS_DEVICE: Final = Capabilities(
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
SINGLES_DEVICE: Final = replace(SETS_DEVICE, senses_tray=False, unloads_stub=False, dispenses="on_removal")
JAM_ZONE: Final = "transport"


def faces_of(cards: Sequence[HeldCard]) -> tuple[Card, ...]:
    """Return the cards on the table, as far as the device read them."""
    return tuple(card.face.expose() for card in cards if card.face is not None)


class ScriptedDevice:
    """A shuffler or shoe. `send` takes what reaches the host; while `linked` is False, reports wait.

    These attributes may be set: `order` of the next shuffle, `capabilities`, `next_set` (cards in the next set instead
    of those ordered), `jams_next`, `miscount` (added to the next count of the stub), `same_order` (shuffles of later
    decks keep the order), `alter_next_deck` (changes the next deck that is put in).
    """

    def __init__(self, unit: Unit, order: Sequence[Card], send: Callable[[AnyInput], None]) -> None:
        self.unit = unit
        self.order = list(order)
        self.capabilities = SETS_DEVICE if unit is Unit.SETS else SINGLES_DEVICE
        self.simulated = True
        self.serial = "T-1"
        self.firmware_digest = "0" * 64
        self.linked = True
        self.same_order = False
        self.alter_next_deck: Callable[[list[Card]], list[Card]] = list
        self.next_set = 0
        self.jams_next = False
        self.miscount = 0
        self.boot = 1
        self.last_report = 0
        self.inside: list[Card] = []
        self.tray: list[Card] = []
        self.lifted: list[Card] = []  # drawn or lifted since the deck was loaded, in order
        self.exit_held = True
        self.faults: tuple[str, ...] = ()
        self.deck = 0
        self.shuffle = 0
        self.loaded = 0
        self.dispensed = 0
        self.last_command = 0
        self._sets = 0
        self._shuffles = 0  # the highest number of a shuffle so far
        self._tray_first = (0, 0)  # shuffle and ordinal of the first card in the tray
        self._send = send
        self._waiting: list[DeviceReported] = []

    # -- its identity and status ---------------------------------------------------------------------------------

    @property
    def identity(self) -> DeviceIdentity:
        return DeviceIdentity(
            kind="shuffler" if self.unit is Unit.SETS else "shoe",
            unit="sets" if self.unit is Unit.SETS else "singles",
            maker="cardshoe",
            model="scripted",
            serial=self.serial,
            firmware="1",
            firmware_digest=self.firmware_digest,
            capabilities=self.capabilities,
            simulated=self.simulated,
            deck_size=len(DECK),
            boot=self.boot,
        )

    @property
    def status(self) -> DeviceStatus:
        return DeviceStatus(
            boot=self.boot,
            last_report=self.last_report,
            uptime_ms=1000 * self.last_report,
            shuffle=self.shuffle,
            loaded=self.loaded,
            dispensed=self.dispensed,
            remaining=self.loaded - self.dispensed,
            sets_dispensed=self._sets,
            tray_occupied=bool(self.tray),
            exit_held=self.exit_held,
            moving=False,
            last_command=self.last_command,
            faults=self.faults,
        )

    @property
    def left(self) -> int:
        """The number of cards that a person would count in it."""
        return len(self.inside) + len(self.tray)

    def report(self, observation: AnyObservation) -> None:
        """Send the next numbered report."""
        self.last_report += 1
        body = repr(self.last_report).encode()
        made = DeviceReported(self.boot, self.last_report, 1000 * self.last_report, observation, Evidence(body))
        if self.linked:
            self._send(made)
        else:
            self._waiting.append(made)

    def release_waiting(self) -> None:
        """Send the reports that were kept without a link."""
        waiting, self._waiting = self._waiting, []
        for made in waiting:
            self._send(made)

    # -- what people do with it ------------------------------------------------------------------------------------

    def load(self, cards: Sequence[Card] | None = None) -> None:
        """Put a deck in: a shuffler will bring it into `order`, a shoe takes it in that order."""
        if self.deck and not self.same_order:
            self.order = self.order[1:] + self.order[:1]
        self.inside, self.alter_next_deck = self.alter_next_deck(list(self.order if cards is None else cards)), list
        self.tray, self.lifted = [], []
        self.deck = 1
        self.loaded, self.dispensed = len(self.inside), 0
        self.shuffle = 0
        named = None
        if self.unit is Unit.SINGLES:
            named = self.shuffle = self._new_shuffle(self.last_report + 1)
        self.report(observations.DeckLoaded(self.deck, self.loaded, named))

    def put_in_another(self) -> None:
        """Put in another deck, with a new number, in place of the rest of the one in play.

        The status is then about that deck: nothing has left it, and a shuffler has not shuffled it. A set in the tray
        stays there.
        """
        self.inside = list(DECK)
        self.deck += 1
        self.loaded, self.dispensed, self._sets = len(DECK), 0, 0
        self.shuffle = self._new_shuffle(self.last_report + 1) if self.unit is Unit.SINGLES else 0
        self.report(observations.DeckLoaded(self.deck, self.loaded, self.shuffle or None))

    def shuffle_another(self) -> None:
        """Let a shuffler shuffle without a command."""
        self._shuffle_deck()

    def give_out(self, *, foreign: int = 0) -> None:
        """Lift the set from the tray or draw a card, whether the exit is locked or not."""
        if self.unit is Unit.SETS:
            self.lift()
        else:
            self.draw(foreign=foreign)

    def lift(self) -> list[Card]:
        """Empty the tray."""
        taken, self.tray = self.tray, []
        self.lifted += taken
        self.report(observations.SetRemoved(*(self._tray_first if taken else (self.shuffle, self.dispensed + 1))))
        return taken

    def draw(self, *, face_up: bool = False, foreign: int = 0, unread: bool = False) -> None:
        """Draw one card from the exit, if any is left."""
        if not self.inside:
            return
        ordinal = self.dispensed + 1
        faces = self._take(1)
        faces = (None,) if unread else faces
        left = self.loaded - self.dispensed
        self.report(observations.CardDrawn(self.shuffle, ordinal, left, self.deck, faces[0], face_up, foreign))

    def draw_together(self, count: int, *, order_known: bool = False) -> None:
        ordinal = self.dispensed + 1
        faces = self._take(count)
        seen = observations.CardsDrawnTogether(
            self.shuffle, ordinal, self.loaded - self.dispensed, self.deck, order_known, faces
        )
        self.report(seen)

    def pass_unseen(self, count: int) -> list[Card]:
        """Let cards leave without being counted."""
        taken, self.inside = self.inside[:count], self.inside[count:]
        return taken

    def skip_count(self, count: int) -> None:
        """Let cards leave, counted but not reported."""
        self._take(count)

    def find_face_up(self, ordinal: int) -> None:
        """Report that the card which will leave as number `ordinal` lies face up inside.

        Raise ValueError if that card is not inside.
        """
        if not 0 < ordinal - self.dispensed <= len(self.inside):
            raise ValueError(f"card {ordinal} is not in the device")
        seen = Concealed(self.inside[ordinal - self.dispensed - 1], self.shuffle, ordinal)
        self.report(observations.FaceUpFound(self.shuffle, ordinal, self.deck, seen))

    def clear_jam(self, zone: str = JAM_ZONE) -> None:
        self.faults = ()
        self.report(observations.JamCleared(zone))

    def form_set(self, count: int) -> None:
        """Drop cards into the tray, whether ordered or not."""
        ordinal = self.dispensed + 1
        self._tray_first = self._tray_first if self.tray else (self.shuffle, ordinal)
        faces = self._take(count, into_tray=True)
        self._sets += 1
        self.report(observations.SetDispensed(self.shuffle, ordinal, self.loaded - self.dispensed, self.deck, faces))

    def reboot(self, cause: str = "power") -> None:
        """Switch off and on again: its memory is lost."""
        self.boot += 1
        self.last_report = 0
        self._waiting.clear()
        self.report(observations.Started(cause))

    # -- what the host commands -------------------------------------------------------------------------------------

    def obey(self, command_id: int, command: AnyCommand) -> None:
        if not self.linked:
            return
        reason = self.carry_out(command)
        if not reason and command.moves_cards:
            self.last_command = command_id
        self.answer(CommandAnswered(command_id, not reason, reason))

    def answer(self, answer: CommandAnswered) -> None:
        self._send(answer)

    def carry_out(self, command: AnyCommand) -> str:
        """Carry out a command and return the reason of a refusal, or ""."""
        if isinstance(command, commands.HoldExit | commands.ReleaseExit):
            self.exit_held = isinstance(command, commands.HoldExit)
            return ""
        if isinstance(command, commands.RunSelfTest):
            self.report(observations.SelfTestFinished(True))
            return ""
        if self.jams_next:
            self.jams_next, self.faults = False, (f"jam: {JAM_ZONE}",)
            self.report(observations.Jammed(JAM_ZONE))
        if self.faults:
            return self.faults[0]
        match command:
            case commands.Dispense(count=count):
                self._dispense(count)
            case commands.Shuffle():
                self._shuffle_deck()
            case commands.UnloadStub():
                left = self.left + self.miscount
                self.inside, self.tray, self.miscount = [], [], 0
                self.report(observations.StubUnloaded(self.deck, left))
        return ""

    def _dispense(self, count: int) -> None:
        assert not self.exit_held, "the host orders a set from a locked exit"
        size, self.next_set = self.next_set or count, 0
        self.form_set(size)

    def _shuffle_deck(self) -> None:
        self.report(observations.ShuffleStarted(self.deck))
        count = len(self.inside)
        missing, extra = max(0, len(DECK) - count), max(0, count - len(DECK))
        # `order` is the right deck, even an unusual one of a test; any other card inside replaces one of its cards.
        replaced = (Counter(self.inside) - Counter(self.order)).total() - extra if count >= len(self.order) else 0
        if count == len(self.order) and not replaced:
            self.inside = list(self.order)
        twice = max(0, replaced) if self.capabilities.recognises_cards else 0
        self.shuffle = self._new_shuffle(self.last_report)
        self.report(observations.ShuffleFinished(self.deck, self.shuffle, count, missing + twice, extra, twice))

    def _new_shuffle(self, least: int) -> int:
        """Return a number that no shuffle had before, even if report numbers begin again."""
        self._shuffles = max(least, self._shuffles + 1)
        return self._shuffles

    def _take(self, count: int, *, into_tray: bool = False) -> tuple[Concealed | None, ...]:
        taken, self.inside = self.inside[:count], self.inside[count:]
        faces = tuple(Concealed(card, self.shuffle, self.dispensed + n) for n, card in enumerate(taken, start=1))
        self.dispensed += len(taken)
        if into_tray:
            self.tray += taken
        else:
            self.lifted += taken
        return faces if self.capabilities.recognises_cards else (None,) * len(taken)
