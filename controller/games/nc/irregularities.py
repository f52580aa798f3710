"""The irregularity table of NC. If no row fits, the Table Games Shift Manager decides (NC 5.17)."""

from typing import Final

from msgspec.structs import replace

from controller.games.common import (
    GENERAL_FIRST,
    SETTLED,
    UNTIL_NEXT,
    as_wrong_count,
    cannot_tell,
    counted,
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
from controller.games.specification import Choice, Disposition, Facts, Kind, Option, Row, explained
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
        *counted(Kind.DECK_COUNT, wrong="NC 5.5.2"),
        *counted(Kind.COUNT_IN_DOUBT, wrong="NC 5.5.2"),
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
    explained(message("a hand that is out of play has a wrong number of cards"), message("it is invalidated already")),
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
                message("play was interrupted when no outcome was established"),
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
            message("a bet over the maximum counts pro rata; a bet under the minimum counts as it lies (NC 5.2.1)"),
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
