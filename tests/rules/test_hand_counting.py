"""Counts of the ways to deal hands, compared with dealing them all from a small deck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import comb

import pytest

from controller.rules.hand_counting import (
    NUMBER_OF,
    RANK_HANDS,
    WHOLE_DECK,
    CountedDeck,
    Trait,
    classes_by,
    count_hands,
    count_pairs,
    has_three_ranks,
    left_after,
    suited,
    unsuited,
    ways_by_ranks,
)
from controller.rules.hands import rank_key
from controller.rules.payouts import is_flush, is_straight
from firmware_bridge.cards import DECK, Card

SMALL = CountedDeck(ranks=(1, 9, 10, 12, 13), suits="CDH")
TINY = CountedDeck(ranks=(1, 10, 12, 13), suits="CDH")
RANKING = frozenset({Trait.RANKING})
RANKS = frozenset({Trait.RANKS})
EVERY_TRAIT = [frozenset({trait}) for trait in Trait] + [frozenset({Trait.RANKING, Trait.PICTURES})]


def ranks_of(hand: tuple[Card, ...]) -> tuple[int, ...]:
    return tuple(sorted(card.rank for card in hand))


def pairs_of_hands(cards: tuple[Card, ...]) -> Iterator[tuple[tuple[Card, ...], tuple[Card, ...]]]:
    for box in combinations(cards, 3):
        rest = [card for card in cards if card not in box]
        for dealer in combinations(rest, 3):
            yield box, dealer


def test_the_whole_deck_is_the_deck() -> None:
    assert sorted(WHOLE_DECK.cards, key=lambda card: card.number) == list(DECK)
    assert (WHOLE_DECK.hands, WHOLE_DECK.pairs) == (22_100, 407_170_400)


def test_a_small_deck_has_its_ranks_in_its_suits() -> None:
    assert {card.code for card in CountedDeck((1, 13), "CS").cards} == {"AC", "KC", "AS", "KS"}


def test_every_hand_and_every_pair_of_hands_is_counted_once() -> None:
    assert sum(ways_by_ranks(left_after(WHOLE_DECK))) == 22_100
    for traits in EVERY_TRAIT[:2]:
        pairs = count_pairs(WHOLE_DECK, traits).values()
        assert sum(count.same_ranks + count.other for count in pairs) == 407_170_400


def test_there_are_455_rank_hands_in_31_classes_of_ranking() -> None:
    assert len(RANK_HANDS) == 455
    assert len(classes_by(RANKING).first) == 31


def test_the_classes_have_as_many_hands_as_the_cards_say() -> None:
    dealt = Counter(rank_key(hand) for hand in combinations(DECK, 3))
    counted = {
        rank_key(unsuited(example)): count.suited + count.unsuited
        for example, count in zip(classes_by(RANKING).first, count_hands(WHOLE_DECK, RANKING), strict=True)
    }
    assert counted == dealt


def test_f3_item_8_the_hands_of_pair_plus_have_their_known_numbers() -> None:
    """There are 48 straight flushes, 720 other straights, 1096 other flushes, 52 threes of a kind, 3744 pairs."""
    found: Counter[str] = Counter()
    for ranks, count in zip(classes_by(RANKS).first, count_hands(WHOLE_DECK, RANKS), strict=True):
        straight = is_straight(unsuited(ranks))
        found["straight flush" if straight else "flush"] += count.suited
        kinds = {1: "three of a kind", 2: "pair", 3: "straight" if straight else "nothing"}
        found[kinds[len(set(ranks))]] += count.unsuited
    assert found == {
        "straight flush": 48,
        "three of a kind": 52,
        "straight": 720,
        "flush": 1096,
        "pair": 3744,
        "nothing": 16_440,
    }


def test_ways_are_those_in_which_cards_can_be_chosen_from_what_is_left() -> None:
    left = [0, 4, 3, 2, 1, *[0] * 9]
    cards = [rank for rank, count in enumerate(left) for _ in range(count)]
    dealt = Counter(tuple(sorted(hand)) for hand in combinations(cards, 3))
    assert {ranks: ways for ranks, ways in zip(RANK_HANDS, ways_by_ranks(left), strict=True) if ways} == dealt


@pytest.mark.parametrize("traits", EVERY_TRAIT, ids=lambda traits: "+".join(sorted(trait.name for trait in traits)))
def test_hands_of_a_small_deck_are_counted_as_they_are_dealt(traits: frozenset[Trait]) -> None:
    of = classes_by(traits).of
    dealt = Counter((of[NUMBER_OF[ranks_of(hand)]], is_flush(hand)) for hand in combinations(SMALL.cards, 3))
    counted: Counter[tuple[int, bool]] = Counter()
    for number, count in enumerate(count_hands(SMALL, traits)):
        counted.update({(number, True): count.suited, (number, False): count.unsuited})
    assert +counted == dealt
    assert counted.total() == SMALL.hands == comb(15, 3)


@pytest.mark.parametrize(
    ("traits", "deck"),
    [
        *((traits, TINY) for traits in EVERY_TRAIT if traits != RANKS),
        *(pytest.param(traits, SMALL, marks=pytest.mark.exhaustive) for traits in EVERY_TRAIT),
    ],
    ids=lambda value: "+".join(sorted(trait.name for trait in value)) if isinstance(value, frozenset) else value.suits,
)
def test_pairs_of_hands_of_a_small_deck_are_counted_as_they_are_dealt(
    traits: frozenset[Trait], deck: CountedDeck
) -> None:
    of = classes_by(traits).of
    dealt: Counter[tuple[int, int, bool]] = Counter()
    for box, dealer in pairs_of_hands(deck.cards):
        ours, theirs = ranks_of(box), ranks_of(dealer)
        dealt[of[NUMBER_OF[ours]], of[NUMBER_OF[theirs]], ours == theirs] += 1
    counted: Counter[tuple[int, int, bool]] = Counter()
    for (first, second), count in count_pairs(deck, traits).items():
        counted.update({(first, second, True): count.same_ranks, (first, second, False): count.other})
    assert +counted == dealt
    assert counted.total() == deck.pairs


def test_example_cards_are_of_the_ranks_and_suits_that_they_stand_for() -> None:
    for ranks in RANK_HANDS:
        assert ranks_of(unsuited(ranks)) == ranks
        assert len(set(unsuited(ranks))) == 3
        assert not is_flush(unsuited(ranks))
        if has_three_ranks(ranks):
            assert ranks_of(suited(ranks)) == ranks
            assert is_flush(suited(ranks))
