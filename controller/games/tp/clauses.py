"""The clauses of TP: the irregularity table, and the reading of each clause.

If no row fits, the document is silent and names nobody who decides.
"""

from typing import Final

from controller.games.common import (
    as_wrong_count,
    counted_by_hand,
    deck_errors_when_settled,
    faces_misdealt,
    foreign_card,
    late_bets,
    misdealt,
    misdealt_if_misplaced,
    reaching_settled,
    stands,
    wrong_count_unhandled,
)
from controller.games.specification import Disposition, Facts, Kind, Provision, Row
from controller.roles import Role
from firmware_bridge.messages import message

NUMBER_OF_CARDS: Final = (
    *(
        row
        for handled in (False, True)
        for row in reaching_settled(
            Row(
                Kind.WRONG_COUNT,
                "TP 5.4",
                Disposition.VOID,
                message("the Dealer's hand has a wrong number of cards, handled or not"),
                when=Facts(dealer_hand=True, handled=handled),
            )
        )
    ),
    wrong_count_unhandled("TP 5.3", dealer_hand=False),
)

IRREGULARITIES: Final = (
    foreign_card("TP 5.1.1"),  # TP 5.1: found in the course of the game
    *stands("TP 5.1.2", Kind.FOREIGN_CARD),
    *counted_by_hand(Kind.DECK_COUNT, wrong="TP 5.2"),
    *counted_by_hand(Kind.COUNT_IN_DOUBT, wrong="TP 5.2"),
    *deck_errors_when_settled(stands="TP 5.1.2", wrong="TP 5.2"),
    *misdealt("TP 5.3"),
    *NUMBER_OF_CARDS,
    *faces_misdealt("TP 5.3"),
    *as_wrong_count(Kind.SIMULTANEOUS, NUMBER_OF_CARDS),
    *misdealt_if_misplaced(Kind.SIMULTANEOUS, "TP 5.3"),
    *as_wrong_count(Kind.OTHER_DEALING_ERROR, NUMBER_OF_CARDS),
    *misdealt_if_misplaced(Kind.OTHER_DEALING_ERROR, "TP 5.3"),
    *misdealt_if_misplaced(Kind.DROPPED_CARD, "TP 5.3"),
    *late_bets(placed="TP 5.5", withdrawn="TP 5.6"),
    Row(
        Kind.SIDE_WITHOUT_MAIN,
        "TP 3.3",
        Disposition.SILENT,
        message("a side bet has no initial bet by the same Player; the rules are silent and the shift manager decides"),
        decides=Role.SHIFT_MANAGER,
    ),
)

PROVISIONS: Final[tuple[Provision, ...]] = (
    Provision("TP 1.1", outside=message("it only opens the list of definitions")),
    Provision(
        "TP 1.1.1",
        reading=message('a picture is a jack, queen or king; the program says "Knight" when it names a hand'),
    ),
    Provision(
        "TP 1.1.2", reading=message("the Three Pictures wager looks at the box's own hand, never at the Dealer's")
    ),
    Provision("TP 1.1.3", reading=message("equal points decide the Tie wager, whatever the result of the initial bet")),
    Provision(
        "TP 1.1.4",
        reading=message("a round lasts from the announcement that opens betting until all wagers are settled"),
    ),
    Provision(
        "TP 2.1",
        reading=message("a round is dealt from one deck of 52; a card of another back, or a joker, is foreign"),
    ),
    Provision("TP 2.2", outside=message("it shows what is printed on the cloth")),
    Provision("TP 2.2.1", reading=message("every box has a place for the initial bet")),
    Provision("TP 2.2.2", reading=message("every box has a place for the Tie wager")),
    Provision("TP 2.2.3", reading=message("every box has a place for the Three Pictures wager")),
    Provision("TP 3.1", reading=message('"Place your bets, please" begins the round and opens it to wagers')),
    Provision("TP 3.2", reading=message('"No more bets" closes the round to wagers; nothing leaves the device before')),
    Provision("TP 3.3", reading=message("a side wager needs an initial bet of the same Player on that box")),
    Provision(
        "TP 3.4",
        reading=message(
            "boxes with a wager are served clockwise from the Dealer's left, three cards face down to each in "
            "turn, the Dealer last; whether the device yields sets or single cards changes nothing"
        ),
    ),
    Provision("TP 3.5", reading=message("each Player may look at his cards; then his hand lies face up at its place")),
    Provision("TP 3.6", reading=message("the Dealer's hand is turned only when every other hand lies face up")),
    Provision("TP 3.7", reading=message("each box is compared with the Dealer: won, lost or tied")),
    Provision("TP 3.8", reading=message("a hand has three cards, and its points come from the sum of their values")),
    Provision("TP 3.8.1", reading=message("an ace counts one, two to nine count their face value")),
    Provision("TP 3.8.1.1", reading=message("ten, jack, queen and king count zero, and a ten is not a picture")),
    Provision("TP 3.9", reading=message("the points of a hand are a single digit, 0 to 9")),
    Provision("TP 3.9.1", reading=message("a sum below ten is the points")),
    Provision("TP 3.9.2", reading=message("for a sum of ten or more the last digit is the points")),
    Provision("TP 3.10", reading=message("three pictures rank above every other hand")),
    Provision("TP 3.11", reading=message("below three pictures, more points rank higher")),
    Provision(
        "TP 3.12",
        reading=message("with equal points, more pictures rank higher; three pictures also win against a hand of zero"),
    ),
    Provision(
        "TP 3.13",
        reading=message("with equal points and as many pictures the box ties, and the initial bet is returned"),
    ),
    Provision(
        "TP 3.13.1",
        reading=message(
            "the Tie wager is paid on equal points even if the ranking differs; three pictures count as "
            "0 there unless the casino's reading says otherwise"
        ),
    ),
    Provision("TP 3.14", reading=message("which pictures a hand holds never matters to its ranking, only how many")),
    Provision("TP 3.15", reading=message("suits never matter")),
    Provision(
        "TP 4.1",
        reading=message(
            "initial bet even money, half if the winning hand has six points (with pictures or without); "
            "Tie 8 to 1, Three Pictures 16 to 1"
        ),
    ),
    Provision(
        "TP 5.1",
        reading=message(
            "a card that does not belong to the deck in play is reported as foreign by anyone who notices it"
        ),
    ),
    Provision("TP 5.1.1", reading=message("a foreign card found in the round voids it and all bets are returned")),
    Provision(
        "TP 5.1.2",
        reading=message(
            "rounds before the one in which the foreign card was found keep their results; "
            "whether a settled round is such a one is a setting"
        ),
    ),
    Provision(
        "TP 5.2",
        reading=message(
            "a count by hand that shows missing or extra cards voids the round; "
            "whether after settlement too is a setting"
        ),
    ),
    Provision(
        "TP 5.3",
        reading=message(
            "cards in the wrong place, order or number, and no Player has handled any: if moving complete hands "
            "corrects it, the dealer moves them as the screen shows and confirms it before play goes on; otherwise the "
            "round is void; after handling the document says nothing"
        ),
    ),
    Provision(
        "TP 5.4",
        reading=message(
            "a wrong number of cards in the Dealer's hand voids the round, handled or not; "
            "whether after settlement too is a setting"
        ),
    ),
    Provision("TP 5.5", reading=message('after "No more bets" no wager is taken and none is raised')),
    Provision("TP 5.6", reading=message("a wager taken back after the close is settled as if it still lay there")),
    Provision("TP Diagram A", outside=message("a drawing of the cloth; how many boxes a table has is configured")),
    Provision("TP Diagram B", outside=message("another drawing of the cloth, as Diagram A")),
)
