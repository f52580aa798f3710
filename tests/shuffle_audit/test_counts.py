"""The counts of an order and their frequencies, checked with every order of seven cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from math import erfc
from operator import ne

import numpy as np
import pytest

from shuffle_audit import exact, patterns
from shuffle_audit.orders import (
    Counts,
    DeckOrders,
    OrderError,
    Orders,
    inverse,
    one_after_the_other,
    order_of,
    orders_of_decks,
)
from shuffle_audit.sampled import upper_tail

SEVEN: Orders = np.array(list(permutations(range(7))))


@pytest.mark.parametrize(
    ("counted", "numbers"),
    [
        (patterns.rising_sequences, exact.rising_sequence_numbers),
        (patterns.peaks, exact.peak_numbers),
        (patterns.valleys, exact.peak_numbers),
        (patterns.kept_pairs, exact.kept_pair_numbers),
        (lambda orders: patterns.kept_pairs(orders, -1), exact.kept_pair_numbers),
        (patterns.cards_in_place, exact.in_place_numbers),
        (patterns.cycles, exact.cycle_numbers),
    ],
)
def test_each_count_has_its_number_of_orders(
    counted: Callable[[Orders], Counts], numbers: Callable[[int], tuple[int, ...]]
) -> None:
    assert tuple(np.bincount(counted(SEVEN), minlength=len(numbers(7)))) == numbers(7)


def test_a_players_right_guesses_have_their_expected_rate() -> None:
    counted = np.bincount(patterns.right_guesses(SEVEN), minlength=8) / len(SEVEN)
    np.testing.assert_allclose(counted, exact.guess_distribution(7), rtol=1e-12)


@pytest.mark.parametrize("cards", [1, 2, 3, 52])
@pytest.mark.parametrize(
    "numbers",
    [
        exact.rising_sequence_numbers,
        exact.peak_numbers,
        exact.kept_pair_numbers,
        exact.in_place_numbers,
        exact.cycle_numbers,
    ],
)
def test_the_counts_cover_all_orders(numbers: Callable[[int], tuple[int, ...]], cards: int) -> None:
    assert sum(numbers(cards)) == exact.orders_of(cards)


def test_counts_computed_by_hand() -> None:
    """A deck of six, cut after the third card and riffled: 0 3 1 4 5 2."""
    deck = np.array([[0, 3, 1, 4, 5, 2]])
    assert patterns.rising_sequences(deck).tolist() == [2]
    assert (patterns.peaks(deck).tolist(), patterns.valleys(deck).tolist()) == ([2], [1])
    assert (patterns.kept_pairs(deck).tolist(), patterns.kept_pairs(deck, -1).tolist()) == ([1], [0])
    assert (patterns.cards_in_place(deck).tolist(), patterns.cycles(deck).tolist()) == ([1], [2])
    assert patterns.right_guesses(deck).tolist() == [3]  # the first one, 5 after 4, and 2, which is the last


def test_a_deck_that_was_not_shuffled_is_guessed_whole() -> None:
    deck = np.arange(52)[None]
    assert patterns.right_guesses(deck).tolist() == [52]
    assert patterns.right_guesses(deck[:, ::-1]).tolist() == [51]  # all but the first


def test_sums_of_decks() -> None:
    one = exact.distribution(exact.peak_numbers(5))
    three = exact.of_decks(one, 3)
    np.testing.assert_allclose(three, np.convolve(np.convolve(one, one), one), rtol=1e-12)
    assert exact.of_decks(one, 0).tolist() == [1.0]
    low, high = exact.tails(three, 2)
    assert low + high == pytest.approx(1 + three[2])


@pytest.mark.parametrize("numbers", [exact.peak_numbers, exact.rising_sequence_numbers, exact.in_place_numbers])
@pytest.mark.parametrize("deviations", [-40, -12, -5, -1, 0, 1, 5, 12, 40])
def test_tails_of_many_decks(numbers: Callable[[int], tuple[int, ...]], deviations: int) -> None:
    """The transform is compared with folding, down to the smallest tails, and at both ends, beyond which nothing can
    occur.
    """
    one, decks = exact.distribution(numbers(52)), 100
    counts = np.arange(len(one))
    mean = float((counts * one).sum())
    deviation = float(np.sqrt((((counts - mean) ** 2) * one).sum()))
    value = round(decks * mean + deviations * deviation * decks**0.5)
    value = min(max(value, decks * int(np.flatnonzero(one)[0])), decks * int(np.flatnonzero(one)[-1]))
    folded = exact.tails(exact.of_decks(one, decks), value)
    np.testing.assert_allclose(exact.tails_of_decks(one, decks, value), folded, rtol=1e-9)


def test_tails_of_impossible_values() -> None:
    assert exact.tails_of_decks(exact.distribution(exact.rising_sequence_numbers(52)), 100, 99)[0] < 1e-250


@pytest.mark.parametrize("sizes", [(2, 3), (1, 5), (3, 2, 2), (1, 1, 1, 2), (0, 4), (7,)])
def test_runs_of_kinds(sizes: tuple[int, ...]) -> None:
    cards = [kind for kind, size in enumerate(sizes) for _ in range(size)]
    found = Counter(1 + sum(map(ne, order, order[1:])) for order in set(permutations(cards)))
    assert exact.run_numbers(sizes) == tuple(found[k] for k in range(len(cards) + 1))


@pytest.mark.parametrize(
    ("value", "freedom", "tail"),
    [(3.841459, 1, 0.05), (18.307038, 10, 0.05), (9.210340, 2, 0.01), (4.605170, 2, 0.1), (3.940299, 10, 0.95)],
)
def test_chi_square_as_it_was_tabulated(value: float, freedom: int, tail: float) -> None:
    assert upper_tail(value, freedom) == pytest.approx(tail, abs=1e-6)
    assert upper_tail(0, freedom) == 1.0


def test_chi_square_with_much_freedom() -> None:
    """Compared with the approximation of Wilson and Hilferty, which is close enough there."""
    for deviations in (-3, -0.5, 0.0, 0.5, 3, 8):
        value = 2601 + deviations * 5202**0.5
        spread = 2 / (9 * 2601)
        normal = erfc(((value / 2601) ** (1 / 3) - 1 + spread) / spread**0.5 / 2**0.5) / 2
        assert upper_tail(value, 2601) == pytest.approx(normal, rel=0.01)


def test_orders_of_decks() -> None:
    order = order_of(["AS", "KS", "2C"], ["2C", "AS", "KS"])
    assert order.tolist() == [2, 0, 1]
    assert inverse(order[None]).tolist() == [[1, 2, 0]]
    assert one_after_the_other(order[None], order[None]).tolist() == [[1, 2, 0]]


@pytest.mark.parametrize(
    ("before", "after", "code", "sentence"),
    [
        ("abc", "abb", "card-twice", "In the order out there is more than one of b."),
        ("aab", "abc", "card-twice", "In the order in there is more than one of a."),
        ("abc", "ab", "card-missing", "Of the cards that went in, c did not come out."),
        ("ab", "abc", "card-foreign", "What came out has c, which did not go in."),
        ("abcdefgh", "", "card-missing", "Of the cards that went in, a, b, c, d, e and 3 more did not come out."),
    ],
)
def test_orders_of_other_decks_are_refused(before: str, after: str, code: str, sentence: str) -> None:
    with pytest.raises(OrderError) as refused:
        order_of(before, after)
    assert (refused.value.code, str(refused.value)) == (code, sentence)


def test_decks_as_files_have_them() -> None:
    same, cut = DeckOrders(("a", "b", "c"), ("a", "b", "c")), DeckOrders(("c", "b", "a"), ("b", "a", "c"))
    assert orders_of_decks([same, cut]).tolist() == [[0, 1, 2], [1, 2, 0]]
    assert orders_of_decks([]).shape == (0, 0)
    with pytest.raises(OrderError, match="Deck 2 has 2 cards, and deck 1 has 3"):
        orders_of_decks([same, DeckOrders(("a", "b"), ("b", "a"))])
    with pytest.raises(OrderError, match="Deck 2: Of the cards that went in, b did not come out"):
        orders_of_decks([same, DeckOrders(("a", "b"), ("a",))])
