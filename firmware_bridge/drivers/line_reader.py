"""Readers of RFID tags or barcodes: one identifier a line, and a table with the card of each.

Community, unverified: what a reader sends is set in the reader itself. It is ASCII, ended by CR, LF or ETX; the
table's `[line]` names what else it sends, and STX is dropped. A line that has the form of the table's identifiers and
is not one of them is a foreign card. Any other line, such as a banner or `NOREAD`, is not understood. A reader may
read a passing card several times, so an identifier that comes again at once is noted and is not another card. A card
that the reader misses leaves no trace. A line whose end does not come in time may have been a card, so it is reported
as not understood; so is what follows up to the next line end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from firmware_bridge.card_table import LONGEST_IDENTIFIER, IdentifierTable, form_of
from firmware_bridge.drivers.one_way import Decoded, OneWayDriver, card_drawn, not_understood
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import Noted

ENDS_WITHIN: Final = 2.0  # seconds after the last byte; the longest line takes about 140 ms at 9600 baud
LF: Final = 0x0A
ENDS_AS_LF: Final = bytes(LF if byte in b"\r\x03" else byte for byte in range(256))
AGAIN_WITHIN: Final = 0.5  # seconds; a dealer does not draw two cards within that time


class LineReader(OneWayDriver):
    """The driver of one link to a reader. The setting's `card_table` gives the card of an identifier."""

    maker = "unknown"
    model = "line reader"
    longest_report = LONGEST_IDENTIFIER

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        table = setting.card_table
        self._table = table if isinstance(table, IdentifierTable) else IdentifierTable(table)
        self._line_form = self._table.line
        self._form = form_of(self._table)
        self._last = ""  # the last identifier
        self._read_at = -math.inf  # when it was last read
        self._line = bytearray()
        self._too_long = False
        self._broken = False  # the beginning of this line has been reported
        self._give_up_at = math.inf

    def read(self, data: bytes, now: float) -> Iterator[Decoded]:
        data = data.translate(ENDS_AS_LF, b"\x02")
        if self._line_form.length:
            data = self._cut(data, self._line_form.length)
        *ended, rest = data.split(b"\n")
        for part in ended:
            yield from self._take(part)
            yield from self._end(now)
        yield from self._take(rest)
        self._give_up_at = now + ENDS_WITHIN if self._line else math.inf

    def _cut(self, data: bytes, length: int) -> bytes:
        """Insert a line end after each line of this length, of which a part may have come before."""
        cut, size = bytearray(), len(self._line)
        for byte in data:
            cut.append(byte)
            size = 0 if byte == LF else size + 1
            if size == length:
                cut.append(LF)
                size = 0
        return bytes(cut)

    def overdue_at(self) -> float:
        return self._give_up_at

    def overdue(self, now: float) -> Iterator[Decoded]:
        line, reported = bytes(self._line), self._too_long
        self._line.clear()
        self._broken = not self._line_form.length  # lines of a fixed length start again after a pause
        self._too_long, self._give_up_at = False, math.inf
        if not reported:
            self.statistics.frames_corrupt += 1
            yield not_understood("a line that does not end", line)

    def _take(self, part: bytes) -> Iterator[Decoded]:
        """Keep part of a line. A line that is too long is reported immediately and dropped up to its end."""
        self._line += part
        if len(self._line) <= LONGEST_IDENTIFIER:
            return
        if not self._too_long:
            self._too_long = True
            self.statistics.frames_overlong += 1
            yield not_understood("a line longer than any identifier", bytes(self._line[: LONGEST_IDENTIFIER + 1]))
        del self._line[1:]

    def _end(self, now: float) -> Iterator[Decoded]:
        line, too_long, broken = bytes(self._line), self._too_long, self._broken
        self._line.clear()
        self._too_long = self._broken = False
        if too_long or not line.strip(b" \t"):
            return
        if broken:  # the rest of that line, or a new line: part of a line must not pass for an identifier
            self.statistics.frames_corrupt += 1
            yield not_understood("what followed a line that did not end", line)
            return
        text = line.strip(b" \t").decode("ascii", "replace")
        identifier = self._line_form.identifier(text)
        if not (text.isascii() and text.isprintable()):
            self.statistics.frames_corrupt += 1
            yield not_understood("a line that is not plain text", line)
            return
        card = self._table.get(identifier)
        if card is None and not self._form.fits(identifier):
            self.statistics.frames_corrupt += 1
            yield not_understood("a line unlike every identifier of the card table", line)
            return
        self.statistics.frames_in += 1
        again = identifier == self._last and now - self._read_at < AGAIN_WITHIN
        self._last, self._read_at = identifier, now
        if again:
            self.statistics.reports_repeated += 1
            yield Decoded(Noted("the last card was read again"), line)
        else:
            yield Decoded(card_drawn(card, foreign=card is None), line)
