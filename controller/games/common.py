"""Rows and settings that several documents share in meaning, each made for a given clause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeAlias

from msgspec.structs import replace

from controller.games.specification import Disposition, Facts, Kind, Noticed, Row, explained
from controller.games.wager_specification import Setting, Under
from controller.roles import Role
from firmware_bridge.messages import Message, message

When: TypeAlias = tuple[Noticed, ...]
IN_ROUND: Final = (Noticed.IN_ROUND,)
UNTIL_NEXT: Final = (Noticed.IN_ROUND, Noticed.CONCLUDED)  # up to the announcement of the next round
SETTLED: Final = (Noticed.CONCLUDED,)
NEXT_ROUND: Final = (Noticed.NEXT_ROUND,)
GENERAL_FIRST: Final[Under] = (("wrong_count", "general"),)
SPECIFIC_FIRST: Final[Under] = (("wrong_count", "specific"),)
STANDS_WHEN_SETTLED: Final[Under] = (("deck_error_after_settlement", "stands"),)
VOID_WHEN_SETTLED: Final[Under] = (("deck_error_after_settlement", "void"),)
ERROR_REACHES_SETTLED: Final[Under] = (("error_after_settlement", "void"),)
FACE_UP_COUNTS: Final[Under] = (("face_up_is_misdealt", "yes"),)
TIE_PAYS: Final = ("tie_against_three_pictures", "pays")
TIE_LOSES: Final = ("tie_against_three_pictures", "loses")


def foreign_card(clause: str, noticed: When = IN_ROUND) -> Row:
    because = message("a card that does not belong to this deck was found")
    return Row(Kind.FOREIGN_CARD, clause, Disposition.VOID, because, noticed=noticed)


def stands(clause: str, *kinds: Kind) -> tuple[Row, ...]:
    """Return rows for what is found after the next round began: the result of the round does not change."""
    because = message("noticed after the next round had begun")
    return tuple(Row(kind, clause, Disposition.STANDS, because, noticed=NEXT_ROUND) for kind in kinds)


PROCEDURE: Final = "house procedure"  # the authority if neither a clause nor a house table decides


def counted_by_hand(
    kind: Kind, wrong: str, noticed: When = IN_ROUND, under: Under = (), follows: Disposition = Disposition.VOID
) -> tuple[Row, ...]:
    """Return the row of the clause for a wrong count by hand, and a row for a right count, which no clause mentions."""
    return (
        Row(
            kind,
            wrong,
            follows,
            message("a count by hand shows missing or extra cards"),
            when=Facts(counted_wrong=True),
            noticed=noticed,
            under=under,
        ),
        Row(
            kind,
            "",
            Disposition.CONTINUE,
            message("a count by hand shows that the deck is complete"),
            when=Facts(counted_wrong=False),
            noticed=noticed,
            under=under,
            authority=PROCEDURE,
        ),
    )


def deck_errors_when_settled(stands: str, wrong: str, *others: Kind) -> tuple[Row, ...]:
    """Return rows of reading 47: the deck proves wrong after the round is settled and before the next begins.

    `stands`: the clause by which results of previous rounds stand, for a foreign card, the count and the `others`.
    `wrong`: the clause by which a wrong count voids and which names no time. Otherwise no row applies to that round.
    """
    kinds = (Kind.DECK_COUNT, Kind.COUNT_IN_DOUBT)
    because = explained(message("found after the round was settled"), message("the round counts as a previous round"))
    return (
        *(
            Row(kind, stands, Disposition.STANDS, because, noticed=SETTLED, under=STANDS_WHEN_SETTLED)
            for kind in (Kind.FOREIGN_CARD, *others)
        ),
        *(
            row
            for kind in kinds
            for row in counted_by_hand(kind, stands, SETTLED, STANDS_WHEN_SETTLED, Disposition.STANDS)
        ),
        *(row for kind in kinds for row in counted_by_hand(kind, wrong, SETTLED, VOID_WHEN_SETTLED)),
    )


def reaching_settled(row: Row) -> tuple[Row, ...]:
    """Return rows of reading 49: a clause without a time also covers a settled round if the casino reads it in this
    way.
    """
    return (row, replace(row, noticed=SETTLED, under=(*row.under, *ERROR_REACHES_SETTLED)))


def judged_by(row: Row) -> tuple[Row, ...]:
    """Return rows of reading 48: who confirms the fact that keeps a misdealt round from being void, by the setting."""
    return tuple(
        replace(row, confirms=role, under=(*row.under, ("misdeal_confirmed_by", role.value)))
        for role in (Role.PIT_SUPERVISOR, Role.DEALER)
    )


def reconstructed(kind: Kind, clause: str, misplaced: bool | None = None, under: Under = ()) -> tuple[Row, ...]:
    return judged_by(
        Row(
            kind,
            clause,
            Disposition.RECONSTRUCT,
            message("cards are in the wrong place, no Player has handled cards, and moving complete hands corrects it"),
            when=Facts(misplaced=misplaced, handled=False, curable=True),
            under=under,
        )
    )


def not_curable(kind: Kind, clause: str, misplaced: bool | None = None) -> Row:
    return Row(
        kind,
        clause,
        Disposition.VOID,
        message("cards were dealt wrongly, no Player has handled cards, and moving complete hands does not correct it"),
        when=Facts(misplaced=misplaced, handled=False, curable=False),
    )


def misdealt(clause: str) -> tuple[Row, ...]:
    """Return rows for wrong places or a wrong order before any Player has handled cards."""
    return (
        *reconstructed(Kind.WRONG_DISTRIBUTION, clause),
        not_curable(Kind.WRONG_DISTRIBUTION, clause),
    )


def misdealt_if_misplaced(kind: Kind, clause: str) -> tuple[Row, ...]:
    """Return rows for another dealing error that the same clause covers if a place, order or number is wrong."""
    return (*reconstructed(kind, clause, misplaced=True), not_curable(kind, clause, misplaced=True))


def as_wrong_count(kind: Kind, rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows of a wrong count for another dealing error that left a hand with a wrong number of cards.

    `rows`: those for a wrong count. They come first, since people notice a wrong
    number of cards before anything else.
    """
    return tuple(
        replace(row, kind=kind, id="", when=replace(row.when, wrong_number=True, misplaced=True), noticed=IN_ROUND)
        for row in rows
        if Noticed.IN_ROUND in row.noticed
    )


