"""The mechanics of a simulated shuffler or shoe: where every card is, and what the sensors make of it.

People act on it (`load`, `lift_set`, `draw`, `clear_jam`), the host commands it (`carry_out`), and it reports. Its
clock advances by its own timings, whether anybody waits for them or not. Planned faults are armed by ordinal for each
deal and never depend on time.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final, Literal

import msgspec

from firmware_bridge.cards import DECK, Card
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.observations import Capabilities, DeviceIdentity

SET_SIZE: Final = 3
MILLISECONDS: Final = {  # what each motion takes
    "shuffle": 45_000,
    "form_set": 1_800,
    "lift_set": 900,
    "draw": 650,
    "unload": 2_500,
    "load": 6_000,
    "clear_jam": 20_000,
    "exit": 40,
}


class ArmedFaults(msgspec.Struct):
    """What will go wrong in the coming deal. Ordinals count from 1 within the shuffle; 0: not armed.

    `double_feed_at`: the set (or draw) that begins at or covers this card brings one card more, and the sensor sees it.
    `unseen_extra_at`: the same, and the sensor does not see it. `face_up_at`: this card lies face up. `jam_at`: the
    mechanism jams before this card. `stuck`: so many cards stay inside when the stub comes out. `miscount`: so many
    more (or fewer) than there are does the stub's counter say. `slip_at`: the exit's lock lets one go after this card.
    `unreadable_at`: a shoe cannot read this card.
    """

    double_feed_at: int = 0
    unseen_extra_at: int = 0
    face_up_at: int = 0
    jam_at: int = 0
    stuck: int = 0
    miscount: int = 0
    slip_at: int = 0
    unreadable_at: int = 0


class Profile(msgspec.Struct, frozen=True):
    """What device is simulated."""

    kind: Literal["shuffler", "shoe"]
    serial: str
    capabilities: Capabilities
    memory: int = 1000

    @property
    def unit(self) -> Literal["sets", "singles"]:
        return "sets" if self.kind == "shuffler" else "singles"


class Answer(msgspec.Struct, frozen=True):
    done: bool
    reason: str = ""


class DeviceClock:
    """The device's own clock: milliseconds since power-on, moved on by what the device and the people do."""

    def __init__(self) -> None:
        self.uptime_ms = 0

    def advance(self, milliseconds: int) -> None:
        self.uptime_ms += milliseconds


