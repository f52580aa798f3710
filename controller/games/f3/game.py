"""3 Face Baccarat, a live dealer site's page without version, date or clause numbers, as data. Id: F3.

Its parts are cited as the Playing Method's points (PM1 to PM5), the numbered items, the odds (O1 result, O2 six points,
O3 Pair Plus) and the two points of its explanation (X1, X2). Its Banker is the Dealer here; Players 1 to 3 are boxes.
"""

from typing import Final

from controller.games.common import error_after_settlement, exposed_card
from controller.games.f3.clauses import IRREGULARITIES, PROVISIONS
from controller.games.own_words import DEALER, OwnWords
from controller.games.specification import (
    ClassNames,
    Clauses,
    FirstCard,
    Game,
    Grammar,
    Order,
    RoundStep,
    StepKind,
    Unit,
)
from controller.games.wager_specification import Betting, LimitOf, Looks, Price, Setting, Shape, Wager, odds
from firmware_bridge.messages import message

SETTINGS: Final = (
    Setting(
        "three_pictures_wager",
        15,
        "F3 O1",
        message("3P has odds but no betting spot: where is it bet?"),
        (("boxes", message("at each Player's position")), ("none", message("nowhere"))),
        default="boxes",
    ),
    Setting(
        "tie_on",
        16,
        "F3 item 6",
        message("What must be equal for the Tie wager to win?"),
        (("ranking", message("the ranking: points and pictures")), ("points", message("the points alone"))),
        default="ranking",
    ),
    Setting(
        "first_card",
        18,
        "F3 PM5",
        message("Does the First Card belong to a hand?"),
        (
            ("separate", message("no: it is shown and set aside; thirteen cards leave the device")),
            ("in_hand", message("yes: it is the first card of the first hand")),
        ),
        default="separate",
    ),
    Setting(
        "faces",
        45,
        "F3 PM2",
        message("How do hands lie until all are dealt?"),
        (
            ("down", message("face down; the Dealer exposes all four after the last card")),
            ("up", message("face up as they are dealt")),
        ),
        default="down",
    ),
    exposed_card("F3 PM2"),
    error_after_settlement(
        "F3 X2",
        message(
            "A dropped card, a wrong order, place or number of cards is found after settlement, before the next "
            "round: what follows?"
        ),
    ),
)

PAIR_PLUS: Final = (
    Price(Shape.STRAIGHT_FLUSH, odds(40), "F3 O3", name=message("Straight Flush")),
    Price(Shape.THREE_OF_A_KIND, odds(30), "F3 O3", name=message("Three of a Kind")),
    Price(Shape.STRAIGHT, odds(6), "F3 O3", name=message("Straight")),
    Price(Shape.FLUSH, odds(3), "F3 O3", name=message("Flush")),
    Price(Shape.PAIR, odds(1), "F3 O3", name=message("Pair")),
)

WAGERS: Final = (
    Wager(
        "win",
        message("Win"),
        Looks.BOTH,
        (
            Price(Shape.HIGHER, odds(1, 2), "F3 O2", points=6, name=message("Win on any combination of 6")),
            Price(Shape.HIGHER, odds(1), "F3 O1", name=message("Win")),
        ),
        "F3 PM3",
        returned=Shape.SAME_RANKING,
        returned_clause="F3 item 6",
        main=True,
        defined="F3 PM4",
    ),
    Wager(
        "lose",
        message("Lose"),
        Looks.BOTH,
        (
            Price(Shape.LOWER, odds(1, 2), "F3 O2", points=6, name=message("Lose on any combination of 6")),
            Price(Shape.LOWER, odds(1), "F3 O1", name=message("Lose")),
        ),
        "F3 PM3",
        returned=Shape.SAME_RANKING,
        returned_clause="F3 item 6",
        main=True,
        defined="F3 PM4",
    ),
    Wager(
        "tie",
        message("Tie"),
        Looks.BOTH,
        (
            Price(Shape.SAME_RANKING, odds(8), "F3 O1", (("tie_on", "ranking"),), name=message("Tie")),
            Price(Shape.SAME_POINTS, odds(8), "F3 O1", (("tie_on", "points"),), name=message("Tie")),
        ),
        "F3 item 6",
    ),
    Wager(
        "three_pictures",
        message("3P"),
        Looks.BOX,
        (Price(Shape.THREE_PICTURES, odds(16), "F3 O1", name=message("3P")),),
        "F3 item 3",
        under=(("three_pictures_wager", "boxes"),),
    ),
    Wager("pair_plus", message("Pair Plus"), Looks.BOX, PAIR_PLUS, "F3 item 8"),
    Wager("banker_pair_plus", message("Banker Pair Plus"), Looks.DEALER, PAIR_PLUS, "F3 item 8", on_dealer=True),
)


GAME: Final = Game(
    id="F3",
    title=message("3 Face Baccarat"),
    operator="",
    version="",
    effective="",
    boxes=(3, 3, 3),  # three Players and a Banker: F3 PM1
    grammars=(
        Grammar(Unit.SETS, Order.BY_HAND, "F3 PM2"),
        Grammar(Unit.SINGLES, Order.BY_HAND, "F3 PM2"),
    ),
    steps=(
        RoundStep(StepKind.BETTING, "F3 PM4", message("bets are placed on the Players and on the Banker")),
        RoundStep(StepKind.CLOSING, "F3 PM2", message("the deal starts after the bets")),
        RoundStep(StepKind.FIRST_CARD, "F3 PM5", message("a card is shown; its rank says which place is served first")),
        RoundStep(
            StepKind.DEALING, "F3 PM2", message("three cards to each of four places, counter-clockwise from there")
        ),
        RoundStep(StepKind.EXPOSING, "", message("the Dealer exposes all four hands")),
        RoundStep(
            StepKind.SETTLING, "F3 PM3", message("each Player's hand is compared with the Banker's; bets are settled")
        ),
    ),
    names=ClassNames(message("3P"), message("2P{n}"), message("P{n}"), message("{n}")),
    tie_word=message("TIE"),
    clauses=Clauses(place_your_bets="", no_more_bets="F3 PM2", exposing="", void_returns_bets="F3 X2"),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(LimitOf.WAGER),
    irregularities=IRREGULARITIES,
    every_hand=True,
    counter_clockwise=True,  # F3 PM2
    first_card=FirstCard(
        starts=((DEALER, (1, 5, 9, 13)), ("B1", (2, 6, 10)), ("B2", (3, 7, 11)), ("B3", (4, 8, 12))),
        order=(DEALER, "B1", "B2", "B3"),
        clause="F3 PM5",
        setting="first_card",
    ),
    provisions=PROVISIONS,
    words=OwnWords(
        message("Banker"), message("Player"), message("Players"), message("Win"), message("Lose")
    ),  # F3 PM1, PM4
)
