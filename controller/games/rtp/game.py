"""Royal Three Pictures (MBS), Game Rules version 2, effective 24 March 2020, as data. Id: RTP."""

from typing import Final

from controller.games.common import (
    TIE_LOSES,
    TIE_PAYS,
    deck_error_after_settlement,
    established_by,
    exposed_card,
    face_up_is_misdealt,
    known_cards,
    misdeal_confirmed_by,
    tie_against_three_pictures,
    unentered_bettors,
)
from controller.games.own_words import OwnWords
from controller.games.rtp.clauses import IRREGULARITIES, PROVISIONS
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
    Shortfall,
    Viewer,
    Wager,
    odds,
)
from firmware_bridge.messages import message

SETTINGS: Final = (
    tie_against_three_pictures("RTP 3.17"),
    Setting(
        "withdrawal_permitted_by",
        26,
        "RTP 5.7",
        message("Who may permit a dissatisfied Player to withdraw his wager?"),
        (
            ("shift_manager", message("the Gaming Shift Manager")),
            ("pit_manager", message("a Pit Manager or above")),
            ("pit_supervisor", message("a Pit Supervisor or above")),
            ("dealer", message("the Dealer")),
        ),
        default="shift_manager",
    ),
    face_up_is_misdealt("RTP 5.4"),
    exposed_card("RTP 3.12"),
    misdeal_confirmed_by("RTP 5.4"),
    deck_error_after_settlement("RTP 5.9", stands="5.1.2", void="5.9"),
    unentered_bettors("RTP 5.13.1"),
    established_by("RTP 5.13"),
    known_cards("RTP 5.13"),
)

# Each has its area on the layout: RTP 2.2.1, 2.2.2, 2.2.3. The object of the game is to rank higher: RTP 3.3.
WAGERS: Final = (
    Wager(
        "main",
        message("Main wager"),
        Looks.BOTH,
        (
            Price(Shape.HIGHER, odds(1, 2), "RTP 4.1", points=6, name=message("Player wins on Six Points")),
            Price(Shape.HIGHER, odds(1), "RTP 4.1", name=message("Player wins on other Points")),
        ),
        "RTP 3.16",
        returned=Shape.SAME_RANKING,
        returned_clause="RTP 1.1.5",
        main=True,
        defined="RTP 3.4",
    ),
    Wager(
        "tie",
        message("Tie"),
        Looks.BOTH,
        (
            Price(Shape.SAME_POINTS, odds(8), "RTP 3.19", (TIE_PAYS,), name=message("Tie")),
            Price(Shape.SAME_POINTS_BELOW_THREE_PICTURES, odds(8), "RTP 3.19", (TIE_LOSES,), name=message("Tie")),
        ),
        "RTP 1.1.6",
        needs=Needs.ANY_MAIN,
    ),
    Wager(
        "royal",
        message("Royal Pictures"),
        Looks.BOX,
        (
            Price(Shape.THREE_KINGS, odds(188), "RTP 4.2", name=message("Three Kings")),
            Price(Shape.THREE_QUEENS, odds(128), "RTP 4.2", name=message("Three Queens")),
            Price(Shape.THREE_JACKS, odds(88), "RTP 4.2", name=message("Three Jacks")),
            Price(Shape.THREE_PICTURES, odds(18), "RTP 4.2", name=message("Three Pictures")),
            Price(Shape.PICTURE_PAIR, odds(8), "RTP 4.2", name=message("Any Picture Pair")),
            Price(Shape.ANY_KING, odds(1), "RTP 4.2", name=message("Any King")),
        ),
        "RTP 1.1.4",
        needs=Needs.ANY_MAIN,
    ),
)

GAME: Final = Game(
    id="RTP",
    title=message("Royal Three Pictures"),
    operator="MBS",
    version="2",
    effective="2020-03-24",
    boxes=(1, 8, 8),  # RTP App. A, App. B
    grammars=(
        Grammar(Unit.SETS, Order.BY_HAND, "RTP 3.12"),
        Grammar(Unit.SINGLES, Order.BY_ROUND, "RTP 3.12.1"),
    ),
    steps=(
        RoundStep(StepKind.BETTING, "RTP 3.1", message('"Place your bets, please" begins the round')),
        RoundStep(StepKind.CLOSING, "RTP 3.2", message('"No more bets" closes it to wagers')),
        RoundStep(
            StepKind.DEALING,
            "RTP 3.12",
            message("clockwise from the Dealer's left, the Dealer last; card by card if not in sets (RTP 3.12.1)"),
        ),
        RoundStep(
            StepKind.EXAMINING, "RTP 3.13", message("one seated Player a position looks at its cards (RTP 3.10, 3.11)")
        ),
        RoundStep(
            StepKind.RETURNING,
            "RTP 3.13",
            message("hands lie face up; the Dealer opens a hand that no Player controls (RTP 3.14)"),
        ),
        RoundStep(
            StepKind.EXPOSING, "RTP 3.15", message("once all hands are returned, the Dealer turns and announces his")
        ),
        RoundStep(
            StepKind.SETTLING, "RTP 3.16", message("each Player has won, lost or stands off; wagers are settled")
        ),
    ),
    words=OwnWords(wins=message("won"), loses=message("lost")),  # RTP 3.16
    names=ClassNames(
        message("Three Pictures"), message("Double Picture {word}"), message("Single Picture {word}"), message("{word}")
    ),
    tie_word=message("standoff"),
    clauses=Clauses(
        place_your_bets="RTP 3.1",
        no_more_bets="RTP 3.2",
        exposing="RTP 3.15",
        void_returns_bets="",  # reading 33
        option_returns_bet="RTP 5.13.1",
    ),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(
        LimitOf.WAGER,
        limits="RTP 3.4",
        excess=Excess.TO_MAXIMUM,
        excess_clause="RTP 5.11",
        shortfall=Shortfall.ONCE,
        shortfall_clause="RTP 5.10",
        late="RTP 5.2",
        late_withdrawal="RTP 5.3",
        without_main="RTP 3.5",
        most_wagers=3,
        most_wagers_clause="RTP 3.9",
        one_hand_viewed="RTP 3.7",
        restricting="RTP 3.8",
        fewer_wagers="RTP 3.9.1",
        seated_to_view="RTP 3.11",
        viewer=Viewer.FIRST_SEATED,
        viewer_clause="RTP 3.10",
    ),
    irregularities=IRREGULARITIES,
    silent_clause="RTP 6.1",
    provisions=PROVISIONS,
)
