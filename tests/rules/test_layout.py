"""Placing, changing and taking back wagers: refusals, their clauses, and the resulting layout."""

from __future__ import annotations

import pytest

from controller.rules.law import UnknownWagerError
from controller.rules.layout import (
    Bet,
    BetRefusal,
    BetRefusedError,
    Bettor,
    Layout,
    Limit,
    TableRules,
    TableRulesError,
    as_it_lies,
    check_rules,
    enter_bettor,
    without_main,
)
from controller.rules.placing import change, place, take_back
from tests.rules.laid_bets import LAWS, THREE_BOXES, lay, limited, lying, put, refused, spots

GAME_IDS = tuple(LAWS)


@pytest.mark.parametrize("amount", [0, -5, 2.5, "10", True, None])
def test_a_bet_is_a_positive_whole_number(amount: object) -> None:
    assert refused("TP", lay("TP", seats={"ann": 1}), "ann", "main", 1, amount) == (BetRefusal.NO_AMOUNT, "")


@pytest.mark.parametrize(("game_id", "wager", "box"), [("TP", "main", 0), ("NC", "tie", 4), ("F3", "win", -1)])
def test_a_bet_is_placed_on_a_box_of_the_layout(game_id: str, wager: str, box: int) -> None:
    assert refused(game_id, lay(game_id, seats={"ann": 1}), "ann", wager, box, 10)[0] is BetRefusal.NO_SUCH_BOX


def test_f3_pm4_the_bankers_pair_plus_lies_on_his_own_spot_alone() -> None:
    layout = lay("F3", seats={"ann": 1})
    assert lying(put("F3", layout, "ann", "banker_pair_plus", 0, 10).layout) == [("ann", "banker_pair_plus", 0, 10)]
    assert refused("F3", layout, "ann", "banker_pair_plus", 1, 10)[0] is BetRefusal.NO_SUCH_BOX


def test_f3_pm1_members_bet_anything_anywhere() -> None:
    layout = lay("F3", seats={"ann": 1})
    for wager, box in spots(LAWS["F3"]):
        layout = put("F3", layout, "ann", wager, box, 10).layout
    assert lying(layout) == [("ann", wager, box, 10) for wager, box in spots(LAWS["F3"])]
    assert without_main(LAWS["F3"], layout) == ()


def test_a_wager_that_the_game_has_not_is_refused_with_those_it_has() -> None:
    with pytest.raises(UnknownWagerError, match="royal"):
        put("RTP", lay("RTP", seats={"ann": 1}), "ann", "three_pictures", 1, 10)


def test_a_closed_box_takes_no_bet() -> None:
    rules = TableRules(boxes=3, closed_boxes=frozenset({2}))
    assert refused("TP", lay("TP", seats={"ann": 1}), "ann", "main", 2, 10, rules) == (BetRefusal.BOX_CLOSED, "")


def test_a_bettor_must_be_entered_first() -> None:
    assert refused("TP", Layout(), "ann", "main", 1, 10)[0] is BetRefusal.UNKNOWN_BETTOR


@pytest.mark.parametrize(
    ("game_id", "clause"), [("TP", "TP 5.5"), ("RTP", "RTP 5.2"), ("NC", "NC 3.11"), ("P3", "P3 5.5"), ("F3", "")]
)
def test_nothing_is_placed_or_raised_late(game_id: str, clause: str) -> None:
    """TP 5.5, RTP 5.2, NC 3.11 and 5.8, P3 5.5; F3 has no clause, and house procedure refuses it anyway."""
    main = LAWS[game_id].wagers[0].id
    layout = lay(game_id, ("ann", main, 1, 20))
    assert refused(game_id, layout, "ann", main, 2, 10, is_open=False) == (BetRefusal.LATE, clause)
    with pytest.raises(BetRefusedError) as refusal:
        change(LAWS[game_id], THREE_BOXES, layout, 1, 21, betting_open=False)
    assert refusal.value.clause == clause
    assert "give these chips back to the player" in str(refusal.value)


