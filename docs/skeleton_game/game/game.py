"""Skeleton, version 1, as data. Id: SK.

A game to copy: docs/a_new_game.md says where its folders go and what to check afterwards. Its invented document has the
clauses 1 to 5, and the tests put it into the program and play it.
"""

from typing import Final

from controller.games.sk.clauses import IRREGULARITIES, PROVISIONS

from controller.games.common import established_by, known_cards
from controller.games.specification import ClassNames, Clauses, Game, Grammar, Order, RoundStep, StepKind, Unit
from controller.games.wager_specification import Betting, LimitOf, Looks, Needs, Price, Setting, Shape, Wager, odds
from firmware_bridge.messages import message

# What the document leaves open: one setting a question. Leave out `default` where the casino must choose. The numbers
# are those of docs/readings.md; a question that stands there already keeps its number.
SETTINGS: Final = (
    Setting(
        "tie_on",
        3,
        "SK 2.2",
        message("What must be equal for the Tie wager to win?"),
        (("points", message("the points")), ("ranking", message("the ranking"))),
        default="points",
    ),
    established_by("SK 5.4"),  # rows below ask whether an outcome is established: that needs both settings
    known_cards("SK 5.4"),
)

# A wager is paid by the first price that holds; else it is returned, or it is lost. `points` is the "half on N" of a
# main wager. `under` names the setting and the option with which a price is in force.
WAGERS: Final = (
    Wager(
        "main",
        message("Main wager"),
        Looks.BOTH,
        (Price(Shape.HIGHER, odds(1, 2), "SK 2.1", points=7), Price(Shape.HIGHER, odds(1), "SK 2.1")),
        "SK 2.1",
        returned=Shape.SAME_RANKING,
        returned_clause="SK 2.1",
        main=True,
    ),
    Wager(
        "tie",
        message("Tie"),
        Looks.BOTH,
        (
            Price(Shape.SAME_POINTS, odds(8), "SK 2.2", (("tie_on", "points"),)),
            Price(Shape.SAME_RANKING, odds(8), "SK 2.2", (("tie_on", "ranking"),)),
        ),
        "SK 2.2",
        needs=Needs.ANY_MAIN,
    ),
    Wager(
        "flush",
        message("Flush"),
        Looks.BOX,
        (Price(Shape.STRAIGHT_FLUSH, odds(40), "SK 2.3"), Price(Shape.FLUSH, odds(5), "SK 2.3")),
        "SK 2.3",
        needs=Needs.ANY_MAIN,
    ),
)

GAME: Final = Game(
    id="SK",  # the folder is called sk
    title=message("Skeleton"),
    operator="an invented casino",
    version="1",
    effective="2026-01-01",
    boxes=(1, 6, 4),  # fewest, most, default
    grammars=(  # one for each unit that a device may yield
        Grammar(Unit.SETS, Order.BY_HAND, "SK 3.1"),
        Grammar(Unit.SINGLES, Order.BY_ROUND, "SK 3.2"),
    ),
    # What the round consists of, in order. Without EXAMINING the Dealer exposes all hands. Without RETURNING the
    # Dealer's hand may be turned first; with it, only when every other hand lies face up.
    steps=(
        RoundStep(StepKind.BETTING, "SK 1.1", message("the round begins")),
        RoundStep(StepKind.CLOSING, "SK 1.2", message("it is closed to wagers")),
        RoundStep(StepKind.DEALING, "SK 3.1", message("three cards to each box with a wager, the Dealer last")),
        RoundStep(StepKind.EXAMINING, "SK 3.3", message("Players look at their cards")),
        RoundStep(StepKind.EXPOSING, "SK 3.4", message("the Dealer turns his hand")),
        RoundStep(StepKind.SETTLING, "SK 2.1", message("wagers are settled")),
    ),
    names=ClassNames(
        message("Three Pictures"), message("{word} and two"), message("{word} and one"), message("{word}")
    ),
    tie_word=message("tie"),
    clauses=Clauses(
        place_your_bets="SK 1.1",
        no_more_bets="SK 1.2",
        exposing="SK 3.4",
        void_returns_bets="SK 4.1",
        option_returns_bet="SK 4.2",
    ),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(LimitOf.WAGER, late="SK 1.2", late_withdrawal="SK 1.2", without_main="SK 2.2"),
    irregularities=IRREGULARITIES,
    silent_clause="SK 5.5",  # empty where the document names no one who decides
    provisions=PROVISIONS,
)
