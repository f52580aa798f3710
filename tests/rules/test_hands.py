"""Ranking of every hand of a deck: NC 3.2, 3.3, 3.13 and Appendix C."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import game
from controller.rules.hands import THREE_PICTURES, Outcome, class_name, outcome, pictures, points, rank_key
from firmware_bridge.cards import DECK, Card

POINT_WORDS = ["Nine", "Eight", "Seven", "Six", "Five", "Four", "Three", "Two", "One", "Zero"]
APPENDIX_C = ["Three Pictures"] + [
    f"{shown} {word}" for word in POINT_WORDS for shown in ("Double Pictures", "Single Picture", "Plain")
]
NAMES = game("NC").names
hands = st.lists(st.sampled_from(DECK), min_size=3, max_size=3, unique=True)


def hand(text: str) -> list[Card]:
    return [Card.parse(word) for word in text.split()]


@cache
def classified() -> tuple[tuple[tuple[Card, ...], int], ...]:
    return tuple((dealt, rank_key(dealt)) for dealt in combinations(DECK, 3))


def test_nc_appendix_c_names_the_31_classes_from_best_to_least() -> None:
    assert [str(class_name(key, NAMES)) for key in range(THREE_PICTURES, -1, -1)] == APPENDIX_C
    assert len(set(APPENDIX_C)) == 31


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("KD KC KH", "Three Pictures"),
        ("JD QC KH", "Three Pictures"),
        ("KD QC 9H", "Double Pictures Nine"),
        ("KD TC 9H", "Single Picture Nine"),
        ("2D 3C 4H", "Plain Nine"),
        ("KD KC AH", "Double Pictures One"),
        ("KD QC TH", "Double Pictures Zero"),
        ("KD TC TH", "Single Picture Zero"),
        ("JD 3C 7H", "Single Picture Zero"),
        ("TD TC TH", "Plain Zero"),
        ("AD 9C TH", "Plain Zero"),
        ("9D 9C 9H", "Plain Seven"),
        ("6D QC JH", "Double Pictures Six"),
    ],
)
def test_nc_3_2_a_hand_is_of_the_class_that_the_list_describes(text: str, name: str) -> None:
    assert str(class_name(rank_key(hand(text)), NAMES)) == name


def expected_count(shown: int, total: int) -> int:
    """Count the hands with `shown` pictures and `total` points, over the ranks of the other cards."""
    counts = Counter(
        sum(ranks) % 10 for ranks in combinations([min(rank, 10) for rank in range(1, 11) for _ in range(4)], 3 - shown)
    )
    return comb(12, shown) * counts[total]


def test_nc_3_3_all_22100_hands_fall_into_the_classes_as_often_as_combinatorics_say() -> None:
    counts = Counter(key for _, key in classified())
    assert counts.total() == comb(52, 3) == 22_100
    assert counts.pop(THREE_PICTURES) == comb(12, 3) == 220
    assert counts == {3 * total + shown: expected_count(shown, total) for total in range(10) for shown in range(3)}
    assert counts[3 * 9 + 2] == comb(12, 2) * 4


def test_nc_3_13_an_equal_key_means_equal_points_and_pictures_and_nothing_else() -> None:
    seen: dict[int, set[tuple[int, int]]] = {}
    for dealt, key in classified():
        values = [0 if card.rank >= 10 else card.rank for card in dealt]
        shown = sum(card.code[0] in "JQK" for card in dealt)
        seen.setdefault(key, set()).add((sum(values) % 10, shown))
        assert (points(dealt), pictures(dealt)) == (sum(values) % 10, shown)
    assert all(len(kinds) == 1 for kinds in seen.values())


@given(first=hands, second=hands, third=hands)
def test_nc_3_13_the_ranking_is_a_total_order(first: list[Card], second: list[Card], third: list[Card]) -> None:
    turned = {Outcome.WIN: Outcome.LOSE, Outcome.LOSE: Outcome.WIN, Outcome.TIE: Outcome.TIE}
    assert outcome(first, first) is Outcome.TIE
    assert outcome(second, first) is turned[outcome(first, second)]
    if outcome(first, second) is not Outcome.LOSE and outcome(second, third) is not Outcome.LOSE:
        assert outcome(first, third) is not Outcome.LOSE
    if outcome(first, second) is Outcome.TIE:
        assert outcome(first, third) is outcome(second, third)


@given(dealt=hands, suits=st.lists(st.sampled_from("CDHS"), min_size=3, max_size=3), order=st.permutations(range(3)))
def test_nc_3_2_neither_suit_nor_order_matters(dealt: list[Card], suits: list[str], order: list[int]) -> None:
    other = [Card.parse(dealt[place].code[0] + suit) for place, suit in zip(order, suits, strict=True)]
    assert rank_key(other) == rank_key(dealt)


@given(dealt=hands, letters=st.lists(st.sampled_from("JQK"), min_size=3, max_size=3))
def test_nc_1_9_one_picture_is_worth_another(dealt: list[Card], letters: list[str]) -> None:
    other = [
        Card.parse(letter + card.suit) if card.rank > 10 else card for card, letter in zip(dealt, letters, strict=True)
    ]
    assert rank_key(other) == rank_key(dealt)


def test_nc_3_3_pictures_rank_equal_points_and_three_rank_above_all() -> None:
    assert outcome(hand("KD QC 8H"), hand("KD 3C 5H")) is Outcome.WIN
    assert outcome(hand("KD 3C 5H"), hand("4D 2C 2H")) is Outcome.WIN
    assert outcome(hand("2D 3C 4H"), hand("KD QC 8H")) is Outcome.WIN
    assert outcome(hand("JD JC JH"), hand("KD QC 9H")) is Outcome.WIN


@pytest.mark.parametrize("size", [0, 1, 2, 4])
def test_nc_3_12_a_hand_has_three_cards(size: int) -> None:
    with pytest.raises(ValueError, match=f"not {size}"):
        rank_key(DECK[:size])
