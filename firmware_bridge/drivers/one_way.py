"""What the drivers of devices share that only tell: no handshake, no numbers, no acknowledgement, no status.

Such a device is *at most once*: what it sends while nobody listens is gone, and nobody can say so. The boot is minted
anew for every link and reports are numbered from 1 in it. Cards carry no shuffle, ordinal, deck or count (all 0). Its
silence proves nothing, so it is never stale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

from firmware_bridge.capabilities import Capabilities, DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK_SIZE, Card, Concealed, Evidence
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import Answered, DeviceReady, Heard, LinkStatistics, Reported
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation, CardDrawn, Noted, NotUnderstood

CANNOT: Final = "this device cannot be told anything"
LONGEST_EVIDENCE: Final = 256  # bytes that fit nothing, kept with one report
REPORTED_IN_A_ROW: Final = 16  # of what is not understood; then it is only counted, until something is understood

ONLY_TELLS: Final = Capabilities(
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


class Told(NamedTuple):
    """One thing that the device told, and its bytes."""

    observation: AnyObservation
    data: bytes


def card_drawn(card: Card | None, *, foreign: bool = False) -> CardDrawn:
    """A card of a device that does not count. None: it was not recognised, or is `foreign` to the deck."""
    concealed = None if card is None else Concealed(card, 0, 0)
    return CardDrawn(shuffle=0, ordinal=0, remaining=0, deck=0, card=concealed, foreign=int(foreign))


def fits_nothing(data: bytes) -> Told:
    """Bytes that are no telegram of this device and no part of one: kept, and nothing follows from them."""
    return Told(Noted("bytes that fit nothing"), data)


def not_understood(why: str, data: bytes) -> Told:
    """A whole telegram that this version cannot read. `why` must tell nothing of its content."""
    return Told(NotUnderstood(why), data)


class TellingDriver:
    """Base of such a driver, a `Driver`. A subclass says who the device is and reads bytes in `read`.

    `read` takes what came, in any pieces, and yields what was told, in order; it raises nothing. It counts good
    telegrams in `statistics.frames_in`, and damaged ones in `frames_corrupt` or `frames_overlong`.
    """

    maker: ClassVar[str]
    model: ClassVar[str]

    def __init__(self, setting: DriverSetting, now: float) -> None:
        self.statistics = LinkStatistics()
        self.capabilities = ONLY_TELLS
        self._setting = setting
        self._boot = int.from_bytes(setting.nonce[:4], "big") or 1
        self._number = 0
        self._strange_in_a_row = 0
        self._ready = False
        self._now = now
        self._answers: list[Heard] = []
        self._out = bytearray()

    # -- what a subclass says --------------------------------------------------------------------------------------

    def read(self, data: bytes, now: float) -> Iterable[Told]:
        raise NotImplementedError

    def overdue(self, now: float) -> Iterable[Told]:
        """What follows from time that passed."""
        return ()

    def overdue_at(self) -> float:
        """When `overdue` wants to be asked."""
        return math.inf

    def order(self, command_id: int, command: AnyCommand, now: float) -> None:
        """Carry a command out, and `answer` it now or later."""
        self.answer(command_id, False, CANNOT)

    # -- what the link keeper calls --------------------------------------------------------------------------------

    def receive(self, data: bytes, now: float) -> Sequence[Heard]:
        self._now = now
        self.statistics.bytes_in += len(data)
        heard = self._greeting()
        self._report(self.read(data, now), heard)
        return [*heard, *self._take_answers()]

    def tick(self, now: float) -> Sequence[Heard]:
        self._now = now
        heard = self._greeting()
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
        """Nothing that the device could be told."""

    def command(self, command_id: int, command: AnyCommand, now: float) -> None:
        self._now = now
        self.order(command_id, command, now)

    def is_stale(self, now: float) -> bool:
        return False

    # -- for subclasses --------------------------------------------------------------------------------------------

    def answer(self, command_id: int, done: bool, reason: str = "") -> None:
        self._answers.append(Answered(command_id, done, reason))

    def write(self, data: bytes) -> None:
        """Send; where the URL says `listen` nothing is ever written."""
        if not self._setting.line.listen:
            self._out += data

    # -- inside ----------------------------------------------------------------------------------------------------

    def _greeting(self) -> list[Heard]:
        """The way is open: that is all that a device which only tells can say of itself."""
        if self._ready:
            return []
        self._ready = True
        return [DeviceReady(self._identity(), self._empty_status())]

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

    def _report(self, told: Iterable[Told], heard: list[Heard]) -> None:
        for observation, data in told:
            if _is_strange(observation):
                self._strange_in_a_row += 1
                if self._strange_in_a_row > REPORTED_IN_A_ROW:
                    continue  # noise, or a wrong speed: the journal has enough of it; the statistics go on counting
            else:
                self._strange_in_a_row = 0
            self._number += 1
            heard.append(Reported(self._boot, self._number, None, observation, Evidence(data)))

    def _take_answers(self) -> list[Heard]:
        answers, self._answers = self._answers, []
        return answers


def _is_strange(observation: AnyObservation) -> bool:
    return isinstance(observation, NotUnderstood) or observation == fits_nothing(b"").observation
