"""The irregularity table of SK. What no row provides for is referred to the shift manager (SK 5.5).

The first row that fits applies, so the special one stands before the general one. A fact that a row names and that is
not stated is asked for. The number of a row (I01 to I28) is found by its kind and facts.
"""

from typing import Final

from controller.games.common import UNTIL_NEXT, cannot_tell, counted, foreign_card, late_bets, stands
from controller.games.specification import Choice, Disposition, Facts, Kind, Option, Row
from firmware_bridge.messages import message

CHOICE: Final = (
    Option(Choice.CONTINUE, "SK 4.2", message("the hand goes on")),
    Option(Choice.WITHDRAW, "SK 4.2", message("the wager is returned")),
)

# A count by hand comes out wrong or right: each needs its row, and `counted` writes both. The second has no clause.
DECK: Final = (
    foreign_card("SK 4.1"),
    *stands("SK 5.1", Kind.FOREIGN_CARD),
    *counted(Kind.DECK_COUNT, wrong="SK 5.2"),
    *counted(Kind.COUNT_IN_DOUBT, wrong="SK 5.2"),
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
    # A row that removes a hand says that it is not the Dealer's: no round is settled without that one.
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
        message("the power failed when no outcome was established"),
        when=Facts(established=False),
    ),
)

IRREGULARITIES: Final = (*DECK, *DEAL, *POWER, *late_bets(placed="SK 1.2", withdrawn="SK 1.2"))
