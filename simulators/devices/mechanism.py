"""The mechanics of a simulated shuffler or shoe: where every card is, and what the sensors observe.

People act on it (`load`, `lift_set`, `draw`, `clear_jam`), the host commands it (`carry_out`), and it emits
observations, which a protocol's side turns into bytes. Its clock advances by its own timings, whether anyone waits for
them or not. Faults are armed by the ordinal of a card and never depend on time.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Final, Literal, Protocol

import msgspec
from msgspec.structs import replace

from firmware_bridge import commands, observations
from firmware_bridge.capabilities import Capabilities, DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK, Card, Concealed
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import AnyObservation
from simulators.devices.armed_faults import (
    ADMITTED,
    CARD_STUCK,
    JAMS,
    LOCK_SLIPS,
    STUB_MISCOUNTED,
    UNSEEN_CARD,
    ArmedFaults,
)


class DeckShuffle(Protocol):
    """The shuffle of one device."""

    def shuffle(self, cards: list[Card]) -> None:
        """Shuffle cards in place; the top card is first."""

    def next_deck(self) -> list[Card]:
        """Return the deck that a person puts in next, from the top."""


class UniformShuffle:
    """A shuffle that makes each order equally likely, whatever went in. So a deck may go in in the
    order of a new deck.
    """

    def __init__(self, random: Random) -> None:
        self._random = random

    def shuffle(self, cards: list[Card]) -> None:
        self._random.shuffle(cards)

    def next_deck(self) -> list[Card]:
        return list(DECK)


SET_SIZE: Final = 3
MILLISECONDS: Final = {  # duration of each motion
    "shuffle": 45_000,
    "form_set": 1_800,
    "lift_set": 900,
    "draw": 650,
    "unload": 2_500,
    "load": 6_000,
    "clear_jam": 20_000,
    "exit": 40,
}
SLOWLY: Final = 10  # times as long


def full_capabilities(
    kind: Literal["shuffler", "shoe"], *, on_removal: bool = False, stages: bool = True
) -> Capabilities:
    """Return the capabilities of a device with every sensor. A shoe can neither stage nor unload."""
    shuffler = kind == "shuffler"
    return Capabilities(
        recognises_cards=True,
        senses_orientation=True,
        senses_double_draw=True,
        senses_tray=shuffler,
        holds_exit=True,
        unloads_stub=shuffler,
        dispenses="on_command" if shuffler and not on_removal else "on_removal",
        stages=shuffler and stages,
        retains_reports=False,
    )


class Profile(msgspec.Struct, frozen=True):
    """The simulated device. `program` is what it shows to run, if its capabilities say so."""

    kind: Literal["shuffler", "shoe"]
    serial: str
    capabilities: Capabilities
    memory: int = 1000
    program: bytes | None = None

    @property
    def unit(self) -> Literal["sets", "singles"]:
        return "sets" if self.kind == "shuffler" else "singles"


class CommandOutcome(msgspec.Struct, frozen=True):
    done: bool
    reason: str = ""


class DeviceClock:
    """The device's own clock: milliseconds since power-on, advanced by what the device and people do."""

    def __init__(self) -> None:
        self.uptime_ms = 0

    def advance(self, milliseconds: int) -> None:
        self.uptime_ms += milliseconds


