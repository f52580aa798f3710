"""The shapes that wagers pay on, over all 22,100 hands: their frequencies, and a comparison with plain definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import combinations, permutations
from typing import Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games.wager_specification import Looks, Shape
from controller.rules.dependence import Suits, of_one_hand
from controller.rules.payouts import OF_BOTH, OF_ONE, holds, matched_pictures
from firmware_bridge.cards import DECK, Card

Hand: TypeAlias = tuple[Card, ...]
S = Shape
hands = st.lists(st.sampled_from(DECK), min_size=3, max_size=3, unique=True)
two_hands = st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True).map(lambda six: (six[:3], six[3:]))


def hand(text: str) -> list[Card]:
    return [Card.parse(word) for word in text.split()]


@cache
def every_hand() -> tuple[Hand, ...]:
    return tuple(combinations(DECK, 3))


@cache
def with_shape(shape: Shape) -> frozenset[Hand]:
    return frozenset(dealt for dealt in every_hand() if holds(shape, Looks.BOX, dealt, ()))


def letters(dealt: Hand) -> str:
    return "".join(sorted(card.code[0] for card in dealt))


# Written independently from the letters on the cards, without ranks as numbers.
RUNS: Final = {"".join(sorted(run)) for run in ("A23", "234", "345", "456", "567", "678", "789", "89T")} | {
    "".join(sorted(run)) for run in ("9TJ", "TJQ", "JQK", "QKA")
}
PLAIN: Final[dict[Shape, Callable[[str, int], bool]]] = {
    S.THREE_PICTURES: lambda shown, suits: set(shown) <= set("JQK"),
    S.THREE_KINGS: lambda shown, suits: shown == "KKK",
    S.THREE_QUEENS: lambda shown, suits: shown == "QQQ",
    S.THREE_JACKS: lambda shown, suits: shown == "JJJ",
    S.PICTURE_PAIR: lambda shown, suits: (
        any(shown.count(picture) == 2 for picture in "JQK") and bool(set(shown) & set("A23456789T"))
    ),
    S.ANY_KING: lambda shown, suits: shown.count("K") == 1 and bool(set(shown) & set("A23456789T")),
    S.STRAIGHT_FLUSH: lambda shown, suits: shown in RUNS and suits == 1,
    S.THREE_OF_A_KIND: lambda shown, suits: len(set(shown)) == 1,
    S.STRAIGHT: lambda shown, suits: shown in RUNS,
    S.FLUSH: lambda shown, suits: suits == 1,
    S.PAIR: lambda shown, suits: len(set(shown)) <= 2,
}
OF_SUITS: Final = tuple(shape for shape in OF_ONE if of_one_hand(OF_ONE[shape])[1] is not Suits.NONE)


@pytest.mark.parametrize("shape", PLAIN, ids=lambda shape: shape.name)
def test_a_shape_of_one_hand_agrees_with_its_plain_definition(shape: Shape) -> None:
    plain = {dealt for dealt in every_hand() if PLAIN[shape](letters(dealt), len({card.suit for card in dealt}))}
    assert with_shape(shape) == plain


@pytest.mark.parametrize(
    ("shape", "but_for", "count"),
    [
        (S.STRAIGHT_FLUSH, (), 48),
        (S.THREE_OF_A_KIND, (), 52),
        (S.STRAIGHT, (S.FLUSH,), 720),
        (S.FLUSH, (S.STRAIGHT,), 1096),
        (S.PAIR, (S.THREE_OF_A_KIND,), 3744),
        (S.THREE_PICTURES, (), 220),
        (S.THREE_KINGS, (), 4),
        (S.THREE_QUEENS, (), 4),
        (S.THREE_JACKS, (), 4),
        (S.PICTURE_PAIR, (), 720),
        (S.ANY_KING, (), 4 * (780 + 40 * 8)),
    ],
    ids=lambda value: value.name if isinstance(value, Shape) else "",
)
def test_f3_item_8_rtp_1_1_4_p3_1_1_4_shapes_are_as_frequent_as_combinatorics_say(
    shape: Shape, but_for: tuple[Shape, ...], count: int
) -> None:
    left = with_shape(shape).difference(*(with_shape(other) for other in but_for))
    assert len(left) == count
    assert len(every_hand()) == 22_100


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
def test_every_shape_has_one_predicate(shape: Shape) -> None:
    assert (shape in OF_ONE) is not (shape in OF_BOTH)


def test_rtp_1_1_4_2_any_king_occurs_4400_times() -> None:
    assert len(with_shape(S.ANY_KING)) == 4400


def test_rtp_1_1_4_readings_9_and_10_the_classes_of_royal_pictures_are_disjoint() -> None:
    mixed = with_shape(S.THREE_PICTURES) - with_shape(S.THREE_OF_A_KIND)
    classes = [mixed, *map(with_shape, (S.THREE_KINGS, S.THREE_QUEENS, S.THREE_JACKS, S.PICTURE_PAIR, S.ANY_KING))]
    assert len(mixed) == 220 - 12
    assert sum(len(one) for one in classes) == len(frozenset().union(*classes))


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("QC JD 5H", set()),
        ("KC QD 5H", {S.ANY_KING}),
        ("KC JD 5H", {S.ANY_KING}),
        ("KC 2D 5H", {S.ANY_KING}),
        ("KC KD 5H", {S.PICTURE_PAIR, S.PAIR}),
        ("KC KD QH", {S.THREE_PICTURES, S.PAIR}),
        ("KC QD JH", {S.THREE_PICTURES, S.STRAIGHT}),
        ("KC KD KH", {S.THREE_PICTURES, S.THREE_KINGS, S.THREE_OF_A_KIND, S.PAIR}),
        ("TC TD KH", {S.ANY_KING, S.PAIR}),
    ],
)
def test_rtp_1_1_4_1_1_1_4_2_2_1_1_4_2_3_1_1_4_3_examples_of_readings_9_and_10(text: str, shapes: set[Shape]) -> None:
    assert {shape for shape in PLAIN if holds(shape, Looks.BOX, hand(text), ())} == shapes


@pytest.mark.parametrize(
    ("text", "straight"),
    [
        ("QC KD AH", True),
        ("AC 2D 3H", True),
        ("TC JD QH", True),
        ("KC AD 2H", False),
        ("JC KD AH", False),
        ("9C TD QH", False),
        ("5C 5D 6H", False),
        ("5C 5D 5H", False),
    ],
)
def test_f3_item_8_the_ace_is_high_or_low_and_never_between(text: str, straight: bool) -> None:
    for cards in permutations(hand(text)):
        assert holds(S.STRAIGHT, Looks.BOX, cards, ()) is straight
    suited = [Card.parse(card.code[0] + "S") for card in hand(text)]
    if len(set(suited)) == 3:
        assert holds(S.STRAIGHT_FLUSH, Looks.BOX, suited, ()) is straight


@pytest.mark.parametrize("shape", OF_ONE, ids=lambda shape: shape.name)
@given(pair=two_hands)
def test_a_shape_of_one_hand_is_sought_in_the_hand_that_the_wager_looks_at(
    shape: Shape, pair: tuple[list[Card], list[Card]]
) -> None:
    box, dealer = pair
    assert holds(shape, Looks.BOX, box, dealer) is holds(shape, Looks.BOX, box, ())
    assert holds(shape, Looks.DEALER, box, dealer) is holds(shape, Looks.BOX, dealer, ())


@pytest.mark.parametrize("shape", Shape, ids=lambda shape: shape.name)
@given(pair=two_hands, suits=st.lists(st.sampled_from("CDHS"), min_size=6, max_size=6), turn=st.permutations(range(3)))
def test_f3_item_5_suits_matter_only_to_pair_plus_and_card_order_never(
    shape: Shape, pair: tuple[list[Card], list[Card]], suits: list[str], turn: list[int]
) -> None:
    box, dealer = pair
    turned = [box[place] for place in turn]
    assert holds(shape, Looks.BOX, turned, dealer) is holds(shape, Looks.BOX, box, dealer)
    if shape not in OF_SUITS:
        recut = [Card.parse(card.code[0] + suit) for card, suit in zip((*box, *dealer), suits, strict=True)]
        assert holds(shape, Looks.BOX, recut[:3], recut[3:]) is holds(shape, Looks.BOX, box, dealer)


def test_suits_do_matter_to_a_flush_and_to_a_straight_flush() -> None:
    assert {S.FLUSH, S.STRAIGHT_FLUSH} <= set(OF_SUITS)
    for shape in (S.FLUSH, S.STRAIGHT_FLUSH):
        assert holds(shape, Looks.BOX, hand("4C 5C 6C"), ()) is True
        assert holds(shape, Looks.BOX, hand("4C 5C 6D"), ()) is False


@pytest.mark.parametrize(
    ("box", "dealer", "matched"),
    [
        ("JC 9D 7S", "JD JH 6S", 1),  # the document's own example
        ("JC JS 6C", "JD 9H 7D", 1),
        ("JC JS 6C", "JD JH 7D", 2),
        ("JC JS JH", "JD QH KD", 1),
        ("JC QS KH", "JD QH KD", 3),
        ("JC QS KH", "KC JD QD", 3),
        ("KC KS QH", "KD QC QD", 2),
        ("KC KS QH", "KH KD QD", 3),
        ("KC QS 2H", "QC KD 3D", 2),
        ("KC QS 2H", "JC JD 2D", 0),
        ("9C 9S 2H", "9D 9H 2D", 0),
        ("TC TS 2H", "TD TH 2D", 0),
    ],
)
def test_p3_1_1_3_4_3_pictures_match_by_rank_and_each_is_used_once(box: str, dealer: str, matched: int) -> None:
    shapes = {S.MATCHED_ONE: 1, S.MATCHED_TWO: 2, S.MATCHED_THREE: 3}
    assert matched_pictures(hand(box), hand(dealer)) == matched
    assert matched_pictures(hand(dealer), hand(box)) == matched
    there = {count for shape, count in shapes.items() if holds(shape, Looks.BOTH, hand(box), hand(dealer))}
    assert there == ({matched} if matched else set())


@given(pair=two_hands)
def test_p3_4_3_no_pairing_matches_more_pictures_than_are_counted(pair: tuple[list[Card], list[Card]]) -> None:
    box, dealer = pair
    best = max(
        sum(ours.code[0] == theirs.code[0] and ours.code[0] in "JQK" for ours, theirs in zip(box, order, strict=True))
        for order in permutations(dealer)
    )
    assert matched_pictures(box, dealer) == best


def worth(dealt: list[Card]) -> tuple[int, int, int]:
    """Return points and pictures by the letters, with three pictures highest, and the points alone. More is better."""
    shown = [card.code[0] for card in dealt]
    points = sum(1 if letter == "A" else int(letter) for letter in shown if letter in "A23456789") % 10
    pictures = sum(letter in "JQK" for letter in shown)
    return (10 if pictures == 3 else points), pictures, points


@given(pair=two_hands)
def test_nc_3_13_the_shapes_of_two_hands_follow_their_points_and_pictures(pair: tuple[list[Card], list[Card]]) -> None:
    box, dealer = pair
    (*ours, our_points), (*theirs, their_points) = worth(box), worth(dealer)
    three = [shown == 3 for shown in (ours[1], theirs[1])]
    expected = {
        S.HIGHER: ours > theirs,
        S.LOWER: ours < theirs,
        S.SAME_RANKING: ours == theirs,
        S.SAME_POINTS: our_points == their_points,
        S.SAME_POINTS_BELOW_THREE_PICTURES: our_points == their_points and three[0] == three[1],
        S.THREE_PICTURES_EITHER: any(three),
        S.SAME_RANKS: Counter(card.rank for card in box) == Counter(card.rank for card in dealer),
    }
    assert {shape: holds(shape, Looks.BOTH, box, dealer) for shape in expected} == expected
    assert expected.keys() | {S.MATCHED_ONE, S.MATCHED_TWO, S.MATCHED_THREE} <= set(OF_BOTH)


@given(dealt=hands)
def test_p3_1_1_1_a_hand_of_the_same_ranks_has_the_same_ranking_and_points(dealt: list[Card]) -> None:
    other = [Card.parse(card.code[0] + "CDHS"[("CDHS".index(card.suit) + 1) % 4]) for card in reversed(dealt)]
    for shape in (S.SAME_RANKS, S.SAME_RANKING, S.SAME_POINTS, S.SAME_POINTS_BELOW_THREE_PICTURES):
        assert holds(shape, Looks.BOTH, dealt, other)


def test_reading_5_p3_1_1_1_the_same_cards_are_the_same_ranks_as_often() -> None:
    assert holds(S.SAME_RANKS, Looks.BOTH, hand("KC QD JH"), hand("JC KD QH"))
    assert not holds(S.SAME_RANKS, Looks.BOTH, hand("KC QD JH"), hand("KD KH JC"))
    assert not holds(S.SAME_RANKS, Looks.BOTH, hand("KC KD JH"), hand("KH JC JD"))
