"""The types in which a document's wagers, limits and open readings are written down as data."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import Final, TypeAlias

import msgspec

from firmware_bridge.messages import Message, counted, message

Under: TypeAlias = tuple[tuple[str, str], ...]
"""A condition: data is in force only if every one of these settings has that option, as (setting, option) pairs."""


class Shape(StrEnum):
    """A fact about one hand, or about a box's hand and the Dealer's."""

    HIGHER = "higher"
    LOWER = "lower"
    SAME_RANKING = "same_ranking"
    SAME_POINTS = "same_points"
    SAME_POINTS_BELOW_THREE_PICTURES = "same_points_below_three_pictures"
    SAME_RANKS = "same_ranks"
    THREE_PICTURES = "three_pictures"
    THREE_PICTURES_EITHER = "three_pictures_either"
    THREE_PICTURES_BOTH = "three_pictures_both"
    THREE_KINGS = "three_kings"
    THREE_QUEENS = "three_queens"
    THREE_JACKS = "three_jacks"
    PICTURE_PAIR = "picture_pair"
    ANY_KING = "any_king"
    MATCHED_ONE = "matched_one"
    MATCHED_TWO = "matched_two"
    MATCHED_THREE = "matched_three"
    STRAIGHT_FLUSH = "straight_flush"
    THREE_OF_A_KIND = "three_of_a_kind"
    STRAIGHT = "straight"
    FLUSH = "flush"
    PAIR = "pair"


SHAPES: Final[dict[Shape, Message]] = {
    Shape.HIGHER: message("the {box}'s hand ranks higher than the {dealer}'s"),
    Shape.LOWER: message("the {dealer}'s hand ranks higher than the {box}'s"),
    Shape.SAME_RANKING: message("both hands have the same ranking"),
    Shape.SAME_POINTS: message("both hands have the same points"),
    Shape.SAME_POINTS_BELOW_THREE_PICTURES: message("both hands have the same points, three pictures having none"),
    Shape.SAME_RANKS: message("both hands have the same three ranks"),
    Shape.THREE_PICTURES: message("three pictures"),
    Shape.THREE_PICTURES_EITHER: message("three pictures in either hand"),
    Shape.THREE_PICTURES_BOTH: message("three pictures in both hands"),
    Shape.THREE_KINGS: message("three kings"),
    Shape.THREE_QUEENS: message("three queens"),
    Shape.THREE_JACKS: message("three jacks"),
    Shape.PICTURE_PAIR: message("two pictures of the same rank and a card that is not a picture"),
    Shape.ANY_KING: message("exactly one king, not in three pictures"),
    Shape.MATCHED_ONE: message("one picture of the {box}'s hand matches one of the {dealer}'s"),
    Shape.MATCHED_TWO: message("two pictures match"),
    Shape.MATCHED_THREE: message("three pictures match"),
    Shape.STRAIGHT_FLUSH: message("three consecutive ranks of one suit"),
    Shape.THREE_OF_A_KIND: message("three cards of one rank"),
    Shape.STRAIGHT: message("three consecutive ranks"),
    Shape.FLUSH: message("three cards of one suit"),
    Shape.PAIR: message("two cards of one rank"),
}
"""The facts in words."""

COMPARING: Final = frozenset({Shape.HIGHER, Shape.LOWER})
"""The shapes by which one of the two hands wins. Their prices may ask for the points of that hand."""


class Looks(StrEnum):
    """The hands that decide a wager."""

    BOX = "box"
    DEALER = "dealer"
    BOTH = "both"


class Needs(StrEnum):
    """The main wager that a box must have before a side wager may be placed on it (reading 44)."""

    NOTHING = "nothing"
    OWN_MAIN = "own_main"  # a main wager of the same bettor
    ANY_MAIN = "any_main"  # a main wager of any bettor


class Setting(msgspec.Struct, frozen=True):
    """A reading of the document that a casino chooses. Without a `default` it must be chosen, with who and when.

    `reading` is its number in the list of readings in the program's documentation. `options` are (word, meaning).
    """

    id: str
    reading: int
    clause: str
    question: Message
    options: tuple[tuple[str, Message], ...]
    default: str = ""

    @property
    def must_be_chosen(self) -> bool:
        return not self.default

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(word for word, _ in self.options)


class Price(msgspec.Struct, frozen=True):
    """The payment of a wager when a shape holds: `odds` net units for each unit staked.

    `name`: the name in the document's pay table; None: only the wager's title. `points` (0 to 9), for shapes of
    `COMPARING` only: the higher hand must have this many. Documents use it to pay half for a win with six points.
    """

    shape: Shape
    odds: Fraction
    clause: str
    under: Under = ()
    points: int | None = None
    name: Message | None = None

    @property
    def pays_on(self) -> Message:
        """The fact in words, in which a game puts its own names of the owners of hands (`OwnWords.own`).

        >>> str(Price(Shape.HIGHER, odds(1, 2), "NC 4.1", points=6).pays_on)
        "the {box}'s hand ranks higher, with 6 points"
        """
        if self.points is None:
            return SHAPES[self.shape]
        if self.shape is Shape.LOWER:
            return counted(
                "the {dealer}'s hand ranks higher, with 1 point",
                "the {dealer}'s hand ranks higher, with {count} points",
                self.points,
            )
        return counted(
            "the {box}'s hand ranks higher, with 1 point",
            "the {box}'s hand ranks higher, with {count} points",
            self.points,
        )

    @property
    def called(self) -> Message:
        """The document's name with the fact that it means, or only the name if it states the fact.

        >>> str(Price(Shape.ANY_KING, odds(1), "RTP 4.2", name=message("Any King")).called)
        'Any King: exactly one king, not in three pictures'
        >>> str(Price(Shape.THREE_KINGS, odds(188), "RTP 4.2", name=message("Three Kings")).called)
        'Three Kings'
        """
        if self.name is None:
            return self.pays_on
        if self.name.id.lower() == self.pays_on.id.lower():
            return self.name
        return message("{name}: {fact}", name=self.name, fact=self.pays_on)


class Wager(msgspec.Struct, frozen=True):
    """A kind of wager. The first price whose shape holds is paid; otherwise it is returned, or lost by `clause`.

    `defined`: the clause that defines it; empty: `clause` does. `returned_by`: hands among those of `returned` that
    have a clause of their own; the first that holds is cited. `on_dealer`: it is placed once, on the Banker's own spot,
    and belongs to no box. A wager in which two readings change more than a price is listed twice, with the
    same id and another `under`.
    """

    id: str
    title: Message
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

    WAGER = "wager"
    BOX = "box"  # all bets of one kind of wager on a box


class Excess(StrEnum):
    """The treatment of a stake above the maximum once bets are closed."""

    AS_IT_LIES = "as_it_lies"
    TO_MAXIMUM = "to_maximum"  # paid and collected to the maximum
    PRO_RATA = "pro_rata"  # the bettors of the box share the maximum


class Shortfall(StrEnum):
    """The treatment of a stake below the minimum once bets are closed."""

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
