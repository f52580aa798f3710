"""The shoe's side of Angel Eye II-EX, as far as public sources tell.

Shares with the host's side where a telegram begins and ends, and nothing else; the tests read both with a decoder of
their own.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from firmware_bridge.cards import DECK_SIZE, Card
from firmware_bridge.drivers.angel_eye.telegrams import ACK, ETX, NAK, STX, bcc, encode_telegram
from firmware_bridge.drivers.cardlink import messages
from simulators.devices.one_way import TellingDevice
from simulators.devices.simulated_device import LoggedReport

COPIES: Final = 3
_BIT_7: Final = 0x80
_ERROR_MODE: Final = 0x40
_SUITS: Final = {"D": 1, "C": 2, "S": 3, "H": 4}
_JAM: Final = 5  # reverse run midway
_CANNOT_READ: Final = 1
_CARD_CODE: Final = 6
_ORDERS: Final = {b"LK01", b"LK02", b"GP00"}


class AngelEyeDevice(TellingDevice):
    """Numbers its telegrams with the characters from `first` to `last`, one after the other and around."""

    baud = 4800

    def __init__(
        self,
        *,
        serial: str = "",
        random: Random,
        log: Callable[[LoggedReport], None] = lambda line: None,
        first: str = "0",
        last: str = "9",
    ) -> None:
        self.locked = False
        self._first, self._last = ord(first), ord(last)
        self._seq = self._first
        self._drawn = 0
        self._error = 0
        self._heard = bytearray()
        super().__init__(serial=serial, random=random, log=log)

    def telegram(self, data: bytes) -> bytes:
        """A telegram under the next seq, three times."""
        sent = encode_telegram(self._seq, data) * COPIES
        self._seq = self._first if self._seq == self._last else self._seq + 1
        return sent

    def tell(self, report: messages.Report) -> bytes:
        match report:
            case messages.Started():
                return self.telegram(b"S")
            case messages.DeckLoaded():
                self._drawn = 0
            case messages.CardDrawn(card=card):
                return self._tell_card(card)
            case messages.CardsDrawnTogether(cards=cards):
                return b"".join(map(self._tell_card, cards))
            case messages.Jammed():
                return self._fail(_JAM)
            case messages.JamCleared():
                return self._recover()
        return b""

    def receive(self, data: bytes) -> None:
        """Obey each order that is whole, and refuse it with a code otherwise."""
        for byte in data:
            if byte == STX:
                self._heard.clear()
            self._heard.append(byte)
            if len(self._heard) >= 3 and self._heard[-3] == ETX:
                order = bytes(self._heard)
                self._heard.clear()
                self.send(self._answer(order))

    def _answer(self, order: bytes) -> bytes:
        if bcc(order[:-2]) != order[-2:]:
            return bytes([NAK]) + b"02"
        kind, said = order[1:3], order[3:-3]
        if kind != b"OP":
            return bytes([NAK]) + b"13"
        if said not in _ORDERS and said[:2] != b"EC":
            return bytes([NAK]) + b"14"
        return bytes([ACK]) + self._carry_out(said)

    def _carry_out(self, said: bytes) -> bytes:
        if said[:2] == b"LK":
            self.locked = said == b"LK02"
            return self.telegram(b"L" + bytes([_BIT_7 | self.locked]))
        return self._recover() if said[:2] == b"EC" else b""

    def _tell_card(self, number: int) -> bytes:
        """In a game, as the shoe thinks, or outside one while it is locked. Unread, the shoe goes into error mode."""
        self._drawn += 1
        if not 1 <= number <= DECK_SIZE:
            return self._fail(_CARD_CODE if number == messages.FOREIGN else _CANNOT_READ)
        card = Card.numbered(number)
        face = _BIT_7 | _SUITS[card.suit] << 4 | card.rank
        if self.locked:
            return self.telegram(bytes([ord("d"), _BIT_7, face]))
        target = (self._drawn - 1) % 2  # Player and Banker in turn
        return self.telegram(bytes([ord("D"), _BIT_7 | target << 4 | (self._drawn - 1) // 2 % 16, face]))

    def _fail(self, error: int) -> bytes:
        self._error = error
        return self.telegram(b"E" + bytes([_BIT_7 | _ERROR_MODE | error]))

    def _recover(self) -> bytes:
        if not self._error:
            return b""
        error, self._error = self._error, 0
        return self.telegram(b"e" + bytes([_BIT_7 | error]))
