"""The settlement of whole rounds, with hand-computed examples, by clause."""

from __future__ import annotations

from fractions import Fraction

import pytest

from controller.rules.apportionment import apportion
from controller.rules.law import SettingError, read_law
from controller.rules.layout import Limit
from controller.rules.payouts import Verdict
from controller.rules.settlement import (
    BetAction,
    BetResult,
    BetRuling,
    Rounding,
    Settlement,
    SettlementError,
    return_every_bet,
    settle_round,
)
from tests.rules.laid_bets import LAWS, THREE_BOXES, breakage, gains, hands, held_by, lay, limited

TP, RTP, NC, P3, F3 = (LAWS[game_id] for game_id in ("TP", "RTP", "NC", "P3", "F3"))
WON, LOST, RETURNED = Verdict.WON, Verdict.LOST, Verdict.RETURNED
# Box 1 wins on seven, box 2 on six, box 3 loses with two; the Dealer has five.
TABLE = hands(B1="KD 5C 2S", B2="KC 4D 2H", B3="TD 9C 3S", D="TS 3C 2D")


def money(entry: BetResult) -> tuple[object, ...]:
    """Return the verdict, and what is returned, collected, held and paid."""
    return entry.verdict, entry.returned, entry.collected, entry.held, entry.paid


def test_tp_4_1_wins_are_paid_six_points_at_half_and_losses_collected() -> None:
    bets = lay("TP", ("ann", "main", 1, 100), ("bob", "main", 2, 25), ("cy", "main", 3, 40))
    settlement = settle_round(TP, THREE_BOXES, bets, TABLE)
    assert [money(entry) for entry in settlement.entries] == [
        (WON, 100, 0, 0, 100),
        (WON, 25, 0, 0, Fraction(25, 2)),
        (LOST, 0, 40, 0, 0),
    ]
    assert gains(settlement) == {"ann": 100, "bob": Fraction(25, 2), "cy": -40}
    assert settlement.house == -100 - Fraction(25, 2) + 40
    assert settlement.entries[0].clause == "TP 4.1"


def test_tp_3_13_an_equal_ranking_returns_the_main_and_pays_the_tie() -> None:
    """TP 3.13, and TP 3.13.1: 8 to 1."""
    bets = lay("TP", ("ann", "main", 1, 100), ("ann", "tie", 1, 10))
    settlement = settle_round(TP, THREE_BOXES, bets, hands(B1="KD 4C AS", D="QS 3C 2D"))
    assert [money(entry) for entry in settlement.entries] == [(RETURNED, 100, 0, 0, 0), (WON, 10, 0, 0, 80)]


def test_rtp_4_2_and_p3_4_3_and_f3_o3_side_wagers_pay_their_odds() -> None:
    """RTP 4.2, P3 4.3, F3 O3: the best-paid hands."""
    kings = hands(B1="KD KC KS", D="KH QC 2D")
    royal = settle_round(RTP, THREE_BOXES, lay("RTP", ("ann", "main", 1, 10), ("ann", "royal", 1, 5)), kings)
    assert [entry.paid for entry in royal.entries] == [10, 940]
    perfect = lay("P3", ("ann", "main", 1, 10), ("ann", "picture_perfect", 1, 4), ("ann", "dealer_prosperity", 1, 3))
    assert [entry.paid - entry.collected for entry in settle_round(P3, THREE_BOXES, perfect, kings).entries] == [
        10, 20, -3
    ]  # fmt: skip
    banker = lay("F3", ("ann", "banker_pair_plus", 0, 7), ("ann", "lose", 2, 9))
    pair = hands(B2="TD 9C 3S", D="5S 5C 6D")
    assert [entry.paid for entry in settle_round(F3, THREE_BOXES, banker, pair).entries] == [7, Fraction(9, 2)]


