"""The clauses of SK: the irregularity table, and the reading of each clause.

The first row that fits applies, so put the special one before the general one. People are asked for a fact that a row
names and that is not known. The number of a row (I01 to I28) follows from its kind and facts. If no row fits, the
shift manager decides (SK 5.5).
"""

from typing import Final

from controller.games.common import UNTIL_NEXT, cannot_tell, counted_by_hand, foreign_card, late_bets, stands
from controller.games.specification import Choice, Disposition, Facts, Kind, Option, Provision, Row
from firmware_bridge.messages import message

CHOICE: Final = (
    Option(Choice.CONTINUE, "SK 4.2", message("the hand goes on")),
    Option(Choice.WITHDRAW, "SK 4.2", message("the wager is returned")),
)

# A count by hand comes out wrong or right: each needs its row, and `counted_by_hand` writes both. The second has no
# clause.
DECK: Final = (
    foreign_card("SK 4.1"),
    *stands("SK 5.1", Kind.FOREIGN_CARD),
    *counted_by_hand(Kind.DECK_COUNT, wrong="SK 5.2"),
    *counted_by_hand(Kind.COUNT_IN_DOUBT, wrong="SK 5.2"),
)

DEAL: Final = (
    Row(
        Kind.EXPOSED_CARD,
        "SK 4.2",
        Disposition.OPTIONS,
        message("a card was exposed in dealing, and cards were handled"),
        when=Facts(handled=True),
        options=CHOICE,
    ),
    Row(
        Kind.EXPOSED_CARD,
        "SK 4.3",
        Disposition.VOID,
        message("a card was exposed in dealing before any cards were handled"),
        when=Facts(handled=False),
    ),
    # A row that removes a hand says that it is not the Dealer's: no round is settled without the Dealer's hand.
    Row(
        Kind.WRONG_COUNT,
        "SK 5.3",
        Disposition.VOID,
        message("the Dealer's hand has a wrong number of cards"),
        when=Facts(dealer_hand=True),
    ),
    Row(
        Kind.WRONG_COUNT,
        "SK 5.3",
        Disposition.REMOVE_HAND,
        message("a Player's hand has a wrong number of cards"),
        when=Facts(dealer_hand=False),
        noticed=UNTIL_NEXT,
    ),
)

# Whether an outcome is established follows from the wagers entered. `cannot_tell` comes first: it is the row for rounds
# without them.
POWER: Final = (
    cannot_tell(Kind.POWER_FAILURE, "SK 5.5", Facts()),
    Row(
        Kind.POWER_FAILURE,
        "SK 5.4",
        Disposition.CONTINUE,
        message("the power failed when an outcome was established"),
        when=Facts(established=True),
    ),
    Row(
        Kind.POWER_FAILURE,
        "SK 5.4",
        Disposition.VOID,
        message("the power failed before an outcome was established"),
        when=Facts(established=False),
    ),
)

IRREGULARITIES: Final = (*DECK, *DEAL, *POWER, *late_bets(placed="SK 1.2", withdrawn="SK 1.2"))

# Each clause has its reading by the program, in your own words, or the reason why it is outside: exactly one of both.
PROVISIONS: Final[tuple[Provision, ...]] = (
    Provision("SK 1.1", reading=message("the announcement begins the round")),
    Provision("SK 1.2", reading=message("nothing is placed or withdrawn after it")),
    Provision(
        "SK 2.1", reading=message("the higher ranking wins even money, half with seven points; equal is returned")
    ),
    Provision("SK 2.2", reading=message("the Tie wager wins 8 to 1 on equal points, or ranking as the setting says")),
    Provision("SK 2.3", reading=message("three cards of one suit pay 5 to 1, 40 to 1 if they are consecutive")),
    Provision("SK 3.1", reading=message("sets go hand by hand")),
    Provision("SK 3.2", reading=message("single cards go round by round")),
    Provision("SK 3.3", reading=message("hands are examined")),
    Provision("SK 3.4", reading=message("the Dealer exposes last")),
    Provision("SK 4.1", reading=message("a foreign card voids, and all wagers are returned")),
    Provision("SK 4.2", reading=message("after handling, an exposed card gives each bettor a choice")),
    Provision("SK 4.3", reading=message("before it, an exposed card voids")),
    Provision("SK 5.1", reading=message("results of an earlier round stand")),
    Provision("SK 5.2", reading=message("a count by hand that comes out wrong voids the round")),
    Provision("SK 5.3", reading=message("a wrong number of cards voids at the Dealer's hand and removes a Player's")),
    Provision(
        "SK 5.4", reading=message("after a power failure an established outcome is played out, otherwise all is void")
    ),
    Provision("SK 5.5", reading=message("the rest is the shift manager's to rule on")),
    Provision("SK 5.6", outside=message("the colour of the layout is not a matter for a dealing device")),
)
