"""To whom each card belongs: NC 3.12 (single cards) and 3.12.1 (sets)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import GAMES, UnknownGameError, game
from controller.games.specification import Grammar, Order, Unit
from controller.rules.dealing import dealing_order

occupied = st.lists(st.integers(1, 9), min_size=1, max_size=9, unique=True)
SETS, SINGLES = game("NC").grammar(Unit.SETS), game("NC").grammar(Unit.SINGLES)


def test_nc_3_12_1_sets_go_hand_by_hand() -> None:
    assert (SETS.order, SETS.clause) == (Order.BY_HAND, "NC 3.12.1")
    assert dealing_order(SETS, [1, 3, 6]) == (*["B1"] * 3, *["B3"] * 3, *["B6"] * 3, *["D"] * 3)


def test_nc_3_12_single_cards_go_round_by_round() -> None:
    assert (SINGLES.order, SINGLES.clause) == (Order.BY_ROUND, "NC 3.12")
    assert dealing_order(SINGLES, [1, 3, 6]) == ("B1", "B3", "B6", "D") * 3


def test_e1_single_cards_may_go_hand_by_hand_where_a_game_says_so() -> None:
    grammar = Grammar(Unit.SINGLES, Order.BY_HAND, "of another document")
    assert dealing_order(grammar, [2]) == ("B2", "B2", "B2", "D", "D", "D")


@pytest.mark.parametrize("grammar", [SETS, SINGLES])
@given(boxes=occupied)
def test_nc_3_12_everybody_gets_three_clockwise_from_the_left_and_the_dealer_last(
    grammar: Grammar, boxes: list[int]
) -> None:
    order = dealing_order(grammar, boxes)
    everybody = [f"B{number}" for number in sorted(boxes)] + ["D"]
    assert Counter(order) == dict.fromkeys(everybody, 3)
    assert order[-1] == "D"
    assert list(dict.fromkeys(order)) == everybody, "first cards in the order of the seats"
    assert order == dealing_order(grammar, boxes * 2), "a box that is named twice has one hand"


@given(boxes=occupied)
def test_nc_3_12_and_3_12_1_give_everybody_the_same_number_by_different_ways(boxes: list[int]) -> None:
    in_sets, in_singles = dealing_order(SETS, boxes), dealing_order(SINGLES, boxes)
    assert sorted(in_sets) == sorted(in_singles)
    assert in_singles[: len(boxes) + 1] == tuple(dict.fromkeys(in_sets))


def test_a_game_says_once_how_each_unit_is_dealt() -> None:
    for rules in GAMES.values():
        assert sorted(grammar.unit for grammar in rules.grammars) == sorted(Unit)


def test_a_game_that_is_not_built_in_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownGameError, match="'XX' is no game of this program; it knows NC"):
        game("XX")