def test_nc_5_1_1_a_player_wins_or_loses_his_share_of_the_maximum() -> None:
    """The bets are 150, 100 and 50 on a maximum of 100: a third of each wins on box 1 and loses on box 3."""
    for box, verdict in ((1, WON), (3, LOST)):
        layout = lay("NC", ("ann", "main", box, 150), ("bob", "main", box, 100), ("cy", "main", box, 50))
        settlement = settle_round(NC, limited("main"), layout, TABLE)
        moved = [entry.paid if verdict is WON else entry.collected for entry in settlement.entries]
        assert moved == [50, Fraction(100, 3), Fraction(50, 3)]
        assert {entry.verdict for entry in settlement.entries} == {verdict}
        assert {entry.share_clause for entry in settlement.entries} == {"NC 5.1.1"}
        assert settlement.house == (-100 if verdict is WON else 100)


def test_rtp_5_11_wagers_over_the_maximum_are_paid_and_collected_to_the_maximum() -> None:
    layout = lay("RTP", ("ann", "main", 1, 150), ("bob", "main", 3, 130))
    settlement = settle_round(RTP, limited("main"), layout, TABLE)
    assert [money(entry) for entry in settlement.entries] == [(WON, 150, 0, 0, 100), (LOST, 30, 100, 0, 0)]


def test_rtp_5_10_under_the_minimum_is_settled_one_time_only() -> None:
    layout = lay("RTP", ("ann", "main", 1, 4), ("bob", "main", 3, 5), ("cy", "main", 1, 50))
    first = settle_round(RTP, limited("main"), layout, TABLE)
    assert [entry.paid - entry.collected for entry in first.entries] == [4, -5, 50]
    assert first.settled_under_minimum == {"ann", "bob"}
    second = settle_round(RTP, limited("main"), layout, TABLE, settled_under_minimum=first.settled_under_minimum)
    assert [money(entry)[:3] for entry in second.entries] == [(RETURNED, 4, 0), (RETURNED, 5, 0), (WON, 50, 0)]
    assert [entry.clause for entry in second.entries][:2] == ["RTP 5.10", "RTP 5.10"]
    assert second.settled_under_minimum == {"ann", "bob"}


def test_rtp_5_10_a_standoff_or_a_void_round_does_not_use_up_the_one_time() -> None:
    """RTP 5.10 is about wagers paid or collected; a standoff is neither (RTP 1.1.5)."""
    layout = lay("RTP", ("ann", "main", 1, 4))
    standoff = settle_round(RTP, limited("main"), layout, hands(B1="KD 4C AS", D="QS 3C 2D"))
    assert standoff.settled_under_minimum == frozenset()
    assert return_every_bet(RTP, layout, "RTP 5.4").settled_under_minimum == frozenset()
    assert return_every_bet(RTP, layout, "RTP 5.4", frozenset({"bob"})).settled_under_minimum == {"bob"}


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP 5.5"), ("NC", "NC 5.9")])
def test_rtp_5_5_and_nc_5_9_all_wagers_on_a_removed_hand_are_returned(game_id: str, clause: str) -> None:
    """RTP 5.5, NC 5.9: the hand itself may be absent."""
    layout = lay(game_id, ("ann", "main", 1, 100), ("bob", "tie", 1, 10), ("ann", "main", 3, 40))
    dealt = {place: cards for place, cards in TABLE.items() if place != "B1"}
    settlement = settle_round(LAWS[game_id], THREE_BOXES, layout, dealt, removed={1: clause})
    assert [money(entry)[:3] for entry in settlement.entries] == [(RETURNED, 100, 0), (RETURNED, 10, 0), (LOST, 0, 40)]
    assert [entry.clause for entry in settlement.entries][:2] == [clause, clause]


def test_nc_5_7_3_a_bettor_may_take_back_his_bets_while_others_play_on() -> None:
    """Reading 38: on one box each bettor decides for himself."""
    layout = lay("NC", ("ann", "main", 1, 100), ("ann", "tie", 1, 10), ("bob", "main", 1, 20), ("ann", "main", 3, 30))
    settlement = settle_round(NC, THREE_BOXES, layout, TABLE, withdrawn={("ann", 1): "NC 5.7.3"})
    assert [money(entry)[:3] for entry in settlement.entries] == [
        (RETURNED, 100, 0), (RETURNED, 10, 0), (WON, 20, 0), (LOST, 0, 30)
    ]  # fmt: skip
    assert settlement.entries[0].clause == "NC 5.7.3"


