"""Three Pictures (MBS), Games Rules version 2, effective 31 December 2010, as data. Id: TP."""

from typing import Final

from controller.games.common import (
    TIE_LOSES,
    TIE_PAYS,
    deck_error_after_settlement,
    error_after_settlement,
    exposed_card,
    face_up_is_misdealt,
    misdeal_confirmed_by,
    tie_against_three_pictures,
)
from controller.games.own_words import OwnWords
from controller.games.specification import ClassNames, Clauses, Game, Grammar, Order, RoundStep, StepKind, Unit
from controller.games.tp.clauses import IRREGULARITIES, PROVISIONS
from controller.games.wager_specification import Betting, LimitOf, Looks, Needs, Price, Shape, Wager, odds
from firmware_bridge.messages import message

SETTINGS: Final = (
    tie_against_three_pictures("TP 3.8"),
    face_up_is_misdealt("TP 5.3"),
    exposed_card("TP 3.4"),
    misdeal_confirmed_by("TP 5.3"),
    deck_error_after_settlement("TP 5.2", stands="5.1.2", void="5.2"),
    error_after_settlement(
        "TP 5.4",
        message(
            "A wrong number of cards in the Dealer's hand is found after settlement, before the next round: what "
            "follows?"
        ),
    ),
)

# Each has its area on the layout: TP 2.2.1, 2.2.2, 2.2.3.
WAGERS: Final = (
    Wager(
        "main",
        message("Initial bet"),
        Looks.BOTH,
        (
            Price(Shape.HIGHER, odds(1, 2), "TP 4.1", points=6, name=message("Player wins on Six Points")),
            Price(Shape.HIGHER, odds(1), "TP 4.1", name=message("Player wins on Other Points")),
        ),
        "TP 3.7",
        returned=Shape.SAME_RANKING,
        returned_clause="TP 3.13",
        main=True,
        defined="TP 2.2.1",
    ),
    Wager(
        "tie",
        message("Tie"),
        Looks.BOTH,
        (
            Price(Shape.SAME_POINTS, odds(8), "TP 3.13.1", (TIE_PAYS,), name=message("Tie")),
            Price(Shape.SAME_POINTS_BELOW_THREE_PICTURES, odds(8), "TP 3.13.1", (TIE_LOSES,), name=message("Tie")),
        ),
        "TP 3.13.1",
        needs=Needs.OWN_MAIN,
        defined="TP 1.1.3",
    ),
    Wager(
        "three_pictures",
        message("Three Pictures"),
        Looks.BOX,
        (Price(Shape.THREE_PICTURES, odds(16), "TP 4.1", name=message("Three Pictures")),),
        "TP 1.1.2",
        needs=Needs.OWN_MAIN,
    ),
)

GAME: Final = Game(
    id="TP",
    title=message("Three Pictures"),
    operator="MBS",
    version="2",
    effective="2010-12-31",
    boxes=(1, 9, 7),
    grammars=(
        Grammar(Unit.SETS, Order.BY_HAND, "TP 3.4"),
        Grammar(Unit.SINGLES, Order.BY_HAND, "TP 3.4"),
    ),
    steps=(
        RoundStep(StepKind.BETTING, "TP 3.1", message('"Place your bets, please" begins the round')),
        RoundStep(StepKind.CLOSING, "TP 3.2", message('"No more bets" closes it to wagers')),
        RoundStep(
            StepKind.DEALING,
            "TP 3.4",
            message("clockwise from the Dealer's left, three cards to each area, the Dealer last"),
        ),
        RoundStep(StepKind.EXAMINING, "TP 3.5", message("Players look at their cards")),
        RoundStep(
            StepKind.RETURNING, "TP 3.5", message("every hand lies face up before the Dealer's is turned (TP 3.6)")
        ),
        RoundStep(StepKind.EXPOSING, "TP 3.6", message("the Dealer turns and announces his hand")),
        RoundStep(StepKind.SETTLING, "TP 3.7", message("each Player has won, lost or tied; wagers are settled")),
    ),
    words=OwnWords(wins=message("won"), loses=message("lost")),  # TP 3.7
    names=ClassNames(
        message("Three Knights"), message("{word}, two Knights"), message("{word}, one Knight"), message("{word}")
    ),
    tie_word=message("tied"),
    clauses=Clauses(
        place_your_bets="TP 3.1",
        no_more_bets="TP 3.2",
        exposing="TP 3.6",
        void_returns_bets="",  # reading 33
    ),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(
        LimitOf.WAGER,
        late="TP 5.5",
        late_withdrawal="TP 5.6",
        without_main="TP 3.3",
    ),
    irregularities=IRREGULARITIES,
    provisions=PROVISIONS,
)