@pytest.mark.parametrize(
    ("game_id", "clause"), [("TP", "TP 5.6"), ("RTP", "RTP 5.3"), ("NC", "NC 5.8"), ("P3", "P3 5.6"), ("F3", "")]
)
def test_nothing_is_taken_back_or_lowered_late(game_id: str, clause: str) -> None:
    """TP 5.6, RTP 5.3, NC 5.8, P3 5.6."""
    layout = lay(game_id, ("ann", LAWS[game_id].wagers[0].id, 1, 20))
    with pytest.raises(BetRefusedError) as taken:
        take_back(LAWS[game_id], layout, 1, betting_open=False)
    with pytest.raises(BetRefusedError) as lowered:
        change(LAWS[game_id], THREE_BOXES, layout, 1, 19, betting_open=False)
    for refusal in (taken.value, lowered.value):
        assert (refusal.code, refusal.clause) == (BetRefusal.LATE, clause)
        assert "put the chips back: they are settled as they lay" in str(refusal)


@pytest.mark.parametrize(("game_id", "wager", "clause"), [("TP", "tie", "TP 3.3"), ("P3", "picture_perfect", "P3 3.4")])
def test_tp_3_3_and_p3_3_4_a_side_wager_needs_its_bettors_own_main(game_id: str, wager: str, clause: str) -> None:
    """TP 3.3, P3 3.4."""
    layout = lay(game_id, ("bob", "main", 1, 20), seats={"ann": 1})
    assert refused(game_id, layout, "ann", wager, 1, 5) == (BetRefusal.NO_MAIN, clause)
    with_main = put(game_id, layout, "ann", "main", 1, 10).layout
    assert refused(game_id, with_main, "ann", wager, 2, 5) == (BetRefusal.NO_MAIN, clause)
    assert ("ann", wager, 1, 5) in lying(put(game_id, with_main, "ann", wager, 1, 5).layout)


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP 3.5"), ("NC", "NC 3.9")])
def test_rtp_3_5_and_nc_3_9_a_side_wager_needs_any_main_on_that_box(game_id: str, clause: str) -> None:
    """RTP 3.5, NC 3.9."""
    layout = lay(game_id, ("bob", "main", 1, 20), seats={"ann": 2})
    assert refused(game_id, layout, "ann", "tie", 2, 5) == (BetRefusal.NO_MAIN, clause)
    assert ("ann", "tie", 1, 5) in lying(put(game_id, layout, "ann", "tie", 1, 5).layout)


def test_i23_side_bets_without_a_main_bet_are_named() -> None:
    """TP 3.3 asks for the bettor's own main wager, NC 3.9 for any."""
    bets = (("bob", "main", 1, 20), ("ann", "tie", 1, 5), ("ann", "tie", 2, 5))
    assert [bet.number for bet in without_main(LAWS["TP"], lay("TP", *bets))] == [2, 3]
    assert [bet.number for bet in without_main(LAWS["NC"], lay("NC", *bets))] == [3]


def test_rtp_3_9_three_wagers_of_a_kind_lie_on_a_position() -> None:
    """RTP 3.9: raising a stake does not make it two wagers, and each kind has its own area (RTP 2.2)."""
    layout = lay("RTP", *((name, "main", 1, 10) for name in ("ann", "bob", "cy")), seats={"di": 2})
    assert refused("RTP", layout, "di", "main", 1, 10) == (BetRefusal.TOO_MANY_WAGERS, "RTP 3.9")
    assert ("di", "tie", 1, 10) in lying(put("RTP", layout, "di", "tie", 1, 10).layout)
    assert ("di", "main", 2, 10) in lying(put("RTP", layout, "di", "main", 2, 10).layout)
    assert lying(put("RTP", layout, "ann", "main", 1, 10).layout)[0] == ("ann", "main", 1, 20)


def test_rtp_3_9_1_a_pit_manager_allows_fewer() -> None:
    layout = lay("RTP", ("ann", "main", 1, 10), seats={"di": 2})
    assert refused("RTP", layout, "di", "main", 1, 10, TableRules(boxes=3, fewer_wagers={1: 1})) == (
        BetRefusal.TOO_MANY_WAGERS,
        "RTP 3.9.1",
    )
    assert put("RTP", layout, "di", "main", 1, 10, TableRules(boxes=3, fewer_wagers={1: 2})).layout.numbered == 2
    full = lay("RTP", *((name, "main", 1, 10) for name in ("ann", "bob", "cy")), seats={"di": 2})
    assert refused("RTP", full, "di", "main", 1, 10, TableRules(boxes=3, fewer_wagers={1: 5}))[1] == "RTP 3.9"


