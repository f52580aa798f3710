"""A skeleton of a driver for a one-way device. docs/a_new_driver.md explains how to adapt it.

Its device is an invented shoe, "Skeleton" (skeleton_device.py is its side). It sends a line for everything it notices:

    07,KD,22        number 00 to 99, one more with each line and around; a word; a check

The word is a card, `??` for a card that it could not read, `JAM` or `FREE`. The check is the sum of the bytes before
the second comma, modulo 256, as two hexadecimal digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

from firmware_bridge.cards import Card, UnknownCardError
from firmware_bridge.drivers.one_way import Decoded, OneWayDriver, card_drawn, not_understood
from firmware_bridge.drivers.registry import DriverFactory, Maturity, RegisteredDriver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation, GapSuspected, JamCleared, Jammed

LONGEST_LINE: Final = 16  # bytes; a longer line is not one of this device
ENDS_WITHIN: Final = 2.0  # seconds after its last byte; a line takes 10 ms on the wire
NUMBERS: Final = 100
EXIT: Final = "exit"  # the only place where this shoe notices a jam

_LINE: Final = re.compile(rb"(([0-9]{2}),([0-9A-Z?]{2,4})),([0-9A-F]{2})\r?")
_SAYS: Final[dict[str, AnyObservation]] = {
    "??": card_drawn(None),
    "JAM": Jammed(EXIT),
    "FREE": JamCleared(EXIT),
}


class SkeletonDriver(OneWayDriver):
    """One link. The base class does the rest: ready at once, never stale, no acknowledgement, no commands."""

    maker = "Example"
    model = "Skeleton"

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        self._line = b""  # begun, not ended
        self._give_up_at = math.inf
        self._due: int | None = None  # the number of the next line; None: no line has come on this link

    def read(self, data: bytes, now: float) -> Iterator[Decoded]:
        """Bytes come in any pieces. Yield what they report, in order; never raise; keep only a bounded part."""
        *lines, begun = (self._line + data).split(b"\n")
        self._line = begun[: LONGEST_LINE + 1]
        self._give_up_at = now + ENDS_WITHIN if self._line else math.inf
        for line in lines:
            if line:
                yield from self._decode(line[: LONGEST_LINE + 1])

    def overdue_at(self) -> float:
        """When `overdue` is to be called: the line that was begun should have ended by then."""
        return self._give_up_at

    def overdue(self, now: float) -> Iterator[Decoded]:
        """A line without its end may have been the last card of a deal, which nothing that follows would show."""
        line, self._line, self._give_up_at = self._line, b"", math.inf
        self.statistics.frames_corrupt += 1
        yield not_understood("a line without its end", line)

    def _decode(self, line: bytes) -> Iterator[Decoded]:
        """Every whole line becomes a report with its bytes: what is not understood is reported, never dropped."""
        found = _LINE.fullmatch(line)
        if found is None or sum(found[1]) % 256 != int(found[4], 16):
            self.statistics.frames_corrupt += 1
            yield not_understood("a line that is damaged, or none of this device", line)
            return
        self.statistics.frames_in += 1
        number = int(found[2])
        if self._due not in (None, number):
            yield Decoded(GapSuspected("the device's numbers skip"), line)
        self._due = (number + 1) % NUMBERS
        yield self._meaning(found[3].decode("ascii"), line)

    def _meaning(self, word: str, line: bytes) -> Decoded:
        """Return the report of a word. The text of `UnknownCardError` names the word, so it is not passed on."""
        if word in _SAYS:
            return Decoded(_SAYS[word], line)
        try:
            return Decoded(card_drawn(Card.parse(word)), line)
        except UnknownCardError:
            return not_understood("a word that is unknown", line)


def _load() -> DriverFactory:
    return SkeletonDriver


DRIVER: Final = RegisteredDriver(
    name="skeleton",
    maturity=Maturity.OTHERS,
    can_listen=True,  # it works without a byte written
    load=_load,
    baud=9600,
)
"""The object that the entry point names. If the driver is large, import it in `_load`."""