class Mechanism:
    """One device's insides. `emit` takes each report; `random` orders the decks and nothing else."""

    def __init__(self, profile: Profile, *, random: Random, emit: Callable[[messages.Report], None], boot: int) -> None:
        self.profile = profile
        self.clock = DeviceClock()
        self.faults = ArmedFaults()
        self.boot = boot
        self.inside: list[Card] = []  # next card out first
        self.tray: list[Card] = []
        self.exit_held = True
        self.jammed = ""
        self.moving = False
        self.last_command = 0
        self._random = random
        self._emit = emit
        self._deck = 0
        self._shuffle = 0
        self._shuffles = 0
        self._loaded = 0
        self._dispensed = 0  # as the device counts
        self._sets = 0
        self._tray_ordinal = 0
        self._told_face_up = False

    # -- what people do --------------------------------------------------------------------------------------------

    def power_on(self) -> None:
        self._report(messages.Started(self._now, "power"))

    def load(self, cards: list[Card], deck: int) -> None:
        """Put a deck in. A shoe takes it in the order given and names that order."""
        self._spend("load")
        self.inside, self.tray, self._deck = list(cards), [], deck
        self._dispensed = self._sets = self._shuffle = 0
        self._loaded = len(cards)
        self._told_face_up = False
        if self.profile.kind == "shoe":
            self._shuffles += 1
            self._shuffle = self._shuffles
        self._report(messages.DeckLoaded(self._now, deck, len(cards), self._shuffle))

    def shuffled_by_hand(self) -> list[Card]:
        """A deck shuffled outside, ready to be loaded."""
        return self._random.sample(DECK, len(DECK))

    def lift_set(self) -> list[Card]:
        """Take the set out of the tray. Empty when none lies there."""
        if not self.tray:
            return []
        self._spend("lift_set")
        lifted, self.tray = self.tray, []
        self._report(messages.SetRemoved(self._now, self._shuffle, self._tray_ordinal))
        if 0 < self.faults.slip_at <= self._dispensed:
            self.faults.slip_at = 0
            self._form_set(SET_SIZE)
        elif self.profile.capabilities.dispenses == "on_removal":
            self._form_next_on_removal()
        return lifted

    def draw(self, *, forced: bool = False) -> list[Card]:
        """Draw from a shoe: one card, or what a fault makes of it. Empty when the exit is locked or jammed.

        `forced`: the lock gives way, as worn ones do.
        """
        if self.jammed or not self.inside or (self.exit_held and not forced):
            return []
        ordinal = self._dispensed + 1
        if ordinal == self.faults.jam_at:
            self._jam("exit")
            return []
        self._spend("draw")
        if ordinal == self.faults.double_feed_at:
            self.faults.double_feed_at = 0
            return self._draw_together(ordinal)
        drawn = [self.inside.pop(0)]
        if ordinal == self.faults.unseen_extra_at:
            self.faults.unseen_extra_at = 0
            drawn.append(self.inside.pop(0))
        self._dispensed += 1
        read = 0 if ordinal == self.faults.unreadable_at else drawn[0].number
        self._report(
            messages.CardDrawn(
                self._now, self._shuffle, ordinal, self._remaining, self._deck, read,
                ordinal == self.faults.face_up_at,
            )
        )  # fmt: skip
        self._look_for_face_up(1)
        return drawn

    def clear_jam(self) -> None:
        self._spend("clear_jam")
        zone, self.jammed = self.jammed, ""
        self._report(messages.JamCleared(self._now, zone))

    def take_stub(self) -> list[Card]:
        """Open the device and take out what is left; nothing is reported but by a device that can count it."""
        stub, self.inside = [*self.tray, *self.inside], []
        return stub

    # -- what the host commands ------------------------------------------------------------------------------------

    def seconds_for(self, order: messages.AnyOrder) -> float:
        """How long a real device would take."""
        names = {messages.Shuffle: "shuffle", messages.Dispense: "form_set", messages.UnloadStub: "unload"}
        return MILLISECONDS[names.get(type(order), "exit")] / 1000

    def carry_out(self, command_id: int, order: messages.AnyOrder) -> Answer:
        """Do what a command says, to its end. Reports come before the answer."""
        match order:
            case messages.HoldExit():
                self.exit_held = True
            case messages.ReleaseExit():
                self.exit_held = False
                if self.profile.capabilities.dispenses == "on_removal":
                    self._form_next_on_removal()
            case messages.Dispense(count=count):
                return self._moved(command_id, self._dispense(count))
            case messages.Shuffle():
                return self._moved(command_id, self._shuffle_deck())
            case messages.UnloadStub():
                return self._moved(command_id, self._unload())
            case messages.RunSelfTest():
                self._report(messages.SelfTestFinished(self._now, True))
                return self._moved(command_id, Answer(True))
            case messages.Show():
                pass
        return Answer(True)

    def status(self, last_report: int) -> messages.Status:
        return messages.Status(
            last_report=last_report,
            uptime_ms=self._now,
            shuffle=self._shuffle,
            loaded=self._loaded,
            dispensed=self._dispensed,
            remaining=self._remaining,
            sets_dispensed=self._sets,
            tray_occupied=bool(self.tray),
            exit_held=self.exit_held,
            moving=self.moving,
            last_command=self.last_command,
            faults=[f"jam: {self.jammed}"] if self.jammed else [],
        )

    def identity(self) -> DeviceIdentity:
        return DeviceIdentity(
            kind=self.profile.kind,
            unit=self.profile.unit,
            maker="cardshoe",
            model=f"simulated {self.profile.kind}",
            serial=self.profile.serial,
            firmware="1.0",
            firmware_digest="0" * 64,
            capabilities=self.profile.capabilities,
            simulated=True,
            deck_size=len(DECK),
            boot=self.boot,
        )

    # -- inside ----------------------------------------------------------------------------------------------------

    @property
    def _now(self) -> int:
        return self.clock.uptime_ms

    @property
    def _remaining(self) -> int:
        return self._loaded - self._dispensed

    def _spend(self, motion: str) -> None:
        self.clock.advance(MILLISECONDS[motion])

    def _report(self, report: messages.Report) -> None:
        self._emit(report)

    def _moved(self, command_id: int, answer: Answer) -> Answer:
        if answer.done:
            self.last_command = command_id
        return answer

    def _jam(self, zone: str) -> Answer:
        self.faults.jam_at = 0
        self.jammed = zone
        self._report(messages.Jammed(self._now, zone))
        return Answer(False, "jam")

    def _dispense(self, count: int) -> Answer:
        if self.jammed:
            return Answer(False, "jam")
        if self.exit_held:
            return Answer(False, "held")
        if self.tray:
            return Answer(False, "tray")
        if len(self.inside) < count:
            return Answer(False, "empty")
        if self._dispensed < self.faults.jam_at <= self._dispensed + count:
            return self._jam("transport")
        self._form_set(count)
        return Answer(True)

    def _form_next_on_removal(self) -> None:
        can = not self.exit_held and not self.tray and not self.jammed and self._shuffle
        if can and len(self.inside) >= SET_SIZE:
            if self._dispensed < self.faults.jam_at <= self._dispensed + SET_SIZE:
                self._jam("transport")
            else:
                self._form_set(SET_SIZE)

    def _form_set(self, count: int) -> None:
        self._spend("form_set")
        first = self._dispensed + 1
        covers = range(first, first + count)
        self._look_for_face_up(count)
        seen = count
        if self.faults.double_feed_at in covers:
            self.faults.double_feed_at = 0
            seen = count + 1
        moved = seen
        if self.faults.unseen_extra_at in covers:
            self.faults.unseen_extra_at = 0
            moved += 1
        self.tray = [*self.tray, *self.inside[:moved]]
        read, self.inside = self.inside[:seen], self.inside[moved:]
        self._dispensed += seen
        self._sets += 1
        self._tray_ordinal = first
        numbers = [card.number for card in read]
        self._report(messages.SetDispensed(self._now, self._shuffle, first, self._remaining, self._deck, numbers))

    def _look_for_face_up(self, ahead: int) -> None:
        """The orientation sensor sees a card as it comes near: in the set being formed, or next at the exit."""
        place = self.faults.face_up_at - self._dispensed
        if self._told_face_up or not 1 <= place <= ahead or not self.profile.capabilities.senses_orientation:
            return
        self._told_face_up = True
        card = self.inside[place - 1]
        self._report(messages.FaceUpFound(self._now, self._shuffle, self.faults.face_up_at, self._deck, card.number))

    def _draw_together(self, ordinal: int) -> list[Card]:
        drawn = [self.inside.pop(0), self.inside.pop(0)]
        self._dispensed += 2
        numbers = [card.number for card in drawn]
        self._report(
            messages.CardsDrawnTogether(self._now, self._shuffle, ordinal, self._remaining, self._deck, False, numbers)
        )
        return drawn

    def _shuffle_deck(self) -> Answer:
        if self.jammed or not self.inside or self._dispensed:
            return Answer(False, "jam" if self.jammed else "no fresh deck")
        self._report(messages.ShuffleStarted(self._now, self._deck))
        self._spend("shuffle")
        self._random.shuffle(self.inside)
        self._shuffles += 1
        self._shuffle = self._shuffles
        self._report(messages.ShuffleFinished(self._now, self._deck, self._shuffle, len(self.inside)))
        return Answer(True)

    def _unload(self) -> Answer:
        if self.jammed:
            return Answer(False, "jam")
        self._spend("unload")
        stub = len(self.tray) + len(self.inside) - self.faults.stuck + self.faults.miscount
        self.inside, self.tray = [*self.tray, *self.inside], []
        self._report(messages.StubUnloaded(self._now, self._deck, stub))
        return Answer(True)
