"""Evidence that a shuffler looks at faces, which grows deck after deck like `evidence`, without an order in.

Each bet is on a card or a kind of card, a place, and a factor by which the kind comes there more or less often than its
share. A bet is multiplied by how much likelier the card at the place is under it; a place that is not shown changes
nothing. Under uniform orders each bet gains nothing on average, whatever went in and whatever came before, so that
their mixture ever reaches 1/a with a chance of at most a.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from firmware_bridge.cards import DECK
from shuffle_audit.evidence import bet_on, with_rest
from shuffle_audit.faces import Faces
from shuffle_audit.faces_at_places import sortings
from shuffle_audit.models.shuffle_model import LogRatios

FACTORS: Final = (0.0, 0.5, 2.0, 4.0, 16.0)
"""A factor that would make the kind come always, or more than that, is no bet."""


class _Bets(NamedTuple):
    """The bets: kinds with the faces that belong to each, and by kind and factor the logarithms of the gain."""

    names: tuple[str, ...]
    holds: npt.NDArray[np.bool_]
    comes: LogRatios
    comes_not: LogRatios


@cache
def _bets() -> _Bets:
    names = [card.code for card in DECK]
    holds = [np.arange(len(DECK)) == face for face in range(len(DECK))]
    for one in sortings():
        names += one.names
        holds += [one.of == kind for kind in range(len(one.names))]
    held = np.stack(holds)
    share = held.mean(axis=1)[:, None]
    often = share * np.array(FACTORS)
    often = np.where(often < 1, often, share)
    with np.errstate(divide="ignore"):
        return _Bets(tuple(names), held, np.log(often / share), np.log((1 - often) / (1 - share)))


class FaceEvidence:
    """The evidence of decks of 52 cards, by the faces of the orders out."""

    def __init__(self) -> None:
        self.decks = 0
        self.log = 0.0
        """The natural logarithm of the evidence so far."""
        bets = _bets()
        self._logs: LogRatios = np.full(bets.comes.size * len(DECK), -np.inf)

    def add(self, out: Faces) -> None:
        """Add a deck. `out` has the face at each place, or -1."""
        bets = _bets()
        held = bets.holds[:, out][:, None, :]
        ratios = np.where(held, bets.comes[:, :, None], bets.comes_not[:, :, None])
        ratios[:, :, out < 0] = 0.0
        self.decks += 1
        self._logs = bet_on(self._logs, self.decks, ratios.ravel())
        self.log = float(with_rest(self._logs, self.decks))

    @property
    def likeliest(self) -> str:
        """The bet that gained most, in words."""
        kind, rest = divmod(int(np.argmax(self._logs)), len(FACTORS) * len(DECK))
        factor, place = divmod(rest, len(DECK))
        often = "often" if FACTORS[factor] > 1 else "rarely"
        return f"{_bets().names[kind]} at place {place + 1}, too {often}"
