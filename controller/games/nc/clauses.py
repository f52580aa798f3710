"""The clauses of NC: the irregularity table, and the reading of each clause.

If no row fits, the Table Games Shift Manager decides (NC 5.17).
"""

from typing import Final

from msgspec.structs import replace

from controller.games.common import (
    GENERAL_FIRST,
    SETTLED,
    UNTIL_NEXT,
    as_wrong_count,
    cannot_tell,
    counted_by_hand,
    dealt_face_up,
    foreign_card,
    judged_by,
    late_bets,
    not_curable,
    reconstructed,
    stands,
    uncured,
    while_bets_are_open,
    wrong_count_unhandled,
)
from controller.games.specification import Choice, Disposition, Facts, Kind, Option, Provision, Row, explained
from controller.games.wager_specification import Under
from controller.roles import Role
from firmware_bridge.messages import Message, message

WITHDRAW: Final = Option(Choice.WITHDRAW, "NC 5.7.3", message("the bet is returned and the hand is out of play"))
AS_DEALT: Final = (Option(Choice.CONTINUE, "NC 5.7.1", message("the hand goes on as it is")), WITHDRAW)
RECONSTRUCTED: Final = (
    Option(Choice.CONTINUE, "NC 5.7.2", message("the hand goes on as reconstructed"), reconstructs=True),
    WITHDRAW,
)


def second_errors(row: Row) -> tuple[Row, ...]:
    """Return rows of reading 50: whether a later error counts as a second one for any card or for later cards only."""
    chosen = replace(row.when, chosen_before=True)
    return (
        replace(row, when=chosen, under=(*row.under, ("second_error_about", "any_card"))),
        replace(
            row, when=replace(chosen, dealt_before=False), under=(*row.under, ("second_error_about", "later_card"))
        ),
    )


def asked_again(kind: Kind, when: Facts, under: Under = ()) -> tuple[Row, ...]:
    """Return rows of reading 39, which asks 5.17 what a second error means for a Player who chose to go on."""
    return second_errors(
        Row(
            kind,
            "NC 5.17",
            Disposition.REFER,
            explained(
                message("another error after a choice"),
                message("the shift manager decides whether the options are offered again"),
            ),
            when=when,
            decides=Role.SHIFT_MANAGER,
            under=(("second_error", "asked"), *under),
        )
    )


def chosen_again(kind: Kind, when: Facts, under: Under = ()) -> tuple[Row, ...]:
    """Return rows of reading 39: the consequence if a bettor chose to go on and another error happens."""
    return (
        *asked_again(kind, when, under),
        *second_errors(
            Row(
                kind,
                "NC 5.7",
                Disposition.CONTINUE,
                explained(
                    message("another error after a choice"),
                    message("a Player who chose to go on accepts what is dealt from then on"),
                ),
                when=when,
                under=(("second_error", "accepted"), *under),
            )
        ),
    )


def option_rows(kind: Kind, because: Message) -> tuple[Row, ...]:
    """Return rows by which every bettor chooses and no cards need to be put back in order."""
    row = Row(kind, "NC 5.7", Disposition.OPTIONS, because, options=AS_DEALT)
    return (*chosen_again(kind, Facts()), row)


def either_way(kind: Kind, because: Message, when: Facts) -> tuple[Row, ...]:
    """Return rows by which every bettor chooses; the options differ if the cards can be put back in order."""
    return (
        *chosen_again(kind, when),
        *(
            Row(
                kind,
                "NC 5.7",
                Disposition.OPTIONS,
                because,
                when=replace(when, reconstructable=reconstructable),
                options=RECONSTRUCTED if reconstructable else AS_DEALT,
            )
            for reconstructable in (False, True)
        ),
    )


def until_next_round(row: Row) -> tuple[Row, ...]:
    """Return rows of reading 47: settlement ends the round (NC 1.14); the next round makes its result final (NC 5.6).

    Only NC 5.5.1 speaks of a card that is found during the round.
    """
    if row.disposition is not Disposition.VOID:
        return (replace(row, noticed=UNTIL_NEXT),)
    late = replace(row, noticed=SETTLED)
    referred = replace(late, clause="NC 5.17", disposition=Disposition.REFER, decides=Role.SHIFT_MANAGER)
    foreign = referred if row.kind is Kind.FOREIGN_CARD else late
    options = ((late, "void"), (foreign, "foreign_referred"), (referred, "referred"))
    return (row, *(replace(one, under=(("deck_error_after_settlement", option),)) for one, option in options))


