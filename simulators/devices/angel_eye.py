"""The shoe's side of Angel Eye II-EX, as far as public sources describe it (docs/other_devices.md).

It shares only the framing of telegrams with the host's side; the tests read both with an independent decoder.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from firmware_bridge import observations
from firmware_bridge.cards import Concealed
from firmware_bridge.drivers.angel_eye import ACK, ETX, NAK, STX, bcc, encode_telegram
from firmware_bridge.observations import AnyObservation
from simulators.devices.base import LoggedReport, recognised
from simulators.devices.one_way import OneWayDevice

COPIES: Final = 3
_BIT_7: Final = 0x80
_ERROR_MODE: Final = 0x40
_HANDS: Final = 2  # Player and Banker
_IN_A_HAND: Final = 3  # the most cards in a baccarat hand
_SUITS: Final = {"D": 1, "C": 2, "S": 3, "H": 4}
_JAM: Final = 5  # reverse run midway
_CANNOT_READ: Final = 1
_CARD_CODE: Final = 6
_ORDERS: Final = {b"LK01", b"LK02", b"GP00"}


class AngelEyeDevice(OneWayDevice):
    """A simulated Angel Eye. It numbers telegrams with the characters from `first` to `last`, and then starts over.

    Cards go to Player and Banker in turn, three each, then to the next game: every one has the index 1, 2 or 3 that
    public readers expect.
    """

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
        self._received = bytearray()
        super().__init__(serial=serial, random=random, log=log)

    def telegram(self, data: bytes) -> bytes:
        """Return a telegram under the next seq, three times."""
        sent = encode_telegram(self._seq, data) * COPIES
        self._seq = self._first if self._seq == self._last else self._seq + 1
        return sent

    def encode(self, observation: AnyObservation) -> bytes:
        match observation:
            case observations.Started():
                return self.telegram(b"S")
            case observations.DeckLoaded():
                self._drawn = 0
            case observations.CardDrawn(card=card, foreign=foreign):
                return self._encode_card(card, foreign > 0)
            case observations.CardsDrawnTogether(cards=cards, foreign=foreign):
                return b"".join(self._encode_card(*one) for one in recognised(cards, foreign))
            case observations.Jammed():
                return self._fail(_JAM)
            case observations.JamCleared():
                return self._recover()
        return b""

    def receive(self, data: bytes) -> None:
        """Obey each whole order, or refuse it with a code."""
        for byte in data:
            if byte == STX:
                self._received.clear()
            self._received.append(byte)
            if len(self._received) >= 3 and self._received[-3] == ETX:
                order = bytes(self._received)
                self._received.clear()
                self.send(self._answer(order))

    def _answer(self, order: bytes) -> bytes:
        if bcc(order[:-2]) != order[-2:]:
            return bytes([NAK]) + b"02"
        kind, content = order[1:3], order[3:-3]
        if kind != b"OP":
            return bytes([NAK]) + b"13"
        if content not in _ORDERS and content[:2] != b"EC":
            return bytes([NAK]) + b"14"
        return bytes([ACK]) + self._carry_out(content)

    def _carry_out(self, content: bytes) -> bytes:
        if content[:2] == b"LK":
            self.locked = content == b"LK02"
            return self.telegram(b"L" + bytes([_BIT_7 | self.locked]))
        return self._recover() if content[:2] == b"EC" else b""

    def _encode_card(self, seen: Concealed | None, foreign: bool) -> bytes:
        """Encode a card: of a game, or of none if locked. An unread card puts the shoe into error mode."""
        self._drawn += 1
        if seen is None:
            return self._fail(_CARD_CODE if foreign else _CANNOT_READ)
        card = seen.expose()
        face = _BIT_7 | _SUITS[card.suit] << 4 | card.rank
        if self.locked:
            return self.telegram(bytes([ord("d"), _BIT_7, face]))
        before, target = divmod(self._drawn - 1, _HANDS)
        return self.telegram(bytes([ord("D"), _BIT_7 | target << 4 | before % _IN_A_HAND + 1, face]))

    def _fail(self, error: int) -> bytes:
        self._error = error
        return self.telegram(b"E" + bytes([_BIT_7 | _ERROR_MODE | error]))

    def _recover(self) -> bytes:
        if not self._error:
            return b""
        error, self._error = self._error, 0
        return self.telegram(b"e" + bytes([_BIT_7 | error]))
