"""The part of each bet that counts at settlement: above the maximum, below the minimum, shared by a box."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from controller.games.wager_specification import Excess, LimitOf
from controller.rules.apportionment import Share, apportion, share_out
from controller.rules.law import Law, SettingError, read_law
from controller.rules.layout import Limit
from tests.rules.laid_bets import LAWS, TEN_TO_HUNDRED, THREE_BOXES, Lying, lay, layouts, limited, table_rules

NC, RTP = LAWS["NC"], LAWS["RTP"]
NC_NOTHING_SHARED = read_law(NC.game, {"pro_rata_under_minimum": "none"})
NOBODY: frozenset[str] = frozenset()


def shares(law: Law, *amounts: int, limit: Limit = TEN_TO_HUNDRED, before: frozenset[str] = NOBODY) -> list[Share]:
    """Return the shares of main wagers of several bettors on one box."""
    layout = lay(law.game.id, *((f"p{number}", "main", 1, amount) for number, amount in enumerate(amounts, start=1)))
    return list(apportion(law, limited("main", limit=limit), layout, before))


def counts(found: list[Share]) -> list[Fraction]:
    return [share.counts for share in found]


def listed(share: Share) -> tuple[object, ...]:
    return share.counts, share.clause, share.once


def test_nc_5_1_1_bettors_of_a_box_share_its_maximum() -> None:
    """The bets are 150, 100 and 50 on a maximum of 100: a third of each counts."""
    found = shares(NC, 150, 100, 50)
    assert counts(found) == [50, Fraction(100, 3), Fraction(50, 3)]
    assert [share.returned for share in found] == [100, Fraction(200, 3), Fraction(100, 3)]
    assert {share.clause for share in found} == {"NC 5.1.1"}


def in_whole_units(*amounts: int, limit: Limit = TEN_TO_HUNDRED) -> list[Fraction]:
    layout = lay("NC", *((f"p{number}", "main", 1, amount) for number, amount in enumerate(amounts, start=1)))
    return counts(list(apportion(NC, limited("main", limit=limit), layout, whole_units=True)))


def test_nc_5_1_1_in_whole_units_the_first_placed_gets_the_odd_unit() -> None:
    """The exact shares are first 66 2/3 and 33 1/3, then 33 1/3 and 66 2/3, then three times 33 1/3."""
    assert in_whole_units(200, 100) == [67, 33]
    assert in_whole_units(100, 200) == [34, 66]
    assert in_whole_units(200, 200, 200) == [34, 33, 33]


def test_nc_5_1_1_whole_shares_stay_as_they_are() -> None:
    assert in_whole_units(150, 100, 50) == [50, 34, 16], "50 is whole: only the others have parts"
    assert in_whole_units(150, 100, 10) == [54, 36, 10]


@given(st.data())
def test_nc_5_1_1_whole_units_move_less_than_a_unit_a_bet_and_nothing_of_the_sum(data: st.DataObject) -> None:
    game_id = data.draw(st.sampled_from(tuple(LAWS)))
    law, layout, rules = LAWS[game_id], data.draw(layouts(game_id)), data.draw(table_rules(game_id))
    exact, whole = apportion(law, rules, layout), apportion(law, rules, layout, whole_units=True)
    assert sum(counts(list(exact))) == sum(counts(list(whole)))
    minimums = {wager: limit.minimum for wager, limit in rules.limits.items()}
    for before, after in zip(exact, whole, strict=True):
        assert after.counts.denominator == after.returned.denominator == 1
        assert abs(after.counts - before.counts) < 1
        least = min(before.counts, Fraction(minimums.get(after.bet.wager, 0)))
        assert least <= after.counts <= after.bet.amount
        assert before.counts.denominator != 1 or after == before


def test_nc_5_1_1_the_maximum_itself_is_not_an_excess() -> None:
    assert [listed(share) for share in shares(NC, 60, 40)] == [(60, "", False), (40, "", False)]


def test_nc_5_1_1_one_bettor_alone_counts_to_the_maximum() -> None:
    assert counts(shares(NC, 250)) == [100]


def test_nc_5_1_1_a_share_below_the_minimum_is_raised_to_it() -> None:
    """The bets are 150, 100 and 10 on 100. The last would count 3 11/13; it counts 10, and 90 is shared 3 to 2."""
    assert counts(shares(NC, 150, 100, 10)) == [54, 36, 10]


def test_nc_5_1_1_raising_one_share_may_push_another_under_the_minimum() -> None:
    """110 of 1000 would count 11; after each 10 is raised to 10, it would count 110 of 980 parts of 80, under 10."""
    assert counts(shares(NC, 870, 110, 10, 10)) == [70, 10, 10, 10]


def test_nc_5_1_1_where_minimums_alone_exceed_the_maximum_each_counts_the_minimum() -> None:
    assert counts(shares(NC, 40, 50, 60, limit=Limit(40, 100))) == [40, 40, 40]


def test_nc_5_1_2_a_bet_under_the_minimum_counts_whole_others_share_the_rest() -> None:
    """The bet of 6 is below the minimum of 10; the bets of 120 and 68 share 94, half of each."""
    found = shares(NC, 120, 68, 6)
    assert counts(found) == [60, 34, 6]
    assert [share.clause for share in found] == ["NC 5.1.1", "NC 5.1.1", "NC 5.1.2"]


def test_nc_5_1_2_by_the_other_reading_nothing_on_that_box_is_shared() -> None:
    found = shares(NC_NOTHING_SHARED, 120, 68, 6)
    assert counts(found) == [120, 68, 6]
    assert {share.clause for share in found} == {"NC 5.1.2"}
    assert counts(shares(NC_NOTHING_SHARED, 120, 80)) == [60, 40]


def test_nc_5_1_2_many_bets_under_the_minimum_count_whole_even_over_the_maximum() -> None:
    assert counts(shares(NC, *[9] * 12)) == [9] * 12
    assert counts(shares(NC, 30, *[9] * 12)) == [10, *[9] * 12]


def test_nc_5_1_2_the_reading_is_needed_only_for_a_bet_under_the_minimum() -> None:
    must = replace(NC.game, settings=tuple(replace(setting, default="") for setting in NC.game.settings))
    law = read_law(must)
    assert counts(shares(law, 120, 80)) == [60, 40]
    with pytest.raises(SettingError, match="pro_rata_under_minimum must be chosen"):
        shares(law, 120, 68, 6)


def test_a_shared_maximum_without_the_setting_exempts_bets_under_the_minimum() -> None:
    """The game's own clause applies, as NC 5.1.2 does by default."""
    shared = replace(RTP.game.betting, limit_of=LimitOf.BOX, excess=Excess.PRO_RATA)
    law = read_law(replace(RTP.game, betting=shared))
    found = shares(law, 120, 68, 6)
    assert counts(found) == [60, 34, 6]
    assert {share.clause for share in found} == {"RTP 5.11"}