def wrong_count_unhandled(clause: str, dealer_hand: bool, under: Under = ()) -> Row:
    return Row(
        Kind.WRONG_COUNT,
        clause,
        Disposition.VOID,
        message("the Dealer's hand has a wrong number of cards and no Player has handled cards")
        if dealer_hand
        else message("a Player's hand has a wrong number of cards and no Player has handled cards"),
        when=Facts(dealer_hand=dealer_hand, handled=False),
        under=under,
    )


def uncured(clause: str, disposition: Disposition, dealer_hand: bool, handled: bool | None = None) -> tuple[Row, ...]:
    """Return rows for a wrong number of cards that takes effect unless the cards can be put back in order."""
    cannot = message("a Player's hand has a wrong number of cards, and its cards cannot be put in order")
    can = message("a Player's hand has a wrong number of cards, and its cards can be put in order")
    if dealer_hand:
        cannot = message("the Dealer's hand has a wrong number of cards, and its cards cannot be put in order")
        can = message("the Dealer's hand has a wrong number of cards, and its cards can be put in order")
    when = Facts(dealer_hand=dealer_hand, handled=handled)
    return (
        Row(
            Kind.WRONG_COUNT,
            clause,
            disposition,
            cannot,
            when=replace(when, reconstructable=False),
            noticed=UNTIL_NEXT,
        ),
        *judged_by(
            Row(
                Kind.WRONG_COUNT,
                clause,
                Disposition.RECONSTRUCT,
                can,
                when=replace(when, reconstructable=True),
                noticed=UNTIL_NEXT,
            )
        ),
    )


FACES_DEALT: Final = (
    (Kind.EXPOSED_CARD, Facts()),
    (Kind.FACE_UP_IN_DEVICE, Facts(before_close=False, in_stub=False)),
    (Kind.DROPPED_CARD, Facts(face_seen=True)),
)
"""The ways of dealing a face: a card that lay face up in the device or was dropped and seen is also an exposed card."""


def dealt_face_up(clause: str, kind: Kind = Kind.EXPOSED_CARD, when: Facts | None = None) -> Row:
    """Return the row of reading 37 for a casino that counts a card dealt face up as dealt incorrectly."""
    return Row(
        kind,
        clause,
        Disposition.VOID,
        message("a card was dealt face up and no Player has handled cards"),
        when=replace(when or Facts(), handled=False),
        under=FACE_UP_COUNTS,
    )


def faces_misdealt(clause: str) -> tuple[Row, ...]:
    """Return the rows of reading 37. They come first, because moving complete hands does not cure an exposed card."""
    return tuple(dealt_face_up(clause, kind, when) for kind, when in FACES_DEALT)


def cannot_tell(kind: Kind, clause: str, when: Facts) -> Row:
    """Return the row of reading 29: without wagers it is unknown whether one has won or lost."""
    return Row(
        kind,
        clause,
        Disposition.REFER,
        explained(message("no wagers are entered"), message("it is not known whether an outcome is established")),
        when=replace(when, cannot_tell=True),
        decides=Role.SHIFT_MANAGER,
    )


def late_bets(placed: str, withdrawn: str) -> tuple[Row, ...]:
    """Return the rows after "No more bets". No document sets a deadline for noticing: a settled round is included."""
    return (
        Row(
            Kind.LATE_BET,
            withdrawn,
            Disposition.REFUSE,
            message('a wager was withdrawn after "No more bets"'),
            when=Facts(withdrawn=True),
            confirms=Role.DEALER,
            noticed=UNTIL_NEXT,
        ),
        Row(
            Kind.LATE_BET,
            placed,
            Disposition.REFUSE,
            message('a wager was placed or raised after "No more bets"'),
            when=Facts(withdrawn=False),
            confirms=Role.DEALER,
            noticed=UNTIL_NEXT,
        ),
    )


