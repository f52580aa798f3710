"""A rules document as data: a skeleton. Copy it to `controller/games/`, under the document's name, and fill it in.

Nothing else has to be written: the module is found by its `GAME`. docs/a_new_game.md says what to check afterwards.
This one is of an invented game, "Skeleton" (SK), whose document has the clauses 1 to 4; the tests play it.
"""

from typing import Final

from controller.games.specification import (
    Choice,
    ClassNames,
    Clauses,
    Disposition,
    Facts,
    Game,
    Grammar,
    Kind,
    Noticed,
    Option,
    Order,
    Provision,
    Row,
    Step,
    StepKind,
    Unit,
)
from controller.games.wager_specification import Betting, LimitOf, Looks, Needs, Price, Setting, Shape, Wager, odds
from controller.roles import Role

# What the document leaves open: one setting a question. Leave out `default` where the casino must choose.
SETTINGS: Final = (
    Setting(
        "tie_on",
        1,
        "SK 2.2",
        "What must be equal for the Tie wager to win?",
        (("points", "the points"), ("ranking", "the ranking")),
        default="points",
    ),
)

# A wager is paid by the first price whose shape holds; else it is returned, or it is lost. `under` names the setting
# and option with which a price is in force. Shapes stand in controller/games/wager_specification.py; a new one needs
# its predicate in controller/rules/payouts.py.
WAGERS: Final = (
    Wager(
        "main",
        "Main wager",
        Looks.BOTH,
        (Price(Shape.HIGHER, odds(1, 2), "SK 2.1", points=6), Price(Shape.HIGHER, odds(1), "SK 2.1")),
        "SK 2.1",
        returned=Shape.SAME_RANKING,
        returned_clause="SK 2.1",
        main=True,
    ),
    Wager(
        "tie",
        "Tie",
        Looks.BOTH,
        (
            Price(Shape.SAME_POINTS, odds(8), "SK 2.2", (("tie_on", "points"),)),
            Price(Shape.SAME_RANKING, odds(8), "SK 2.2", (("tie_on", "ranking"),)),
        ),
        "SK 2.2",
        needs=Needs.ANY_MAIN,
    ),
)

# The first row that fits applies, so the special stands before the general. A fact that a row names and nobody has
# stated is asked for. What no row provides for is referred (`silent_clause`) or, where nobody is named, silent.
IRREGULARITIES: Final = (
    Row(Kind.FOREIGN_CARD, "SK 4.1", Disposition.VOID, "a card that is not of this deck was found"),
    Row(
        Kind.EXPOSED_CARD,
        "SK 4.2",
        Disposition.OPTIONS,
        "a card was exposed in dealing, and cards were handled",
        when=Facts(handled=True),
        options=(
            Option(Choice.CONTINUE, "SK 4.2", "the hand goes on"),
            Option(Choice.WITHDRAW, "SK 4.2", "the wager is returned"),
        ),
    ),
    Row(
        Kind.EXPOSED_CARD,
        "SK 4.3",
        Disposition.VOID,
        "a card was exposed in dealing, and nobody had handled cards",
        when=Facts(handled=False),
        confirms=Role.PIT_SUPERVISOR,
        noticed=(Noticed.IN_ROUND,),
    ),
)

GAME: Final = Game(
    id="SK",
    title="Skeleton",
    operator="nobody",
    version="1",
    effective="2026-01-01",
    boxes=(1, 9, 7),  # fewest, most, default
    grammars=(  # one for each unit that a device may yield
        Grammar(Unit.SETS, Order.BY_HAND, "SK 3.1"),
        Grammar(Unit.SINGLES, Order.BY_ROUND, "SK 3.2"),
    ),
    steps=(  # what the round consists of, in order; a game without EXAMINING exposes at once
        Step(StepKind.BETTING, "SK 1.1", "the round begins"),
        Step(StepKind.CLOSING, "SK 1.2", "it is closed to wagers"),
        Step(StepKind.DEALING, "SK 3.1", "three cards to each box with a wager, the Dealer last"),
        Step(StepKind.EXAMINING, "SK 3.3", "Players look at their cards"),
        Step(StepKind.EXPOSING, "SK 3.4", "the Dealer turns his hand"),
        Step(StepKind.SETTLING, "SK 2.1", "wagers are settled"),
    ),
    names=ClassNames("Three Pictures", "{word} and two", "{word} and one", "{word}"),
    tie_word="tie",
    clauses=Clauses(
        place_your_bets="SK 1.1",
        no_more_bets="SK 1.2",
        exposing="SK 3.4",
        void_returns_bets="SK 4.1",
        option_returns_bet="SK 4.2",
    ),
    settings=SETTINGS,
    wagers=WAGERS,
    betting=Betting(LimitOf.WAGER, late="SK 1.2", without_main="SK 2.2"),
    irregularities=IRREGULARITIES,
    silent_clause="SK 4.4",
    provisions=(  # every clause once: what the program makes of it, or why it is outside
        Provision("SK 1.1", reading="the announcement begins the round"),
        Provision("SK 1.2", reading="nothing is placed after it"),
        Provision("SK 2.1", reading="the higher ranking wins even money, half with six points; equal is returned"),
        Provision("SK 2.2", reading="the Tie wager wins 8 to 1 on equal points, or ranking as the setting says"),
        Provision("SK 3.1", reading="sets go hand by hand"),
        Provision("SK 3.2", reading="single cards go round by round"),
        Provision("SK 3.3", reading="hands are examined"),
        Provision("SK 3.4", reading="the Dealer exposes last"),
        Provision("SK 4.1", reading="a foreign card voids, and all wagers are returned"),
        Provision("SK 4.2", reading="after handling, an exposed card gives each bettor a choice"),
        Provision("SK 4.3", reading="before it, an exposed card voids"),
        Provision("SK 4.4", reading="the rest is the shift manager's to rule on"),
        Provision("SK 4.5", outside="the colour of the layout is no matter of a dealing device"),
    ),
)
