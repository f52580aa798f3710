"""Non-Commission Three Pictures (RWS), Game Rules version 3, effective 9 July 2019, as data. Id: NC."""

from typing import Final

from controller.games.common import (
    TIE_LOSES,
    TIE_PAYS,
    established_by,
    exposed_card,
    face_up_is_misdealt,
    known_cards,
    misdeal_confirmed_by,
    tie_against_three_pictures,
    unentered_bettors,
    wrong_count,
)
from controller.games.nc.clauses import IRREGULARITIES, PROVISIONS
from controller.games.specification import ClassNames, Clauses, Game, Grammar, Order, RoundStep, StepKind, Unit
from controller.games.wager_specification import (
    Betting,
    Excess,
    LimitOf,
    Looks,
    Needs,
    Price,
    Setting,
    Shape,
    Viewer,
    Wager,
    odds,
)
from firmware_bridge.messages import message

SETTINGS: Final = (
    tie_against_three_pictures("NC 3.2"),
    Setting(
        "three_pictures_of",
        13,
        "NC 1.17",
        message("Whose hand wins the Three Pictures Bet?"),
        (
            ("own", message("the box's own (NC 3.9)")),
            ("either", message("the box's or the Dealer's: 1.17 names any hand")),
        ),
        default="own",
    ),
    wrong_count(
        "NC 5.5.4", message("5.5.4, the general one: void"), message("5.5.5 for the Dealer's hand, 5.9 for a Player's")
    ),
    Setting(
        "cured",
        25,
        "NC 5.5.4",
        message("Moving complete hands corrects the error: do Players have a choice?"),
        (
            ("silently", message("no: the hands are moved and the deal goes on")),
            ("options", message("yes: 5.7.2 or 5.7.3")),
        ),
        default="silently",
    ),
    Setting(
        "order_in_log",
        32,
        "NC 5.11.1",
        message("Cards came together and the device's log shows their order: do Players have a choice?"),
        (
            ("options", message("yes: it is a dealing error all the same")),
            ("none", message("no: their order could be determined")),
        ),
        default="options",
    ),
    Setting(
        "deck_error_after_settlement",
        47,
        "NC 1.14",
        message("The deck proves wrong or not shuffled after settlement, which ends the round: what follows?"),
        (
            ("void", message("5.5 applies until the next round begins (5.6)")),
            (
                "foreign_referred",
                message(
                    "5.17 decides about a foreign card, because 5.5.1 covers one found during the round; anything else "
                    "voids the round"
                ),
            ),
            ("referred", message("the round is over: 5.17 decides")),
        ),
        default="void",
    ),
    face_up_is_misdealt("NC 5.5.4"),
    exposed_card("NC 3.12"),
    misdeal_confirmed_by("NC 5.5.4"),
    unentered_bettors("NC 5.7"),
    Setting(
        "second_error",
        39,
        "NC 5.7",
        message("A second error follows a choice to go on: are the options offered again?"),
        (
            ("asked", message("that is asked under 5.17(b)")),
            ("offered", message("yes: each bettor chooses again")),
            ("accepted", message("no: a Player who chose to go on accepts what is dealt")),
        ),
        default="asked",
    ),
    Setting(
        "second_error_about",
        50,
        "NC 5.7",
        message("Which error counts as a second one after a choice to go on?"),
        (
            ("any_card", message("every error noticed after the choice")),
            (
                "later_card",
                message(
                    "an error about a card dealt after the choice; about an earlier card everyone chooses as for a "
                    "first error"
                ),
            ),
        ),
        default="any_card",
    ),
    Setting(
        "order_within_a_hand",
        51,
        "NC 5.11",
        message("Cards that came together all go to one hand: is their order named?"),
        (
            ("named", message("yes: 5.11 has no exception; then Players choose")),
            ("none", message("no: a hand has no order; Players choose at once (5.11.1)")),
        ),
        default="named",
    ),
    Setting(
        "wrong_count_out_of_play",
        52,
        "NC 5.7.3",
        message("A hand that is out of play has a wrong number of cards: what follows?"),
        (
            ("as_in_play", message("what follows for any hand: 5.5.4 before Players handle cards, 5.9 after that")),
            ("nothing", message("play goes on: the hand is already invalidated")),
        ),
        default="as_in_play",
    ),
    established_by("NC 5.4"),
    known_cards("NC 5.4"),
    Setting(
        "examining_entered",
        53,
        "NC 3.13",
        message("Must it be entered that Players have examined their cards before the Dealer's hand is turned over?"),
        (
            ("offered", message("if the dealer wishes")),
            ("required", message("always: without the entry the hand is not turned over")),
        ),
        default="offered",
    ),
    Setting(
        "pro_rata_under_minimum",
        46,
        "NC 5.1.2",
        message("A bet below the minimum lies on a box that is above the maximum: which bets are apportioned?"),
        (("exempt", message("that bet alone")), ("none", message("none of that kind on the box"))),
        default="exempt",
    ),
)

