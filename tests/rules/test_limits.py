"""Minimum and maximum while bets are open: what is refused or handed back, to whom, and by which clause."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.layout import (
    BetRefusal,
    BetRefusedError,
    Bettor,
    Limit,
    TableRules,
    enter_bettor,
    outside_limits,
    seated_player,
)
from controller.rules.placing import Laid, change, reject_excess, take_back
from tests.rules.laid_bets import LAWS, lay, layouts, limited, lying, put, refused, spots, table_rules

GAME_IDS = tuple(LAWS)


def test_rtp_3_4_several_bettors_share_a_position_each_within_the_limits() -> None:
    rules = limited("main")
    layout = lay("RTP", ("ann", "main", 1, 100), seats={"bob": 1})
    assert put("RTP", layout, "bob", "main", 1, 100, rules).handed_back == ()
    assert refused("RTP", layout, "bob", "main", 1, 101, rules) == (BetRefusal.OVER_MAXIMUM, "RTP 3.4")
    assert refused("RTP", layout, "bob", "main", 1, 9, rules) == (BetRefusal.UNDER_MINIMUM, "RTP 3.4")
    assert refused("RTP", layout, "ann", "main", 1, 1, rules) == (BetRefusal.OVER_MAXIMUM, "RTP 3.4")


def test_nc_1_16_a_bettor_seated_at_one_box_is_standing_at_another() -> None:
    """Ann placed first on both boxes. She gives way to Bob at his box, and he to her at hers."""
    for box, left in ((2, [("ann", "main", 2, 40), ("bob", "main", 2, 60)]), (1, [("ann", "main", 1, 100)])):
        layout = lay("NC", ("ann", "main", box, 60), ("bob", "main", box, 40), seats={"ann": 1, "bob": 2})
        raises, more = ("bob", 20) if box == 2 else ("ann", 40)
        assert lying(put("NC", layout, raises, "main", box, more, limited("main")).layout) == left
        assert seated_player(LAWS["NC"], layout, box) == raises


def test_nc_5_1_a_standing_bettors_excess_is_handed_back() -> None:
    """NC 5.1, and NC 3.10: all bets on the box count. Any bettor may use the rest (NC 3.7)."""
    layout = lay("NC", ("ann", "main", 1, 60), seats={"ann": 1})
    laid = put("NC", layout, "ann", "main", 1, 10, limited("main"))
    assert laid.handed_back == ()
    layout = lay("NC", ("ann", "main", 1, 60), seats={"ann": 1, "bob": 2})
    laid = put("NC", layout, "bob", "main", 1, 50, limited("main"))
    assert lying(laid.layout) == [("ann", "main", 1, 60), ("bob", "main", 1, 40)]
    assert [(back.number, back.bettor, back.amount, back.clause) for back in laid.handed_back] == [
        (2, "bob", 10, "NC 5.1")
    ]
    assert refused("NC", laid.layout, "bob", "main", 1, 1, limited("main")) == (BetRefusal.OVER_MAXIMUM, "NC 5.1")


def test_nc_3_7_the_balance_may_be_less_than_a_minimum_wager() -> None:
    layout = lay("NC", ("ann", "main", 1, 95), seats={"ann": 1, "bob": 2})
    assert lying(put("NC", layout, "bob", "main", 1, 5, limited("main")).layout)[1] == ("bob", "main", 1, 5)


def test_nc_5_1_a_seated_bettors_chips_push_standing_ones_out_the_last_first() -> None:
    layout = lay("NC", ("bob", "main", 1, 40), ("cy", "main", 1, 50), seats={"ann": 1})
    laid = put("NC", layout, "ann", "main", 1, 70, limited("main"))
    assert lying(laid.layout) == [("bob", "main", 1, 30), ("ann", "main", 1, 70)]
    assert [(back.bettor, back.amount) for back in laid.handed_back] == [("cy", 50), ("bob", 10)]
    assert laid.layout.numbered == 3


def test_nc_5_1_a_raise_ranks_after_every_bet_on_the_box() -> None:
    """Bob bet before Cy, but his raise came later."""
    layout = lay("NC", ("ann", "main", 1, 10), ("bob", "main", 1, 40), ("cy", "main", 1, 40), seats={"ann": 1})
    laid = put("NC", layout, "bob", "main", 1, 30, limited("main"))
    assert lying(laid.layout) == [("ann", "main", 1, 10), ("bob", "main", 1, 50), ("cy", "main", 1, 40)]
    assert [(back.bettor, back.amount) for back in laid.handed_back] == [("bob", 20)]


def test_nc_5_1_no_one_is_pushed_beyond_what_a_seated_bettor_may_bet() -> None:
    layout = lay("NC", ("ann", "main", 1, 60), ("bob", "main", 1, 40), seats={"ann": 1})
    laid = put("NC", layout, "ann", "main", 1, 70, limited("main"))
    assert lying(laid.layout) == [("ann", "main", 1, 100)]
    assert [(back.bettor, back.amount) for back in laid.handed_back] == [("bob", 40), ("ann", 30)]


def test_nc_1_15_with_no_one_seated_the_highest_bet_has_priority() -> None:
    layout = lay("NC", ("bob", "main", 1, 40), ("cy", "main", 1, 50))
    laid = put("NC", layout, "bob", "main", 1, 90, limited("main"))
    assert lying(laid.layout) == [("bob", "main", 1, 50), ("cy", "main", 1, 50)]
    laid = put("NC", layout, "cy", "main", 1, 30, limited("main"))
    assert lying(laid.layout) == [("bob", "main", 1, 20), ("cy", "main", 1, 80)]


def test_nc_1_15_the_seated_player_sits_there_or_bet_most() -> None:
    bets = (("bob", "main", 1, 40), ("cy", "main", 1, 50), ("di", "main", 1, 50), ("ann", "tie", 1, 90))
    assert seated_player(LAWS["NC"], lay("NC", *bets), 1) == "cy"
    assert seated_player(LAWS["NC"], lay("NC", *bets, seats={"ann": 1, "di": 2}), 1) == "ann"
    assert seated_player(LAWS["NC"], lay("NC", *bets), 2) is None


def test_nc_5_2_under_the_minimum_the_player_may_raise_or_withdraw() -> None:
    rules = limited("main")
    empty = lay("NC", seats={"ann": 1})
    assert refused("NC", empty, "ann", "main", 1, 9, rules) == (BetRefusal.UNDER_MINIMUM, "NC 3.5")
    lies = put("NC", empty, "ann", "main", 1, 9, rules, noticed=False).layout
    (noticed,) = outside_limits(LAWS["NC"], rules, lies)
    assert (noticed.code, noticed.numbers, noticed.by) == (BetRefusal.UNDER_MINIMUM, (1,), 1)
    raised = change(LAWS["NC"], rules, lies, 1, 10, betting_open=True).layout
    assert (lying(raised), outside_limits(LAWS["NC"], rules, raised)) == ([("ann", "main", 1, 10)], ())
    assert take_back(LAWS["NC"], lies, 1, betting_open=True).layout.bets == ()


def test_lowering_a_bet_keeps_to_the_minimum_and_hands_the_rest_back() -> None:
    layout = lay("RTP", ("ann", "main", 1, 50))
    laid = change(LAWS["RTP"], limited("main"), layout, 1, 20, betting_open=True)
    assert (lying(laid.layout), laid.handed_back[0].amount) == ([("ann", "main", 1, 20)], 30)
    with pytest.raises(BetRefusedError, match="minimum"):
        change(LAWS["RTP"], limited("main"), layout, 1, 9, betting_open=True)
    assert change(LAWS["RTP"], limited("main"), layout, 1, 50, betting_open=True) == Laid(layout)


def test_nc_5_1_excess_that_is_noticed_before_closing_is_handed_back() -> None:
    layout = lay("NC", ("cy", "main", 1, 30), ("ann", "main", 1, 80), ("bob", "main", 1, 40), seats={"ann": 1})
    (noticed,) = outside_limits(LAWS["NC"], limited("main"), layout)
    assert (noticed.code, noticed.numbers, noticed.by) == (BetRefusal.OVER_MAXIMUM, (1, 2, 3), 50)
    laid = reject_excess(LAWS["NC"], limited("main"), layout)
    assert lying(laid.layout) == [("cy", "main", 1, 20), ("ann", "main", 1, 80)]
    assert [(back.bettor, back.amount, back.clause) for back in laid.handed_back] == [
        ("bob", 40, "NC 5.1"), ("cy", 10, "NC 5.1")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seat", "left"),
    [
        (None, [("ann", "main", 1, 60), ("bob", "main", 1, 40)]),
        (1, [("ann", "main", 1, 10), ("bob", "main", 1, 90)]),
        (2, [("ann", "main", 1, 60), ("bob", "main", 1, 40)]),
    ],
)
def test_nc_5_1_and_1_15_the_bet_over_the_maximum_gives_its_bettor_no_priority(
    seat: int | None, left: list[tuple[str, str, int, int]]
) -> None:
    """NC 5.1, NC 1.15: Bob has priority by sitting there, but not by a highest bet that is itself in question."""
    rules, layout = limited("main"), lay("NC", ("ann", "main", 1, 60), seats={"ann": 3})
    layout = enter_bettor(rules, layout, Bettor("bob", seat))
    overlooked = put("NC", layout, "bob", "main", 1, 90, rules, noticed=False).layout
    assert lying(reject_excess(LAWS["NC"], rules, overlooked).layout) == left
    assert lying(put("NC", layout, "bob", "main", 1, 90, rules).layout) == left


@given(
    amounts=st.lists(st.integers(1, 150), min_size=1, max_size=5),
    sits=st.integers(0, 5),
    maximum=st.integers(1, 300),
    wager=st.sampled_from(["main", "tie"]),
)
def test_nc_5_1_an_overlooked_excess_goes_back_to_the_same_bettors_later(
    amounts: list[int], sits: int, maximum: int, wager: str
) -> None:
    rules = TableRules(boxes=3, limits={wager: Limit(1, maximum)})
    at_once = lay("NC", *([("zoe", "main", 1, 10)] if wager == "tie" else []))
    for number in range(len(amounts)):
        at_once = enter_bettor(rules, at_once, Bettor(f"p{number}", 1 if number == sits else None))
    overlooked = at_once
    for number, amount in enumerate(amounts):
        overlooked = put("NC", overlooked, f"p{number}", wager, 1, amount, rules, noticed=False).layout
        with contextlib.suppress(BetRefusedError):
            at_once = put("NC", at_once, f"p{number}", wager, 1, amount, rules).layout
    assert lying(reject_excess(LAWS["NC"], rules, overlooked).layout) == lying(at_once)


def test_rtp_3_4_an_excess_noticed_before_closing_is_of_each_wager() -> None:
    layout = lay("RTP", ("ann", "main", 1, 130), ("bob", "main", 1, 100))
    laid = reject_excess(LAWS["RTP"], limited("main"), layout)
    assert lying(laid.layout) == [("ann", "main", 1, 100), ("bob", "main", 1, 100)]
    assert [(back.bettor, back.amount, back.clause) for back in laid.handed_back] == [("ann", 30, "RTP 3.4")]


@pytest.mark.parametrize(("minimum", "maximum"), [(0, None), (10, 9), (-1, 5)])
def test_limits_that_cannot_be_met_are_refused(minimum: int, maximum: int | None) -> None:
    with pytest.raises(ValueError, match="limit"):
        Limit(minimum, maximum)


@given(st.data())
def test_bets_placed_within_the_rules_are_within_the_limits(data: st.DataObject) -> None:
    """NC 5.1, RTP 3.4, for every game and any sequence of bets, seated or standing."""
    game_id = data.draw(st.sampled_from(GAME_IDS))
    law, rules = LAWS[game_id], data.draw(table_rules(game_id))
    layout = lay(game_id, seats={"ann": 1, "bob": 2})
    layout = enter_bettor(rules, layout, Bettor("cy"))
    taken = back = 0
    for _ in range(data.draw(st.integers(1, 12))):
        bettor = data.draw(st.sampled_from(["ann", "bob", "cy"]))
        wager, box = data.draw(st.sampled_from(spots(law)))
        amount = data.draw(st.integers(1, 150))
        try:
            laid = put(game_id, layout, bettor, wager, box, amount, rules)
        except BetRefusedError:
            continue
        taken, back = taken + amount, back + sum(each.amount for each in laid.handed_back)
        layout = laid.layout
        assert sum(bet.amount for bet in layout.bets) == taken - back
        assert outside_limits(law, rules, layout) == ()
        seated = {each.id for each in layout.bettors if each.seat == box}
        assert not {each.bettor for each in laid.handed_back} & (seated - {bettor})


@given(st.data())
def test_handing_back_an_excess_leaves_the_maximum_exactly(data: st.DataObject) -> None:
    """NC 5.1, RTP 3.4."""
    game_id = data.draw(st.sampled_from(GAME_IDS))
    law, rules, layout = LAWS[game_id], data.draw(table_rules(game_id)), data.draw(layouts(game_id))
    over = [found.by for found in outside_limits(law, rules, layout) if found.code is BetRefusal.OVER_MAXIMUM]
    laid = reject_excess(law, rules, layout)
    assert not [found for found in outside_limits(law, rules, laid.layout) if found.code is BetRefusal.OVER_MAXIMUM]
    assert sum(each.amount for each in laid.handed_back) == sum(over)