DECK: Final = tuple(
    late
    for row in (  # NC 5.5: each of these leaves the round without a result (NC 1.19)
        foreign_card("NC 5.5.1"),
        *counted_by_hand(Kind.DECK_COUNT, wrong="NC 5.5.2"),
        *counted_by_hand(Kind.COUNT_IN_DOUBT, wrong="NC 5.5.2"),
        Row(Kind.UNSHUFFLED, "NC 5.5.3", Disposition.VOID, message("the cards were not shuffled")),
    )
    for late in until_next_round(row)
)


def misplaced_unhandled(kind: Kind, misplaced: bool | None = None) -> tuple[Row, ...]:
    """Return rows of reading 25: an error that moving complete hands cures is put right silently or after a choice."""
    silently = reconstructed(kind, "NC 5.5.4", misplaced, under=(("cured", "silently"),))
    found = silently[0]
    with_options: Under = (("cured", "options"),)
    options = judged_by(
        Row(
            kind,
            "NC 5.7",
            Disposition.OPTIONS,
            found.because,
            when=found.when,
            options=RECONSTRUCTED,
            under=with_options,
        )
    )
    again = chosen_again(kind, found.when, with_options)
    return (*silently, *again, *options, not_curable(kind, "NC 5.5.4", misplaced))


UNCURED: Final = (
    *uncured("NC 5.5.5", Disposition.VOID, dealer_hand=True),
    *uncured("NC 5.9", Disposition.REMOVE_HAND, dealer_hand=False),
)
OUT_OF_PLAY: Final = Row(
    Kind.WRONG_COUNT,
    "NC 5.7.3",
    Disposition.CONTINUE,
    explained(message("a hand that is out of play has a wrong number of cards"), message("it is already invalidated")),
    when=Facts(dealer_hand=False, dead_hand=True),
    noticed=UNTIL_NEXT,
    under=(("wrong_count_out_of_play", "nothing"),),
)
NUMBER_OF_CARDS: Final = (
    OUT_OF_PLAY,
    # Reading 24: where no Player has handled cards, the general clause precedes 5.5.5 and 5.9.
    wrong_count_unhandled("NC 5.5.4", dealer_hand=True, under=GENERAL_FIRST),
    wrong_count_unhandled("NC 5.5.4", dealer_hand=False, under=GENERAL_FIRST),
    *UNCURED,
)

WRONG_DEAL: Final = (
    *misplaced_unhandled(Kind.WRONG_DISTRIBUTION),
    *either_way(Kind.WRONG_DISTRIBUTION, message("a wrong distribution was noted after handling"), Facts(handled=True)),
    *as_wrong_count(Kind.OTHER_DEALING_ERROR, NUMBER_OF_CARDS),
    *misplaced_unhandled(Kind.OTHER_DEALING_ERROR, misplaced=True),
    *either_way(Kind.OTHER_DEALING_ERROR, message("another dealing error"), Facts()),
)

FACES: Final = (
    dealt_face_up("NC 5.5.4"),
    *option_rows(Kind.EXPOSED_CARD, message("a card was exposed in dealing")),
    Row(
        Kind.FACE_UP_IN_DEVICE,
        "NC 5.10",
        Disposition.CONTINUE,
        message("a card lies face up in the stub, behind the cards of this round"),
        when=Facts(in_stub=True),
        confirms=Role.DEALER,
    ),
    Row(
        Kind.FACE_UP_IN_DEVICE,
        "NC 5.17",
        Disposition.REFER,
        message('a card lies face up in the device before "No more bets"'),
        when=Facts(before_close=True),
        decides=Role.SHIFT_MANAGER,
    ),
    Row(
        Kind.FACE_UP_IN_DEVICE,
        "NC 5.10",
        Disposition.NEXT_CARD,
        message("a card lies face up in the device"),
        when=Facts(before_close=False),
        confirms=Role.DEALER,
    ),
    # Reading 37. A card found face up in the device needs no such row, because NC 5.10 decides about it.
    dealt_face_up("NC 5.5.4", Kind.DROPPED_CARD, Facts(face_seen=True)),
    *either_way(Kind.DROPPED_CARD, message("a card was dropped in dealing"), Facts()),
    *option_rows(
        Kind.DEALER_EXPOSED_EARLY,
        explained(
            message("the Dealer's hand was exposed too early"), message("Players examine theirs first (NC 3.13)")
        ),
    ),
)

