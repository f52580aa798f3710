"""The base of drivers for devices that only send: no handshake, numbers, acknowledgements or status.

Delivery is *at most once*: what such a device sends while no link is open is lost without a trace. Every link has a new
boot, in which reports are numbered from 1. Cards carry no shuffle, ordinal, deck or count (all 0). The device's silence
proves nothing, so it is never stale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

from firmware_bridge.capabilities import Capabilities, DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK_SIZE, Card, Concealed, Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import Answered, Heard, LinkReady, LinkStatistics, Reported
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation, CardDrawn, Noted, NotUnderstood

NO_COMMANDS: Final = "this device accepts no commands"
LONGEST_EVIDENCE: Final = 256  # unknown bytes that are kept with one report
REPORTED_IN_A_ROW: Final = 16  # reports not understood; further ones are only counted until a report is understood

ONE_WAY: Final = Capabilities(
    recognises_cards=True,
    senses_orientation=False,
    senses_double_draw=False,
    senses_tray=False,
    holds_exit=False,
    unloads_stub=False,
    dispenses="on_removal",
    stages=False,
    retains_reports=False,
    acknowledges=False,
    counts=False,
)


class Decoded(NamedTuple):
    """One report from the device, with its bytes."""

    observation: AnyObservation
    data: bytes


def card_drawn(card: Card | None, *, foreign: bool = False) -> CardDrawn:
    """Return a card from a device that does not count. None means not recognised, or `foreign` to the deck."""
    concealed = None if card is None else Concealed(card, 0, 0)
    return CardDrawn(shuffle=0, ordinal=0, remaining=0, deck=0, card=concealed, foreign=int(foreign))


def fits_nothing(data: bytes) -> Decoded:
    """Return bytes that belong to no telegram of this device. They are kept as evidence and have no effect."""
    return Decoded(Noted("bytes that fit nothing"), data)


def not_understood(why: str, data: bytes) -> Decoded:
    """Return the report about a telegram that is unknown or damaged. `why` must reveal nothing of its content."""
    return Decoded(NotUnderstood(why), data)


class OneWayDriver:
    """The base class of such a driver, a `Driver`. A subclass names the device and implements `read`.

    `read` takes bytes in any pieces, yields what the device reported in order, and never raises. It counts good
    telegrams in `statistics.frames_in`, damaged ones in `frames_corrupt` or `frames_overlong`.
    """

    maker: ClassVar[str]
    model: ClassVar[str]
    longest_report: ClassVar[int] = 0
    """bytes; every card is sealed at this size where reports differ by more than a few"""

    def __init__(self, setting: DriverSetting, now: float) -> None:
        self.statistics = LinkStatistics()
        self.capabilities = ONE_WAY
        self._setting = setting
        self._boot = int.from_bytes(setting.nonce[:4], "big") or 1
        self._number = 0
        self._unreadable_in_a_row = 0
        self._ready = False
        self._now = now
        self._answers: list[Heard] = []
        self._out = bytearray()

    # -- for a subclass to implement -------------------------------------------------------------------------------

    def read(self, data: bytes, now: float) -> Iterable[Decoded]:
        """Yield what the device reported with these bytes, in order."""
        raise NotImplementedError

    def overdue(self, now: float) -> Iterable[Decoded]:
        """Yield what follows from the time that has passed."""
        return ()

    def overdue_at(self) -> float:
        """Return when `overdue` is due."""
        return math.inf

    def order(self, command_id: int, command: AnyCommand, now: float) -> None:
        """Carry out a command, and `answer` it now or later."""
        self.answer(command_id, False, NO_COMMANDS)

    # -- called by the link ----------------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        self._now = now
        self.statistics.bytes_in += len(data)
        heard = self._ready_once()
        self._report(self.read(data, now), heard)
        return [*heard, *self._take_answers()]

    def tick(self, now: float) -> Sequence[Heard]:
        self._now = now
        heard = self._ready_once()
        if now >= self.overdue_at():
            self._report(self.overdue(now), heard)
        return [*heard, *self._take_answers()]

    def wake_at(self) -> float:
        if not self._ready or self._answers:
            return self._now
        return self.overdue_at()

    def outgoing(self) -> bytes:
        data = bytes(self._out)
        self._out.clear()
        self.statistics.bytes_out += len(data)
        return data

    def acknowledge(self, boot: int, number: int, now: float) -> None:
        """Do nothing: the device accepts no acknowledgement."""

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        self._now = now
        self.order(command_id, command, now)

    def is_stale(self, now: float) -> bool:
        return False

    # -- for subclasses --------------------------------------------------------------------------------------------

    def answer(self, command_id: int, done: bool, reason: str = "") -> None:
        self._answers.append(Answered(command_id, done, reason))

    def write(self, data: bytes) -> None:
        """Send bytes, except where the URL says `listen`."""
        if not self._setting.line.listen:
            self._out += data

    # -- internals -------------------------------------------------------------------------------------------------

    def _ready_once(self) -> list[Heard]:
        """Report the device as ready once, as soon as the connection is open."""
        if self._ready:
            return []
        self._ready = True
        return [LinkReady(self._identity(), self._empty_status())]

    def _identity(self) -> DeviceIdentity:
        return DeviceIdentity(
            kind="shoe",
            unit="singles",
            maker=self.maker,
            model=self.model,
            serial=self._setting.line.known_as,
            firmware="",
            firmware_digest="",
            capabilities=self.capabilities,
            simulated=self._setting.simulated,
            deck_size=DECK_SIZE,
            boot=self._boot,
        )

    def _empty_status(self) -> DeviceStatus:
        return DeviceStatus(
            boot=self._boot,
            last_report=0,
            uptime_ms=0,
            shuffle=0,
            loaded=0,
            dispensed=0,
            remaining=0,
            sets_dispensed=0,
            tray_occupied=False,
            exit_held=False,
            moving=False,
            last_command=0,
        )

    def _report(self, decoded: Iterable[Decoded], heard: list[Heard]) -> None:
        for observation, data in decoded:
            if _is_unreadable(observation):
                self._unreadable_in_a_row += 1
                if self._unreadable_in_a_row > REPORTED_IN_A_ROW:
                    continue  # noise, or a wrong speed: the journal has enough of it, the statistics go on
            else:
                self._unreadable_in_a_row = 0
            self._number += 1
            # Damaged bytes may have been a card, with other data around it.
            room = LONGEST_EVIDENCE if _is_unreadable(observation) else self.longest_report
            evidence = Evidence(data, room)
            self._setting.memory.take(self._boot, self._number, evidence)
            heard.append(Reported(self._boot, self._number, None, observation, evidence))

    def _take_answers(self) -> list[Heard]:
        answers, self._answers = self._answers, []
        return answers


def _is_unreadable(observation: AnyObservation) -> bool:
    return isinstance(observation, NotUnderstood) or observation == fits_nothing(b"").observation