def test_nc_5_13_a_withdrawal_leaves_the_other_shares_unchanged() -> None:
    layout = lay("NC", ("ann", "main", 1, 100), ("bob", "main", 1, 100))
    settlement = settle_round(NC, limited("main"), layout, TABLE, withdrawn={("ann", 1): "NC 5.7.3"})
    assert [entry.counted for entry in settlement.entries] == [0, 50]


def test_rtp_5_13_1_a_player_withdraws_all_his_wagers_or_none() -> None:
    layout = lay("RTP", ("ann", "main", 1, 100), ("ann", "main", 3, 40), ("bob", "main", 3, 10))
    with pytest.raises(SettlementError, match="those on box 3 are missing"):
        settle_round(RTP, THREE_BOXES, layout, TABLE, withdrawn={("ann", 1): "RTP 5.13.1"})
    both = {("ann", 1): "RTP 5.13.1", ("ann", 3): "RTP 5.13.1"}
    settlement = settle_round(RTP, THREE_BOXES, layout, TABLE, withdrawn=both)
    assert [entry.verdict for entry in settlement.entries] == [RETURNED, RETURNED, LOST]
    rest = {("ann", 3): "RTP 5.13.1"}
    settlement = settle_round(RTP, THREE_BOXES, layout, TABLE, removed={1: "RTP 5.5"}, withdrawn=rest)
    assert [entry.clause for entry in settlement.entries][:2] == ["RTP 5.5", "RTP 5.13.1"]


def test_rtp_5_7_a_permitted_withdrawal_may_be_of_one_hand() -> None:
    layout = lay("RTP", ("ann", "main", 1, 100), ("ann", "main", 3, 40))
    settlement = settle_round(RTP, THREE_BOXES, layout, TABLE, withdrawn={("ann", 3): "RTP 5.7"})
    assert [entry.verdict for entry in settlement.entries] == [WON, RETURNED]


def test_nc_5_14_a_side_bet_without_an_initial_bet_is_returned() -> None:
    """Kings would have paid it. On the box with an Initial Bet it is settled."""
    layout = lay("NC", ("ann", "three_pictures", 1, 10), ("ann", "three_pictures", 2, 10), ("bob", "main", 2, 5))
    kings = hands(B1="KD KC KS", B2="QD QC QS", D="2S 2C 3D")
    settlement = settle_round(NC, THREE_BOXES, layout, kings)
    assert [money(entry)[1:] for entry in settlement.entries[:2]] == [(10, 0, 0, 0), (10, 0, 0, 160)]
    assert settlement.entries[0].clause == "NC 5.14"


@pytest.mark.parametrize(("game_id", "clause"), [("TP", "TP 3.3"), ("RTP", "RTP 3.5"), ("P3", "P3 3.4")])
def test_a_side_bet_without_main_waits_for_a_ruling_without_a_clause(game_id: str, clause: str) -> None:
    """TP 3.3, RTP 3.5, P3 3.4: the documents do not state the effect."""
    law, layout = LAWS[game_id], lay(game_id, ("ann", "tie", 3, 10))
    held = settle_round(law, THREE_BOXES, layout, {})
    assert money(held.entries[0]) == (None, 0, 0, 10, 0)
    assert held.entries[0].clause == clause
    assert held_by(held) == 10
    back = {1: BetRuling(BetAction.RETURN, "shift manager Tan", "it goes back")}
    returned = settle_round(law, THREE_BOXES, layout, {}, rulings=back)
    assert money(returned.entries[0]) == (RETURNED, 10, 0, 0, 0)
    assert "shift manager Tan" in str(returned.entries[0].because)
    plays = {1: BetRuling(BetAction.SETTLE, "shift manager Tan")}
    assert money(settle_round(law, THREE_BOXES, layout, TABLE, rulings=plays).entries[0]) == (LOST, 0, 10, 0, 0)


