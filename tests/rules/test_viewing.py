"""The right to look at a hand, and the limit to one hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from controller.rules.law import Law
from controller.rules.layout import NO_VIEWER_YET, Layout, viewer, viewing_refusal
from tests.rules.laid_bets import LAWS, lay

RTP, NC, TP, P3, F3 = (LAWS[game_id] for game_id in ("RTP", "NC", "TP", "P3", "F3"))
SHARED = (("cy", "main", 1, 90), ("bob", "main", 1, 10), ("ann", "main", 1, 50))


def may_view(law: Law, layout: Layout, bettor: str, box: int, viewing: Mapping[str, int] = NO_VIEWER_YET) -> bool:
    return viewing_refusal(law, layout, bettor, box, viewing) is None


def test_rtp_3_10_the_seated_bettor_who_placed_first_looks() -> None:
    """Bob sits at another position, and still placed first of the seated bettors."""
    layout = lay("RTP", *SHARED, seats={"ann": 1, "bob": 2})
    assert viewer(RTP, layout, 1) == "bob"
    refusal = viewing_refusal(RTP, layout, "ann", 1)
    assert refusal is not None
    assert refusal.clause == "RTP 3.10"
    assert viewing_refusal(RTP, layout, "bob", 1) is None


def test_rtp_3_11_the_viewer_is_seated() -> None:
    layout = lay("RTP", *SHARED)
    refusal = viewing_refusal(RTP, layout, "cy", 1)
    assert refusal is not None
    assert refusal.clause == "RTP 3.11"


def test_rtp_3_14_the_dealer_opens_a_hand_that_no_one_controls() -> None:
    """RTP 3.14, and RTP 1.1.1: the second hand of one bettor is played blind."""
    assert viewer(RTP, lay("RTP", *SHARED), 1) is None
    layout = lay("RTP", ("ann", "main", 1, 50), ("ann", "main", 2, 50), seats={"ann": 1})
    assert viewer(RTP, layout, 2) == "ann"
    assert viewer(RTP, layout, 2, {"ann": 1}) is None


@pytest.mark.parametrize(("game_id", "clause"), [("RTP", "RTP 3.7"), ("NC", "NC 3.10")])
def test_rtp_3_7_and_nc_3_10_a_bettor_looks_at_one_hand_only(game_id: str, clause: str) -> None:
    """RTP 3.7, RTP 1.1.1, NC 3.10."""
    law = LAWS[game_id]
    layout = lay(game_id, ("ann", "main", 1, 50), ("ann", "main", 2, 50), seats={"ann": 1})
    refusal = viewing_refusal(law, layout, "ann", 2, {"ann": 1})
    assert refusal is not None
    assert refusal.clause == clause
    assert viewing_refusal(law, layout, "ann", 1, {"ann": 1}) is None
    assert viewing_refusal(law, layout, "ann", 2) is None


def test_rtp_3_10_a_viewer_of_another_hand_is_passed_over_for_the_next_seated() -> None:
    layout = lay("RTP", *SHARED, seats={"ann": 1, "bob": 2})
    assert viewer(RTP, layout, 1, {"bob": 2}) == "ann"


def test_nc_1_15_the_seated_bettor_looks_else_the_highest_bet() -> None:
    assert viewer(NC, lay("NC", *SHARED, seats={"ann": 1, "bob": 2}), 1) == "ann"
    layout = lay("NC", *SHARED, seats={"bob": 2})
    assert viewer(NC, layout, 1) == "cy"
    refusal = viewing_refusal(NC, layout, "bob", 1)
    assert refusal is not None
    assert (refusal.clause, "cy" in str(refusal.said)) == ("NC 1.15", True)
    refusal = viewing_refusal(NC, layout, "bob", 1, {"cy": 3})
    assert refusal is not None
    assert "the Dealer opens" in str(refusal.said)


@pytest.mark.parametrize("game_id", ["TP", "P3"])
def test_tp_3_5_and_p3_3_6_any_bettor_of_the_box_may_look(game_id: str) -> None:
    """TP 3.5 and P3 3.6 do not state who looks, or that it is one hand only."""
    law, layout = LAWS[game_id], lay(game_id, *SHARED, seats={"ann": 1})
    assert viewer(law, layout, 1) == viewer(law, layout, 1, {"cy": 2}) == "cy"
    assert not any(viewing_refusal(law, layout, name, 1, {name: 2}) for name in ("ann", "bob", "cy"))
    assert viewing_refusal(law, layout, "ann", 2) is not None


def test_f3_pm2_the_dealer_exposes_every_hand() -> None:
    layout = lay("F3", ("ann", "win", 1, 50), ("ann", "banker_pair_plus", 0, 5), seats={"ann": 1})
    assert viewer(F3, layout, 1) is None
    assert viewing_refusal(F3, layout, "ann", 1) is not None


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3", "F3"])
def test_no_one_looks_where_no_one_bet(game_id: str) -> None:
    layout = lay(game_id, seats={"ann": 1})
    assert viewer(LAWS[game_id], layout, 1) is None
    assert viewing_refusal(LAWS[game_id], layout, "ann", 1) is not None