def test_nc_5_1_1_each_box_and_each_kind_of_wager_has_its_own_maximum() -> None:
    bets: tuple[Lying, ...] = (
        ("p1", "main", 1, 100), ("p2", "main", 2, 100), ("p1", "tie", 1, 100), ("p2", "tie", 1, 100)
    )  # fmt: skip
    found = apportion(NC, limited("main", "tie"), lay("NC", *bets))
    assert [share.counts for share in found] == [100, 100, 50, 50]


def test_nc_5_2_1_under_the_minimum_unnoticed_counts_as_it_lies() -> None:
    (share,) = shares(NC, 4)
    assert listed(share) == (4, "NC 5.2.1", False)


def test_nc_5_2_the_minimum_is_met_by_all_that_lies_on_the_box() -> None:
    assert [listed(share) for share in shares(NC, 4, 6)] == [(4, "", False), (6, "", False)]


def test_rtp_5_11_over_the_maximum_counts_to_the_maximum() -> None:
    found = shares(RTP, 150, 100, 101)
    assert counts(found) == [100, 100, 100]
    assert [share.clause for share in found] == ["RTP 5.11", "", "RTP 5.11"]


def test_rtp_5_10_under_the_minimum_counts_the_first_time() -> None:
    (share,) = shares(RTP, 4)
    assert listed(share) == (4, "RTP 5.10", True)


