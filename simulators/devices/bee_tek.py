"""The shoe's side of Bee-Tek, as far as public sources describe it, with the key switch at "Manual Burn Cards".

Each protocol has a module; this one is the example of docs/a_new_driver.md.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from firmware_bridge import observations
from firmware_bridge.cards import Concealed
from firmware_bridge.observations import AnyObservation
from simulators.devices.base import LoggedReport
from simulators.devices.one_way import OneWayDevice


class BeeTekDevice(OneWayDevice):
    """A simulated Bee-Tek shoe. `mode` precedes each card."""

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

    def encode(self, observation: AnyObservation) -> bytes:
        match observation:
            case observations.CardDrawn(card=card):
                return self._encode_card(card)
            case observations.CardsDrawnTogether(cards=cards):
                return b"".join(map(self._encode_card, cards))
            case observations.Jammed():
                return self._item("GameAlarm", "Alarm:E7 Card Jam")
        return b""

    def _encode_card(self, card: Concealed | None) -> bytes:
        if card is not None:
            return self._item(self._mode, f"Card:{card.expose().code}")
        return self._item(self._mode, "Alarm:E3 Card Not Read") + self._item(self._mode, "Game")

    def _item(self, mode: str, content: str) -> bytes:
        return f" [{mode}]<{content}> \r\n".encode("ascii")
