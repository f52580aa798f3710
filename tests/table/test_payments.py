"""Announced payments: bets paid, taken and returned at a table where no bets are entered."""

from __future__ import annotations

import pytest
from msgspec import to_builtins

from controller.api.narration import line_of
from controller.games.specification import Kind
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.irregularities.questions import question
from controller.table.offers import offers
from controller.table.operations import AnyOperation
from controller.table.phases import Phase
from controller.table.settling import dues as dues_of
from tests.table.correction_hands import with_bets
from tests.table.harness import TableHarness
from tests.table.said import differences, dues, next_steps

DEALER = "8S 9D KC"  # seven points


def settled(game_id: str, **hands: str) -> TableHarness:
    boxes = tuple(int(place[1:]) for place in hands if place != "D")
    table = TableHarness(boxes=boxes, game_id=game_id, hands={"D": DEALER, **hands}, by_device=True)
    return table.start().to_dealing().deal().expose_all()


def test_each_box_in_play_has_its_due_in_the_order_of_boxes() -> None:
    table = settled("NC", B1="9S KD JC", B2="2S 3D JS", B3="6S QD TC", B4="8D 9C QC", B5="8H JH QH")
    assert dues(table.state) == ("B1 pay 1:1", "B2 take", "B3 take", "B4 return", "B5 pay 1:1")


def test_a_win_that_pays_half_is_due_with_its_odds() -> None:
    table = settled("NC", D="2S 3D KC", B1="6S QD TC", B2="9S KD JC")
    assert dues(table.state) == ("B1 pay 1:2", "B2 pay 1:1")


def test_bets_for_and_against_a_hand_are_due_by_name() -> None:
    table = settled("F3", D="6S QD TC", B1="2S 3D JC", B2="9S KD JH", B3="6H QH TD")
    assert dues(table.state) == (
        "B1 Win take",
        "B1 Lose pay 1:2",
        "B2 Win pay 1:1",
        "B2 Lose take",
        "B3 return",
    )


def test_entered_bets_are_due_each_with_bettor_and_amount() -> None:
    table = with_bets().deal().expose_all()
    assert dues(table.state), "the bets are settled"
    for due in dues_of(table.state):
        assert due.bettor
        assert due.amount
        assert due.wager
    assert [due.place for due in dues_of(table.state)] == sorted(due.place for due in dues_of(table.state))


def test_a_hand_out_of_play_has_its_bets_returned() -> None:
    table = settled("NC", D="2S 3D KC", B1="9S KD JC", B2="AS QH JD")
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm(viewed=True, handled=True, reconstructable=False)
    assert dues(table.state)[0] == "B1 return"


def test_nothing_is_due_before_the_comparison_while_a_difference_is_due_or_after_the_round() -> None:
    table = TableHarness(game_id="NC").start().to_dealing().deal()
    assert dues(table.state) == ()
    table = settled("NC", B1="9S KD JC")
    table.settle()
    assert dues(table.state), "the round may be looked at until it is ended"
    table.conclude()
    assert dues(table.state) == ()


# -- a settlement that changes once it was paid


def test_nc_5_9_a_hand_removed_late_shows_which_chips_move() -> None:
    table = settled("NC", D="2S 3D KC", B1="9S KD JC", B2="AS QH JD")
    table.settle().conclude()
    table.report(Kind.WRONG_COUNT, "B1", counted=4)
    table.confirm(viewed=True, handled=True, reconstructable=False)
    table.report(Kind.WRONG_COUNT, "B2", counted=2)
    table.confirm(viewed=True, handled=True, reconstructable=False)
    assert next_steps(table.state)[:5] == (
        'Pay or take back the difference, then press "Paid".',
        "Box 1: take back what was paid.",
        "Box 1: out of play; return every bet.",
        "Box 2: return the bet.",
        "Box 2: out of play; return every bet.",
    )
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert ledger.total == 52, "the stub was counted: the deck is complete, and no card is added to it"
    table.fresh_deck()
    assert table.refused(operations.PlaceYourBets())[0] == "chips"
    assert [one.operation for one in offers(table.state) if one.primary] == ["record_settled"]
    table.do(operations.RecordSettled())
    assert differences(table.state) == ()
    table.do(operations.PlaceYourBets())


