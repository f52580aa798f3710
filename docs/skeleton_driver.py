"""A skeleton of a driver for a one-way device. docs/a_new_driver.md explains how to adapt it.

Its device is an invented shoe, "Skeleton", that sends a line for each card: its number from 1 to 52, a colon, and
the sum of the digits. The tests connect to a simulated one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from firmware_bridge.cards import DECK_SIZE, Card
from firmware_bridge.drivers.one_way import Decoded, OneWayDriver, card_drawn, not_understood
from firmware_bridge.drivers.registry import DriverFactory, Maturity, RegisteredDriver
from firmware_bridge.drivers.setting import DriverSetting

LONGEST_LINE: Final = 16  # bytes; a longer line is not one of this device


class SkeletonDriver(OneWayDriver):
    """One link. The base class does the rest: ready at once, never stale, no acknowledgement, no commands."""

    maker = "Example"
    model = "Skeleton"

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        self._line = bytearray()

    def read(self, data: bytes, now: float) -> Iterator[Decoded]:
        """Bytes come in any pieces. Yield what they report, in order; never raise; keep only a bounded part."""
        for byte in data:
            if byte != ord("\n"):
                if len(self._line) <= LONGEST_LINE:
                    self._line.append(byte)
                continue
            line, self._line = bytes(self._line), bytearray()
            yield self._decode(line)

    def _decode(self, line: bytes) -> Decoded:
        """Every whole telegram becomes a report with its bytes: what is not understood is reported, never dropped."""
        number, colon, given = line.strip(b"\r ").partition(b":")
        if len(line) > LONGEST_LINE or not (colon and number.isdigit() and given.isdigit()):
            self.statistics.frames_corrupt += 1
            return not_understood("a line that is not a card", line)
        if str(sum(digit - ord("0") for digit in number)).encode() != given:
            self.statistics.frames_corrupt += 1
            return not_understood("a line whose sum is wrong", line)
        self.statistics.frames_in += 1
        known = len(number) <= 2 and 1 <= int(number) <= DECK_SIZE
        return Decoded(card_drawn(Card.numbered(int(number)) if known else None, foreign=not known), line)


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
