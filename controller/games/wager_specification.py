"""The words in which a document's wagers, its limits and its open readings are written down as data."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

import msgspec

Under: TypeAlias = tuple[tuple[str, str], ...]
"""In force only where every one of these settings has that option: (setting, option) pairs."""


class Shape(StrEnum):
    """A fact about one hand, or about a box's hand and the Dealer's. The value is how `cardshoe rules` puts it."""

    HIGHER = "the box's hand ranks higher than the Dealer's"
    LOWER = "the Dealer's hand ranks higher than the box's"
    SAME_RANKING = "both hands have the same ranking"
    SAME_POINTS = "both hands have the same points"
    SAME_POINTS_BELOW_THREE_PICTURES = "both hands have the same points, three pictures having none"
    SAME_RANKS = "both hands are of the same three ranks"
    THREE_PICTURES = "three pictures"
    THREE_PICTURES_EITHER = "three pictures in either hand"
    THREE_PICTURES_BOTH = "three pictures in both hands"
    THREE_KINGS = "three kings"
    THREE_QUEENS = "three queens"
    THREE_JACKS = "three jacks"
    PICTURE_PAIR = "two pictures of the same rank and a card that is no picture"
    ANY_KING = "exactly one king, not in three pictures"
    MATCHED_ONE = "one picture of the box's hand matches one of the Dealer's"
    MATCHED_TWO = "two pictures match"
    MATCHED_THREE = "three pictures match"
    STRAIGHT_FLUSH = "three consecutive ranks of one suit"
    THREE_OF_A_KIND = "three cards of one rank"
    STRAIGHT = "three consecutive ranks"
    FLUSH = "three cards of one suit"
    PAIR = "two cards of one rank"


COMPARING: Final = frozenset({Shape.HIGHER, Shape.LOWER})
"""The shapes that one of the two hands wins: their prices may ask for the points of that hand."""

_FIGURES: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Looks(StrEnum):
    """Which hands decide a wager."""

    BOX = "box"
    DEALER = "dealer"
    BOTH = "both"


class Needs(StrEnum):
    """What must lie on a box before a side wager may be placed there (reading 44)."""

    NOTHING = "nothing"
    OWN_MAIN = "a main wager of the same bettor"
    ANY_MAIN = "a main wager of any bettor"


class Setting(msgspec.Struct, frozen=True):
    """A reading of the document that a casino chooses. `default` empty: it must be chosen, with who and when.

    `reading` is its number among the readings that the program's documentation lists. `options` are (word, meaning).
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

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for word, _ in self.options)


class Price(msgspec.Struct, frozen=True):
    """What a wager wins when a shape holds: `odds` net units for each unit staked.

    `name`: what the document calls it in its pay table; empty: nothing but the wager's own title. `points` (0 to 9):
    only if the hand that ranks higher has so many; for a shape of `COMPARING` alone. That is how a document pays half
    for a win with six points.
    """

    shape: Shape
    odds: Fraction
    clause: str
    under: Under = ()
    points: int | None = None
    name: str = ""

    @property
    def pays_on(self) -> str:
        """The fact in words.

        >>> Price(Shape.HIGHER, odds(1, 2), "NC 4.1", points=6).pays_on
        "the box's hand ranks higher, with six points"
        """
        return self.shape.value if self.points is None else _with_points(self.shape, self.points)

    @property
    def called(self) -> str:
        """The document's name with the fact that it stands for; the name alone where it says the fact.

        >>> Price(Shape.ANY_KING, odds(1), "RTP 4.2", name="Any King").called
        'Any King: exactly one king, not in three pictures'
        >>> Price(Shape.THREE_KINGS, odds(188), "RTP 4.2", name="Three Kings").called
        'Three Kings'
        """
        says_it = self.name.lower() == self.pays_on
        return self.name if says_it else f"{self.name}: {self.pays_on}" if self.name else self.pays_on


@cache
def _with_points(shape: Shape, points: int) -> str:
    fact, _, _ = shape.value.partition(" than ")
    return f"{fact}, with {_FIGURES[points]} point{'' if points == 1 else 's'}"


class Wager(msgspec.Struct, frozen=True):
    """A kind of wager. The first price whose shape holds is paid; else it is returned, or it is lost by `clause`.

    `defined`: the clause that says what it is; empty: `clause` says that too. `returned_by`: hands among those of
    `returned` for which the document has a clause of their own; the first that holds is cited. `on_dealer`: it lies
    once, on the Banker's own spot, and belongs to no box. A document's wager that two readings change by more than a
    price stands twice, with the same id and another `under`.
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
    under: Under = ()
    defined: str = ""
    returned_by: tuple[tuple[Shape, str], ...] = ()

    @property
    def heading_clause(self) -> str:
        """The clause under which the wager is shown."""
        return self.defined or self.clause


class LimitOf(StrEnum):
    """What minimum and maximum are compared with."""

    WAGER = "each wager"
    BOX = "all that lies for one kind of wager on a box"


class Excess(StrEnum):
    """What becomes of more than the maximum, once bets are closed."""

    AS_IT_LIES = "as_it_lies"
    TO_MAXIMUM = "to_maximum"  # paid and collected to the maximum
    PRO_RATA = "pro_rata"  # the bettors of the box share the maximum


class Shortfall(StrEnum):
    """What becomes of less than the minimum, once bets are closed."""

    AS_IT_LIES = "as_it_lies"
    ONCE = "once"  # settled the first time; from then on that bettor's are returned


class Viewer(StrEnum):
    """Who looks at a hand on which several have bet."""

    UNSAID = "unsaid"
    FIRST_SEATED = "first_seated"  # the seated bettor who placed first on that box
    SEATED_ELSE_HIGHEST = "seated_else_highest"  # the bettor at the box, or else the highest bet


class Betting(msgspec.Struct, frozen=True):
    """What a document says of placing and counting wagers. An empty clause: the document is silent.

    `late`, `late_withdrawal`: nothing may be placed or raised, or withdrawn, after "No more bets". `without_main`: a
    side wager needs a main one; `without_main_returned`: the clause by which one that lies without is returned (empty:
    a ruling decides). `most_wagers`: so many on a box at most, 0 unlimited. `one_hand_viewed`: a bettor looks at one
    hand only. `seated_first`: seated bettors' wagers count before standing ones'. `restricting`: a pit manager may
    keep a bettor to one box; `fewer_wagers`: and a box to fewer wagers. `seated_to_view`: only who sits may look.
    """

    limit_of: LimitOf
    limits: str = ""
    excess: Excess = Excess.AS_IT_LIES
    excess_clause: str = ""
    shortfall: Shortfall = Shortfall.AS_IT_LIES
    shortfall_clause: str = ""
    late: str = ""
    late_withdrawal: str = ""
    without_main: str = ""
    without_main_returned: str = ""
    most_wagers: int = 0
    most_wagers_clause: str = ""
    one_hand_viewed: str = ""
    seated_first: str = ""
    restricting: str = ""
    fewer_wagers: str = ""
    seated_to_view: str = ""
    viewer: Viewer = Viewer.UNSAID
    viewer_clause: str = ""
    walked_away: str = ""


def odds(win: int, stake: int = 1) -> Fraction:
    """Net odds as documents print them: `odds(1, 2)` is 1 to 2."""
    return Fraction(win, stake)
