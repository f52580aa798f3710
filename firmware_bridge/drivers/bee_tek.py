"""Bee-Tek shoes for cards with micro-dots: plain text without numbers, acknowledgements or commands.

Community, unverified against the maker's specification: docs/other_devices.md.

    [Game]<Card:4S>   [Manual Burn Cards]<Card:TH>           a card
    [Game]<Game>      [Manual Burn Cards]<Game>              a card that could not be read
    [Game]<Alarm:E3 Card Not Read>   [GameAlarm]<Alarm:...>  an alarm
    <W0x01>                                                  a warning

Case does not matter: a public reader of these shoes takes both. An item ends with its ">"; blanks and line ends between
items are optional. There is no checksum, so a damaged item may have been a card: it is reported as not understood,
never dropped. So is an item whose end does not come in time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Final

from firmware_bridge.cards import Card, UnknownCardError
from firmware_bridge.drivers.one_way import (
    LONGEST_EVIDENCE,
    Decoded,
    OneWayDriver,
    card_drawn,
    fits_nothing,
    not_understood,
)
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import Alarmed, Noted

LONGEST_ITEM: Final = 160  # characters; public examples have about 30
ENDS_WITHIN: Final = 2.0  # seconds after the last byte; an item takes about 30 ms on the line

_BETWEEN: Final = b" \t\r\n\x00"
_BEGINS: Final = re.compile(rb"[\[<]")
_BREAKS: Final = re.compile(rb"[\r\n\x00]")  # no item crosses a line end
_MODE: Final = r"\[(Game|Manual Burn Cards)\]"


def _item(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.ASCII)


def _card(found: re.Match[str], data: bytes) -> Decoded:
    try:
        return Decoded(card_drawn(Card.parse(found[2].upper())), data)
    except UnknownCardError:
        return not_understood("a card of unknown rank or suit", data)


def _unread(found: re.Match[str], data: bytes) -> Decoded:
    """Report an unread card. Its place holds `Game` in either mode, or (this is inferred) the mode's own name."""
    return Decoded(card_drawn(None), data)


def _alarm(found: re.Match[str], data: bytes) -> Decoded:
    """Report only the code of an alarm: the text may name a card."""
    return Decoded(Alarmed(found[2].upper() if found[2] else "without a code"), data)


def _warning(found: re.Match[str], data: bytes) -> Decoded:
    return Decoded(Noted(f"warning W0x{found[1].upper()}"), data)


_ITEMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], bytes], Decoded]], ...]] = (
    (_item(_MODE + r"<Card:(10[CDHS]|[2-9TJQKA][CDHS])>"), _card),
    (_item(_MODE + r"<(?:Game|\1)>"), _unread),
    (_item(r"\[(Game|Manual Burn Cards|GameAlarm)\]<Alarm:(?:(E[0-9]{1,3})\b)?[ -~]*>"), _alarm),
    (_item(r"<W0x([0-9A-F]{1,4})>"), _warning),
)


class BeeTek(OneWayDriver):
    """The driver of one link to a shoe."""

    maker = "Bee-Tek"
    model = "card shoe"

    def __init__(self, setting: DriverSetting, now: float) -> None:
        super().__init__(setting, now)
        self._item = bytearray()  # begins with "[" or "<"
        self._unknown = bytearray()
        self._give_up_at = math.inf

    def read(self, data: bytes, now: float) -> Iterator[Decoded]:
        self._item += data
        yield from self._read_items()
        self._give_up_at = now + ENDS_WITHIN if self._item else math.inf

    def overdue_at(self) -> float:
        return self._give_up_at

    def overdue(self, now: float) -> Iterator[Decoded]:
        """Report an item without its end: it may have been the last card of a deal, which nothing else reports."""
        item = bytes(self._item)
        self._item.clear()
        self._give_up_at = math.inf
        yield from self._report_unknown()
        yield self._understand(item)

    def _read_items(self) -> Iterator[Decoded]:
        while self._item:
            begins = _BEGINS.search(self._item)
            unknown = bytes(self._item[: begins.start()] if begins else self._item)
            del self._item[: len(unknown)]
            yield from self._keep_unknown(unknown)
            if not self._item:
                return
            size = self._size_of_item()
            if size is None:
                return
            item = bytes(self._item[:size])
            del self._item[:size]
            yield from self._report_unknown()
            yield self._understand(item)

    def _size_of_item(self) -> int | None:
        """Return the length of the first item, whole or cut off, or None if its end has not come yet."""
        ends = self._item.find(b">")
        breaks = _BREAKS.search(self._item)
        limits = [LONGEST_ITEM] if len(self._item) > LONGEST_ITEM else []
        limits += [ends + 1] if ends >= 0 else []
        limits += [breaks.start()] if breaks else []
        next_item = self._start_of_next_item()
        limits += [next_item] if next_item else []
        return min(limits, default=None)

    def _start_of_next_item(self) -> int:
        """Return where another item begins inside this item, which has then lost its end, or 0 if none does."""
        opened = self._item.find(b"<")
        mode = self._item.find(b"[", 1)
        second = self._item.find(b"<", opened + 1) if opened >= 0 else -1
        return min((place for place in (mode, second) if place > 0), default=0)

    def _understand(self, item: bytes) -> Decoded:
        text = item.decode("ascii", "replace")
        for pattern, decode in _ITEMS:
            if found := pattern.fullmatch(text):
                self.statistics.frames_in += 1
                return decode(found, item)
        self.statistics.frames_corrupt += 1
        if len(item) >= LONGEST_ITEM:
            self.statistics.frames_overlong += 1
        return not_understood("an item that is unknown or damaged", item)

    # -- bytes between items ---------------------------------------------------------------------------------------

    def _keep_unknown(self, data: bytes) -> Iterator[Decoded]:
        """Report the end of an item without its beginning, which may have been a card. Other bytes cannot be a card."""
        *ends, rest = data.translate(None, _BETWEEN).split(b">")
        for end in ends:
            self._unknown += end + b">"
            self.statistics.frames_corrupt += 1
            yield not_understood("the end of an item without its beginning", bytes(self._unknown[-LONGEST_ITEM:]))
            self._unknown.clear()
        self._unknown += rest
        while len(self._unknown) >= LONGEST_EVIDENCE:
            yield from self._report_unknown()

    def _report_unknown(self) -> Iterator[Decoded]:
        """Report unknown bytes before the item that follows them, to keep the order."""
        if self._unknown:
            self.statistics.frames_corrupt += 1
            yield fits_nothing(bytes(self._unknown[:LONGEST_EVIDENCE]))
            del self._unknown[:LONGEST_EVIDENCE]
