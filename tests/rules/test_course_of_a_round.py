"""What a round consists of in each document, who is at the table, and on what it is dealt."""

from __future__ import annotations

from itertools import product

import pytest

from controller.games import game
from controller.games.specification import Facts, Kind, Noticed, Role, StepKind, Unit
from controller.rules.irregularities import find_row
from controller.rules.law import read_law
from firmware_bridge.cards import DECK, SUITS

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
def test_the_steps_of_a_round_stand_in_the_documents_order(document: str) -> None:
    rules = game(document)
    assert [(step.kind, step.clause) for step in rules.steps] == STEPS[document]
    assert rules.clauses.no_more_bets == next(clause for kind, clause in STEPS[document] if kind is S.CLOSING)
    assert rules.examining is (document != "F3")


def test_tp_2_1_rtp_2_1_nc_2_2_1_p3_2_1_and_f3_pm2_one_deck_of_52_without_jokers() -> None:
    """TP 2.1, RTP 2.1, NC 2.2.1, P3 2.1, F3 PM2."""
    assert len(DECK) == len(set(DECK)) == 52
    assert {(card.rank, card.suit) for card in DECK} == set(product(range(1, 14), SUITS))


@pytest.mark.parametrize(
    ("document", "fewest", "most", "clause"),
    [
        ("RTP", 1, 8, "RTP App. A and RTP App. B"),
        ("NC", 1, 9, "NC 2.1.1.a: the layout's picture is lost"),
        ("F3", 3, 3, "F3 PM1: three Players and a Banker"),
    ],
)
def test_the_boxes_of_a_layout(document: str, fewest: int, most: int, clause: str) -> None:
    assert game(document).boxes[:2] == (fewest, most), clause


def test_nc_1_2_1_4_only_a_shuffler_deals_sets_and_a_shoe_single_cards() -> None:
    """NC 1.2, 1.4 (reading 22)."""
    assert game("NC").grammar(Unit.SETS).device == "shuffler"
    assert game("NC").grammar(Unit.SINGLES).device == "shoe"


@pytest.mark.parametrize("document", ["TP", "RTP", "P3", "F3"])
def test_the_other_documents_leave_the_device_open(document: str) -> None:
    assert not any(grammar.device for grammar in game(document).grammars)


def test_rtp_6_2_nc_1_10_a_higher_position_may_do_what_a_lower_one_may() -> None:
    """RTP 6.2, NC 1.10."""
    ranks = [Role.DEALER, Role.PIT_SUPERVISOR, Role.PIT_MANAGER, Role.SHIFT_MANAGER]
    for low, needed in enumerate(ranks):
        for high, held in enumerate(ranks):
            assert held.reaches(needed) is (high >= low)


@pytest.mark.parametrize(
    ("document", "begins"), [("TP", "TP 1.1.4"), ("RTP", "RTP 1.1.3"), ("NC", "NC 1.14"), ("P3", "P3 1.1.5")]
)
def test_a_round_is_over_for_good_when_the_next_is_announced(document: str, begins: str) -> None:
    """What is found from then on belongs to an earlier round (I24) and never voids it."""
    law = read_law(game(document))
    for kind in Kind:
        row = find_row(law, kind, Facts(noticed=Noticed.NEXT_ROUND)).row
        assert row.id == "I24", begins
        assert row.disposition in ("stands", "refer", "silent"), begins


@pytest.mark.parametrize(
    ("document", "clause"), [("TP", "TP 5.1"), ("RTP", "RTP 5.1"), ("NC", "NC 5.5, 1.19"), ("P3", "P3 5.1")]
)
def test_a_foreign_card_leaves_the_round_without_a_result(document: str, clause: str) -> None:
    law = read_law(game(document))
    assert find_row(law, Kind.FOREIGN_CARD, Facts()).row.disposition == "void", clause
