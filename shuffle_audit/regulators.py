"""The chi-square of card against position, as regulators ask for it: a verdict at 95 % and at 99 %, in two forms.

A regulator means the card by its name. If each deck goes in as the last one came out, that is not the place from which
it came: a shuffler that looks at faces shows in the cards, one that mixes badly in the places. Both are tested, and
they have the same distribution under uniform orders.

The naive form treats the statistic as chi-square with (n - 1)^2 degrees of freedom. It is n / (n - 1) times as large,
so with many decks of 52 cards the naive form fails a good shuffler in 17 % instead of 5 % of audits, and in 5 % instead
of 1 %. The exact form takes its chance from simulated decks.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec
import numpy as np

from shuffle_audit.models.shelf import Shelves
from shuffle_audit.orders import Stored
from shuffle_audit.sampled import CARD_POSITION, Nulls, card_position

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


Of = Literal["card", "place in"]
"""What is compared with the place in the order out: the card by its name, or its place in the order in."""


class ChiSquare(msgspec.Struct, frozen=True):
    """Chi-square against the place out, of `decks` decks. `each` is the expected count of a cell, `freedom` the degrees
    of freedom. `forms` are naive, then exact. `finds` is the share of simulated audits of as many decks in which the
    exact form fails `BAD` at 95 %; null for cards, for one deck, and if there are enough decks for the naive form.
    """

    of: Of
    decks: int
    statistic: float
    freedom: int
    each: float
    forms: tuple[TestForm, ...]
    finds: float | None = None


def chi_square(of: Of, orders: Stored, nulls: Nulls, random: np.random.Generator | None = None) -> ChiSquare:
    """Test these decks; for cards, `orders` has the number of each card. With `random`, `finds` is simulated."""
    found = card_position(orders, nulls)
    decks, cards = orders.shape
    if decks == 1:
        untested = tuple(TestForm(form, None, (None,) * len(CONFIDENCES)) for form in ("naive", "exact"))
        return ChiSquare(of, decks, found.statistic, found.freedom, found.each, untested)
    forms = tuple(
        TestForm(
            "naive" if naive else "exact",
            found.naive_p if naive else found.p,
            tuple(found.passes(confidence, naive=naive) for confidence in CONFIDENCES),
        )
        for naive in (True, False)
    )
    finds = _finds(decks, cards, nulls, random) if random is not None and found.each < ENOUGH else None
    return ChiSquare(of, decks, found.statistic, found.freedom, found.each, forms, finds)


def _finds(decks: int, cards: int, nulls: Nulls, random: np.random.Generator) -> float:
    """Return the share of failures, with p as `Nulls.p` computes it."""
    null = nulls.excess(CARD_POSITION, decks, cards)
    found = [CARD_POSITION.measured_of(BAD.shuffle(random, decks, cards)) for _ in range(AUDITS)]
    reached = len(null) - np.searchsorted(null, np.array(found) - CARD_POSITION.mean(cards))
    return float(((1 + reached) / (1 + len(null)) <= 1 - CONFIDENCES[0]).mean())
