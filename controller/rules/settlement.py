"""What one wager comes to, from whole hands. Odds are exact fractions of the stake."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import msgspec

from controller.games.wagers import Wager
from controller.rules.law import Law
from controller.rules.shapes import Cards, holds


class Verdict(StrEnum):
    WON = "won"
    LOST = "lost"
    RETURNED = "returned"


class Settled(msgspec.Struct, frozen=True):
    """One wager's outcome. `net` is what the bettor gains for each unit staked: -1 when lost, 0 when returned."""

    verdict: Verdict
    net: Fraction
    clause: str
    because: str


def settle(law: Law, wager: Wager, box: Cards, dealer: Cards) -> Settled:
    """The outcome of one wager on a box whose hand is `box`; a hand that the wager does not look at may be empty.

    Raises `SettingError` where a reading that it depends on must be chosen and is not.
    """
    for price in law.prices(wager):
        if holds(price.shape, wager.looks, box, dealer):
            return Settled(Verdict.WON, price.odds, price.clause, price.shape.value)
    if wager.returned is not None and holds(wager.returned, wager.looks, box, dealer):
        return Settled(Verdict.RETURNED, Fraction(0), wager.returned_clause, wager.returned.value)
    return Settled(Verdict.LOST, Fraction(-1), wager.clause, "none of what it pays on")