def test_rtp_5_10_under_the_minimum_again_is_returned_of_that_bettor_alone() -> None:
    found = shares(RTP, 4, 4, before=frozenset({"p1"}))
    assert [listed(share) for share in found] == [(0, "RTP 5.10", False), (4, "RTP 5.10", True)]
    assert counts(shares(RTP, 10, before=frozenset({"p1"}))) == [10]


def test_rtp_5_10_all_wagers_of_one_round_are_one_time() -> None:
    layout = lay("RTP", ("p1", "main", 1, 4), ("p1", "main", 2, 5), ("p1", "tie", 1, 50))
    assert [share.once for share in apportion(RTP, limited("main", "tie"), layout)] == [True, True, False]


def test_rtp_5_12_a_later_round_does_not_change_an_earlier_one() -> None:
    """A round's result depends on what was known then, not on what is learnt later."""
    first = shares(RTP, 4, 150)
    later = shares(RTP, 4, 150, before=frozenset({"p1"}))
    assert counts(first) == [4, 100] == counts(shares(RTP, 4, 150))
    assert counts(later) == [0, 100]


@pytest.mark.parametrize("game_id", ["TP", "P3", "F3"])
def test_without_a_clause_on_limits_a_bet_counts_as_it_lies(game_id: str) -> None:
    """TP, P3 and F3 do not mention limits once bets are closed."""
    law = LAWS[game_id]
    main = law.wagers[0].id
    layout = lay(game_id, ("p1", main, 1, 4), ("p2", main, 1, 400))
    found = apportion(law, limited(main), layout)
    assert [listed(share) for share in found] == [(4, "", False), (400, "", False)]


@pytest.mark.parametrize("game_id", LAWS)
def test_without_limits_every_bet_counts_whole(game_id: str) -> None:
    law = LAWS[game_id]
    layout = lay(game_id, ("p1", law.wagers[0].id, 1, 1), ("p2", law.wagers[0].id, 1, 10**9))
    assert [share.counts for share in apportion(law, THREE_BOXES, layout)] == [1, 10**9]


@given(st.data())
def test_a_share_is_neither_negative_nor_more_than_the_stake(data: st.DataObject) -> None:
    game_id = data.draw(st.sampled_from(tuple(LAWS)))
    layout = data.draw(layouts(game_id))
    before = data.draw(st.frozensets(st.sampled_from(["ann", "bob", "cy"])))
    found = apportion(LAWS[game_id], data.draw(table_rules(game_id)), layout, before)
    assert [share.bet for share in found] == list(layout.bets)
    for share in found:
        assert 0 <= share.counts <= share.bet.amount
        assert share.counts + share.returned == share.bet.amount


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.integers(1, 60), st.integers(0, 200))
def test_nc_5_1_1_shares_add_up_to_the_maximum_whenever_possible(amounts: list[int], minimum: int, more: int) -> None:
    """They fail to only where the whole bets and the minimums exceed the maximum (NC 5.1.2)."""
    maximum = minimum + more
    assume(sum(amounts) > maximum)
    found = shares(NC, *amounts, limit=Limit(minimum, maximum))
    fixed = sum(amount if amount < minimum else minimum for amount in amounts)
    assert sum(counts(found)) == max(maximum, fixed)
    for share in found:
        assert share.counts >= min(minimum, share.bet.amount)
        assert share.bet.amount >= minimum or share.counts == share.bet.amount


@given(st.lists(st.integers(10, 500), min_size=2, max_size=8), st.integers(0, 300))
def test_nc_5_1_1_shares_that_are_not_lifted_stay_in_proportion(amounts: list[int], more: int) -> None:
    whole = Fraction(10 + more)
    assume(sum(amounts) > whole)
    found = share_out(whole, dict(enumerate(amounts)), 10)
    free = [(amounts[number], share) for number, share in found.items() if share > 10]
    assert len({share / amount for amount, share in free}) <= 1
    # A share is raised only if its proportional share is below the minimum.
    if free:
        rate = free[0][1] / free[0][0]
        assert all(amounts[number] * rate <= 10 for number, share in found.items() if share == 10)
