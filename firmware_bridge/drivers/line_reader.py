"""Readers of RFID tags or barcodes: an identifier a line, and a table that says which card it is.

Community, unverified: what a reader sends is set in the reader itself. Set it to plain ASCII, the identifier alone,
ended by CR, LF or both. An identifier that the table does not know is a foreign card. A card that comes twice is told
twice. A card that the reader did not notice leaves no trace at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from firmware_bridge.card_table import LONGEST_IDENTIFIER
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.drivers.telling import TellingDriver, Told, card_drawn, not_understood


class LineReader(TellingDriver):
    """One link to a reader. The setting's `card_table` gives the card of an identifier."""

    maker = "unknown"
    model = "line reader"

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        self._table = setting.card_table
        self._line = bytearray()
        self._too_long = False

    def read(self, data: bytes, now: float) -> Iterator[Told]:
        *ended, rest = data.replace(b"\r", b"\n").split(b"\n")
        for part in ended:
            yield from self._take(part)
            yield from self._end()
        yield from self._take(rest)

    def _take(self, part: bytes) -> Iterator[Told]:
        """Keep a part of a line. A line that cannot end well is told at once and dropped up to its end."""
        self._line += part
        if len(self._line) <= LONGEST_IDENTIFIER:
            return
        if not self._too_long:
            self._too_long = True
            self.statistics.frames_overlong += 1
            yield not_understood("a line longer than any identifier", bytes(self._line[: LONGEST_IDENTIFIER + 1]))
        del self._line[1:]

    def _end(self) -> Iterator[Told]:
        line, too_long = bytes(self._line), self._too_long
        self._line.clear()
        self._too_long = False
        if too_long or not line.strip(b" \t"):
            return
        identifier = line.strip(b" \t").decode("ascii", "replace")
        if not (identifier.isascii() and identifier.isprintable()):
            self.statistics.frames_corrupt += 1
            yield not_understood("a line that is not plain text", line)
            return
        self.statistics.frames_in += 1
        card = self._table.get(identifier)
        yield Told(card_drawn(card, foreign=card is None), line)