IN_ONE_HAND: Final[Under] = (("order_within_a_hand", "none"),)
TOGETHER: Final = (
    # Reading 51: where all of them go to one hand, nobody need name their order.
    *chosen_again(Kind.SIMULTANEOUS, Facts(order_known=False, one_hand=True), IN_ONE_HAND),
    *(
        Row(
            Kind.SIMULTANEOUS,
            "NC 5.11.1",
            Disposition.OPTIONS,
            message("cards came out together and all go to one hand, which has no order"),
            when=Facts(order_known=False, one_hand=True, reconstructable=reconstructable),
            options=RECONSTRUCTED if reconstructable else AS_DEALT,
            under=IN_ONE_HAND,
        )
        for reconstructable in (False, True)
    ),
    # A Player who accepts what is dealt has no options, but the order must still be named.
    *asked_again(Kind.SIMULTANEOUS, Facts(order_known=False)),
    *second_errors(
        Row(
            Kind.SIMULTANEOUS,
            "NC 5.11",
            Disposition.NAME_ORDER,
            explained(
                message("cards came out together after a choice"),
                message("a Player who chose to go on accepts the order that is named"),
            ),
            when=Facts(order_known=False),
            under=(("second_error", "accepted"),),
        )
    ),
    Row(
        Kind.SIMULTANEOUS,
        "NC 5.11",
        Disposition.NAME_ORDER,
        message("cards came out together and their order is not known"),
        when=Facts(order_known=False),
        options=AS_DEALT,
    ),
    *chosen_again(Kind.SIMULTANEOUS, Facts(order_known=True), (("order_in_log", "options"),)),
    Row(
        Kind.SIMULTANEOUS,
        "NC 5.11.1",
        Disposition.OPTIONS,
        message("cards came out together; the device's log shows their order"),
        when=Facts(order_known=True),
        options=RECONSTRUCTED,
        under=(("order_in_log", "options"),),
    ),
    Row(
        Kind.SIMULTANEOUS,
        "NC 5.11",
        Disposition.CONTINUE,
        explained(
            message("cards came out together in an order that the device's log shows"),
            message("nothing was dealt wrongly"),
        ),
        when=Facts(order_known=True),
        under=(("order_in_log", "none"),),
    ),
)

INTERRUPTION: Final = (
    Row(
        Kind.TECHNICAL_STOP,
        "NC 5.4",
        Disposition.CONTINUE,
        explained(
            message("the device stopped and it is certain where every card belongs"), message("play was not affected")
        ),
        when=Facts(places_certain=True),
        confirms=Role.DEALER,
    ),
    *(
        row
        for kind, when in (
            (Kind.POWER_FAILURE, Facts(before_close=False, affects_play=True)),
            (Kind.TECHNICAL_STOP, Facts(before_close=False, places_certain=False)),
        )
        for row in (
            cannot_tell(kind, "NC 5.17", when),
            Row(
                kind,
                "NC 5.4.1",
                Disposition.CONTINUE,
                message("play was interrupted when an outcome was established"),
                when=replace(when, established=True),
            ),
            Row(
                kind,
                "NC 5.4.2",
                Disposition.VOID,
                message("play was interrupted before an outcome was established"),
                when=replace(when, established=False),
            ),
        )
    ),
    Row(
        Kind.POWER_FAILURE,
        "NC 5.4",
        Disposition.CONTINUE,
        explained(message("the power failed, and the round goes on as it was"), message("play was not affected")),
        when=Facts(before_close=False, affects_play=False),
    ),
    while_bets_are_open(Kind.TECHNICAL_STOP, "NC 5.4"),
)

