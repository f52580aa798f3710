"""The clauses of P3: the irregularity table, and the reading of each clause.

If no row fits, the document is silent and names nobody who decides.
"""

from typing import Final

from controller.games.common import (
    GENERAL_FIRST,
    NEXT_ROUND,
    as_wrong_count,
    counted_by_hand,
    deck_errors_when_settled,
    faces_misdealt,
    foreign_card,
    late_bets,
    misdealt,
    misdealt_if_misplaced,
    stands,
    uncured,
    wrong_count_unhandled,
)
from controller.games.specification import Disposition, Facts, Kind, Provision, Row
from controller.roles import Role
from firmware_bridge.messages import message

NUMBER_OF_CARDS: Final = (
    # Reading 24: where no Player has handled cards, the general clause precedes 5.4.
    wrong_count_unhandled("P3 5.3", dealer_hand=True, under=GENERAL_FIRST),
    *uncured("P3 5.4", Disposition.VOID, dealer_hand=True),
    Row(
        Kind.WRONG_COUNT,
        "P3 5.4",
        Disposition.STANDS,
        message("the Dealer's hand had a wrong number of cards, noticed after the next round had begun"),
        when=Facts(dealer_hand=True),
        noticed=NEXT_ROUND,
    ),
    wrong_count_unhandled("P3 5.3", dealer_hand=False),
)

IRREGULARITIES: Final = (
    foreign_card("P3 5.1.1"),  # P3 5.1: found in the course of the game
    *stands("P3 5.1.2", Kind.FOREIGN_CARD),
    *counted_by_hand(Kind.DECK_COUNT, wrong="P3 5.2"),
    *counted_by_hand(Kind.COUNT_IN_DOUBT, wrong="P3 5.2"),
    *deck_errors_when_settled(stands="P3 5.1.2", wrong="P3 5.2"),
    *misdealt("P3 5.3"),
    *NUMBER_OF_CARDS,
    *faces_misdealt("P3 5.3"),
    *as_wrong_count(Kind.SIMULTANEOUS, NUMBER_OF_CARDS),
    *misdealt_if_misplaced(Kind.SIMULTANEOUS, "P3 5.3"),
    *as_wrong_count(Kind.OTHER_DEALING_ERROR, NUMBER_OF_CARDS),
    *misdealt_if_misplaced(Kind.OTHER_DEALING_ERROR, "P3 5.3"),
    *misdealt_if_misplaced(Kind.DROPPED_CARD, "P3 5.3"),
    *late_bets(placed="P3 5.5", withdrawn="P3 5.6"),
    Row(
        Kind.SIDE_WITHOUT_MAIN,
        "P3 3.4",
        Disposition.SILENT,
        message(
            "a side wager has no initial wager by the same Player; the rules are silent and the shift manager decides"
        ),
        decides=Role.SHIFT_MANAGER,
    ),
)