def tie_against_three_pictures(clause: str) -> Setting:
    return Setting(
        "tie_against_three_pictures",
        2,
        clause,
        message("Does the Tie wager win when three pictures meet another hand with no points?"),
        (
            ("pays", message("yes: pictures count zero, so the points are equal")),
            ("loses", message("no: three pictures have no points to compare")),
        ),
        default="pays",
    )


def face_up_is_misdealt(clause: str) -> Setting:
    return Setting(
        "face_up_is_misdealt",
        37,
        clause,
        message("Does a card dealt face up count as dealt incorrectly?"),
        (
            ("no", message("no: only a wrong place, order or number counts")),
            ("yes", message("yes: as long as no Player has handled cards, the round is void")),
        ),
        default="no",
    )


def exposed_card(clause: str) -> Setting:
    return Setting(
        "exposed_card",
        55,
        clause,
        message("A card was exposed and its hand stays in play: how does the card lie?"),
        (
            ("down", message("people first turn it face down, as cards are dealt")),
            ("up", message("it stays face up until its hand is turned over")),
        ),
        default="down",
    )


def misdeal_confirmed_by(clause: str) -> Setting:
    return Setting(
        "misdeal_confirmed_by",
        48,
        clause,
        message(
            "Who confirms a fact that saves a misdealt round from being void, such as that moving complete hands "
            "corrects it?"
        ),
        (
            ("pit_supervisor", message("a pit supervisor: dealers do not judge their own errors")),
            ("dealer", message("the dealer who carries it out")),
        ),
        default="pit_supervisor",
    )


def wrong_count(clause: str, general: Message, specific: Message) -> Setting:
    return Setting(
        "wrong_count",
        24,
        clause,
        message("A hand has a wrong number of cards and no Player has handled cards: which clause comes first?"),
        (("general", general), ("specific", specific)),
        default="general",
    )


def deck_error_after_settlement(clause: str, stands: str, void: str) -> Setting:
    return Setting(
        "deck_error_after_settlement",
        47,
        clause,
        message("The deck proves wrong after settlement, before the next round: what follows?"),
        (
            ("referred", message("the round is over and no clause covers it: a shift manager decides")),
            ("stands", message("the round counts as a previous round: its result stands ({clause})", clause=stands)),
            (
                "void",
                message(
                    "{clause} names no time: a wrong count voids the round until the next one begins; anything else is "
                    "referred",
                    clause=void,
                ),
            ),
        ),
        default="referred",
    )


def error_after_settlement(clause: str, question: Message) -> Setting:
    return Setting(
        "error_after_settlement",
        49,
        clause,
        question,
        (
            ("referred", message("the round is over: a shift manager decides")),
            ("void", message("the clause names no time: it voids the round until the next one begins")),
        ),
        default="referred",
    )


def unentered_bettors(clause: str) -> Setting:
    return Setting(
        "unentered_bettors",
        38,
        clause,
        message("Who chooses if no wagers are entered?"),
        (
            ("box", message("each occupied box counts as one bettor; the dealer enters the choices")),
            ("entered", message("only bettors whose wagers are entered; they are entered first")),
        ),
        default="box",
    )


def established_by(clause: str) -> Setting:
    return Setting(
        "established_by",
        42,
        clause,
        message("When has a wager conclusively won or lost?"),
        (
            ("mathematically", message("when no card still to come can change it")),
            ("complete_hands", message("when every hand that it depends on is complete")),
        ),
    )


def known_cards(clause: str) -> Setting:
    return Setting(
        "known_cards",
        42,
        clause,
        message("Which cards count as known when that is judged?"),
        (
            ("exposed", message("those whose face was shown to the table")),
            ("seen", message("also those that a Player has viewed")),
            ("recognised", message("every card that the device has read")),
        ),
        default="exposed",
    )


def while_bets_are_open(kind: Kind, clause: str = "") -> Row:
    """Return the row for an interruption before "No more bets". Bets are free then; clauses cover only later play."""
    return Row(
        kind,
        clause,
        Disposition.CONTINUE,
        explained(
            message("play was interrupted while bets are open"),
            message("bets may still be placed, changed and taken back"),
        ),
        when=Facts(before_close=True),
        confirms=Role.DEALER,
        authority="" if clause else PROCEDURE,
    )


HOUSE_PROCEDURE: Final = (
    while_bets_are_open(Kind.POWER_FAILURE),
    Row(
        Kind.CARD_IN_SHUFFLING,
        "",
        Disposition.RESHUFFLE,
        message("a card fell or was exposed while the deck was shuffled, and no round was in progress"),
        when=Facts(between_rounds=True),
        confirms=Role.DEALER,
        authority=PROCEDURE,
        noticed=UNTIL_NEXT,
    ),
)
"""The last rows of every game, for what its document does not cover. They void nothing."""
