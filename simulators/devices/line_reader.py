"""A reader at the mouth of a shoe: an identifier a line for each card that goes by. An unread card leaves no line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from firmware_bridge.cards import DECK, DECK_SIZE, Card
from firmware_bridge.drivers.cardlink import messages
from simulators.devices.one_way import TellingDevice
from simulators.devices.simulated_device import LoggedReport

TAGS_A_CARD: Final = 2


def simulated_identifiers() -> dict[str, Card]:
    """The card of each tag: two tags a card, as where both ends of a card carry one."""
    return {f"E2806894{card.number:04d}{tag:04d}": card for card in DECK for tag in range(TAGS_A_CARD)}


def write_card_table(path: Path) -> None:
    """These tags as the CSV that a daemon reads."""
    rows = "".join(f"{identifier},{card.code}\n" for identifier, card in simulated_identifiers().items())
    path.write_text(f"identifier,card\n{rows}", encoding="ascii")


class LineReaderDevice(TellingDevice):
    """`ending` ends each line."""

    baud = 9600

    def __init__(
        self,
        *,
        serial: str = "",
        random: Random,
        log: Callable[[LoggedReport], None] = lambda line: None,
        ending: bytes = b"\r\n",
    ) -> None:
        self._ending = ending
        self._passed = 0
        super().__init__(serial=serial, random=random, log=log)

    def tell(self, report: messages.Report) -> bytes:
        match report:
            case messages.CardDrawn(card=card):
                return self._line(card)
            case messages.CardsDrawnTogether(cards=cards):
                return b"".join(map(self._line, cards))
        return b""

    def _line(self, number: int) -> bytes:
        self._passed += 1
        if 1 <= number <= DECK_SIZE:
            return f"E2806894{number:04d}{self._passed % TAGS_A_CARD:04d}".encode("ascii") + self._ending
        return b"E2806894FFFF0000" + self._ending if number == messages.FOREIGN else b""