def test_rtp_3_8_a_bettor_is_kept_to_one_position() -> None:
    rules = TableRules(boxes=3, one_box=frozenset({"ann"}))
    layout = lay("RTP", ("ann", "main", 1, 10), ("bob", "main", 2, 10))
    assert refused("RTP", layout, "ann", "main", 2, 10, rules) == (BetRefusal.ONE_BOX_ONLY, "RTP 3.8")
    assert ("ann", "tie", 1, 5) in lying(put("RTP", layout, "ann", "tie", 1, 5, rules).layout)
    assert ("bob", "main", 1, 5) in lying(put("RTP", layout, "bob", "main", 1, 5, rules).layout)


def test_rtp_3_8_the_bankers_own_spot_is_not_a_position() -> None:
    """RTP 3.8 is about positions; as a casino's own rule it exempts F3's Banker Pair Plus."""
    rules = TableRules(boxes=3, one_box=frozenset({"ann"}))
    layout = put("F3", lay("F3", ("ann", "win", 1, 10)), "ann", "banker_pair_plus", 0, 5, rules).layout
    assert lying(put("F3", layout, "ann", "tie", 1, 5, rules).layout)[-1] == ("ann", "tie", 1, 5)
    assert refused("F3", layout, "ann", "win", 2, 5, rules) == (BetRefusal.ONE_BOX_ONLY, "")


def test_rtp_3_6_and_nc_5_16_staff_place_for_a_player_and_it_is_his_bet() -> None:
    """RTP 3.6, NC 5.16."""
    for game_id in ("RTP", "NC"):
        layout = lay(game_id, seats={"ann": 1})
        laid = place(
            LAWS[game_id], THREE_BOXES, layout, "ann", "main", 2, 10, betting_open=True, placed_by="pit supervisor Lim"
        )
        assert laid.layout.bets == (Bet(1, "ann", "main", 2, 10, "pit supervisor Lim"),)


def test_nc_3_8_a_player_bets_on_other_boxes_too() -> None:
    """NC 3.8, and 1.11: a bettor is a Player."""
    layout = lay("NC", ("ann", "main", 1, 10), seats={"ann": 1, "bob": 2})
    assert lying(put("NC", layout, "ann", "main", 2, 10).layout) == [("ann", "main", 1, 10), ("ann", "main", 2, 10)]


def test_an_overlooked_bet_is_on_the_layout() -> None:
    rules = TableRules(boxes=3, limits={"tie": Limit(10, 20)}, closed_boxes=frozenset({1}), fewer_wagers={1: 0})
    laid = put("TP", lay("TP", seats={"ann": 1}), "ann", "tie", 1, 500, rules, noticed=False)
    assert lying(laid.layout) == [("ann", "tie", 1, 500)]


def test_nc_5_13_the_layout_has_the_chips_found_at_closing() -> None:
    bettors = [Bettor("ann", 1), Bettor("bob")]
    bets = [Bet(2, "bob", "tie", 2, 7), Bet(1, "ann", "main", 1, 500)]
    layout = as_it_lies(LAWS["NC"], limited("main"), bettors, bets)
    assert lying(layout) == [("ann", "main", 1, 500), ("bob", "tie", 2, 7)]
    assert put("NC", layout, "bob", "main", 3, 10).layout.bets[-1].number == 3


@pytest.mark.parametrize(
    "bet",
    [
        Bet(1, "ann", "tie", 1, 5),
        Bet(2, "ann", "main", 1, 5),
        Bet(0, "ann", "tie", 1, 5),
        Bet(2, "zoe", "main", 1, 5),
        Bet(2, "ann", "main", 9, 5),
        Bet(2, "ann", "tie", 1, 0),
    ],
)
def test_an_impossible_bet_is_refused_even_if_found_there(bet: Bet) -> None:
    with pytest.raises(BetRefusedError):
        as_it_lies(LAWS["NC"], THREE_BOXES, [Bettor("ann")], [Bet(1, "ann", "main", 1, 5), bet])


def test_a_main_wager_takes_its_bettors_side_wagers_along() -> None:
    layout = lay("P3", ("ann", "main", 1, 50), ("ann", "tie", 1, 5), ("ann", "main", 2, 10), ("bob", "main", 1, 10))
    laid = take_back(LAWS["P3"], layout, 1, betting_open=True)
    assert lying(laid.layout) == [("ann", "main", 2, 10), ("bob", "main", 1, 10)]
    assert [(back.number, back.amount, back.clause) for back in laid.handed_back] == [(1, 50, ""), (2, 5, "P3 3.4")]


