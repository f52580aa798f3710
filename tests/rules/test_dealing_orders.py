"""The place of each card (E1), in each game and unit: TP 3.4, RTP 3.12, NC 3.12, P3 3.5, F3 PM2 and F3 PM5."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import GAMES, game
from controller.games.specification import FirstCard, Grammar, Order, Unit
from controller.rules.dealing_order import box, dealing_order, first_served, order_after_first_card, served_boxes
from tests.rules.irregularity_cells import GAME_IDS

occupied = st.lists(st.integers(1, 9), min_size=1, max_size=9, unique=True)
BY_HAND, BY_ROUND = Order.BY_HAND, Order.BY_ROUND
SETS, SINGLES = Unit.SETS, Unit.SINGLES
E1: Final = [
    ("TP", SETS, BY_HAND, "TP 3.4"),
    ("TP", SINGLES, BY_HAND, "TP 3.4"),
    ("RTP", SETS, BY_HAND, "RTP 3.12"),
    ("RTP", SINGLES, BY_ROUND, "RTP 3.12.1"),
    ("NC", SETS, BY_HAND, "NC 3.12.1"),
    ("NC", SINGLES, BY_ROUND, "NC 3.12"),
    ("P3", SETS, BY_HAND, "P3 3.5"),
    ("P3", SINGLES, BY_HAND, "P3 3.5"),
    ("F3", SETS, BY_HAND, "F3 PM2"),
    ("F3", SINGLES, BY_HAND, "F3 PM2"),
]
each_cell = pytest.mark.parametrize(
    ("game_id", "unit", "order", "clause"), E1, ids=[f"{game_id} {unit.value}" for game_id, unit, _, _ in E1]
)
each_grammar = pytest.mark.parametrize(
    "grammar",
    [game(game_id).grammar(unit) for game_id, unit, _, _ in E1],
    ids=[f"{game_id} {unit.value}" for game_id, unit, _, _ in E1],
)
BOXES_1_3_6: Final = {
    BY_HAND: ("B1", "B1", "B1", "B3", "B3", "B3", "B6", "B6", "B6", "D", "D", "D"),
    BY_ROUND: ("B1", "B3", "B6", "D", "B1", "B3", "B6", "D", "B1", "B3", "B6", "D"),
}


@each_cell
def test_e1_a_game_deals_a_unit_in_its_order_by_its_clause(game_id: str, unit: Unit, order: Order, clause: str) -> None:
    grammar = game(game_id).grammar(unit)
    assert (grammar.order, grammar.clause, grammar.cards_each) == (order, clause, 3)
    assert dealing_order(grammar, [1, 3, 6]) == BOXES_1_3_6[order]


@pytest.mark.parametrize("game_id", GAME_IDS)
def test_e1_a_game_defines_once_how_each_unit_is_dealt(game_id: str) -> None:
    assert sorted(grammar.unit for grammar in GAMES[game_id].grammars) == sorted(Unit)


def test_nc_3_12_1_only_a_shuffler_deals_sets_and_everything_else_single_cards() -> None:
    assert game("NC").grammar(SETS).device == "shuffler"
    assert game("NC").grammar(SINGLES).device == "shoe"
    assert {grammar.device for name in ("TP", "RTP", "P3", "F3") for grammar in game(name).grammars} == {""}


@each_grammar
@given(boxes=occupied)
def test_e1_everybody_gets_three_clockwise_from_the_left_and_the_dealer_last(
    grammar: Grammar, boxes: list[int]
) -> None:
    order = dealing_order(grammar, boxes)
    everybody = [f"B{number}" for number in sorted(boxes)] + ["D"]
    assert Counter(order) == dict.fromkeys(everybody, 3)
    assert order[-1] == "D"
    assert list(dict.fromkeys(order)) == everybody, "first cards in the order of the seats"
    assert order == dealing_order(grammar, boxes * 2), "a box that is named twice has one hand"


@each_grammar
@given(boxes=occupied)
def test_e1_places_are_served_whole_by_hand_and_evenly_by_round(grammar: Grammar, boxes: list[int]) -> None:
    order = dealing_order(grammar, boxes)
    if grammar.order is BY_HAND:
        assert all(len(set(order[start : start + 3])) == 1 for start in range(0, len(order), 3))
    else:
        for dealt in range(len(order) + 1):
            held = Counter(order[:dealt])
            counts = [held[place] for place in set(order)]
            assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize("game_id", ["RTP", "NC"])
@given(boxes=occupied)
def test_rtp_3_12_1_nc_3_12_both_units_serve_the_same_places_by_different_ways(game_id: str, boxes: list[int]) -> None:
    in_sets = dealing_order(game(game_id).grammar(SETS), boxes)
    in_singles = dealing_order(game(game_id).grammar(SINGLES), boxes)
    assert sorted(in_sets) == sorted(in_singles)
    assert in_singles[: len(boxes) + 1] == tuple(dict.fromkeys(in_sets))


def test_e1_a_box_is_named_by_its_number() -> None:
    assert [box(number) for number in (1, 9)] == ["B1", "B9"]


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3"])
@given(wagered=st.lists(st.integers(1, 9), max_size=12))
def test_tp_3_4_rtp_3_12_nc_3_12_p3_3_5_only_boxes_with_a_wager_are_served(game_id: str, wagered: list[int]) -> None:
    served = served_boxes(game(game_id), wagered)
    assert set(served) == set(wagered)
    assert list(served) == sorted(set(served))


@given(wagered=st.lists(st.integers(1, 3), max_size=3))
def test_f3_pm2_all_three_players_are_served_whatever_was_bet(wagered: list[int]) -> None:
    assert served_boxes(game("F3"), wagered) == (1, 2, 3)


@pytest.mark.parametrize(
    ("game_id", "boxes"),
    [("TP", (1, 9, 7)), ("RTP", (1, 8, 8)), ("NC", (1, 9, 7)), ("P3", (1, 9, 7)), ("F3", (3, 3, 3))],
)
def test_e1_how_many_boxes_a_layout_has(game_id: str, boxes: tuple[int, int, int]) -> None:
    assert game(game_id).boxes == boxes


# F3 PM5, each rank: 1 ace, 11 to 13 jack to king. D is the Banker, B1 to B3 are Players 1 to 3.
BANKER_FIRST, PLAYER_1_FIRST = ["D", "B1", "B2", "B3"], ["B1", "B2", "B3", "D"]
PLAYER_2_FIRST, PLAYER_3_FIRST = ["B2", "B3", "D", "B1"], ["B3", "D", "B1", "B2"]
AFTER_FIRST_CARD: Final = {
    1: BANKER_FIRST,
    2: PLAYER_1_FIRST,
    3: PLAYER_2_FIRST,
    4: PLAYER_3_FIRST,
    5: BANKER_FIRST,
    6: PLAYER_1_FIRST,
    7: PLAYER_2_FIRST,
    8: PLAYER_3_FIRST,
    9: BANKER_FIRST,
    10: PLAYER_1_FIRST,
    11: PLAYER_2_FIRST,
    12: PLAYER_3_FIRST,
    13: BANKER_FIRST,
}


def f3_first_card() -> FirstCard:
    first_card = game("F3").first_card
    assert first_card is not None
    return first_card


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize(("rank", "places"), AFTER_FIRST_CARD.items())
def test_f3_pm5_the_first_cards_rank_says_where_the_deal_begins(rank: int, places: list[str], unit: Unit) -> None:
    order = order_after_first_card(f3_first_card(), game("F3").grammar(unit), rank)
    assert order == tuple(place for place in places for _ in range(3))
    assert first_served(f3_first_card(), rank) == places[0]


def test_f3_pm5_every_rank_points_to_one_place_and_only_f3_has_a_first_card() -> None:
    ranks = [rank for _, ranks in f3_first_card().starts for rank in ranks]
    assert sorted(ranks) == list(range(1, 14))
    assert f3_first_card().clause == "F3 PM5"
    assert [name for name in GAME_IDS if game(name).first_card is not None] == ["F3"]
    assert [name for name in GAME_IDS if game(name).every_hand] == ["F3"]


@given(rank=st.integers(1, 13), unit=st.sampled_from(Unit))
def test_f3_pm2_each_of_four_hands_gets_three_cards_wherever_the_deal_begins(rank: int, unit: Unit) -> None:
    order = order_after_first_card(f3_first_card(), game("F3").grammar(unit), rank)
    assert Counter(order) == {"D": 3, "B1": 3, "B2": 3, "B3": 3}
    assert Counter(order) == Counter(dealing_order(game("F3").grammar(unit), [1, 2, 3]))
