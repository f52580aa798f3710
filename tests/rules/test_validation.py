"""Wrong data of a game is reported in a sentence: each mutation of valid data is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from controller.games import game
from controller.games.own_words import DEALER
from controller.games.specification import (
    ClassNames,
    Disposition,
    Facts,
    FirstCard,
    Game,
    Kind,
    Noticed,
    Order,
    Provision,
    RoundStep,
    Row,
    StepKind,
)
from controller.games.wager_specification import Excess, Looks, Needs, Price, Setting, Shape, odds
from controller.rules.law import read_law
from controller.rules.payouts import OF_ONE
from controller.rules.row_validation import is_reached
from controller.rules.validation import problems
from firmware_bridge.messages import message
from tests.support.skeleton import skeleton

SK = skeleton()


def with_wager(place: int, **changes: Any) -> Game:
    wagers = [*SK.wagers]
    wagers[place] = replace(wagers[place], **changes)
    return replace(SK, wagers=tuple(wagers))


def with_row(row: Row) -> Game:
    return replace(SK, irregularities=(*SK.irregularities, row))


def without_rows(unwanted: Callable[[Row], bool]) -> Game:
    return replace(SK, irregularities=tuple(row for row in SK.irregularities if not unwanted(row)))


def with_setting(**changes: Any) -> Game:
    return replace(SK, settings=(replace(SK.settings[0], **changes), *SK.settings[1:]))


def priced(*prices: Price) -> Game:
    """Return a game with these prices of the wager on one hand."""
    return with_wager(2, prices=prices)


FLUSH, STRAIGHT_FLUSH = Price(Shape.FLUSH, odds(5), "SK 2.3"), Price(Shape.STRAIGHT_FLUSH, odds(40), "SK 2.3")
MAIN = SK.wagers[0]
REMOVED = Row(
    Kind.WRONG_COUNT, "SK 5.3", Disposition.REMOVE_HAND, message("a hand has a wrong number"), when=Facts(viewed=True)
)
EXPOSED = next(row for row in SK.irregularities if row.options)


def of_sets(**changes: Any) -> Game:
    return replace(SK, grammars=(replace(SK.grammars[0], **changes), SK.grammars[1]))


WRONG: dict[str, tuple[Game, str]] = {
    "a word in place of an order": (
        of_sets(order="by_hand"),
        r"grammars\[0\]\.order is 'by_hand'; write one of Order, as Order\.BY_HAND",
    ),
    "odds that are not a fraction": (
        priced(replace(FLUSH, odds=2.0)),
        r"wagers\[2\]\.prices\[0\]\.odds is 2\.0; write odds\(win, stake\)",
    ),
    "one price without its comma": (with_wager(2, prices=FLUSH), r"wagers\[2\]\.prices is Price\(.*\(one,\), with the"),
    "a list": (replace(SK, wagers=list(SK.wagers)), "wagers is .* write .one,., with the comma"),
    "a reading with a letter": (with_setting(reading="47a"), r"settings\[0\]\.reading is '47a'; write int"),
    "a number in place of yes": (with_wager(0, main=1), r"wagers\[0\]\.main is 1; write bool"),
    "two numbers of boxes": (replace(SK, boxes=(1, 6)), "boxes has 2 entries; give 3"),
    "no title at all": (replace(SK, title=None), r'title is None; write message\("..."\)'),
    "sets round by round": (of_sets(order=Order.BY_ROUND), "sets are dealt hand by hand"),
    "a wager's id with a space": (with_wager(2, id="the flush"), "the id 'the flush' of a wager, setting or option"),
    "a setting's id in capitals": (with_setting(id="Tie"), "the id 'Tie' of a wager"),
    "an option's id with a hyphen": (
        with_setting(options=(("points-a", message("A")), ("ranking", message("B"))), default=""),
        "the id 'points-a' of a wager",
    ),
    "late bets without a row": (
        without_rows(lambda row: row.kind is Kind.LATE_BET),
        "nothing is placed or withdrawn late, and no row says what follows",
    ),
    "id in lower case": (replace(SK, id="sk"), "the id is 'sk'; write upper-case letters"),
    "no title": (replace(SK, title=message("")), "title is empty"),
    "no date": (replace(SK, effective="spring 2026"), "write the date as 2026-01-31"),
    "default before fewest": (replace(SK, boxes=(3, 6, 2)), r"boxes are \(3, 6, 2\)"),
    "more than most": (replace(SK, boxes=(1, 6, 9)), r"boxes are \(1, 6, 9\)"),
    "most first": (replace(SK, boxes=(6, 1, 4)), r"boxes are \(6, 1, 4\)"),
    "more boxes than cards": (replace(SK, boxes=(1, 17, 7)), "17 boxes and the Dealer need 54 cards"),
    "a First Card and boxes that are not dealt to": (
        replace(SK, first_card=FirstCard(((DEALER, (1,)),), (DEALER,), "SK 3.1", "tie_on")),
        "set every_hand=True and three equal numbers of boxes",
    ),
    "two cards each": (
        replace(SK, grammars=(replace(SK.grammars[0], cards_each=2), SK.grammars[1])),
        "cards_each of sets is 2; a hand has 3 cards",
    ),
    "one unit alone": (replace(SK, grammars=SK.grammars[:1]), "singles have 0 grammars"),
    "an unknown device": (
        replace(SK, grammars=(replace(SK.grammars[0], device="robot"), SK.grammars[1])),
        "the device of sets is 'robot'",
    ),
    "steps out of order": (replace(SK, steps=SK.steps[::-1]), "put them in the order betting, closing"),
    "no dealing": (
        replace(SK, steps=tuple(step for step in SK.steps if step.kind is not StepKind.DEALING)),
        "the round has no step dealing",
    ),
    "a step twice": (replace(SK, steps=(SK.steps[0], *SK.steps)), "the step betting stands 2 times"),
    "returned and not examined": (
        replace(
            SK,
            steps=(
                *SK.steps[:3],
                RoundStep(StepKind.RETURNING, "SK 3.3", message("hands are returned")),
                *SK.steps[4:],
            ),
        ),
        "hands are returned that no one examines",
    ),
    "a First Card without its step": (
        replace(SK, first_card=FirstCard(((DEALER, (1,)),), (DEALER,), "SK 3.1", "first")),
        "the step first_card and `first_card` belong together",
    ),
    "a First Card of some ranks": (
        replace(SK, first_card=FirstCard(((DEALER, (1,)),), (DEALER,), "SK 3.1", "tie_on")),
        "do not name each rank from 1 to 13 once",
    ),
    "one name for all classes": (replace(SK, names=ClassNames(*map(message, "ABCD"))), "have 4 names"),
    "a name with an unknown word": (
        replace(SK, names=ClassNames(*map(message, ("A", "{x}", "C", "D")))),
        "cannot be written",
    ),
    "a default that is not an option": (with_setting(default="suits"), "the default of tie_on is 'suits'"),
    "one option": (with_setting(options=(("points", message("the points")),)), "the setting tie_on needs two options"),
    "no question": (with_setting(question=message("Ties")), "does not end with a question mark"),
    "a setting twice": (replace(SK, settings=(*SK.settings, SK.settings[0])), "the setting tie_on stands 2 times"),
    "a setting on which nothing depends": (
        replace(
            SK,
            settings=(
                *SK.settings,
                Setting("luck", 90, "SK 5.6", message("Is it?"), (("a", message("A")), ("b", message("B"))), "a"),
            ),
        ),
        "nothing depends on the setting luck",
    ),
    "a setting that the program asks for, with other options": (
        replace(
            SK,
            settings=(
                *SK.settings[:2],
                replace(SK.settings[2], options=(("all", message("A")), ("some", message("B")))),
            ),
        ),
        "the program knows recognised, seen, exposed",
    ),
    "an unknown setting": (
        with_wager(2, under=(("tie_onn", "points"),)),
        "depends on tie_onn=points, but SK has no setting 'tie_onn'",
    ),
    "an unknown option": (with_wager(2, under=(("tie_on", "suits"),)), "not 'suits'"),
    "no main wager": (with_wager(0, main=False), "no wager is the main one"),
    "two main wagers": (with_wager(1, main=True, needs=Needs.NOTHING), "main and tie are both main"),
    "a main wager on one hand": (with_wager(0, looks=Looks.BOX), "the main wager main looks at both hands"),
    "a price on two hands for one": (
        with_wager(1, looks=Looks.BOX),
        "wager tie: it looks at one hand and names a fact",
    ),
    "a price on one hand for two": (with_wager(2, looks=Looks.BOTH), "it looks at both hands and names facts of one"),
    "returned without a clause": (with_wager(0, returned_clause=""), "`returned` and `returned_clause` belong"),
    "a clause and nothing returned": (with_wager(2, returned_clause="SK 2.3"), "`returned` and `returned_clause`"),
    "odds below nothing": (priced(replace(FLUSH, odds=odds(-1))), "the price on FLUSH is -1"),
    "points of one hand": (priced(replace(FLUSH, points=6)), "only HIGHER and LOWER may"),
    "eleven points": (
        with_wager(0, prices=(replace(MAIN.prices[0], points=11), MAIN.prices[1])),
        "only HIGHER and LOWER may, from 0 to 9",
    ),
    "a price behind a wider one": (priced(FLUSH, STRAIGHT_FLUSH), "an earlier price takes them all"),
    "the whole win before the half one": (
        with_wager(0, prices=MAIN.prices[::-1]),
        'no hand is paid for "the box\'s hand ranks higher, with 7 points"',
    ),
    "a price twice": (priced(STRAIGHT_FLUSH, FLUSH, FLUSH), "FLUSH has 2 prices in force"),
    "never returned": (
        with_wager(1, returned=Shape.SAME_RANKING, returned_clause="SK 2.2"),
        "it is never returned on SAME_RANKING",
    ),
    "no price in force": (
        with_wager(1, prices=SK.wagers[1].prices[:1]),
        "wager tie: it has no price in force under tie_on=ranking",
    ),
    "a wager twice": (replace(SK, wagers=(*SK.wagers, SK.wagers[2])), "wager flush is in force 2 times"),
    "what lies on the Dealer's spot": (with_wager(2, on_dealer=True), "looks at the Dealer's hand alone"),
    "an excess without its clause": (
        replace(SK, betting=replace(SK.betting, excess=Excess.TO_MAXIMUM)),
        "betting: excess has no clause",
    ),
    "a needed main wager without its clause": (
        replace(SK, betting=replace(SK.betting, without_main="")),
        "betting: a side wager that needs a main one has no clause",
    ),
    "the Dealer's hand removed": (with_row(REMOVED), "it may remove the Dealer's hand"),
    "a hand removed that nothing names": (
        with_row(
            Row(Kind.EXPOSED_CARD, "SK 4.2", Disposition.REMOVE_HAND, message("x"), when=Facts(dealer_hand=False))
        ),
        "exposed_card names none",
    ),
    "a number written by hand": (with_row(replace(EXPOSED, when=Facts(manual=True), id="I05")), "leave `id` out"),
    "a row twice": (with_row(EXPOSED), "another row before it has the same facts"),
    "a row behind one that always applies": (
        with_row(Row(Kind.FOREIGN_CARD, "SK 4.1", Disposition.VOID, message("x"), when=Facts(handled=True))),
        "no facts lead to it",
    ),
    "a row without a clause": (
        with_row(Row(Kind.UNSHUFFLED, "", Disposition.VOID, message("x"))),
        "its clause is empty; only what the document is silent about",
    ),
    "a row without a reason": (
        with_row(Row(Kind.UNSHUFFLED, "SK 5.2", Disposition.VOID, message(""))),
        "`because` is empty",
    ),
    "a row of another authority": (
        with_row(Row(Kind.UNSHUFFLED, "SK 5.2", Disposition.VOID, message("x"), authority="order 7")),
        "has no other authority",
    ),
    "house procedure that voids": (
        with_row(Row(Kind.UNSHUFFLED, "", Disposition.VOID, message("x"), authority="house procedure")),
        "has no other authority",
    ),
    "a row that is never noticed": (
        with_row(Row(Kind.UNSHUFFLED, "SK 5.2", Disposition.VOID, message("x"), noticed=())),
        "`noticed` is empty",
    ),
    "results that stand while the round lasts": (
        with_row(Row(Kind.UNSHUFFLED, "SK 5.1", Disposition.STANDS, message("x"), noticed=(Noticed.IN_ROUND,))),
        "results stand only once there are any",
    ),
    "a choice of one option": (
        with_row(replace(EXPOSED, kind=Kind.DROPPED_CARD, id="I21", options=EXPOSED.options[:1])),
        "give one option to continue and one to withdraw",
    ),
    "no row for a right count": (
        without_rows(lambda row: row.kind is Kind.COUNT_IN_DOUBT and row.when.counted_wrong is False),
        "a count may come out right as well",
    ),
    "no row for rounds without wagers": (
        without_rows(lambda row: row.when.cannot_tell is True),
        "put a row with cannot_tell before it",
    ),
    "established by nothing": (replace(SK, settings=SK.settings[:1]), "add the setting established_by"),
    "a clause that is not there": (with_wager(2, clause="SK 9.9"), "SK 9.9 is cited and is not among the provisions"),
    "a clause of another document": (
        replace(SK, provisions=(*SK.provisions, Provision("NC 1.1", outside=message("x")))),
        "the provision 'NC 1.1' does not begin with SK",
    ),
    "a clause twice": (replace(SK, provisions=(*SK.provisions, SK.provisions[0])), "SK 1.1 stands 2 times"),
    "a clause carried and outside": (
        replace(SK, provisions=(replace(SK.provisions[0], outside=message("x")), *SK.provisions[1:])),
        "SK 1.1 has a reading and is outside",
    ),
}


def test_a_shape_without_a_predicate_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(OF_ONE, Shape.FLUSH)
    found = problems(replace(priced(FLUSH), version="without a predicate"))
    assert "wager flush: FLUSH has no predicate; enter it in OF_ONE or OF_BOTH of controller/rules/payouts.py" in found
    assert not any("Looks.BOTH" in problem for problem in found)


def test_the_skeleton_is_right() -> None:
    assert problems(SK) == ()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_is_named(name: str) -> None:
    wrong, sentence = WRONG[name]
    found = problems(wrong)
    assert any(re.search(sentence, problem) for problem in found), found


def test_every_problem_is_reported_together() -> None:
    assert len(problems(replace(SK, id="sk", title=message(""), boxes=(0, 0, 0)))) >= 3


def test_two_main_wagers_are_allowed_where_no_wager_needs_one() -> None:
    """F3 PM4: Win and Lose are separate wagers, and no wager of that game depends on another."""
    assert sum(wager.main for wager in game("F3").wagers) == 2
    assert problems(game("F3")) == ()


def test_a_row_behind_one_that_always_applies_is_not_reached() -> None:
    always = SK.irregularities[0]
    behind = replace(always, when=Facts(handled=True))
    law = read_law(replace(SK, irregularities=(always, behind)))
    assert is_reached(law, always)
    assert not is_reached(law, behind)
