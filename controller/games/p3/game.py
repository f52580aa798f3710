"""Prosperity 3 Pictures (MBS), Game Rules, effective 18 August 2017, as data. Id: P3."""

from typing import Final

from controller.games.common import (
    TIE_LOSES,
    TIE_PAYS,
    deck_error_after_settlement,
    exposed_card,
    face_up_is_misdealt,
    misdeal_confirmed_by,
    tie_against_three_pictures,
    wrong_count,
)
from controller.games.own_words import OwnWords
from controller.games.p3.clauses import IRREGULARITIES, PROVISIONS
from controller.games.specification import ClassNames, Clauses, Game, Grammar, Order, RoundStep, StepKind, Unit
from controller.games.wager_specification import Betting, LimitOf, Looks, Needs, Price, Setting, Shape, Wager, odds
from firmware_bridge.messages import Message, message

BY_POINTS: Final = ("tie_on", "points")
BY_RANKING: Final = ("tie_on", "ranking")
INSTEAD, BESIDES = ("perfect_tie", "instead"), ("perfect_tie", "besides")

SETTINGS: Final = (
    tie_against_three_pictures("P3 3.9"),
    Setting(
        "tie_on",
        3,
        "P3 1.1.6",
        message("What must be equal for the Tie wager to win?"),
        (
            ("points", message("the points (1.1.6, 4.1); at the printed odds that strongly favours the player")),
            ("ranking", message("the ranking, which alone is declared a Tie (3.11.1, 3.13.1)")),
        ),
    ),
    Setting(
        "perfect_tie",
        4,
        "P3 3.15",
        message("Is a Perfect Tie paid instead of the Tie, or as well?"),
        (("instead", message("instead: one wager, one price")), ("besides", message("as well: both prices are paid"))),
        default="instead",
    ),
    face_up_is_misdealt("P3 5.3"),
    exposed_card("P3 3.5"),
    misdeal_confirmed_by("P3 5.3"),
    wrong_count(
        "P3 5.3",
        message("5.3, the general one: void, because moving complete hands does not change the number"),
        message("5.4 for the Dealer's hand: void only if the cards cannot be put into their order"),
    ),
    deck_error_after_settlement("P3 5.2", stands="5.1.2", void="5.2"),
)


def prosperity(of: str, title: Message, looks: Looks) -> Wager:
    """Return a wager with these prices on a Player's or the Dealer's hand. Only the highest class pays (reading 6)."""
    return Wager(
        f"{of}_prosperity",
        title,
        looks,
        (
            Price(Shape.THREE_KINGS, odds(250), "P3 4.2", name=message("Three Kings")),
            Price(Shape.THREE_QUEENS, odds(250), "P3 4.2", name=message("Three Queens")),
            Price(Shape.THREE_JACKS, odds(250), "P3 4.2", name=message("Three Jacks")),
            Price(Shape.THREE_PICTURES, odds(25), "P3 4.2", name=message("Three Mixed Pictures")),
            Price(Shape.PICTURE_PAIR, odds(15), "P3 4.2", name=message("Any Picture Pair")),
        ),
        "P3 1.1.4",
        needs=Needs.OWN_MAIN,
    )


# Each has its area on the layout: P3 2.2.1 to 2.2.4. The object of the game is to rank higher: P3 3.3.
WAGERS: Final = (
    Wager(
        "main",
        message("Initial wager"),
        Looks.BOTH,
        (
            Price(Shape.HIGHER, odds(1, 2), "P3 4.1", points=6, name=message("Player wins on Six Points")),
            Price(Shape.HIGHER, odds(1), "P3 4.1", name=message("Player wins on other Points")),
        ),
        "P3 3.8",
        returned=Shape.SAME_RANKING,
        returned_clause="P3 3.13.1",
        main=True,
        defined="P3 2.2.1",
        returned_by=((Shape.SAME_RANKS, "P3 3.13.2"), (Shape.THREE_PICTURES_BOTH, "P3 3.11.1")),
    ),
    Wager(
        "tie",
        message("Tie"),
        Looks.BOTH,
        (
            Price(Shape.SAME_RANKS, odds(400), "P3 4.1", (INSTEAD,), name=message("Perfect Tie")),
            Price(Shape.SAME_RANKS, odds(400 + 10), "P3 4.1", (BESIDES,), name=message("Perfect Tie and Tie")),
            Price(Shape.SAME_POINTS, odds(10), "P3 4.1", (BY_POINTS, TIE_PAYS), name=message("Tie")),
            Price(
                Shape.SAME_POINTS_BELOW_THREE_PICTURES, odds(10), "P3 4.1", (BY_POINTS, TIE_LOSES), name=message("Tie")
            ),
            Price(Shape.SAME_RANKING, odds(10), "P3 4.1", (BY_RANKING,), name=message("Tie")),
        ),
        "P3 1.1.6",
        needs=Needs.OWN_MAIN,
    ),
    prosperity("player", message("Player Prosperity Pictures"), Looks.BOX),
    prosperity("dealer", message("Dealer Prosperity Pictures"), Looks.DEALER),
    Wager(
        "picture_perfect",
        message("Picture Perfect"),
        Looks.BOTH,
        (
            Price(Shape.MATCHED_THREE, odds(500), "P3 4.3", name=message("3 Matching Picture cards")),
            Price(Shape.MATCHED_TWO, odds(100), "P3 4.3", name=message("2 Matching Picture cards")),
            Price(Shape.MATCHED_ONE, odds(5), "P3 4.3", name=message("1 Matching Picture card")),
        ),
        "P3 1.1.3",
        needs=Needs.OWN_MAIN,
    ),
)

GAME: Final = Game(
    id="P3",
    title=message("Prosperity 3 Pictures"),
    operator="MBS",
    version="",
    effective="2017-08-18",
    boxes=(1, 9, 7),
    grammars=(
        Grammar(Unit.SETS, Order.BY_HAND, "P3 3.5"),
        Grammar(Unit.SINGLES, Order.BY_HAND, "P3 3.5"),
    ),
    steps=(
        RoundStep(StepKind.BETTING, "P3 3.1", message('"Place your bets, please" begins the round')),
        RoundStep(StepKind.CLOSING, "P3 3.2", message('"No more bets" closes it to wagers')),
        RoundStep(
            StepKind.DEALING,
            "P3 3.5",
            message("clockwise from the Dealer's left, three cards to each area, the Dealer last"),
        ),
        RoundStep(StepKind.EXAMINING, "P3 3.6", message("Players look at their cards")),
        RoundStep(
            StepKind.RETURNING, "P3 3.6", message("every hand lies face up before the Dealer's is turned (P3 3.7)")
        ),
        RoundStep(
            StepKind.EXPOSING, "P3 3.7", message("the Dealer turns his hand and says whether it is a Prosperity hand")
        ),
        RoundStep(StepKind.SETTLING, "P3 3.8", message("each Player has won, lost or tied; wagers are settled")),
    ),
    words=OwnWords(wins=message("won"), loses=message("lost")),  # P3 3.8
    names=ClassNames(
        message("Three Pictures"), message("{word}, two Pictures"), message("{word}, one Picture"), message("{word}")
    ),
    tie_word=message("tied"),
    clauses=Clauses(
        place_your_bets="P3 3.1",
        no_more_bets="P3 3.2",
        exposing="P3 3.7",
        void_returns_bets="",  # reading 33
    ),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(
        LimitOf.WAGER,
        late="P3 5.5",
        late_withdrawal="P3 5.6",
        without_main="P3 3.4",
    ),
    irregularities=IRREGULARITIES,
    provisions=PROVISIONS,
)
