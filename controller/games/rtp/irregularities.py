"""The irregularity table of RTP. If no row fits, the Gaming Shift Manager decides (RTP 6.1)."""

from typing import Final

from msgspec.structs import replace

from controller.games.common import (
    FACES_DEALT,
    NEXT_ROUND,
    UNTIL_NEXT,
    as_wrong_count,
    cannot_tell,
    counted,
    deck_errors_when_settled,
    faces_misdealt,
    foreign_card,
    judged_by,
    late_bets,
    misdealt,
    misdealt_if_misplaced,
    stands,
    wrong_count_unhandled,
)
from controller.games.specification import Choice, Disposition, Facts, Kind, Option, Row, explained
from controller.games.wager_specification import Under
from controller.roles import Role
from firmware_bridge.messages import Message, message


def permitted_by(role: Role, stays: Message, withdraws: Message) -> tuple[Under, tuple[Option, ...]]:
    """Return the option of reading 26, and the permission that a dissatisfied Player may then get (RTP 5.7)."""
    return (("withdrawal_permitted_by", role.value),), (
        Option(Choice.CONTINUE, "RTP 5.7", stays),
        Option(Choice.WITHDRAW, "RTP 5.7", withdraws, role),
    )


MAY_WITHDRAW: Final = tuple(
    permitted_by(
        role,
        message("the wager stays"),
        message("a dissatisfied Player withdraws before a further card is exposed"),
    )
    for role in Role
)
# RTP 5.5 returns the wagers on a removed hand; other dissatisfied Players may be permitted to withdraw.
OTHERS_MAY_WITHDRAW: Final = tuple(
    permitted_by(
        role,
        message("a wager on another hand stays"),
        message("another dissatisfied Player withdraws before a further card is exposed"),
    )
    for role in Role
)

DECK: Final = (
    foreign_card("RTP 5.1.1"),  # RTP 5.1: found in the course of the round
    *counted(Kind.DECK_COUNT, wrong="RTP 5.1.1"),
    Row(Kind.UNSHUFFLED, "RTP 5.1.1", Disposition.VOID, message("unshuffled cards were used")),
    *counted(Kind.COUNT_IN_DOUBT, wrong="RTP 5.9"),
    *deck_errors_when_settled("RTP 5.1.2", "RTP 5.9", Kind.UNSHUFFLED),
    *stands("RTP 5.1.2", Kind.FOREIGN_CARD, Kind.DECK_COUNT, Kind.UNSHUFFLED),
)

NUMBER_OF_CARDS: Final = (
    wrong_count_unhandled("RTP 5.4", dealer_hand=True),
    Row(
        Kind.WRONG_COUNT,
        "RTP 6.1",
        Disposition.REFER,
        explained(
            message("the Dealer's hand has a wrong number of cards, after handling"),
            message("5.6 and 5.9 do not say which applies"),
        ),
        when=Facts(dealer_hand=True, handled=True),
        decides=Role.SHIFT_MANAGER,
    ),
    wrong_count_unhandled("RTP 5.4", dealer_hand=False),
    *(
        Row(
            Kind.WRONG_COUNT,
            "RTP 5.5",
            Disposition.REMOVE_HAND,
            message("a Player's hand has a wrong number of cards and he has viewed it"),
            when=Facts(dealer_hand=False, viewed=True),
            options=options,
            noticed=UNTIL_NEXT,
            under=under,
        )
        for under, options in OTHERS_MAY_WITHDRAW
    ),
    Row(
        Kind.WRONG_COUNT,
        "RTP 6.1",
        Disposition.REFER,
        explained(
            message("a Player's hand has a wrong number of cards; not viewed, but cards were handled"),
            message("5.6 or 5.9 may apply"),
        ),
        when=Facts(dealer_hand=False, handled=True, viewed=False),
        decides=Role.SHIFT_MANAGER,
    ),
    Row(
        Kind.WRONG_COUNT,
        "RTP 5.5",
        Disposition.STANDS,
        message("a Player's hand had a wrong number of cards, noticed after the next round had begun"),
        when=Facts(dealer_hand=False, viewed=True),
        noticed=NEXT_ROUND,
    ),
)


def played_to_its_end(kind: Kind, because: Message, when: Facts) -> tuple[Row, ...]:
    """Return rows of RTP 5.6, with who permits a dissatisfied Player to withdraw. Handled cards rule out 5.4."""
    return tuple(
        row
        for under, options in MAY_WITHDRAW
        for row in judged_by(Row(kind, "RTP 5.6", Disposition.CONTINUE, because, when, options=options, under=under))
    )


