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

from firmware_bridge.capabilities import Capabilities, DeviceIdentity
from firmware_bridge.cards import DECK, Card
from firmware_bridge.drivers.cardlink import messages
from simulators.devices.armed_faults import ArmedFaults, Arms

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
SLOWLY: Final = 10  # times as long


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
    """One device's insides. `emit` takes each report; `random` orders the decks and nothing else.

    `on_restart` is told the cause when a fault makes the device start anew; `before_load` how many cards somebody puts
    in, before they lie there.
    """

    def __init__(self, profile: Profile, *, random: Random, emit: Callable[[messages.Report], None], boot: int) -> None:
        self.profile = profile
        self.clock = DeviceClock()
        self.arms = Arms()
        self.on_restart: Callable[[str], None] = self.power_on
        self.before_load: Callable[[int], None] = lambda cards: None
        self.boot = boot
        self.inside: list[Card] = []  # next card out first
        self.tray: list[Card] = []
        self.floor: list[Card] = []
        self.exit_held = True
        self.jammed = ""
        self.door_open = False
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
        self._power_low = False

    @property
    def faults(self) -> ArmedFaults:
        """What the plan has for this deal."""
        return self.arms.planned

    @faults.setter
    def faults(self, planned: ArmedFaults) -> None:
        self.arms.planned = planned

    @property
    def next_out(self) -> int:
        """The ordinal of the next card, as the device counts."""
        return self._dispensed + 1

    # -- what people do --------------------------------------------------------------------------------------------

    def power_on(self, cause: str = "power") -> None:
        """It begins to run, with the cards where they were."""
        self.clock = DeviceClock()
        self._power_low = False
        self._report(messages.Started(self._now, cause))

    def load(self, cards: list[Card], deck: int) -> None:
        """Put a deck in. A shoe takes it in the order given and names that order."""
        self._spend("load")
        self.before_load(len(cards))
        self.inside, self.tray, self._deck = self.arms.spoil(cards), [], deck
        self.floor = []
        self._dispensed = self._sets = self._shuffle = 0
        self._loaded = len(self.inside)
        self._told_face_up = False
        if self.profile.kind == "shoe":
            self._shuffles += 1
            self._shuffle = self._shuffles
        self._report(messages.DeckLoaded(self._now, deck, self._loaded, self._shuffle))

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
        if self.arms.strike("slip_at", range(1, self._dispensed + 1)):
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
        self._drop_cards()
        here = range(self.next_out, self.next_out + 1)
        if self._jams(here, "exit") or not self.inside:
            return []
        self._spend("draw", here)
        together = len(self.inside) > 1 and self.arms.strike("double_feed_at", here)
        drawn = self._draw_together() if together else self._draw_one()
        self._end_motion(here)
        return drawn

    def clear_jam(self) -> None:
        self._spend("clear_jam")
        zone, self.jammed = self.jammed, ""
        if self.door_open:
            self.door_open = False
            self._report(messages.DoorMoved(self._now, False))
        self._report(messages.JamCleared(self._now, zone))

    def take_stub(self) -> list[Card]:
        """Open the device and take out what is left; nothing is reported but by a device that can count it."""
        stub, self.inside = [*self.tray, *self.inside], []
        return stub

    # -- what the host commands ------------------------------------------------------------------------------------

    def seconds_for(self, order: messages.AnyOrder) -> float:
        """How long a real device would take."""
        names = {messages.Shuffle: "shuffle", messages.Dispense: "form_set", messages.UnloadStub: "unload"}
        slowly = isinstance(order, messages.Dispense) and self.arms.pending("slow_at", self._coming(order.count))
        return MILLISECONDS[names.get(type(order), "exit")] * (SLOWLY if slowly else 1) / 1000

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

    def _spend(self, motion: str, ordinals: range = range(0)) -> None:
        slowly = self.arms.strike("slow_at", ordinals)
        self.clock.advance(MILLISECONDS[motion] * (SLOWLY if slowly else 1))

    def _coming(self, count: int) -> range:
        """The ordinals of the next cards."""
        return range(self.next_out, self.next_out + count)

    def _read(self, ordinals: range, cards: list[Card]) -> list[int]:
        """The numbers of these cards, as the sensor has them."""
        numbers = [card.number for card in cards]
        for name, number in (("unreadable_at", messages.NOT_READ), ("foreign_at", messages.FOREIGN)):
            while struck := self.arms.strike(name, ordinals):
                numbers[getattr(struck, name) - ordinals.start] = number
        return numbers

    def _drop_cards(self, count: int = 1) -> None:
        """Cards that fall before the next ones leave."""
        while self.inside and self.arms.strike("drop_at", self._coming(count)):
            self.floor.append(self.inside.pop(0))
            self._dispensed += 1

    def _end_motion(self, ordinals: range) -> None:
        """Power that fails does so between motions."""
        if self._power_low:
            self.on_restart("brown_out")
        elif self.arms.strike("brown_out_at", ordinals):
            self._power_low = True
            self._report(messages.PowerLow(self._now))
        elif self.arms.strike("reset_at", ordinals):
            self.on_restart("reset")

    def _report(self, report: messages.Report) -> None:
        self._emit(report)

    def _moved(self, command_id: int, answer: Answer) -> Answer:
        if answer.done:
            self.last_command = command_id
        return answer

    def _jams(self, ordinals: range, zone: str) -> bool:
        """Whether it jams before one of these cards, and stays so."""
        while not self.jammed and (struck := self.arms.strike("jam_at", ordinals)):
            self.jammed = struck.jam_zone or zone
            self._report(messages.Jammed(self._now, self.jammed))
            if struck.door_opens:
                self.door_open = True
                self._report(messages.DoorMoved(self._now, True))
            if struck.jam_clears:
                self.clear_jam()
        return bool(self.jammed)

    def _dispense(self, count: int) -> Answer:
        if self.jammed:
            return Answer(False, "jam")
        if self.exit_held:
            return Answer(False, "held")
        if self.tray:
            return Answer(False, "tray")
        self._drop_cards(count)
        if len(self.inside) < count:
            return Answer(False, "empty")
        if self._jams(self._coming(count), "transport"):
            return Answer(False, "jam")
        self._form_set(count)
        return Answer(True)

    def _form_next_on_removal(self) -> None:
        can = not self.exit_held and not self.tray and not self.jammed and self._shuffle
        if can:
            self._drop_cards(SET_SIZE)
        if can and len(self.inside) >= SET_SIZE and not self._jams(self._coming(SET_SIZE), "transport"):
            self._form_set(SET_SIZE)

    def _form_set(self, count: int) -> None:
        covers = self._coming(count)
        self._spend("form_set", covers)
        self._look_for_face_up(count)
        seen = count + (self.arms.strike("double_feed_at", covers) is not None)
        moved = seen + (self.arms.strike("unseen_extra_at", covers) is not None)
        self.tray = [*self.tray, *self.inside[:moved]]
        read, self.inside = self.inside[:seen], self.inside[moved:]
        numbers = self._read(self._coming(len(read)), read)
        self._dispensed += seen
        self._sets += 1
        self._tray_ordinal = covers.start
        self.arms.strike("face_up_at", covers)
        self._report(
            messages.SetDispensed(self._now, self._shuffle, covers.start, self._remaining, self._deck, numbers)
        )
        self._end_motion(covers)

    def _look_for_face_up(self, ahead: int) -> None:
        """The orientation sensor sees a card as it comes near: in the set being formed, or next at the exit."""
        ordinal = self.arms.pending("face_up_at", self._coming(min(ahead, len(self.inside))))
        if self._told_face_up or not ordinal or not self.profile.capabilities.senses_orientation:
            return
        self._told_face_up = True
        card = self.inside[ordinal - self.next_out]
        self._report(messages.FaceUpFound(self._now, self._shuffle, ordinal, self._deck, card.number))

    def _draw_one(self) -> list[Card]:
        here = self._coming(1)
        drawn = [self.inside.pop(0)]
        (number,) = self._read(here, drawn)
        if self.inside and self.arms.strike("unseen_extra_at", here):
            drawn.append(self.inside.pop(0))
        self._dispensed += 1
        face_up = self.arms.strike("face_up_at", here) is not None
        self._report(
            messages.CardDrawn(
                self._now, self._shuffle, here.start, self._remaining, self._deck, number, face_up
            )
        )  # fmt: skip
        self._look_for_face_up(1)
        return drawn

    def _draw_together(self) -> list[Card]:
        drawn, self.inside = self.inside[:2], self.inside[2:]
        numbers = self._read(self._coming(len(drawn)), drawn)
        ordinal = self.next_out
        self._dispensed += len(drawn)
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
        self._report(self._what_was_shuffled())
        return Answer(True)

    def _what_was_shuffled(self) -> messages.ShuffleFinished:
        """What was counted of the deck. A card that is one too many is extra, and not a duplicate besides."""
        count = len(self.inside)
        whole = range(1, count + 1)
        unread, foreign = self.arms.places("unreadable_at", whole), self.arms.places("foreign_at", whole)
        known = [card for place, card in enumerate(self.inside, start=1) if place not in unread | foreign]
        extra = max(0, count - len(DECK))
        return messages.ShuffleFinished(
            self._now, self._deck, self._shuffle, count,
            missing=max(0, len(DECK) - count),
            extra=extra,
            duplicate=max(0, len(known) - len(set(known)) - extra),
            unreadable=len(unread),
            foreign=len(foreign),
        )  # fmt: skip

    def _unload(self) -> Answer:
        if self.jammed:
            return Answer(False, "jam")
        self._spend("unload")
        stub = len(self.tray) + len(self.inside) - self.faults.stuck + self.faults.miscount
        self.inside, self.tray = [*self.tray, *self.inside], []
        self._report(messages.StubUnloaded(self._now, self._deck, stub))
        return Answer(True)