class Mechanism:
    """The inside of a device. `emit` takes each observation. `random` orders the decks and nothing else.

    `shuffles` makes the shuffle of a shuffler, which draws from `random`. `on_restart` is called with the cause when a
    fault restarts the device; `before_load` with the number of cards that a person is about to load.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        random: Random,
        emit: Callable[[AnyObservation], None],
        boot: int,
        shuffles: Callable[[Random], DeckShuffle] = UniformShuffle,
    ) -> None:
        self.profile = profile
        self.clock = DeviceClock()
        self.faults = ArmedFaults()
        self.on_restart: Callable[[str], None] = self.power_on
        self.before_load: Callable[[int], None] = lambda cards: None
        self.boot = boot
        self.inside: list[Card] = []  # next card out first
        self.tray: list[Card] = []
        self.floor: list[Card] = []
        self.exit_held = True
        self.jammed = ""
        self.door_open = False
        self.fault = ""  # the fault in its status apart from a jam and an open door
        self.moving = False
        self.last_command = 0
        self._random = random
        self._deck_shuffle = shuffles(random)
        self._emit = emit
        self._deck = 0
        self._shuffle = 0
        self._shuffles = 0
        self._loaded = 0
        self._dispensed = 0  # as the device counts
        self._sets = 0
        self._tray_first = (0, 0)  # shuffle and ordinal of the first card in the last set
        self._face_up_reported = False
        self._power_low = False

    @property
    def next_out(self) -> int:
        """The ordinal of the next card, by the device's count."""
        return self._dispensed + 1

    @property
    def cards_stuck(self) -> int:
        """The number of cards that stay inside when the stub comes out."""
        return int(self.faults.is_planned(CARD_STUCK))

    # -- what people do --------------------------------------------------------------------------------------------

    def power_on(self, cause: str = "power") -> None:
        """Start, with the cards where they were."""
        self.clock = DeviceClock()
        self._power_low = False
        self._emit(observations.Started(cause))

    def load(self, cards: list[Card], deck: int | None = None) -> None:
        """Put a deck in, replacing the previous one. A shoe takes it in the order given and names that order.

        With `deck` None it is another deck with a new number, and a set in the tray stays there. If the same deck comes
        back, that set was gathered with it.
        """
        self._spend("load")
        self.before_load(len(cards))
        another = deck is None
        deck = self._deck + 1 if deck is None else deck
        self.inside, self._deck = self.faults.load(cards), deck
        self.tray = self.tray if another else []
        self.floor = []
        self._dispensed = self._sets = self._shuffle = 0
        self._loaded = len(self.inside)
        self._face_up_reported = False
        if self.profile.kind == "shoe":
            self._shuffles += 1
            self._shuffle = self._shuffles
        self._emit(observations.DeckLoaded(deck, self._loaded or None, self._shuffle or None))
        if self._shuffle:
            self._admit_faults()

    def shuffled_by_hand(self) -> list[Card]:
        """Return a deck shuffled outside, ready to be loaded."""
        return self._random.sample(DECK, len(DECK))

    def next_deck(self) -> list[Card]:
        """Return the deck that a person puts in next; for a shoe it is shuffled by hand."""
        return self.shuffled_by_hand() if self.profile.kind == "shoe" else self._deck_shuffle.next_deck()

    def lift_set(self) -> list[Card]:
        """Take the set out of the tray. Return an empty list if there is none."""
        if not self.tray:
            return []
        self._spend("lift_set")
        lifted, self.tray = self.tray, []
        self._emit(observations.SetRemoved(*self._tray_first))
        if self.faults.take(range(1, self._dispensed + 1), LOCK_SLIPS):
            self._form_set(SET_SIZE)
        else:
            self._form_next_on_removal()
        return lifted

    def draw(self, *, forced: bool = False) -> list[Card]:
        """Draw from a shoe: one card, or the result of a fault. Return an empty list if the exit is locked or jammed.

        With `forced`, the lock gives way, as a worn one does.
        """
        if self.jammed or not self.inside or (self.exit_held and not forced):
            return []
        self._drop_cards()
        here = range(self.next_out, self.next_out + 1)
        if self._jams(here, "exit") or not self.inside:
            return []
        self._spend("draw", here)
        together = len(self.inside) > 1 and self.faults.take(here, "double-draw")
        drawn = self._draw_together() if together else self._draw_one()
        self._end_motion(here)
        return drawn

    def clear_jam(self) -> None:
        self._spend("clear_jam")
        zone, self.jammed = self.jammed, ""
        if self.door_open:
            self.door_open = False
            self._emit(observations.DoorMoved(False))
        self._emit(observations.JamCleared(zone))

    # -- what the host commands ------------------------------------------------------------------------------------

    def seconds_for(self, command: AnyCommand) -> float:
        """Return how long a real device would take."""
        names = {commands.Shuffle: "shuffle", commands.Dispense: "form_set", commands.UnloadStub: "unload"}
        slowly = isinstance(command, commands.Dispense) and self.faults.pending("slow", self._coming(command.count))
        return MILLISECONDS[names.get(type(command), "exit")] * (SLOWLY if slowly else 1) / 1000

    def carry_out(self, command_id: int, command: AnyCommand) -> CommandOutcome:
        """Carry a command out to its end. Observations come before the answer."""
        if reason := self.why_not(command):
            return CommandOutcome(False, reason)
        return self.finish(command_id, command)

    def finish(self, command_id: int, command: AnyCommand) -> CommandOutcome:
        """Carry out a command that was allowed when it arrived."""
        match command:
            case commands.HoldExit():
                self.exit_held = True
            case commands.ReleaseExit():
                self.exit_held = False
                self._form_next_on_removal()
            case commands.Dispense(count=count):
                return self._moved(command_id, self._dispense(count))
            case commands.Shuffle():
                return self._moved(command_id, self._shuffle_deck())
            case commands.UnloadStub():
                return self._moved(command_id, self._unload())
            case commands.RunSelfTest():
                self.fault = ""
                self._emit(observations.SelfTestFinished(True))
                return self._moved(command_id, CommandOutcome(True))
        return CommandOutcome(True)

    def why_not(self, command: AnyCommand) -> str:
        """Return the first reason to refuse, in the order of docs/cardlink.md, "Commands", or ""."""
        if not self._is_able(command):
            return "unable"
        if command.moves_cards and self.moving:
            return "busy"
        if command.moves_cards and (self.door_open or self.jammed):
            return "door" if self.door_open else "jam"
        match command:
            case commands.Dispense() if self.exit_held:
                return "held"
            case commands.Dispense() if self.tray:
                return "tray"
            case commands.Dispense() if not self._shuffle:
                return "empty"  # no card can leave before a shuffle
            case commands.Shuffle() if not self.inside or self._dispensed:
                return "no fresh deck"
        return ""

    def _is_able(self, command: AnyCommand) -> bool:
        """Return whether this device has the function at all. It does not have a display."""
        capabilities = self.profile.capabilities
        match command:
            case commands.Dispense():
                return capabilities.dispenses == "on_command"
            case commands.Shuffle():
                return self.profile.kind == "shuffler"
            case commands.UnloadStub():
                return capabilities.unloads_stub
            case commands.HoldExit() | commands.ReleaseExit():
                return capabilities.holds_exit
        return not isinstance(command, commands.Show)

    def status(self, last_report: int) -> DeviceStatus:
        return DeviceStatus(
            boot=self.boot,
            last_report=last_report,
            uptime_ms=self.clock.uptime_ms,
            shuffle=self._shuffle,
            loaded=self._loaded,
            dispensed=self._dispensed,
            remaining=self._remaining,
            sets_dispensed=self._sets,
            tray_occupied=bool(self.tray),
            exit_held=self.exit_held,
            moving=self.moving,
            last_command=self.last_command,
            faults=self._faults,
        )

    def identity(self) -> DeviceIdentity:
        return DeviceIdentity(
            kind=self.profile.kind,
            unit=self.profile.unit,
            maker="cardshoe",
            model=f"simulated {self.profile.kind}",
            serial=self.profile.serial,
            firmware="1.0",
            firmware_digest="0" * 64 if self.profile.program is None else sha256(self.profile.program).hexdigest(),
            capabilities=replace(self.profile.capabilities, attests=self.profile.program is not None),
            simulated=True,
            deck_size=len(DECK),
            boot=self.boot,
        )

    # -- internals

    @property
    def _faults(self) -> tuple[str, ...]:
        named = (f"jam: {self.jammed}" if self.jammed else "", "door" if self.door_open else "", self.fault)
        return tuple(filter(None, named))

    @property
    def _remaining(self) -> int:
        return self._loaded - self._dispensed

    def _spend(self, motion: str, ordinals: range = range(0)) -> None:
        slowly = self.faults.take(ordinals, "slow")
        self.clock.advance(MILLISECONDS[motion] * (SLOWLY if slowly else 1))

    def _coming(self, count: int) -> range:
        """Return the ordinals of the next cards."""
        return range(self.next_out, self.next_out + count)

    def _read(self, ordinals: range, cards: list[Card]) -> tuple[tuple[Concealed | None, ...], int]:
        """Return these cards as the sensor recognises them, and how many it takes for another deck's."""
        seen: list[Concealed | None] = [
            Concealed(card, self._shuffle, ordinal) for ordinal, card in zip(ordinals, cards, strict=True)
        ]
        foreign = set()
        while fault := self.faults.take(ordinals, "unreadable", "foreign-card"):
            seen[fault.at - ordinals.start] = None
            foreign |= {fault.at} if fault.name == "foreign-card" else set()
        while fault := self.faults.take(ordinals, "misread"):
            place = fault.at - ordinals.start
            other = DECK[cards[place].number % len(DECK)]
            seen[place] = Concealed(other, self._shuffle, fault.at)
        return tuple(seen), len(foreign)

    def _drop_cards(self, count: int = 1) -> None:
        """Drop cards that fall before the next ones leave."""
        while self.inside and self.faults.take(self._coming(count), "drop"):
            self.floor.append(self.inside.pop(0))
            self._dispensed += 1

    def _end_motion(self, ordinals: range) -> None:
        """Let faults between motions happen, such as a power failure."""
        self._admit_faults()
        if self._power_low:
            self.on_restart("brown_out")
        elif self.faults.take(ordinals, "brown-out"):
            self._power_low = True
            self._emit(observations.PowerLow())
        elif self.faults.take(ordinals, "reset"):
            self.on_restart("reset")

    def _admit_faults(self) -> None:
        """Report the faults that it finds in itself once these cards have left or reached the exit."""
        while fault := self.faults.take(range(1, self.next_out + 1), *ADMITTED):
            admitted = ADMITTED[fault.name]
            if isinstance(admitted, str):
                self.fault = admitted
            else:
                self._emit(admitted)

    def _moved(self, command_id: int, answer: CommandOutcome) -> CommandOutcome:
        if answer.done:
            self.last_command = command_id
        return answer

    def _jams(self, ordinals: range, zone: str) -> bool:
        """Return whether the device jams before one of these cards without clearing automatically."""
        while not self.jammed and (fault := self.faults.take(ordinals, *JAMS)):
            jam = JAMS[fault.name]
            self.jammed = jam.zone or zone
            self._emit(observations.Jammed(self.jammed))
            if jam.opens_door:
                self.door_open = True
                self._emit(observations.DoorMoved(True))
            if jam.clears:
                self.clear_jam()
        return bool(self.jammed)

    def _dispense(self, count: int) -> CommandOutcome:
        self._drop_cards(count)
        if len(self.inside) < count:
            return CommandOutcome(False, "empty")
        if self._jams(self._coming(count), "transport"):
            return CommandOutcome(False, "jam")
        self._form_set(count)
        return CommandOutcome(True)

    def _form_next_on_removal(self) -> None:
        """Form the next set if the shuffler does so automatically."""
        if self.profile.kind == "shoe" or self.profile.capabilities.dispenses == "on_command":
            return
        can = not self.exit_held and not self.tray and not self.jammed and self._shuffle
        if can:
            self._drop_cards(SET_SIZE)
        if can and len(self.inside) >= SET_SIZE and not self._jams(self._coming(SET_SIZE), "transport"):
            self._form_set(SET_SIZE)

    def _form_set(self, count: int) -> None:
        covers = self._coming(count)
        self._spend("form_set", covers)
        self._look_for_face_up(count)
        seen = min(count + (self.faults.take(covers, "double-draw") is not None), len(self.inside))
        moved = seen + (self.faults.take(covers, UNSEEN_CARD) is not None)
        self.tray = [*self.tray, *self.inside[:moved]]
        read, self.inside = self.inside[:seen], self.inside[moved:]
        cards, foreign = self._read(self._coming(len(read)), read)
        self._dispensed += seen
        self._sets += 1
        self._tray_first = (self._shuffle, covers.start)
        self.faults.take(covers, "face-up")
        self._emit(observations.SetDispensed(self._shuffle, covers.start, self._remaining, self._deck, cards, foreign))
        self._end_motion(covers)

    def _look_for_face_up(self, ahead: int) -> None:
        """Report a face-up card as it comes near: in the set being formed, or next at the exit."""
        ordinal = self.faults.pending("face-up", self._coming(min(ahead, len(self.inside))))
        if self._face_up_reported or not ordinal or not self.profile.capabilities.senses_orientation:
            return
        self._face_up_reported = True
        card = Concealed(self.inside[ordinal - self.next_out], self._shuffle, ordinal)
        self._emit(observations.FaceUpFound(self._shuffle, ordinal, self._deck, card))

    def _draw_one(self) -> list[Card]:
        here = self._coming(1)
        drawn = [self.inside.pop(0)]
        (card,), foreign = self._read(here, drawn)
        if self.inside and self.faults.take(here, UNSEEN_CARD):
            drawn.append(self.inside.pop(0))
        self._dispensed += 1
        face_up = self.faults.take(here, "face-up") is not None
        self._emit(
            observations.CardDrawn(self._shuffle, here.start, self._remaining, self._deck, card, face_up, foreign)
        )
        self._look_for_face_up(1)
        return drawn

    def _draw_together(self) -> list[Card]:
        drawn, self.inside = self.inside[:2], self.inside[2:]
        cards, foreign = self._read(self._coming(len(drawn)), drawn)
        ordinal = self.next_out
        self._dispensed += len(drawn)
        together = (self._shuffle, ordinal, self._remaining, self._deck, False, cards, foreign)
        self._emit(observations.CardsDrawnTogether(*together))
        return drawn

    def _shuffle_deck(self) -> CommandOutcome:
        self._emit(observations.ShuffleStarted(self._deck))
        self._spend("shuffle")
        self._deck_shuffle.shuffle(self.inside)
        self._shuffles += 1
        self._shuffle = self._shuffles
        self._emit(self._shuffle_counts())
        self._admit_faults()
        return CommandOutcome(True)

    def _shuffle_counts(self) -> observations.ShuffleFinished:
        """Return the counts of the shuffled deck. A surplus card is extra, and not also a duplicate."""
        count = len(self.inside)
        whole = range(1, count + 1)
        unread, foreign = self.faults.places("unreadable", whole), self.faults.places("foreign-card", whole)
        known = [card for place, card in enumerate(self.inside, start=1) if place not in unread | foreign]
        extra = max(0, count - len(DECK))
        return observations.ShuffleFinished(
            self._deck, self._shuffle, count,
            missing=max(0, len(DECK) - count),
            extra=extra,
            duplicate=max(0, len(known) - len(set(known)) - extra),
            unreadable=len(unread),
            foreign=len(foreign),
        )  # fmt: skip

    def _unload(self) -> CommandOutcome:
        self._spend("unload")
        stub = len(self.tray) + len(self.inside) - self.cards_stuck - self.faults.is_planned(STUB_MISCOUNTED)
        self.inside, self.tray = [*self.tray, *self.inside], []
        self._emit(observations.StubUnloaded(self._deck, stub))
        return CommandOutcome(True)