DISTRIBUTION: Final = (
    *misdealt("RTP 5.4"),
    *played_to_its_end(
        Kind.WRONG_DISTRIBUTION,
        message("a wrong distribution was noted after handling"),
        Facts(handled=True),
    ),
    # Simultaneous cards and other errors are referred (RTP 6.1), unless they resulted in a wrong deal.
    *as_wrong_count(Kind.SIMULTANEOUS, NUMBER_OF_CARDS),
    *misdealt_if_misplaced(Kind.SIMULTANEOUS, "RTP 5.4"),
    *played_to_its_end(
        Kind.SIMULTANEOUS,
        message("cards came together and are in the wrong place, noted after handling"),
        Facts(wrong_number=False, misplaced=True, handled=True),
    ),
    *as_wrong_count(Kind.OTHER_DEALING_ERROR, NUMBER_OF_CARDS),
    *misdealt_if_misplaced(Kind.OTHER_DEALING_ERROR, "RTP 5.4"),
)

FACES: Final = tuple(
    row
    for kind, seen in FACES_DEALT
    for row in (
        Row(
            kind,
            "RTP 5.8",
            Disposition.CONTINUE,
            explained(message("an automated device dealt a card face up"), message("the card is turned down")),
            when=replace(seen, manual=False),
            confirms=Role.DEALER,
            turned_down=True,
        ),
        Row(
            kind,
            "RTP 5.8.1",
            Disposition.VOID,
            message("the first card of the round, from a device of single cards, was exposed"),
            when=replace(seen, manual=True, first_card=True),
        ),
        Row(
            kind,
            "RTP 5.8",
            Disposition.CONTINUE,
            explained(message("a card after the first was exposed"), message("the card is turned down")),
            when=replace(seen, manual=True, first_card=False),
            confirms=Role.DEALER,
            turned_down=True,
        ),
    )
)

EXPOSED: Final = (*faces_misdealt("RTP 5.4"), *misdealt_if_misplaced(Kind.DROPPED_CARD, "RTP 5.4"), *FACES)

INTERRUPTION: Final = (
    cannot_tell(Kind.POWER_FAILURE, "RTP 6.1", Facts(before_close=False)),
    Row(
        Kind.POWER_FAILURE,
        "RTP 5.13.2",
        Disposition.CONTINUE,
        message("the power failed when an outcome was established"),
        when=Facts(before_close=False, established=True),
        confirms=Role.PIT_SUPERVISOR,
    ),
    Row(
        Kind.POWER_FAILURE,
        "RTP 5.13.1",
        Disposition.WITHDRAWALS,
        message("the power failed when no outcome was established"),
        when=Facts(before_close=False, established=False),
        options=(
            Option(Choice.CONTINUE, "RTP 5.13.1", message("the wagers stay and the hand is finished")),
            Option(Choice.WITHDRAW, "RTP 5.13.1", message("all wagers of the Player are returned"), all_wagers=True),
        ),
    ),
)

BETS: Final = (
    # Except where 5.7 or 5.13.1 let a Player withdraw.
    *late_bets(placed="RTP 5.2", withdrawn="RTP 5.3"),
    Row(
        Kind.SIDE_WITHOUT_MAIN,
        "RTP 3.5",
        Disposition.REFER,
        message(
            "a side wager lies on a position without a main wager; the rules are silent and the shift manager decides"
        ),
        decides=Role.SHIFT_MANAGER,
    ),
    Row(
        Kind.OUTSIDE_LIMITS,
        "RTP 5.11",
        Disposition.CONTINUE,
        explained(
            message("a wager lies outside the limits"),
            message(
                "a wager over the maximum counts up to the maximum; a wager under the minimum counts once (RTP 5.10)"
            ),
        ),
        confirms=Role.DEALER,
        noticed=UNTIL_NEXT,
    ),
    Row(
        Kind.OUTSIDE_LIMITS,
        "RTP 5.12",
        Disposition.STANDS,
        message("it was settled in an earlier round"),
        noticed=NEXT_ROUND,
    ),
)

IRREGULARITIES: Final = (*DECK, *NUMBER_OF_CARDS, *DISTRIBUTION, *EXPOSED, *INTERRUPTION, *BETS)
