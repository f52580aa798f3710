"""The consequences of I01 to I28 in each game, written independently of the program: a cell for each case and game.

A situation is one irregularity with every fact that any game could ask for; games ignore facts that they do not need.
RTP 5.1 is cited by the sub-clause that states the consequence. Settings have their defaults.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.games.specification import Disposition, Facts, Kind
from controller.roles import Role

D, K = Disposition, Kind
GAME_IDS: Final = ("TP", "RTP", "NC", "P3", "F3")


class Expected(NamedTuple):
    """The content of the expected row. `options`: the clauses of what every bettor may choose."""

    clause: str
    disposition: Disposition
    confirms: Role = Role.PIT_SUPERVISOR
    decides: Role = Role.PIT_SUPERVISOR
    options: tuple[str, ...] = ()
    authority: str = ""


class Cell(NamedTuple):
    game: str
    number: str
    kind: Kind
    facts: Facts
    expected: Expected

    @property
    def name(self) -> str:
        stated = [f"{'' if value else 'not '}{name}" for name, value in facts_of(self.facts).items()]
        return " ".join([self.game, self.number, self.kind.value, *stated])


def facts_of(facts: Facts) -> dict[str, bool]:
    """Return the stated facts, true or not, without the time of noticing."""
    named = {name: getattr(facts, name) for name in Facts.__struct_fields__ if name != "noticed"}
    return {name: value for name, value in named.items() if value is not None}


def said(**stated: bool) -> Facts:
    return replace(Facts(), **stated)


def void(clause: str) -> Expected:
    return Expected(clause, D.VOID)


def recon(clause: str) -> Expected:
    """Expect a reconstruction, which no dealer confirms alone because it saves the round from being void."""
    return Expected(clause, D.RECONSTRUCT)


def cont(clause: str, *options: str, confirms: Role = Role.DEALER) -> Expected:
    return Expected(clause, D.CONTINUE, confirms, options=options)


def judged(clause: str) -> Expected:
    """Expect play to continue where an outcome is established, as a supervisor declares."""
    return cont(clause, confirms=Role.PIT_SUPERVISOR)


def remove(clause: str, *options: str) -> Expected:
    return Expected(clause, D.REMOVE_HAND, options=options)


def choose(clause: str, *options: str) -> Expected:
    return Expected(clause, D.OPTIONS, options=options)


def refer(clause: str) -> Expected:
    return Expected(clause, D.REFER, decides=Role.SHIFT_MANAGER)


def silent(clause: str = "") -> Expected:
    return Expected(clause, D.SILENT, decides=Role.SHIFT_MANAGER)


def refuse(clause: str) -> Expected:
    return Expected(clause, D.REFUSE, Role.DEALER)


def stands(clause: str) -> Expected:
    return Expected(clause, D.STANDS)


def reshuffle(clause: str) -> Expected:
    return Expected(clause, D.RESHUFFLE)


SILENT: Final = silent()
RTP_REFER: Final = refer("RTP 6.1")
NC_REFER: Final = refer("NC 5.17")
X2: Final = void("F3 X2")
HOUSE_WHOLE: Final = Expected("", D.CONTINUE, authority="house procedure")  # clauses cover only a wrong count
BETS_FREE: Final = Expected("", D.CONTINUE, Role.DEALER, authority="house procedure")
HOUSE_RESHUFFLE: Final = Expected("", D.RESHUFFLE, Role.DEALER, authority="house procedure")
NC_AS_DEALT: Final = choose("NC 5.7", "NC 5.7.1", "NC 5.7.3")
NC_RECONSTRUCTED: Final = choose("NC 5.7", "NC 5.7.2", "NC 5.7.3")
NC_ORDER_UNKNOWN: Final = Expected("NC 5.11", D.NAME_ORDER, options=("NC 5.7.1", "NC 5.7.3"))
NC_ORDER_KNOWN: Final = choose("NC 5.11.1", "NC 5.7.2", "NC 5.7.3")
RTP_GOES_ON: Final = cont("RTP 5.6", "RTP 5.7", "RTP 5.7", confirms=Role.PIT_SUPERVISOR)
UNPROVIDED: Final = {"TP": SILENT, "RTP": RTP_REFER, "NC": NC_REFER, "P3": SILENT, "F3": SILENT}
"""The expected row of what no clause covers."""


def situation(number: str, kind: Kind, facts: Facts, *columns: Expected) -> tuple[Cell, ...]:
    """Return one line of the table: TP, RTP, NC, P3, F3."""
    return tuple(Cell(game, number, kind, facts, expected) for game, expected in zip(GAME_IDS, columns, strict=True))


def unprovided(number: str, kind: Kind, facts: Facts) -> tuple[Cell, ...]:
    return situation(number, kind, facts, *UNPROVIDED.values())


def voids(tp: str, rtp: str, nc: str, p3: str) -> tuple[Expected, ...]:
    return void(tp), void(rtp), void(nc), void(p3)


def recons(tp: str, rtp: str, nc: str, p3: str) -> tuple[Expected, ...]:
    return recon(tp), recon(rtp), recon(nc), recon(p3)


COUNTED = said(counted_wrong=True)
WHOLE = said(counted_wrong=False)
DECK: Final = (
    *situation("I01", K.FOREIGN_CARD, said(), *voids("TP 5.1.1", "RTP 5.1.1", "NC 5.5.1", "P3 5.1.1"), SILENT),
    *situation("I02", K.DECK_COUNT, COUNTED, *voids("TP 5.2", "RTP 5.1.1", "NC 5.5.2", "P3 5.2"), SILENT),
    *situation("I02", K.DECK_COUNT, WHOLE, *[HOUSE_WHOLE] * 4, SILENT),
    *situation("I03", K.UNSHUFFLED, said(), SILENT, void("RTP 5.1.1"), void("NC 5.5.3"), SILENT, SILENT),
    *situation("I04", K.COUNT_IN_DOUBT, COUNTED, *voids("TP 5.2", "RTP 5.9", "NC 5.5.2", "P3 5.2"), SILENT),
    *situation("I04", K.COUNT_IN_DOUBT, WHOLE, *[HOUSE_WHOLE] * 4, SILENT),
)

CURABLE = said(wrong_number=False, misplaced=True, handled=False, curable=True)
NOT_CURABLE = said(wrong_number=False, misplaced=True, handled=False, curable=False)
HANDLED = said(wrong_number=False, misplaced=True, handled=True, reconstructable=False)
HANDLED_IN_ORDER = said(wrong_number=False, misplaced=True, handled=True, reconstructable=True)
WRONG_DEAL: Final = (
    *situation("I05", K.WRONG_DISTRIBUTION, CURABLE, *recons("TP 5.3", "RTP 5.4", "NC 5.5.4", "P3 5.3"), X2),
    *situation("I06", K.WRONG_DISTRIBUTION, NOT_CURABLE, *voids("TP 5.3", "RTP 5.4", "NC 5.5.4", "P3 5.3"), X2),
    *situation("I07", K.WRONG_DISTRIBUTION, HANDLED, SILENT, RTP_GOES_ON, NC_AS_DEALT, SILENT, X2),
    *situation("I07", K.WRONG_DISTRIBUTION, HANDLED_IN_ORDER, SILENT, RTP_GOES_ON, NC_RECONSTRUCTED, SILENT, X2),
    *situation("I16", K.OTHER_DEALING_ERROR, CURABLE, *recons("TP 5.3", "RTP 5.4", "NC 5.5.4", "P3 5.3"), X2),
    *situation("I16", K.OTHER_DEALING_ERROR, NOT_CURABLE, *voids("TP 5.3", "RTP 5.4", "NC 5.5.4", "P3 5.3"), X2),
    *situation("I16", K.OTHER_DEALING_ERROR, HANDLED, SILENT, RTP_REFER, NC_AS_DEALT, SILENT, X2),
    *situation("I16", K.OTHER_DEALING_ERROR, HANDLED_IN_ORDER, SILENT, RTP_REFER, NC_RECONSTRUCTED, SILENT, X2),
    *situation(
        "I16",
        K.OTHER_DEALING_ERROR,
        said(wrong_number=False, misplaced=False, handled=False, reconstructable=False),
        *(SILENT, RTP_REFER, NC_AS_DEALT, SILENT, SILENT),
    ),
    *situation(
        "I16",
        K.OTHER_DEALING_ERROR,
        said(wrong_number=False, misplaced=False, handled=True, reconstructable=True),
        *(SILENT, RTP_REFER, NC_RECONSTRUCTED, SILENT, SILENT),
    ),
)


def by_count(
    facts: Facts, rtp: Expected, nc: Expected, tp: Expected = SILENT, p3: Expected = SILENT, *, handled: bool = True
) -> tuple[Cell, ...]:
    """Return lines for a hand with a wrong number of cards. NC 5.11 covers simultaneous cards separately."""
    counted = replace(facts, wrong_number=True, misplaced=True, handled=handled, order_known=False)
    return (
        *situation("I16", K.OTHER_DEALING_ERROR, counted, tp, rtp, nc, p3, X2),
        *situation("I15", K.SIMULTANEOUS, counted, tp, rtp, NC_ORDER_UNKNOWN, p3, X2),
    )


RTP_REMOVES: Final = remove("RTP 5.5", "RTP 5.7", "RTP 5.7")
OF_DEALER = said(dealer_hand=True, reconstructable=False)
OF_PLAYER = said(dealer_hand=False, reconstructable=False, viewed=True)
UNHANDLED: Final = (void("RTP 5.4"), void("NC 5.5.4"), void("P3 5.3"))  # RTP, NC, P3: no Player has handled cards
BY_COUNT: Final = (
    *by_count(OF_DEALER, RTP_REFER, void("NC 5.5.5"), void("TP 5.4"), void("P3 5.4")),
    *by_count(replace(OF_DEALER, reconstructable=True), RTP_REFER, recon("NC 5.5.5"), void("TP 5.4"), recon("P3 5.4")),
    *by_count(OF_PLAYER, RTP_REMOVES, remove("NC 5.9")),
    *by_count(replace(OF_PLAYER, reconstructable=True), RTP_REMOVES, recon("NC 5.9")),
    *by_count(replace(OF_PLAYER, viewed=False), RTP_REFER, remove("NC 5.9")),
    *by_count(OF_DEALER, *UNHANDLED[:2], void("TP 5.4"), UNHANDLED[2], handled=False),
    *by_count(replace(OF_PLAYER, viewed=None), *UNHANDLED[:2], void("TP 5.3"), UNHANDLED[2], handled=False),
)
"""Return lines for hands that are counted first: their clauses are those of a wrong number of cards (I08a to I11)."""

NUMBER_OF_CARDS: Final = tuple(
    cell
    for again in (False, True)  # whether the cards can be put back in order
    for cell in (
        *situation(
            "I08a",
            K.WRONG_COUNT,
            said(dealer_hand=True, handled=False, reconstructable=again),
            *voids("TP 5.4", "RTP 5.4", "NC 5.5.4", "P3 5.3"),
            X2,
        ),
        *situation(
            "I08b",
            K.WRONG_COUNT,
            said(dealer_hand=True, handled=True, reconstructable=again),
            void("TP 5.4"),
            RTP_REFER,
            recon("NC 5.5.5") if again else void("NC 5.5.5"),
            recon("P3 5.4") if again else void("P3 5.4"),
            X2,
        ),
        *situation(
            "I09",
            K.WRONG_COUNT,
            said(dealer_hand=False, handled=False, viewed=False, reconstructable=again),
            *voids("TP 5.3", "RTP 5.4", "NC 5.5.4", "P3 5.3"),
            X2,
        ),
        *situation(
            "I10",
            K.WRONG_COUNT,
            said(dealer_hand=False, handled=True, viewed=True, reconstructable=again),
            SILENT,
            remove("RTP 5.5", "RTP 5.7", "RTP 5.7"),
            recon("NC 5.9") if again else remove("NC 5.9"),
            SILENT,
            X2,
        ),
        *situation(
            "I11",
            K.WRONG_COUNT,
            said(dealer_hand=False, handled=True, viewed=False, reconstructable=again),
            SILENT,
            RTP_REFER,
            recon("NC 5.9") if again else remove("NC 5.9"),
            SILENT,
            X2,
        ),
    )
)

LATER_CARD = said(manual=True, first_card=False, handled=False)
AUTOMATED = said(manual=False, first_card=False, handled=False)
FIRST_CARD = said(manual=True, first_card=True, handled=False)
NC_NEXT_CARD = Expected("NC 5.10", D.NEXT_CARD, Role.DEALER)
IN_DEVICE = said(before_close=False, shuffling=False, handled=False)
FACES: Final = (
    *situation("I12", K.EXPOSED_CARD, AUTOMATED, SILENT, cont("RTP 5.8"), NC_AS_DEALT, SILENT, SILENT),
    *situation("I12", K.EXPOSED_CARD, LATER_CARD, SILENT, cont("RTP 5.8"), NC_AS_DEALT, SILENT, SILENT),
    *situation("I13", K.EXPOSED_CARD, FIRST_CARD, SILENT, void("RTP 5.8.1"), NC_AS_DEALT, SILENT, cont("F3 PM5")),
    *situation(
        "I14",
        K.FACE_UP_IN_DEVICE,
        replace(IN_DEVICE, manual=False, first_card=False),
        *(SILENT, cont("RTP 5.8"), NC_NEXT_CARD, SILENT, SILENT),
    ),
    *situation(
        "I14",
        K.FACE_UP_IN_DEVICE,
        replace(IN_DEVICE, manual=True, first_card=False),
        *(SILENT, cont("RTP 5.8"), NC_NEXT_CARD, SILENT, SILENT),
    ),
    *situation(
        "I14",
        K.FACE_UP_IN_DEVICE,
        replace(IN_DEVICE, manual=True, first_card=True),
        *(SILENT, void("RTP 5.8.1"), NC_NEXT_CARD, SILENT, SILENT),
    ),
    *unprovided("I14", K.FACE_UP_IN_DEVICE, replace(IN_DEVICE, before_close=True, manual=False)),
    *unprovided("I14", K.FACE_UP_IN_DEVICE, replace(IN_DEVICE, before_close=True, manual=True, first_card=True)),
    *unprovided("I14", K.FACE_UP_IN_DEVICE, replace(IN_DEVICE, before_close=True, manual=True, first_card=False)),
    # In the stub it has no effect in NC. RTP 5.8 is about a card that is dealt, and this card is not.
    *situation(
        "I14",
        K.FACE_UP_IN_DEVICE,
        replace(IN_DEVICE, in_stub=True, manual=False, first_card=False),
        *(SILENT, RTP_REFER, cont("NC 5.10"), SILENT, SILENT),
    ),
    *situation(
        "I14",
        K.FACE_UP_IN_DEVICE,
        replace(IN_DEVICE, before_close=True, shuffling=True, manual=False),
        *(SILENT, RTP_REFER, NC_REFER, SILENT, reshuffle("F3 X1")),
    ),
)


def together(facts: Facts, tp: Expected, rtp: Expected, p3: Expected, f3: Expected) -> tuple[Cell, ...]:
    """Return lines for simultaneous cards. In NC only their known or unknown order matters."""
    return tuple(
        cell
        for known, nc in ((False, NC_ORDER_UNKNOWN), (True, NC_ORDER_KNOWN))
        for cell in situation("I15", K.SIMULTANEOUS, replace(facts, order_known=known), tp, rtp, nc, p3, f3)
    )


SIMULTANEOUS: Final = (
    *together(CURABLE, recon("TP 5.3"), recon("RTP 5.4"), recon("P3 5.3"), X2),
    *together(NOT_CURABLE, void("TP 5.3"), void("RTP 5.4"), void("P3 5.3"), X2),
    *together(HANDLED, SILENT, RTP_GOES_ON, SILENT, X2),
    *together(said(wrong_number=False, misplaced=False, handled=False), SILENT, RTP_REFER, SILENT, SILENT),
    *together(said(wrong_number=False, misplaced=False, handled=True), SILENT, RTP_REFER, SILENT, SILENT),
)

UNCERTAIN = said(places_certain=False, before_close=False)
INTERRUPTION: Final = (
    # Reading 29: without wagers it is unknown what is established.
    *unprovided("I17", K.POWER_FAILURE, said(cannot_tell=True, affects_play=True, before_close=False)),
    *unprovided("I19", K.TECHNICAL_STOP, replace(UNCERTAIN, cannot_tell=True)),
    *situation(
        "I17",
        K.POWER_FAILURE,
        said(affects_play=True, established=False, before_close=False),
        SILENT,
        Expected("RTP 5.13.1", D.WITHDRAWALS, options=("RTP 5.13.1", "RTP 5.13.1")),
        *(void("NC 5.4.2"), SILENT, SILENT),
    ),
    *situation(
        "I18",
        K.POWER_FAILURE,
        said(affects_play=True, established=True, before_close=False),
        *(SILENT, judged("RTP 5.13.2"), judged("NC 5.4.1"), SILENT, SILENT),
    ),
    # NC 5.4 is about interruptions that affect the continuation, RTP 5.13 about every power failure.
    *situation(
        "I17",
        K.POWER_FAILURE,
        said(affects_play=False, established=False, before_close=False),
        SILENT,
        Expected("RTP 5.13.1", D.WITHDRAWALS, options=("RTP 5.13.1", "RTP 5.13.1")),
        *(judged("NC 5.4"), SILENT, SILENT),
    ),
    *situation(
        "I18",
        K.POWER_FAILURE,
        said(affects_play=False, established=True, before_close=False),
        *(SILENT, judged("RTP 5.13.2"), judged("NC 5.4"), SILENT, SILENT),
    ),
    *situation(
        "I19",
        K.TECHNICAL_STOP,
        said(places_certain=True, before_close=False),
        SILENT,
        RTP_REFER,
        cont("NC 5.4"),
        SILENT,
        SILENT,
    ),
    *situation(
        "I19",
        K.TECHNICAL_STOP,
        replace(UNCERTAIN, established=True),
        *(SILENT, RTP_REFER, judged("NC 5.4.1"), SILENT, SILENT),
    ),
    *situation(
        "I19",
        K.TECHNICAL_STOP,
        replace(UNCERTAIN, established=False),
        *(SILENT, RTP_REFER, void("NC 5.4.2"), SILENT, SILENT),
    ),
    # Before "No more bets" every bet is free, and there is no deal to interrupt.
    *situation("I17", K.POWER_FAILURE, said(before_close=True, established=False), *[BETS_FREE] * 5),
    *situation(
        "I19",
        K.TECHNICAL_STOP,
        said(before_close=True, places_certain=False, established=False),
        *(SILENT, RTP_REFER, cont("NC 5.4"), SILENT, SILENT),
    ),
)

UNSEEN = said(face_seen=False, manual=False, first_card=False, reconstructable=False)


def dropped(facts: Facts, tp: Expected, rtp: Expected, p3: Expected, nc: Expected = NC_AS_DEALT) -> tuple[Cell, ...]:
    return situation("I21", K.DROPPED_CARD, facts, tp, rtp, nc, p3, X2)


DROPPED: Final = (
    *situation("I20", K.CARD_IN_SHUFFLING, said(), SILENT, RTP_REFER, NC_REFER, SILENT, reshuffle("F3 X1")),
    *situation("I20", K.CARD_IN_SHUFFLING, said(between_rounds=True), *[HOUSE_RESHUFFLE] * 4, reshuffle("F3 X1")),
    *dropped(
        replace(UNSEEN, misplaced=True, handled=False, curable=True), recon("TP 5.3"), recon("RTP 5.4"), recon("P3 5.3")
    ),
    *dropped(
        replace(UNSEEN, misplaced=True, handled=False, curable=False), void("TP 5.3"), void("RTP 5.4"), void("P3 5.3")
    ),
    *dropped(replace(UNSEEN, misplaced=True, handled=True), SILENT, RTP_REFER, SILENT),
    *dropped(replace(UNSEEN, misplaced=False, handled=False), SILENT, RTP_REFER, SILENT),
    *dropped(replace(UNSEEN, misplaced=False, handled=False, manual=True, first_card=True), SILENT, RTP_REFER, SILENT),
    *dropped(replace(UNSEEN, misplaced=False, handled=False, manual=True), SILENT, RTP_REFER, SILENT),
    *dropped(replace(UNSEEN, misplaced=False, handled=False, face_seen=True), SILENT, cont("RTP 5.8"), SILENT),
    *dropped(
        replace(UNSEEN, misplaced=False, handled=True, face_seen=True, manual=True), SILENT, cont("RTP 5.8"), SILENT
    ),
    *dropped(
        replace(UNSEEN, misplaced=False, handled=False, face_seen=True, manual=True, first_card=True),
        *(SILENT, void("RTP 5.8.1"), SILENT),
    ),
    # A dropped card that was found can return to its place (NC 1.13), so 5.7.2 is the option.
    *dropped(
        replace(UNSEEN, misplaced=False, handled=False, reconstructable=True),
        *(SILENT, RTP_REFER, SILENT, NC_RECONSTRUCTED),
    ),
)

BETS: Final = (
    *situation(
        "I22",
        K.LATE_BET,
        said(withdrawn=False),
        *(refuse("TP 5.5"), refuse("RTP 5.2"), refuse("NC 3.11"), refuse("P3 5.5"), SILENT),
    ),
    *situation(
        "I22",
        K.LATE_BET,
        said(withdrawn=True),
        *(refuse("TP 5.6"), refuse("RTP 5.3"), refuse("NC 5.8"), refuse("P3 5.6"), SILENT),
    ),
    *situation(
        "I23",
        K.SIDE_WITHOUT_MAIN,
        said(),
        silent("TP 3.3"),
        refer("RTP 3.5"),
        Expected("NC 5.14", D.RETURN_BET, Role.DEALER),
        silent("P3 3.4"),
        Expected("F3 PM4", D.CONTINUE, Role.DEALER),  # no wager depends on another
    ),
)

PEOPLE: Final = (
    *situation("I25", K.DEALER_EXPOSED_EARLY, said(), SILENT, RTP_REFER, NC_AS_DEALT, SILENT, SILENT),
    *unprovided("I26", K.WRONG_VIEWER, said()),
    *situation("I27", K.PLAYER_EXPOSED, said(dropped=True), SILENT, RTP_REFER, NC_REFER, SILENT, X2),
    *unprovided("I27", K.PLAYER_EXPOSED, said(dropped=False)),
    *unprovided("I28", K.BEFORE_NO_MORE_BETS, said()),
)

CELLS: Final = (
    *DECK,
    *WRONG_DEAL,
    *BY_COUNT,
    *NUMBER_OF_CARDS,
    *FACES,
    *SIMULTANEOUS,
    *INTERRUPTION,
    *DROPPED,
    *BETS,
    *PEOPLE,
)
"""I24, found in the next round, has its own table: I01 to I28 noticed late."""