BETS: Final = (
    *late_bets(placed="NC 3.11", withdrawn="NC 5.8"),  # settled with the chips as they lay when bets closed (NC 5.13)
    Row(
        Kind.SIDE_WITHOUT_MAIN,
        "NC 5.14",
        Disposition.RETURN_BET,
        message("a side bet lies on a box without an Initial Bet"),
        confirms=Role.DEALER,
        noticed=UNTIL_NEXT,
    ),
    Row(
        Kind.OUTSIDE_LIMITS,
        "NC 5.1.1",
        Disposition.CONTINUE,
        explained(
            message("a bet lies outside the limits"),
            message("a bet above the maximum counts pro rata; a bet below the minimum counts as placed (NC 5.2.1)"),
        ),
        confirms=Role.DEALER,
        noticed=UNTIL_NEXT,
    ),
    Row(
        Kind.BEFORE_NO_MORE_BETS,
        "NC 5.17",
        Disposition.REFER,
        message('cards left the device before "No more bets"'),
        decides=Role.SHIFT_MANAGER,
    ),
)

EARLIER: Final = stands("NC 5.6", *Kind)  # and the later round is not affected (NC 5.12)

IRREGULARITIES: Final = (*DECK, *WRONG_DEAL, *NUMBER_OF_CARDS, *FACES, *TOGETHER, *INTERRUPTION, *BETS, *EARLIER)