# Half pay: NC 1.8. The object of the game is to rank higher: NC 3.1.
WAGERS: Final = (
    Wager(
        "main",
        message("Initial Bet"),
        Looks.BOTH,
        (
            Price(Shape.HIGHER, odds(1, 2), "NC 4.1", points=6, name=message("Player wins on 6 points")),
            Price(Shape.HIGHER, odds(1), "NC 4.1", name=message("Player wins on other points")),
        ),
        "NC 3.13.2",
        returned=Shape.SAME_RANKING,
        returned_clause="NC 3.13.3",
        main=True,
        defined="NC 1.7",
    ),
    Wager(
        "tie",
        message("Tie"),
        Looks.BOTH,
        (
            Price(Shape.SAME_RANKING, odds(8), "NC 3.13.3", name=message("Tie")),
            Price(Shape.SAME_POINTS, odds(8), "NC 3.13.4", (TIE_PAYS,), name=message("Tie")),
            Price(Shape.SAME_POINTS_BELOW_THREE_PICTURES, odds(8), "NC 3.13.4", (TIE_LOSES,), name=message("Tie")),
        ),
        "NC 1.18",
        needs=Needs.ANY_MAIN,
    ),
    Wager(
        "three_pictures",
        message("Three Pictures"),
        Looks.BOX,
        (Price(Shape.THREE_PICTURES, odds(16), "NC 4.1", name=message("Three Pictures")),),
        "NC 1.17",
        needs=Needs.ANY_MAIN,
        under=(("three_pictures_of", "own"),),
    ),
    Wager(
        "three_pictures",
        message("Three Pictures"),
        Looks.BOTH,
        (Price(Shape.THREE_PICTURES_EITHER, odds(16), "NC 4.1", name=message("Three Pictures")),),
        "NC 1.17",
        needs=Needs.ANY_MAIN,
        under=(("three_pictures_of", "either"),),
    ),
)

GAME: Final = Game(
    id="NC",
    title=message("Non-Commission Three Pictures"),
    operator="RWS",
    version="3",
    effective="2019-07-09",
    boxes=(1, 9, 7),  # as many as the layout has: NC 2.1.1.a
    grammars=(
        # An electronic shuffler (NC 1.4) deals sets and must do so (3.12.1); a shoe (NC 1.2) deals single cards.
        Grammar(Unit.SETS, Order.BY_HAND, "NC 3.12.1", "shuffler"),
        Grammar(Unit.SINGLES, Order.BY_ROUND, "NC 3.12", "shoe"),
    ),
    steps=(
        RoundStep(StepKind.BETTING, "NC 3.4", message('"Place your Bets, please" begins the round')),
        RoundStep(StepKind.CLOSING, "NC 3.11", message('"No more Bets" closes it to bets')),
        RoundStep(
            StepKind.DEALING,
            "NC 3.12",
            message("clockwise from the Dealer's left, the Dealer last; a shuffler yields sets (NC 3.12.1)"),
        ),
        RoundStep(StepKind.EXAMINING, "NC 3.13", message("Players examine their cards, one hand each (NC 3.10)")),
        RoundStep(
            StepKind.EXPOSING,
            "NC 3.13",
            message("the Dealer turns his cards; Players' hands need not be returned first"),
        ),
        RoundStep(StepKind.SETTLING, "NC 3.13", message("each hand is compared with the Dealer's; bets are settled")),
    ),
    names=ClassNames(
        message("Three Pictures"),
        message("Double Pictures {word}"),
        message("Single Picture {word}"),
        message("Plain {word}"),
    ),
    tie_word=message("tie game"),
    clauses=Clauses(
        place_your_bets="NC 3.4",
        no_more_bets="NC 3.11",
        exposing="NC 3.13",
        void_returns_bets="NC 5.15",
        option_returns_bet="NC 5.7.3",
    ),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(
        LimitOf.BOX,
        limits="NC 3.5",
        excess=Excess.PRO_RATA,
        excess_clause="NC 5.1.1",
        shortfall_clause="NC 5.2.1",
        late="NC 3.11",
        late_withdrawal="NC 5.8",
        without_main="NC 3.9",
        without_main_returned="NC 5.14",
        one_hand_viewed="NC 3.10",
        seated_first="NC 5.1",
        viewer=Viewer.SEATED_ELSE_HIGHEST,
        viewer_clause="NC 1.15",
        walked_away="NC 5.3",
    ),
    irregularities=IRREGULARITIES,
    silent_clause="NC 5.17",
    provisions=PROVISIONS,
)
