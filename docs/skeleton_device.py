"""The device's side of the skeleton's invented shoe: what its driver is tested with. docs/a_new_driver.md, step 7.

The base class has a mechanism of cards and gives each observation that it makes to `encode`. This side shares nothing
with the driver: a mistake made in one of them is then found by the other.
"""

from __future__ import annotations

from firmware_bridge import observations
from firmware_bridge.cards import Concealed
from firmware_bridge.observations import AnyObservation
from simulators.devices.one_way import OneWayDevice


class SkeletonDevice(OneWayDevice):
    """It sends a line for each card, jam and end of a jam, and nothing else."""

    baud = 9600
    _number = 0  # the number of the next line

    def encode(self, observation: AnyObservation) -> bytes:
        match observation:
            case observations.CardDrawn(card=card):
                return self._card(card)
            case observations.CardsDrawnTogether(cards=cards):
                return b"".join(map(self._card, cards))
            case observations.Jammed():
                return self._line("JAM")
            case observations.JamCleared():
                return self._line("FREE")
        return b""

    def _card(self, card: Concealed | None) -> bytes:
        return self._line("??" if card is None else card.expose().code)

    def _line(self, word: str) -> bytes:
        body = f"{self._number % 100:02},{word}"
        self._number += 1
        return f"{body},{sum(body.encode()) % 256:02X}\n".encode()
