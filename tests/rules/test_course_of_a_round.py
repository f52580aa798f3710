"""The course of a round in each document: its steps, the people at the table, the cards."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from controller.games import game
from controller.games.specification import Disposition, Facts, Kind, Noticed, StepKind, Unit
from controller.roles import Role
from controller.rules.dealing_order import served_boxes
from controller.rules.law import find_row, read_law
from controller.rules.layout import Bet, BetRefusedError, Bettor, TableRules, as_it_lies
from controller.rules.payouts import Verdict
from controller.rules.settlement import return_every_bet
from firmware_bridge.cards import DECK, SUITS
from tests.rules.laid_bets import gains

S = StepKind
STEPS = {
    "TP": [
        (S.BETTING, "TP 3.1"),
        (S.CLOSING, "TP 3.2"),
        (S.DEALING, "TP 3.4"),
        (S.EXAMINING, "TP 3.5"),
        (S.RETURNING, "TP 3.5"),
        (S.EXPOSING, "TP 3.6"),
        (S.SETTLING, "TP 3.7"),
    ],
    "RTP": [
        (S.BETTING, "RTP 3.1"),
        (S.CLOSING, "RTP 3.2"),
        (S.DEALING, "RTP 3.12"),
        (S.EXAMINING, "RTP 3.13"),
        (S.RETURNING, "RTP 3.13"),
        (S.EXPOSING, "RTP 3.15"),
        (S.SETTLING, "RTP 3.16"),
    ],
    "NC": [
        (S.BETTING, "NC 3.4"),
        (S.CLOSING, "NC 3.11"),
        (S.DEALING, "NC 3.12"),
        (S.EXAMINING, "NC 3.13"),
        (S.EXPOSING, "NC 3.13"),
        (S.SETTLING, "NC 3.13"),
    ],
    "P3": [
        (S.BETTING, "P3 3.1"),
        (S.CLOSING, "P3 3.2"),
        (S.DEALING, "P3 3.5"),
        (S.EXAMINING, "P3 3.6"),
        (S.RETURNING, "P3 3.6"),
        (S.EXPOSING, "P3 3.7"),
        (S.SETTLING, "P3 3.8"),
    ],
    "F3": [
        (S.BETTING, "F3 PM4"),
        (S.CLOSING, "F3 PM2"),
        (S.FIRST_CARD, "F3 PM5"),
        (S.DEALING, "F3 PM2"),
        (S.EXPOSING, ""),
        (S.SETTLING, "F3 PM3"),
    ],
}


@pytest.mark.parametrize("document", STEPS)
def test_the_steps_of_a_round_are_in_the_documents_order(document: str) -> None:
    rules = game(document)
    assert [(step.kind, step.clause) for step in rules.steps] == STEPS[document]
    assert rules.clauses.no_more_bets == next(clause for kind, clause in STEPS[document] if kind is S.CLOSING)
    assert rules.examining is (document != "F3")


def test_tp_2_1_rtp_2_1_nc_2_2_1_p3_2_1_f3_pm2_one_deck_without_jokers() -> None:
    assert len(DECK) == len(set(DECK)) == 52
    assert {(card.rank, card.suit) for card in DECK} == set(product(range(1, 14), SUITS))


@pytest.mark.parametrize(("document", "fewest", "most"), [("RTP", 1, 8), ("NC", 1, 9), ("F3", 3, 3)])
def test_no_box_beyond_the_layout_takes_a_bet(document: str, fewest: int, most: int) -> None:
    """RTP App. A and RTP App. B: one to eight positions. F3 PM1: three Players and a Banker.

    NC 2.1.1.a: the picture is missing, so the reading is one to nine.
    """
    law = read_law(game(document))
    assert law.game.boxes[:2] == (fewest, most)
    main = next(wager for wager in law.wagers if wager.main)
    rules, ann = TableRules(boxes=most), Bettor("ann")
    assert as_it_lies(law, rules, [ann], [Bet(1, ann.id, main.id, most, 5)]).on(most)
    with pytest.raises(BetRefusedError, match=f"boxes are 1 to {most}"):
        as_it_lies(law, rules, [ann], [Bet(1, ann.id, main.id, most + 1, 5)])
    served = served_boxes(law.game, [most])
    assert served == (tuple(range(1, law.game.boxes[2] + 1)) if law.game.every_hand else (most,))


def test_nc_1_2_1_4_only_a_shuffler_deals_sets_and_a_shoe_single_cards() -> None:
    """NC 1.2, 1.4 (reading 22)."""
    assert game("NC").grammar(Unit.SETS).device == "shuffler"
    assert game("NC").grammar(Unit.SINGLES).device == "shoe"


@pytest.mark.parametrize("document", ["TP", "RTP", "P3", "F3"])
def test_the_other_documents_leave_the_device_open(document: str) -> None:
    assert not any(grammar.device for grammar in game(document).grammars)


def test_rtp_6_2_nc_1_10_a_higher_position_may_do_what_a_lower_one_may() -> None:
    ranks = [Role.DEALER, Role.PIT_SUPERVISOR, Role.PIT_MANAGER, Role.SHIFT_MANAGER]
    for low, needed in enumerate(ranks):
        for high, held in enumerate(ranks):
            assert held.reaches(needed) is (high >= low)


@pytest.mark.parametrize(
    ("document", "stands"), [("TP", "TP 5.1.2"), ("RTP", "RTP 5.1.2"), ("NC", "NC 5.6"), ("P3", "P3 5.1.2")]
)
def test_a_round_is_over_when_the_next_is_announced(document: str, stands: str) -> None:
    """TP 1.1.4, RTP 1.1.3, NC 1.14, P3 1.1.5: a round lasts from its announcement to the end of its settlement.

    Errors found after the next announcement belong to an earlier round (I24) and do not change it.
    """
    law = read_law(game(document))
    announcing = law.game.step(StepKind.BETTING)
    assert announcing is not None
    assert announcing.clause == law.game.clauses.place_your_bets
    assert law.game.steps[0] is announcing
    assert law.game.steps[-1].kind is StepKind.SETTLING
    for kind in Kind:
        row = find_row(law, kind, Facts(noticed=Noticed.NEXT_ROUND)).row
        assert row.id == "I24"
        assert row.disposition in ("stands", "refer", "silent")
    found = find_row(law, Kind.FOREIGN_CARD, Facts(noticed=Noticed.NEXT_ROUND)).row
    assert (found.clause, found.disposition) == (stands, Disposition.STANDS)
    assert find_row(law, Kind.FOREIGN_CARD, Facts()).row.disposition is Disposition.VOID


@pytest.mark.parametrize(
    ("document", "clause", "heading"),
    [
        ("TP", "TP 5.1.1", "TP 5.1"),
        ("RTP", "RTP 5.1.1", "RTP 5.1"),
        ("NC", "NC 5.5.1", "NC 5.5"),
        ("P3", "P3 5.1.1", "P3 5.1"),
    ],
)
def test_a_foreign_card_leaves_the_round_without_a_result(document: str, clause: str, heading: str) -> None:
    """A round without a result is void (NC 1.19): nobody wins or loses, and every bet goes back."""
    law = read_law(game(document))
    row = find_row(law, Kind.FOREIGN_CARD, Facts()).row
    assert (row.clause, row.disposition) == (clause, Disposition.VOID)
    assert row.clause.startswith(f"{heading}.")
    ann, rules = Bettor("ann"), TableRules(boxes=law.game.boxes[1])
    layout = as_it_lies(law, rules, [ann], [Bet(1, ann.id, "main", 1, 5), Bet(2, ann.id, "tie", 1, 3)])
    void = return_every_bet(law, layout, row.clause)
    assert {(entry.verdict, entry.clause) for entry in void.entries} == {(Verdict.RETURNED, clause)}
    assert gains(void) == {"ann": Fraction(0)}
    assert void.house == 0