def test_a_ruling_returns_any_bet_but_settles_none_that_a_clause_returns() -> None:
    """NC 5.9 precedes a ruling."""
    layout = lay("NC", ("ann", "main", 1, 10), ("bob", "main", 3, 10))
    rulings = {
        1: BetRuling(BetAction.SETTLE, "shift manager Tan"), 2: BetRuling(BetAction.RETURN, "shift manager Tan")
    }  # fmt: skip
    settlement = settle_round(NC, THREE_BOXES, layout, TABLE, removed={1: "NC 5.9"}, rulings=rulings)
    assert [(entry.verdict, entry.clause) for entry in settlement.entries] == [
        (RETURNED, "NC 5.9"),
        (RETURNED, "shift manager Tan"),
    ]


@pytest.mark.parametrize(
    ("game_id", "clause", "returns"),
    [
        ("NC", "NC 5.5.1", "(NC 5.15)"),
        ("F3", "F3 X2", "(F3 X2)"),
        # These three void a round without stating that bets are returned.
        ("TP", "TP 5.2", "(reading 33)"),
        ("RTP", "RTP 5.1.1", "(reading 33)"),
        ("P3", "P3 5.4", "(reading 33)"),
    ],
)
def test_a_void_round_returns_every_bet(game_id: str, clause: str, returns: str) -> None:
    """This follows from NC 5.15 and F3 X2, and from reading 33 for TP 5.2, RTP 5.1.1 and P3 5.4."""
    law = LAWS[game_id]
    layout = lay(game_id, ("ann", law.wagers[0].id, 1, 100), ("bob", "tie", 3, 7))
    settlement = return_every_bet(law, layout, clause)
    assert [money(entry) for entry in settlement.entries] == [(RETURNED, 100, 0, 0, 0), (RETURNED, 7, 0, 0, 0)]
    assert all(entry.clause == clause and returns in str(entry.because) for entry in settlement.entries)
    with pytest.raises(SettlementError, match="name which"):
        return_every_bet(law, layout, "")


def test_nc_1_19_a_void_round_has_no_result_whatever_the_hands() -> None:
    """A bet that would have won, one that would have lost, and a side bet that another clause returns."""
    layout = lay("NC", ("ann", "main", 1, 100), ("bob", "main", 3, 40), ("bob", "tie", 2, 7))
    settled, void = settle_round(NC, THREE_BOXES, layout, TABLE), return_every_bet(NC, layout, "NC 5.4.2")
    assert [entry.verdict for entry in settled.entries] == [WON, LOST, RETURNED]
    assert {(entry.verdict, entry.clause) for entry in void.entries} == {(RETURNED, "NC 5.4.2")}
    assert not any(entry.counted or entry.paid or entry.collected for entry in void.entries)


def test_nc_1_16_bettors_of_a_box_are_settled_separately() -> None:
    """Bob stands. He and Ann choose separately (NC 5.7.3)."""
    layout = lay("NC", ("ann", "main", 1, 100), ("bob", "main", 1, 20), ("bob", "tie", 1, 5), seats={"ann": 1})
    for who, verdicts in (("bob", [WON, RETURNED, RETURNED]), ("ann", [RETURNED, WON, LOST])):
        settlement = settle_round(NC, THREE_BOXES, layout, TABLE, withdrawn={(who, 1): "NC 5.7.3"})
        assert [entry.verdict for entry in settlement.entries] == verdicts


