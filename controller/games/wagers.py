"""The words in which a document's wagers and choices are written down as data."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

import msgspec

from controller.rules.shapes import Looks, Shape


class Needs(StrEnum):
    """What must lie on the layout before a side wager may be placed (reading 44)."""

    NOTHING = "nothing"
    OWN_MAIN = "a main wager of the same bettor on the box"
    ANY_MAIN = "a main wager of anybody on the box"


class Setting(msgspec.Struct, frozen=True):
    """A reading of the document that a casino chooses. `default` empty: it must be chosen, with who and when.

    `options` are (word, meaning) pairs. `reading` is its number among the readings of this program.
    """

    id: str
    reading: int
    clause: str
    question: str
    options: tuple[tuple[str, str], ...]
    default: str = ""

    @property
    def must_be_chosen(self) -> bool:
        return not self.default


class Price(msgspec.Struct, frozen=True):
    """What a wager wins when a shape holds: `odds` net units for each unit staked.

    `under`: only where that setting has that option.
    """

    shape: Shape
    odds: Fraction
    clause: str
    under: tuple[str, str] | None = None


class Wager(msgspec.Struct, frozen=True):
    """A kind of wager. The first price whose shape holds is paid; else it is returned, or it is lost.

    `on_dealer`: it lies once on the Dealer's or Banker's spot, not on a box.
    """

    id: str
    title: str
    looks: Looks
    prices: tuple[Price, ...]
    clause: str
    returned: Shape | None = None
    returned_clause: str = ""
    needs: Needs = Needs.NOTHING
    main: bool = False
    on_dealer: bool = False
    under: tuple[str, str] | None = None


def odds(win: int, stake: int = 1) -> Fraction:
    """Net odds as documents print them: `odds(1, 2)` is 1 to 2."""
    return Fraction(win, stake)