def test_reading_44_side_wagers_with_a_main_and_bets_of_others_stay() -> None:
    """NC 3.9, RTP 3.5."""
    layout = lay("NC", ("ann", "main", 1, 50), ("ann", "tie", 1, 5), ("bob", "main", 1, 10))
    assert lying(take_back(LAWS["NC"], layout, 1, betting_open=True).layout) == [
        ("ann", "tie", 1, 5), ("bob", "main", 1, 10)
    ]  # fmt: skip
    layout = lay("NC", ("ann", "main", 1, 50), ("bob", "tie", 1, 5))
    left = take_back(LAWS["NC"], layout, 1, betting_open=True).layout
    assert [bet.bettor for bet in without_main(LAWS["NC"], left)] == ["bob"]


def test_a_number_is_never_given_twice() -> None:
    layout = lay("TP", ("ann", "main", 1, 50))
    layout = take_back(LAWS["TP"], layout, 1, betting_open=True).layout
    assert put("TP", layout, "ann", "main", 1, 50).layout.bets[0].number == 2
    with pytest.raises(BetRefusedError, match="bet 1 is not on the layout"):
        take_back(LAWS["TP"], layout, 1, betting_open=True)


def test_a_seat_holds_one_bettor_and_is_on_the_layout() -> None:
    layout = enter_bettor(THREE_BOXES, Layout(), Bettor("ann", 1))
    for seat, code in ((1, BetRefusal.SEAT_TAKEN), (4, BetRefusal.NO_SUCH_BOX), (0, BetRefusal.NO_SUCH_BOX)):
        with pytest.raises(BetRefusedError) as refusal:
            enter_bettor(THREE_BOXES, layout, Bettor("bob", seat))
        assert refusal.value.code is code
    moved = enter_bettor(THREE_BOXES, layout, Bettor("ann", 2))
    assert enter_bettor(THREE_BOXES, moved, Bettor("bob", 1)).bettors == (Bettor("ann", 2), Bettor("bob", 1))


def test_rules_of_a_table_are_about_its_own_boxes() -> None:
    for wrong in ({"boxes": 0}, {"boxes": 3, "closed_boxes": frozenset({4})}, {"boxes": 3, "fewer_wagers": {1: -1}}):
        with pytest.raises(ValueError, match="box"):
            TableRules(**wrong)


@pytest.mark.parametrize(
    ("game_id", "rules", "says"),
    [
        ("RTP", TableRules(boxes=9), "RTP has 1 to 8 boxes, not 9"),  # RTP App. A
        ("F3", TableRules(boxes=4), "F3 has 3 boxes, not 4"),  # F3 PM1
        ("F3", TableRules(boxes=2), "F3 has 3 boxes, not 2"),
        ("NC", TableRules(boxes=3, limits={"royal": Limit(5, 10)}), "'royal'; the wagers of NC are main, three_pic"),
        ("NC", TableRules(boxes=3, closed_boxes=frozenset({0})), "there is no box 0; boxes are 1 to 3"),
        ("TP", TableRules(boxes=3, fewer_wagers={0: 1}), "there is no box 0; boxes are 1 to 3"),
    ],
)
def test_the_rules_of_a_table_only_concern_what_its_game_has(game_id: str, rules: TableRules, says: str) -> None:
    """RTP App. A, RTP App. B, F3 PM1, NC 2.1.1.a."""
    law = LAWS[game_id]
    with pytest.raises(TableRulesError, match=says):
        check_rules(law, rules)
    with pytest.raises(TableRulesError, match=says):
        as_it_lies(law, rules, [], [])
    with pytest.raises(TableRulesError, match=says):
        put(game_id, lay(game_id, seats={"ann": 1}), "ann", law.wagers[0].id, 1, 10, rules)


def test_the_bankers_own_spot_may_be_restricted_where_there_is_one() -> None:
    rules = TableRules(boxes=3, closed_boxes=frozenset({0}), limits={"banker_pair_plus": Limit(5, 10)})
    check_rules(LAWS["F3"], rules)
    layout = lay("F3", seats={"ann": 1})
    assert refused("F3", layout, "ann", "banker_pair_plus", 0, 5, rules)[0] is BetRefusal.BOX_CLOSED


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_every_number_of_boxes_that_the_document_allows_is_allowed(game_id: str) -> None:
    fewest, most, default = LAWS[game_id].game.boxes
    for boxes in (fewest, default, most):
        check_rules(LAWS[game_id], TableRules(boxes=boxes))