PROVISIONS: Final[tuple[Provision, ...]] = (
    # Definitions
    Provision("NC 1.1", outside=message("a synonym: the document's other word for a wager")),
    Provision(
        "NC 1.2",
        reading=message("any other device is a shoe, which deals card by card (3.12), whatever shuffled its cards"),
    ),
    Provision("NC 1.3", outside=message("it says who is called the Dealer")),
    Provision(
        "NC 1.4", reading=message("a shuffler that also deals is the kind of device that must yield sets (3.12.1)")
    ),
    Provision("NC 1.5", reading=message("a hand is what one box or the Dealer was dealt in one round")),
    Provision("NC 1.6", outside=message("it says who is called the House")),
    Provision(
        "NC 1.7",
        reading=message("the Initial Bet is the main wager: a box takes part if one lies there before the deal"),
    ),
    Provision("NC 1.8", reading=message("no commission is kept; a win with six points pays half instead")),
    Provision("NC 1.9", reading=message("a picture is a king, queen or jack of any suit, and counts nothing")),
    Provision(
        "NC 1.10",
        reading=message(
            "a person who acts in a position has its powers: people log in with the rank in which they act"
        ),
    ),
    Provision(
        "NC 1.11", reading=message("a Player is a bettor: a person with a wager in the round, seated or standing")
    ),
    Provision("NC 1.12", reading=message("points are the sum of the values; of a sum above nine only the last digit")),
    Provision(
        "NC 1.13", reading=message("to reconstruct is to bring cards to the places where the intended order puts them")
    ),
    Provision(
        "NC 1.14", reading=message("a round lasts from the announcement that opens betting until all are settled")
    ),
    Provision(
        "NC 1.15",
        reading=message(
            "the bettor who sits at a box is its viewer; if no one sits there, the one with the highest bet"
        ),
    ),
    Provision(
        "NC 1.16", reading=message("others who bet on that box are standing: each chooses and is settled for himself")
    ),
    Provision(
        "NC 1.17",
        reading=message("the Three Pictures Bet looks at the box's own hand unless the casino reads it otherwise"),
    ),
    Provision("NC 1.18", reading=message("equal points decide the Tie Bet, whatever the result of the Initial Bet")),
    Provision("NC 1.19", reading=message("a void round is a round without results; it is never settled")),
    # Mode of play
    Provision("NC 2.1", outside=message("a heading over the print of the cloth")),
    Provision("NC 2.1.1", outside=message("it shows what is printed on the cloth")),
    Provision(
        "NC 2.1.1.a",
        reading=message("the layout has as many boxes as are configured, and no others"),
    ),
    Provision("NC 2.2", outside=message("a heading over the cards")),
    Provision("NC 2.2.1", reading=message("a round is dealt from one deck of 52; the cards of a round add up to it")),
    # Betting
    Provision("NC 3.1", reading=message("the Initial Bet wins if the hand ranks above the Dealer's")),
    Provision("NC 3.2", reading=message("points are 0 to 9, nine the best; three pictures stand outside that count")),
    Provision("NC 3.2.1", reading=message("an ace counts one")),
    Provision("NC 3.2.2", reading=message("two to nine count their face value")),
    Provision("NC 3.2.3", reading=message("ten, jack, queen and king count zero")),
    Provision("NC 3.3", reading=message("hands rank as Appendix C lists them")),
    Provision("NC 3.4", reading=message('"Place your Bets, please" begins the round and opens it to wagers')),
    Provision(
        "NC 3.5",
        reading=message(
            "minimum and maximum of each kind of bet are the table's, from its configuration; a bet is checked "
            "against them when it is entered"
        ),
    ),
    Provision("NC 3.6", outside=message("it makes the Player responsible for the size of his bet")),
    Provision("NC 3.7", reading=message("any other bettor may bet what is left below a box's maximum")),
    Provision("NC 3.8", reading=message("one bettor may bet on several boxes")),
    Provision(
        "NC 3.9", reading=message("a side bet needs an Initial Bet on that box by any bettor; it is on that box's hand")
    ),
    Provision(
        "NC 3.10",
        reading=message("a bettor views one hand only; his bets on a hand stay within its maximum"),
    ),
    Provision(
        "NC 3.11", reading=message('"No more Bets" closes the round to wagers; nothing leaves the device before')
    ),
    # Dealing
    Provision(
        "NC 3.12",
        reading=message(
            "a device that yields single cards: one to each box with an Initial Bet, clockwise from the Dealer's "
            "left, then one to the Dealer, three times over"
        ),
    ),
    Provision(
        "NC 3.12.1",
        reading=message(
            "a shuffler that deals yields sets: three cards to each box in turn, the Dealer last; one that yields "
            "single cards is refused"
        ),
    ),
    Provision(
        "NC 3.13",
        reading=message(
            "when Players have examined their cards, which the house may have entered, the Dealer's hand is turned "
            "and compared"
        ),
    ),
    Provision("NC 3.13.1", reading=message("a higher ranking wins the Initial Bet")),
    Provision("NC 3.13.2", reading=message("a lower ranking loses the Initial Bet")),
    Provision("NC 3.13.3", reading=message("the same ranking returns the Initial Bet and pays the Tie Bet")),
    Provision(
        "NC 3.13.4", reading=message("equal points with another ranking settle the Initial Bet and pay the Tie Bet")
    ),
    Provision(
        "NC 4.1",
        reading=message(
            "Initial Bet even money, half if the winning hand has six points (with pictures or without); Tie "
            "8 to 1, Three Pictures 16 to 1"
        ),
    ),
    # Limits
    Provision(
        "NC 5.1",
        reading=message(
            "before the close, an amount above a box's maximum is refused or returned; seated bettors "
            "come before standing ones"
        ),
    ),
    Provision(
        "NC 5.1.1",
        reading=message(
            "an excess noticed too late: the box's bettors share the maximum in proportion to their bets, and "
            "no share falls below the minimum as a result"
        ),
    ),
    Provision(
        "NC 5.1.2",
        reading=message(
            "a bet below the minimum on such a box is not reduced; under another reading no bet on that box is reduced"
        ),
    ),
    Provision(
        "NC 5.2",
        reading=message(
            "before the close, a bet that leaves its box below the minimum is refused, and the minimum is named"
        ),
    ),
    Provision("NC 5.2.1", reading=message("after the close, a bet below the minimum wins or loses as it lies")),
    Provision(
        "NC 5.3",
        reading=message(
            "the bets of a bettor who left are settled; where options are asked he counts as going on, confirmed "
            "by a pit supervisor"
        ),
    ),
    # Irregularities
    Provision(
        "NC 5.4",
        reading=message(
            "an interruption counts only if it affects the round: with every card's place certain play goes on"
        ),
    ),
    Provision("NC 5.4.1", reading=message("some placed bet is won or lost already: play goes on to the end")),
    Provision("NC 5.4.2", reading=message("no placed bet is won or lost yet: the round is void")),
    Provision(
        "NC 5.5",
        reading=message(
            "any of five situations voids the round; whether a wrong or unshuffled deck does so after the "
            "settlement (1.14) the casino may read otherwise"
        ),
    ),
    Provision(
        "NC 5.5.1",
        reading=message(
            "a card that does not belong to the deck in play voids the round; "
            "whether one found after settlement was found during it is a setting"
        ),
    ),
    Provision("NC 5.5.2", reading=message("a count by hand that shows missing or extra cards voids the round")),
    Provision(
        "NC 5.5.3",
        reading=message("cards that were not shuffled since they were loaded, or since the last round, void the round"),
    ),
    Provision(
        "NC 5.5.4",
        reading=message(
            "cards in the wrong place, order or number, and no Player has handled any: if moving complete hands "
            "corrects it, the dealer moves them as the screen shows and confirms it before play goes on; otherwise the "
            "round is void"
        ),
    ),
    Provision(
        "NC 5.5.5",
        reading=message(
            "a wrong number of cards in the Dealer's hand voids, unless the dealer can put the cards back into "
            "their order or the next round has begun"
        ),
    ),
    Provision(
        "NC 5.6",
        reading=message("once the next round has begun, nothing undoes the results and payments of earlier ones"),
    ),
    Provision(
        "NC 5.7",
        reading=message(
            "after any other dealing error each bettor chooses for himself; a bettor who goes on accepts what is "
            "dealt after that, and a second error is asked about under 5.17 unless the casino reads it otherwise"
        ),
    ),
    Provision(
        "NC 5.7.1", reading=message("offered if the cards cannot be reconstructed: continue with the hand as it is")
    ),
    Provision(
        "NC 5.7.2",
        reading=message(
            "offered if they can: continue with the reconstructed hand; when every bettor has chosen, "
            "the dealer moves the cards as the screen shows, including those of hands out of play, "
            "and confirms it before play goes on"
        ),
    ),
    Provision(
        "NC 5.7.3",
        reading=message(
            "always offered: the bet is returned; a hand on which no one continues is dealt to its end and is dead"
        ),
    ),
    Provision("NC 5.8", reading=message("after the close nothing is placed, raised or withdrawn")),
    Provision(
        "NC 5.9",
        reading=message(
            "a wrong number of cards in a Player's hand takes that hand out and returns its bets, unless it can be "
            "reconstructed or the next round has begun"
        ),
    ),
    Provision(
        "NC 5.10",
        reading=message(
            "a card found face up in the device is the next card, and the deal goes on; behind the cards of the "
            'round it changes nothing, and before "No more Bets" 5.17 is asked'
        ),
    ),
    Provision(
        "NC 5.11",
        reading=message(
            "cards drawn together in an unknown order: a pit supervisor or above names the order; "
            "whether also of cards for one hand is a setting"
        ),
    ),
    Provision(
        "NC 5.11.1",
        reading=message(
            "whatever the order, each bettor then has the options of 5.7, after an earlier choice as second_error "
            "says; where the casino reads a known order as no error (order_in_log is none) no one has"
        ),
    ),
    Provision(
        "NC 5.12", reading=message("an error found a round later is recorded with its own round and holds no other")
    ),
    Provision(
        "NC 5.13",
        reading=message(
            "wagers are settled as chips lay at the close; a pit supervisor or above corrects a wrong "
            "entry and gives the reason"
        ),
    ),
    Provision("NC 5.14", reading=message("a side bet on a box without an Initial Bet is taken off and returned")),
    Provision("NC 5.15", reading=message("a void round returns all its bets")),
    Provision(
        "NC 5.16",
        reading=message(
            "a bet that staff place at a Player's request is the Player's, who is responsible for its "
            "place; the entry names the person who placed it"
        ),
    ),
    Provision(
        "NC 5.17",
        reading=message(
            "what no other clause resolves, and doubts about how to read one, wait for a ruling of the Table "
            "Games Shift "
            "Manager or above"
        ),
    ),
    Provision("NC App. A", outside=message("a drawing of the cloth, missing from the copy that was used")),
    Provision("NC App. B", outside=message("another drawing of the cloth, missing from the copy that was used")),
    Provision(
        "NC App. C",
        reading=message("31 classes in order: three pictures, then by points and by two, one or no picture"),
    ),
)