PROVISIONS: Final[tuple[Provision, ...]] = (
    Provision("P3 1.1", outside=message("it only opens the list of definitions")),
    Provision(
        "P3 1.1.1",
        reading=message(
            "both hands hold the same three ranks: the Tie wager is paid as a Perfect Tie; K Q J is not K K J"
        ),
    ),
    Provision("P3 1.1.2", reading=message("a picture is a jack, queen or king")),
    Provision(
        "P3 1.1.3",
        reading=message(
            "Picture Perfect counts the box's pictures that find one of their rank in the Dealer's hand, each used "
            "once; it loses where none does"
        ),
    ),
    Provision(
        "P3 1.1.4",
        reading=message(
            "two Prosperity wagers with the same prices, one on the box's hand, one on the Dealer's; only the "
            "highest class is paid"
        ),
    ),
    Provision("P3 1.1.4.1", reading=message("three kings win a Prosperity wager")),
    Provision("P3 1.1.4.2", reading=message("three queens win a Prosperity wager")),
    Provision("P3 1.1.4.3", reading=message("three jacks win a Prosperity wager")),
    Provision("P3 1.1.4.4", reading=message("three pictures that are not all of one rank win as mixed ones")),
    Provision(
        "P3 1.1.4.5",
        reading=message("two pictures of one rank and a card that is not a picture win a Prosperity wager"),
    ),
    Provision(
        "P3 1.1.5", reading=message("a round lasts from the announcement that opens betting until wagers are settled")
    ),
    Provision(
        "P3 1.1.6",
        reading=message(
            "equal points are a Tie here, and equal rankings in 3.11.1 and 3.13.1: the casino must "
            "choose which the Tie wager follows"
        ),
    ),
    Provision(
        "P3 2.1",
        reading=message("a round is dealt from one deck of 52; a card of another back, or a joker, is foreign"),
    ),
    Provision("P3 2.2", outside=message("it shows what is printed on the cloth")),
    Provision("P3 2.2.1", reading=message("every box has a place for the initial wager")),
    Provision("P3 2.2.2", reading=message("every box has a place for the Tie wager")),
    Provision(
        "P3 2.2.3", reading=message("every box has places for both Prosperity wagers, the one on the Dealer's hand too")
    ),
    Provision("P3 2.2.4", reading=message("every box has a place for the Picture Perfect wager")),
    Provision("P3 3.1", reading=message('"Place your bets, please" begins the round and opens it to wagers')),
    Provision("P3 3.2", reading=message('"No more bets" closes the round to wagers; nothing leaves the device before')),
    Provision("P3 3.3", reading=message("the initial wager wins if the hand ranks above the Dealer's")),
    Provision("P3 3.4", reading=message("a side wager needs an initial wager of the same Player on that box")),
    Provision(
        "P3 3.5",
        reading=message(
            "boxes with a wager are served clockwise from the Dealer's left, three cards face down to each in "
            "turn, the Dealer last; whether the device yields sets or single cards changes nothing"
        ),
    ),
    Provision("P3 3.6", reading=message("each Player may look at his cards; then his hand lies face up at its place")),
    Provision(
        "P3 3.7",
        reading=message(
            "the Dealer's hand is turned only when every other hand lies face up, and is judged for its Prosperity "
            "class too"
        ),
    ),
    Provision(
        "P3 3.8", reading=message("each box is compared with the Dealer: won, lost or tied, and its side wagers judged")
    ),
    Provision("P3 3.9", reading=message("a hand has three cards, and its points come from the sum of their values")),
    Provision("P3 3.9.1", reading=message("an ace counts one, two to nine count their face value")),
    Provision("P3 3.9.1.1", reading=message("ten, jack, queen and king count zero, and a ten is not a picture")),
    Provision("P3 3.10", reading=message("the points of a hand are a single digit, 0 to 9")),
    Provision("P3 3.10.1", reading=message("a sum below ten is the points")),
    Provision("P3 3.10.2", reading=message("for a sum of ten or more the last digit is the points")),
    Provision("P3 3.11", reading=message("three pictures rank above every other hand")),
    Provision("P3 3.11.1", reading=message("three pictures on both sides tie, whichever they are")),
    Provision("P3 3.12", reading=message("below three pictures, more points rank higher")),
    Provision("P3 3.13", reading=message("with equal points, more pictures rank higher")),
    Provision(
        "P3 3.13.1",
        reading=message("with equal points and as many pictures the box ties; the initial wager is returned"),
    ),
    Provision("P3 3.13.2", reading=message("the same three ranks on both sides are a Perfect Tie, in whatever suits")),
    Provision("P3 3.14", reading=message("which pictures a hand holds never matters to its ranking, only how many")),
    Provision(
        "P3 3.15",
        reading=message(
            "the Tie wager is what a Perfect Tie pays; instead of the Tie's price unless the casino reads it otherwise"
        ),
    ),
    Provision("P3 3.16", reading=message("suits never matter")),
    Provision(
        "P3 4.1",
        reading=message(
            "initial wager even money, half if the winning hand has six points (with pictures or without); Tie 10 "
            "to 1, Perfect Tie 400 to 1"
        ),
    ),
    Provision(
        "P3 4.2",
        reading=message(
            "a Prosperity wager pays 250 for three of one rank, 25 for mixed pictures, 15 for a picture pair"
        ),
    ),
    Provision("P3 4.3", reading=message("Picture Perfect pays 5, 100 or 500 for one, two or three matches")),
    Provision(
        "P3 5.1",
        reading=message(
            "a card that does not belong to the deck in play is reported as foreign by anyone who notices it"
        ),
    ),
    Provision("P3 5.1.1", reading=message("a foreign card found in the round voids it and all bets are returned")),
    Provision(
        "P3 5.1.2",
        reading=message(
            "rounds before the one in which the foreign card was found keep their results; "
            "whether a settled round is such a one is a setting"
        ),
    ),
    Provision(
        "P3 5.2",
        reading=message(
            "a count by hand that shows missing or extra cards voids the round; "
            "whether after settlement too is a setting"
        ),
    ),
    Provision(
        "P3 5.3",
        reading=message(
            "cards in the wrong place, order or number, and no Player has handled any: if moving complete hands "
            "corrects it, the dealer moves them as the screen shows and confirms it before play goes on; otherwise the "
            "round is void; after handling the document says nothing"
        ),
    ),
    Provision(
        "P3 5.4",
        reading=message(
            "after handling, and before it where the casino reads it so, a wrong number of cards in the Dealer's "
            "hand voids, unless the dealer can put the cards back into their order or the next round has begun"
        ),
    ),
    Provision("P3 5.5", reading=message('after "No more bets" no wager is taken and none is raised')),
    Provision("P3 5.6", reading=message("a wager taken back after the close is settled as if it still lay there")),
    Provision("P3 Diagram A", outside=message("a drawing of the cloth; how many boxes a table has is configured")),
    Provision("P3 Diagram B", outside=message("another drawing of the cloth, as Diagram A")),
    Provision(
        "P3 Diagram C",
        outside=message("it shows the Prosperity prices, which 4.2 states; six stray caption lines have no meaning"),
    ),
)
