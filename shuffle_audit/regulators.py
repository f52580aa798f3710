"""The chi-square of card against position, as regulators ask for it: a verdict at 95 % and at 99 %, in two forms.

The naive form treats the statistic as chi-square with (n - 1)^2 degrees of freedom. It is n / (n - 1) times as large,
so with many decks of 52 cards the naive form fails a good shuffler in 17 % instead of 5 % of audits, and in 5 % instead
of 1 %. The exact form takes its chance from simulated decks.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np

from shuffle_audit.models.shelf import Shelves
from shuffle_audit.orders import Orders
from shuffle_audit.sampled import CARD_POSITION, Nulls, card_against_position, card_position

CONFIDENCES: Final = (0.95, 0.99)
BAD: Final = Shelves(10)
AUDITS: Final = 100  # simulated, of that machine
ENOUGH: Final = 5.0
"""The expected count of each cell from which the naive form may be used."""


class TestForm(msgspec.Struct, frozen=True):
    """A form of the test: `p`, and the verdicts at `CONFIDENCES`. Null for one deck, whose statistic is constant."""

    form: str
    p: float | None
    passes: tuple[bool | None, ...]


class ChiSquare(msgspec.Struct, frozen=True):
    """Chi-square of card against position. `each` is the expected count of a cell, `freedom` the degrees of freedom.
    `forms` are naive, then exact. `finds` is the share of simulated audits of as many decks in which the exact form
    fails `BAD` at 95 %; null for one deck, and if there are enough decks for the naive form.
    """

    statistic: float
    freedom: int
    each: float
    forms: tuple[TestForm, ...]
    finds: float | None = None


def chi_square(orders: Orders, nulls: Nulls, random: np.random.Generator) -> ChiSquare:
    """Test these decks. `random` is for `finds`."""
    found = card_position(orders, nulls)
    if len(orders) == 1:
        untested = tuple(TestForm(form, None, (None,) * len(CONFIDENCES)) for form in ("naive", "exact"))
        return ChiSquare(found.statistic, found.freedom, found.each, untested)
    forms = tuple(
        TestForm(
            "naive" if naive else "exact",
            found.naive_p if naive else found.p,
            tuple(found.passes(confidence, naive=naive) for confidence in CONFIDENCES),
        )
        for naive in (True, False)
    )
    decks, cards = orders.shape
    finds = _finds(decks, cards, nulls, random) if found.each < ENOUGH else None
    return ChiSquare(found.statistic, found.freedom, found.each, forms, finds)


def _finds(decks: int, cards: int, nulls: Nulls, random: np.random.Generator) -> float:
    """Return the share of failures, with p as `Nulls.p` computes it."""
    null = nulls.excess(CARD_POSITION, decks, cards)
    found = [card_against_position(BAD.shuffle(random, decks, cards)[None])[0] for _ in range(AUDITS)]
    reached = len(null) - np.searchsorted(null, np.array(found) - CARD_POSITION.mean(cards))
    return float(((1 + reached) / (1 + len(null)) <= 1 - CONFIDENCES[0]).mean())
