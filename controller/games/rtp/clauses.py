"""The clauses of RTP: the irregularity table, and the reading of each clause.

If no row fits, the Gaming Shift Manager decides (RTP 6.1).
"""

from typing import Final

from msgspec.structs import replace

from controller.games.common import (
    FACES_DEALT,
    NEXT_ROUND,
    UNTIL_NEXT,
    as_wrong_count,
    cannot_tell,
    counted_by_hand,
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
from controller.games.specification import Choice, Disposition, Facts, Kind, Option, Provision, Row, explained
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
    *counted_by_hand(Kind.DECK_COUNT, wrong="RTP 5.1.1"),
    Row(Kind.UNSHUFFLED, "RTP 5.1.1", Disposition.VOID, message("unshuffled cards were used")),
    *counted_by_hand(Kind.COUNT_IN_DOUBT, wrong="RTP 5.9"),
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
        message("the power failed before an outcome was established"),
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
                "a wager above the maximum counts up to the maximum; a wager below the minimum counts once (RTP 5.10)"
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

PROVISIONS: Final[tuple[Provision, ...]] = (
    # Definitions
    Provision("RTP 1.1", outside=message("it only opens the list of definitions")),
    Provision(
        "RTP 1.1.1",
        reading=message("a person who bets on several positions looks at one hand and bets blind on the others"),
    ),
    Provision("RTP 1.1.2", reading=message("a picture is a jack, queen or king")),
    Provision(
        "RTP 1.1.3", reading=message("a round lasts from the announcement that opens betting until wagers are settled")
    ),
    Provision(
        "RTP 1.1.4",
        reading=message(
            "Royal Pictures is one wager with six prices on the box's own hand, whatever the main wager does; "
            "the classes exclude one another"
        ),
    ),
    Provision(
        "RTP 1.1.4.1", reading=message("Any Picture Pair: two pictures of one rank and a card that is not a picture")
    ),
    Provision("RTP 1.1.4.2", reading=message("Any King: exactly one king in a hand that is not three pictures")),
    Provision("RTP 1.1.4.2.1", reading=message("a king with two cards that are not pictures is Any King")),
    Provision("RTP 1.1.4.2.2", reading=message("a king, a queen and a card that is not a picture are Any King")),
    Provision("RTP 1.1.4.2.3", reading=message("a king, a jack and a card that is not a picture are Any King")),
    Provision("RTP 1.1.4.3", reading=message("Three Pictures of this wager: three pictures not all of one rank")),
    Provision("RTP 1.1.4.4", reading=message("three jacks have a price of their own")),
    Provision("RTP 1.1.4.5", reading=message("three queens have a price of their own")),
    Provision("RTP 1.1.4.6", reading=message("three kings have a price of their own, the highest")),
    Provision(
        "RTP 1.1.5",
        reading=message(
            "equal points and as many pictures are a standoff: the main wager is returned, which is not an outcome"
        ),
    ),
    Provision("RTP 1.1.6", reading=message("the Tie wager wins on equal points with the Dealer, and loses otherwise")),
    # Mode of play
    Provision(
        "RTP 2.1",
        reading=message("a round is dealt from one deck of 52; a card of another back, or a joker, is foreign"),
    ),
    Provision("RTP 2.2", reading=message("a playing area (3.9) is one kind's spot at one position")),
    Provision("RTP 2.2.1", reading=message("every position has a place for main wagers")),
    Provision("RTP 2.2.2", reading=message("every position has a place for Tie wagers")),
    Provision("RTP 2.2.3", reading=message("every position has a place for Royal Pictures wagers")),
    # Betting
    Provision("RTP 3.1", reading=message('"Place your bets, please" begins the round and opens it to wagers')),
    Provision(
        "RTP 3.2", reading=message('"No more bets" closes the round to wagers; nothing leaves the device before')
    ),
    Provision("RTP 3.3", reading=message("the main wager wins if the hand ranks above the Dealer's")),
    Provision(
        "RTP 3.4",
        reading=message(
            "only positions with a main wager take part; several Players may bet on one, each wager between the "
            "table's minimum and maximum"
        ),
    ),
    Provision("RTP 3.5", reading=message("a side wager needs a main wager on that position by any Player")),
    Provision(
        "RTP 3.6",
        reading=message(
            "a wager that staff place at a Player's request is the Player's, who is responsible for "
            "its place; the entry names the person who placed it"
        ),
    ),
    Provision("RTP 3.7", reading=message("a Player may bet on several positions and views one hand only")),
    Provision(
        "RTP 3.8",
        reading=message(
            "a pit manager or above may keep a Player to one position: his wagers elsewhere are refused until that "
            "is lifted"
        ),
    ),
    Provision("RTP 3.9", reading=message("a playing area, one kind's spot at a position, takes three wagers at most")),
    Provision(
        "RTP 3.9.1",
        reading=message("a pit manager or above may let a position take fewer than three wagers of a kind"),
    ),
    Provision("RTP 3.10", reading=message("the viewer of a shared hand is the seated Player who bet on it first")),
    Provision("RTP 3.11", reading=message("a Player who stands never views a hand")),
    # Dealing
    Provision(
        "RTP 3.12",
        reading=message(
            "a device that yields sets: three cards to each position with a wager, clockwise from the Dealer's "
            "left, the Dealer last"
        ),
    ),
    Provision(
        "RTP 3.12.1",
        reading=message("a device that yields single cards: one to each position and the Dealer, three times over"),
    ),
    Provision("RTP 3.13", reading=message("each viewer looks at his cards; then the hand lies face up at its place")),
    Provision("RTP 3.14", reading=message("a hand that no Player controls is opened by the Dealer")),
    Provision("RTP 3.15", reading=message("the Dealer's hand is turned only when every other hand lies face up")),
    Provision("RTP 3.16", reading=message("each box is compared with the Dealer: won, lost or standoff")),
    # Hands
    Provision("RTP 3.17", reading=message("a hand has three cards, and its points come from the sum of their values")),
    Provision("RTP 3.17.1", reading=message("an ace counts one, two to nine count their face value")),
    Provision("RTP 3.17.1.1", reading=message("ten, jack, queen and king count zero, and a ten is not a picture")),
    Provision("RTP 3.18", reading=message("the points of a hand are a single digit, 0 to 9")),
    Provision("RTP 3.18.1", reading=message("a sum below ten is the points")),
    Provision("RTP 3.18.2", reading=message("for a sum of ten or more the last digit is the points")),
    Provision(
        "RTP 3.19",
        reading=message(
            "the Tie wager is paid on equal points even if the ranking differs; three pictures count 0 unless the "
            "casino's reading says otherwise"
        ),
    ),
    Provision("RTP 3.20", reading=message("which pictures a hand holds never matters to its ranking, only how many")),
    Provision("RTP 3.21", reading=message("suits never matter")),
    Provision(
        "RTP 3.22",
        reading=message(
            "31 classes: three pictures first, then by points, then by two, one or no picture; the example of "
            "Four, printed with a card too many, is read as 2 A A"
        ),
    ),
    # Settlement
    Provision(
        "RTP 4.1",
        reading=message(
            "main wager even money, half if the winning hand has six points (with pictures or without); Tie 8 to 1"
        ),
    ),
    Provision(
        "RTP 4.2",
        reading=message(
            "Royal Pictures pay 188 for kings, 128 for queens, 88 for jacks, 18 for other three pictures, 8 for a "
            "picture pair, 1 for Any King"
        ),
    ),
    # Irregularities
    Provision(
        "RTP 5.1",
        reading=message(
            "foreign, extra, missing and unshuffled cards are each reported as such; a count decides on the number"
        ),
    ),
    Provision("RTP 5.1.1", reading=message("if found in the round, they void it, and all wagers are returned")),
    Provision(
        "RTP 5.1.2",
        reading=message(
            "rounds before the one in which they were found keep their outcomes; "
            "whether a settled round is such a one is a setting"
        ),
    ),
    Provision("RTP 5.2", reading=message('after "No more bets" no wager is taken and none is raised')),
    Provision(
        "RTP 5.3",
        reading=message(
            "a wager taken back after the close is settled as if it still lay there, except under 5.7 and 5.13.1"
        ),
    ),
    Provision(
        "RTP 5.4",
        reading=message(
            "cards in the wrong place, order or number, and no Player has handled any: if moving complete hands "
            "corrects it, the dealer moves them as the screen shows and confirms it before play goes on; otherwise the "
            "round is void"
        ),
    ),
    Provision(
        "RTP 5.5",
        reading=message(
            "a wrong number of cards in a hand that its Player has viewed: until the next round "
            "begins, that hand is removed and its wagers are returned"
        ),
    ),
    Provision(
        "RTP 5.6",
        reading=message(
            "a wrong distribution noticed after handling: no card is moved, the round is played to its end"
        ),
    ),
    Provision(
        "RTP 5.7",
        reading=message(
            "under 5.5 and 5.6 a Player may be permitted to withdraw before a further card is exposed; who may "
            "permit it is configured"
        ),
    ),
    Provision("RTP 5.8", reading=message("a card exposed in dealing is turned down and the deal goes on")),
    Provision(
        "RTP 5.8.1", reading=message("from a device of single cards, an exposed first card of the round voids it")
    ),
    Provision(
        "RTP 5.9",
        reading=message(
            "a doubt about the number of cards is settled by a count by hand; a wrong one voids; "
            "whether after settlement too is a setting"
        ),
    ),
    Provision(
        "RTP 5.10",
        reading=message(
            "a wager below the minimum is settled once; from then on that Player's are returned, won or lost"
        ),
    ),
    Provision("RTP 5.11", reading=message("a wager above the maximum wins and loses the maximum only")),
    Provision("RTP 5.12", reading=message("what an earlier round paid or took outside the limits stays as it is")),
    Provision("RTP 5.13", reading=message("a power failure is resolved by what the known cards have already decided")),
    Provision(
        "RTP 5.13.1",
        reading=message(
            "no placed wager is won or lost yet: each Player may withdraw, all his wagers or none, and the rest of "
            "the round is finished"
        ),
    ),
    Provision(
        "RTP 5.13.2", reading=message("some placed wager is already won or lost: no one withdraws, play goes on")
    ),
    # General
    Provision("RTP 6.1", reading=message("what no other clause covers waits for a ruling of the Gaming Shift Manager")),
    Provision("RTP 6.2", reading=message("a person in a higher position may do what a clause gives to a lower one")),
    Provision("RTP App. A", reading=message("a table has one to eight positions")),
    Provision("RTP App. B", reading=message("a table has one to eight positions, as Appendix A")),
)