@pytest.mark.parametrize(("game_id", "clause"), [("P3", "P3 5.4"), ("NC", "NC 5.5.5")])
def test_p3_5_4_and_nc_5_5_5_a_void_after_settlement_is_reversed(game_id: str, clause: str) -> None:
    """P3 5.4, NC 5.5.5: winners return their payments, losers get their stakes back."""
    law = LAWS[game_id]
    layout = lay(game_id, ("ann", "main", 1, 100), ("bob", "main", 2, 25), ("cy", "main", 3, 40))
    settled, void = settle_round(law, THREE_BOXES, layout, TABLE), return_every_bet(law, layout, clause)
    assert gains(settled) == {"ann": 100, "bob": Fraction(25, 2), "cy": -40}
    assert gains(void) == {"ann": 0, "bob": 0, "cy": 0}
    assert settled.house == -100 - Fraction(25, 2) + 40
    assert void.house == 0


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP 5.5"), ("NC", "NC 5.9")])
def test_rtp_5_5_and_nc_5_9_removing_a_settled_hand_changes_only_its_wagers(game_id: str, clause: str) -> None:
    """RTP 5.5, NC 5.9."""
    law = LAWS[game_id]
    layout = lay(game_id, ("ann", "main", 1, 100), ("bob", "main", 3, 40))
    before = settle_round(law, THREE_BOXES, layout, TABLE)
    after = settle_round(law, THREE_BOXES, layout, TABLE, removed={1: clause})
    assert gains(before) == {"ann": 100, "bob": -40}
    assert gains(after) == {"ann": 0, "bob": -40}
    assert before.house == -60
    assert after.house == 40


@pytest.mark.parametrize(("game_id", "clause"), [("TP", "TP 5.6"), ("P3", "P3 5.6"), ("RTP", "RTP 5.3")])
def test_a_bet_taken_away_late_is_settled_with_the_closed_layout(game_id: str, clause: str) -> None:
    """TP 5.6, P3 5.6, RTP 5.3: only another clause returns a bet that lay there at closing."""
    layout = lay(game_id, ("ann", "main", 3, 40))
    assert LAWS[game_id].game.betting.late_withdrawal == clause
    assert gains(settle_round(LAWS[game_id], THREE_BOXES, layout, TABLE)) == {"ann": -40}


def test_nc_5_3_an_absent_bettor_is_settled_like_the_others() -> None:
    layout = lay("NC", ("gone", "main", 1, 100), ("ann", "main", 1, 100), seats={"ann": 1})
    assert gains(settle_round(NC, THREE_BOXES, layout, TABLE)) == {"gone": 100, "ann": 100}


@pytest.mark.parametrize(
    ("rounding", "paid", "kept"),
    [
        (Rounding.NONE, Fraction(25, 2), 0),
        (Rounding.DOWN, 12, Fraction(1, 2)),
        (Rounding.UP, 13, Fraction(-1, 2)),
    ],
)
def test_rounding_applies_to_payouts_and_its_difference_is_shown(
    rounding: Rounding, paid: Fraction, kept: Fraction
) -> None:
    """The payout is half of 25 (TP 4.1)."""
    layout = lay("TP", ("ann", "main", 2, 25))
    settlement = settle_round(TP, THREE_BOXES, layout, TABLE, rounding=rounding)
    assert (settlement.entries[0].paid, breakage(settlement)) == (paid, kept)
    assert settlement.house == -paid


def test_nc_5_1_1_where_payouts_are_rounded_a_maximum_is_shared_in_whole_units() -> None:
    """Shares of 100, 66 2/3 and 33 1/3 lose, or win half on six points (NC 4.1), but chips are whole."""
    layout = lay("NC", ("ann", "main", 1, 200), ("bob", "main", 1, 100))
    table, rules = hands(B1="KD 4C 2S", D="2C 3C 3D"), limited("main")
    exact = settle_round(NC, rules, layout, table)
    assert [entry.collected for entry in exact.entries] == [Fraction(200, 3), Fraction(100, 3)]
    for rounding, paid in ((Rounding.DOWN, [33, 16]), (Rounding.UP, [34, 17])):
        lost = settle_round(NC, rules, layout, table, rounding=rounding)
        assert [entry.collected for entry in lost.entries] == [67, 33]
        assert [entry.returned for entry in lost.entries] == [133, 67]
        won = settle_round(NC, rules, layout, hands(B1="KD 4C 2S", D="2C 3C 9D"), rounding=rounding)
        assert [entry.paid for entry in won.entries] == paid


