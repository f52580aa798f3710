"""The irregularity table of TP. If no row fits, the document is silent and names nobody who decides."""

from typing import Final

from controller.games.common import (
    as_wrong_count,
    counted,
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
from controller.games.specification import Disposition, Facts, Kind, Row
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
    *counted(Kind.DECK_COUNT, wrong="TP 5.2"),
    *counted(Kind.COUNT_IN_DOUBT, wrong="TP 5.2"),
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
