"""SK as in its document: prices, dealing, and what follows from each irregularity. Written from the document."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.games import game
from controller.games.specification import Disposition, Facts, Kind, Noticed, Order, StepKind, Unit
from controller.rules.law import find_row, read_law
from controller.rules.odds import count_odds
from controller.rules.payouts import Settled, Verdict, settle
from firmware_bridge.cards import Card

SK = game("SK")
LAW = read_law(SK)
SEVEN, SIX, NOTHING = "7C TD KH", "6C TD KH", "TC TD QH"


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


@pytest.mark.parametrize(("box", "net"), [(SEVEN, Fraction(1, 2)), (SIX, Fraction(1))])
def test_sk_2_1_a_win_with_seven_points_pays_half(box: str, net: Fraction) -> None:
    settled = settle(LAW, LAW.wager("main"), cards(box), cards(NOTHING))
    assert settled == Settled(Verdict.WON, net, "SK 2.1", settled.because)


def test_sk_2_2_and_sk_2_3_the_side_wagers_win_as_often_as_is_known() -> None:
    odds = {counted.wager: counted for counted in count_odds(LAW)}
    assert [price.ways for price in odds["flush"].prices] == [48, 1096]
    assert odds["tie"].won > read_odds_of_ties_on_ranking()


def read_odds_of_ties_on_ranking() -> Fraction:
    law = read_law(SK, {"tie_on": "ranking"})
    return next(counted.won for counted in count_odds(law) if counted.wager == "tie")


def test_sk_1_1_sk_1_2_sk_3_1_to_3_4_the_round() -> None:
    """SK 1.1, 1.2, 3.1, 3.2, 3.3, 3.4."""
    assert [step.clause for step in SK.steps] == ["SK 1.1", "SK 1.2", "SK 3.1", "SK 3.3", "SK 3.4", "SK 2.1"]
    assert SK.grammar(Unit.SETS).order is Order.BY_HAND
    assert SK.grammar(Unit.SINGLES).order is Order.BY_ROUND
    assert SK.step(StepKind.RETURNING) is None


@pytest.mark.parametrize(
    ("kind", "facts", "clause", "disposition"),
    [
        (Kind.FOREIGN_CARD, Facts(), "SK 4.1", Disposition.VOID),
        (Kind.FOREIGN_CARD, Facts(noticed=Noticed.NEXT_ROUND), "SK 5.1", Disposition.STANDS),
        (Kind.EXPOSED_CARD, Facts(handled=True), "SK 4.2", Disposition.OPTIONS),
        (Kind.EXPOSED_CARD, Facts(handled=False), "SK 4.3", Disposition.VOID),
        (Kind.COUNT_IN_DOUBT, Facts(counted_wrong=True), "SK 5.2", Disposition.VOID),
        (Kind.COUNT_IN_DOUBT, Facts(counted_wrong=False), "", Disposition.CONTINUE),
        (Kind.WRONG_COUNT, Facts(dealer_hand=True), "SK 5.3", Disposition.VOID),
        (Kind.WRONG_COUNT, Facts(dealer_hand=False), "SK 5.3", Disposition.REMOVE_HAND),
        (Kind.POWER_FAILURE, Facts(established=True), "SK 5.4", Disposition.CONTINUE),
        (Kind.POWER_FAILURE, Facts(established=False), "SK 5.4", Disposition.VOID),
        (Kind.POWER_FAILURE, Facts(cannot_tell=True), "SK 5.5", Disposition.REFER),
        (Kind.WRONG_VIEWER, Facts(), "SK 5.5", Disposition.REFER),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_follows(kind: Kind, facts: Facts, clause: str, disposition: Disposition) -> None:
    row, asks = find_row(LAW, kind, facts)
    assert (row.clause, row.disposition, asks) == (clause, disposition, ())