def test_every_bet_needs_the_hand_of_its_box_and_those_that_it_looks_at() -> None:
    layout = lay("RTP", ("ann", "main", 1, 10), ("ann", "royal", 2, 10), ("bob", "main", 2, 10))
    with pytest.raises(SettlementError, match="box 2 has 0, the Dealer has 2"):
        settle_round(RTP, THREE_BOXES, layout, hands(B1="KD 5C 2S", D="KC QC"))
    dealers = lay("P3", ("ann", "main", 1, 10), ("ann", "dealer_prosperity", 1, 10))
    with pytest.raises(SettlementError, match="box 1 has 0"):
        settle_round(P3, THREE_BOXES, dealers, hands(D="KC QC 2S"))
    own_hand = lay("RTP", ("ann", "royal", 1, 10), ("bob", "main", 1, 10))
    back = {2: BetRuling(BetAction.SETTLE, "shift manager Tan")}
    with pytest.raises(SettlementError, match="the Dealer has 0"):
        settle_round(RTP, THREE_BOXES, own_hand, hands(B1="KD 5C 2S"), rulings=back)


def test_p3_3_4_a_ruling_settles_a_dealers_hand_wager_of_an_undealt_box() -> None:
    """P3 1.1.4, 3.4: without a main wager the box has no hand, and Dealer Prosperity needs none."""
    layout = lay("P3", ("ann", "dealer_prosperity", 1, 10), ("bob", "main", 2, 5))
    plays = {1: BetRuling(BetAction.SETTLE, "shift manager Tan")}
    settlement = settle_round(P3, THREE_BOXES, layout, hands(B2="KD 5C 2S", D="KC KH 2D"), rulings=plays)
    assert money(settlement.entries[0]) == (WON, 10, 0, 0, 150)
    with pytest.raises(SettlementError, match="the Dealer has 0"):
        settle_round(P3, THREE_BOXES, layout, hands(B2="KD 5C 2S"), rulings=plays)
    own = lay("P3", ("ann", "player_prosperity", 1, 10))
    with pytest.raises(SettlementError, match="box 1 has 0"):
        settle_round(P3, THREE_BOXES, own, hands(D="KC KH 2D"), rulings=plays)


def test_nothing_is_returned_without_a_clause_or_a_named_ruling() -> None:
    layout = lay("NC", ("ann", "main", 1, 10))
    with pytest.raises(SettlementError, match="without a clause"):
        settle_round(NC, THREE_BOXES, layout, TABLE, removed={1: ""})
    with pytest.raises(SettlementError, match="no clause that allows it"):
        settle_round(NC, THREE_BOXES, layout, TABLE, withdrawn={("ann", 1): ""})
    with pytest.raises(SettlementError, match="no bet on box 2"):
        settle_round(NC, THREE_BOXES, layout, TABLE, withdrawn={("ann", 2): "NC 5.7.3"})
    with pytest.raises(SettlementError, match="names no one"):
        settle_round(NC, THREE_BOXES, layout, TABLE, rulings={1: BetRuling(BetAction.RETURN, "")})
    with pytest.raises(SettlementError, match="bet 2"):
        settle_round(NC, THREE_BOXES, layout, TABLE, rulings={2: BetRuling(BetAction.RETURN, "Tan")})


def test_p3_1_1_6_a_tie_is_not_settled_before_its_reading_is_chosen() -> None:
    layout = lay("P3", ("ann", "main", 1, 10), ("ann", "tie", 1, 10))
    with pytest.raises(SettingError, match="tie_on"):
        settle_round(read_law(P3.game), THREE_BOXES, layout, TABLE)


def test_rtp_5_12_limits_overlooked_in_a_settled_round_stay_settled() -> None:
    """RTP 5.12: nothing that comes later changes a settlement."""
    layout = lay("RTP", ("ann", "main", 3, 4))
    first: Settlement = settle_round(RTP, limited("main"), layout, TABLE)
    settle_round(RTP, limited("main", limit=Limit(50, 60)), layout, TABLE, settled_under_minimum=frozenset({"ann"}))
    assert gains(first) == {"ann": -4}
    assert apportion(RTP, limited("main"), layout)[0].counts == 4
