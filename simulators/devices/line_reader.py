"""A reader at the mouth of a shoe, which sends an identifier for each card that passes. It sends nothing for an unread
card.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from firmware_bridge import observations
from firmware_bridge.cards import DECK, Card, Concealed
from firmware_bridge.observations import AnyObservation
from simulators.devices.base import LoggedReport, recognised
from simulators.devices.one_way import OneWayDevice

TAGS_A_CARD: Final = 2


def simulated_identifiers() -> dict[str, Card]:
    """Return the card of each tag. A card has two tags, one at each end."""
    return {f"E2806894{card.number:04d}{tag:04d}": card for card in DECK for tag in range(TAGS_A_CARD)}


def write_card_table(path: Path) -> None:
    """Write these tags as the CSV that a daemon reads."""
    rows = "".join(f"{identifier},{card.code}\n" for identifier, card in simulated_identifiers().items())
    path.write_text(f"identifier,card\n{rows}", encoding="ascii")


class LineReaderDevice(OneWayDevice):
    """A simulated line reader. `ending` ends each line."""

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

    def encode(self, observation: AnyObservation) -> bytes:
        match observation:
            case observations.CardDrawn(card=card, foreign=foreign):
                return self._line(card, foreign > 0)
            case observations.CardsDrawnTogether(cards=cards, foreign=foreign):
                return b"".join(self._line(*one) for one in recognised(cards, foreign))
        return b""

    def _line(self, card: Concealed | None, foreign: bool) -> bytes:
        self._passed += 1
        if card is not None:
            number = card.expose().number
            return f"E2806894{number:04d}{self._passed % TAGS_A_CARD:04d}".encode("ascii") + self._ending
        return b"E2806894FFFF0000" + self._ending if foreign else b""