def test_a_void_after_the_payment_shows_which_chips_go_back() -> None:
    table = settled("NC", D="2S 3D KC", B1="9S KD JC", B2="AS QH JD", B3="2D 3H KS")
    table.settle()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    assert next_steps(table.state)[1:3] == ("Box 1: take back what was paid.", "Box 2: return the bet.")


@pytest.mark.parametrize("way", ["place_your_bets", "close_table", "begin_maintenance"])
@pytest.mark.parametrize("voids", [True, False])
@pytest.mark.parametrize("entered", [True, False])
def test_nc_5_15_chips_that_move_are_recorded_before_anything_else_begins(entered: bool, voids: bool, way: str) -> None:
    table = with_bets().deal().expose_all() if entered else settled("NC", D="2S 3D KC", B3="9S KD JC", B1="AS QH JD")
    table.settle().conclude()
    table.report(Kind.WRONG_COUNT, "D" if voids else "B3", counted=4)
    table.confirm(reconstructable=False)
    assert table.at(Phase.VOIDED if voids else Phase.CONCLUDED)
    moved = next_steps(table.state)
    assert any(line.startswith("Box 3: ") for line in moved)
    table.fresh_deck()
    begin: dict[str, AnyOperation] = {
        "place_your_bets": operations.PlaceYourBets(),
        "close_table": operations.CloseTable(),
        "begin_maintenance": operations.BeginMaintenance("the belt is torn"),
    }
    assert table.refused(begin[way], Role.PIT_SUPERVISOR)[0] == "chips"
    assert [one.operation for one in offers(table.state) if one.primary] == ["record_settled"]
    table.do(operations.RecordSettled())
    table.do(begin[way], Role.PIT_SUPERVISOR)


def test_entered_bets_that_move_are_named_with_whose_they_are_and_where() -> None:
    table = with_bets()
    table.deal().expose_all().settle().conclude()
    table.report(Kind.WRONG_COUNT, "B3", counted=4)
    table.confirm(viewed=True, handled=True, reconstructable=False)
    assert next_steps(table.state)[:2] == (
        'Pay or take back the difference, then press "Paid".',
        "Box 3: return 100 to bob (Initial Bet).",
    )


@pytest.mark.parametrize(
    ("game_id", "until"),
    [
        ("TP", "The rules name no error that changes the result later. The shift manager decides."),
        ("RTP", 'Errors found before "Place your bets" may still change the result (RTP 5.5).'),
        (
            "NC",
            'Errors found before "Place your bets" may still change the result '
            "(NC 5.5.1, NC 5.5.2, NC 5.5.3, NC 5.5.5, NC 5.9).",
        ),
        ("P3", 'Errors found before "Place your bets" may still change the result (P3 5.4).'),
        ("F3", "The rules name no error that changes the result later. The shift manager decides."),
    ],
)
def test_the_end_of_a_round_shows_until_when_errors_count(game_id: str, until: str) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing().deal().expose_all().settle()
    table.do(operations.ConcludeRound())
    assert next_steps(table.state) == ("Confirm to end the round.", until)
    table.do(operations.ConcludeRound())
    assert next_steps(table.state)[-1] == until, "it is said until the next round begins"
    concluded = to_builtins(table.last(events.PhaseEntered)) | {"round": 1}
    said = "the result is final" if "no error" in until else f"{until[:1].lower()}{until[1:].removesuffix('.')}"
    assert str(line_of(concluded)) == f"round 1 concluded; {said}", "the answer also says it"
    table.to_betting()
    assert until not in next_steps(table.state)


@pytest.mark.parametrize("game_id", ["TP", "RTP", "P3", "NC"])
def test_for_an_earlier_round_the_result_stands(game_id: str) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing().finish().to_betting()
    table.report(Kind.FOREIGN_CARD, earlier=True)
    assert "If so, the result stands" in str(question(table.state, table.open))


@pytest.mark.parametrize("game_id", ["TP", "RTP", "P3", "F3"])
def test_of_a_settled_round_no_hand_is_ruled_out_of_play(game_id: str) -> None:
    table = TableHarness(game_id=game_id).start().to_dealing().finish()
    table.report(Kind.EXPOSED_CARD, "B1")
    tiles = {one.arguments["action"] for one in offers(table.state) if one.operation == "rule"}
    assert tiles <= {"void", "continue", "return_bets"}
