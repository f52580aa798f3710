"""The shoe's side of Bee-Tek, as far as public sources tell, with the key switch at "Manual Burn Cards"."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from firmware_bridge.cards import DECK_SIZE, Card
from firmware_bridge.drivers.cardlink import messages
from simulators.devices.one_way import TellingDevice
from simulators.devices.simulated_device import LoggedReport


class BeeTekDevice(TellingDevice):
    """`mode` is what stands before each card."""

    baud = 9600

    def __init__(
        self,
        *,
        serial: str = "",
        random: Random,
        log: Callable[[LoggedReport], None] = lambda line: None,
        mode: str = "Manual Burn Cards",
    ) -> None:
        self._mode = mode
        super().__init__(serial=serial, random=random, log=log)

    def tell(self, report: messages.Report) -> bytes:
        match report:
            case messages.CardDrawn(card=card):
                return self._tell_card(card)
            case messages.CardsDrawnTogether(cards=cards):
                return b"".join(map(self._tell_card, cards))
            case messages.Jammed():
                return self._item("GameAlarm", "Alarm:E7 Card Jam")
        return b""

    def _tell_card(self, number: int) -> bytes:
        if 1 <= number <= DECK_SIZE:
            return self._item(self._mode, f"Card:{Card.numbered(number).code}")
        return self._item(self._mode, "Alarm:E3 Card Not Read") + self._item(self._mode, self._mode)

    def _item(self, mode: str, said: str) -> bytes:
        return f" [{mode}]<{said}> \r\n".encode("ascii")
