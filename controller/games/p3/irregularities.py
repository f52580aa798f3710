"""The irregularity table of P3. If no row fits, the document is silent and names nobody who decides."""

from typing import Final

from controller.games.common import (
    GENERAL_FIRST,
    NEXT_ROUND,
    as_wrong_count,
    counted,
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
from controller.games.specification import Disposition, Facts, Kind, Row
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
    *counted(Kind.DECK_COUNT, wrong="P3 5.2"),
    *counted(Kind.COUNT_IN_DOUBT, wrong="P3 5.2"),
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
