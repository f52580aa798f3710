"""The types in which a document's wagers, limits and open readings are written down as data."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

import msgspec

Under: TypeAlias = tuple[tuple[str, str], ...]
"""A condition: data is in force only if every one of these settings has that option, as (setting, option) pairs."""


class Shape(StrEnum):
    """A fact about one hand, or about a box's hand and the Dealer's. The value is its wording in `cardshoe rules`."""

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
"""The shapes by which one of the two hands wins. Their prices may ask for the points of that hand."""

_FIGURES: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Looks(StrEnum):
    """The hands that decide a wager."""

    BOX = "box"
    DEALER = "dealer"
    BOTH = "both"


class Needs(StrEnum):
    """The wager that must lie on a box before a side wager may be placed there (reading 44)."""

    NOTHING = "nothing"
    OWN_MAIN = "a main wager of the same bettor"
    ANY_MAIN = "a main wager of any bettor"


class Setting(msgspec.Struct, frozen=True):
    """A reading of the document that a casino chooses. Without a `default` it must be chosen, with who and when.

    `reading` is its number in the list of readings in the program's documentation. `options` are (word, meaning).
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
    """The payment of a wager when a shape holds: `odds` net units for each unit staked.

    `name`: the name in the document's pay table; empty: only the wager's title. `points` (0 to 9), for shapes of
    `COMPARING` only: the higher hand must have this many. Documents use it to pay half for a win with six points.
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
        """The document's name with the fact that it stands for, or the name alone where it says the fact.

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
    """A kind of wager. The first price whose shape holds is paid; otherwise it is returned, or lost by `clause`.

    `defined`: the clause that defines it; empty: `clause` does. `returned_by`: hands among those of `returned` that
    have a clause of their own; the first that holds is cited. `on_dealer`: it lies once, on the Banker's own spot, and
    belongs to no box. A wager that two readings change by more than a price is listed twice, with the same id and
    another `under`.
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
    """The stakes to which minimum and maximum apply."""

    WAGER = "each wager"
    BOX = "all that lies for one kind of wager on a box"


class Excess(StrEnum):
    """The treatment of a stake over the maximum once bets are closed."""

    AS_IT_LIES = "as_it_lies"
    TO_MAXIMUM = "to_maximum"  # paid and collected to the maximum
    PRO_RATA = "pro_rata"  # the bettors of the box share the maximum


class Shortfall(StrEnum):
    """The treatment of a stake under the minimum once bets are closed."""

    AS_IT_LIES = "as_it_lies"
    ONCE = "once"  # settled the first time; after that, the bettor's are returned


class Viewer(StrEnum):
    """The person who looks at a hand on which several have bet."""

    UNSAID = "unsaid"
    FIRST_SEATED = "first_seated"  # the seated bettor who placed first on that box
    SEATED_ELSE_HIGHEST = "seated_else_highest"  # the bettor at the box, else the highest bettor


class Betting(msgspec.Struct, frozen=True):
    """A document's rules for placing and counting wagers. An empty clause: the document is silent.

    `late`, `late_withdrawal`: nothing may be placed or raised, or withdrawn, after "No more bets". `without_main`: a
    side wager needs a main one; `without_main_returned`: the clause that returns one without it (empty: a ruling
    decides). `most_wagers`: the most on a box, 0 unlimited. `one_hand_viewed`: a bettor may look at one hand only.
    `seated_first`: seated bettors' wagers precede standing ones'. `restricting`: a pit manager may keep a bettor to one
    box; `fewer_wagers`: and a box to fewer wagers. `seated_to_view`: only seated bettors may look at cards.
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
    """Return net odds as documents print them: `odds(1, 2)` is 1 to 2."""
    return Fraction(win, stake)
