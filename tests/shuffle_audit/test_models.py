"""Models of shuffles, compared with every possible outcome and with published tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from shuffle_audit import patterns
from shuffle_audit.models import riffle, shelf
from shuffle_audit.models.by_hand import Cut, Overhand, Wash, strip_cuts
from shuffle_audit.models.faults import FavouredPlace, NotAlways, StickingPairs
from shuffle_audit.models.riffle import BiasedRiffle, Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, KnownModel, ShuffleModel
from shuffle_audit.orders import Orders, one_after_the_other
from tests.shuffle_audit import distances

FIVE: Orders = np.array(list(permutations(range(5))))
KNOWN: list[KnownModel] = [
    UNIFORM, Riffle(1), Riffle(3), Shelves(1), Shelves(2, from_top=True), Shelves(2, passes=2), BiasedRiffle(1, 0.4),
    BiasedRiffle(3, 0.3), Overhand(1, 0.2), Overhand(1, 1.0), strip_cuts(1, 5, strips=2), Cut(), NotAlways(0.1),
    StickingPairs(0.3), FavouredPlace(0.2, 0, 4), FavouredPlace(1.0, 2, 2),
]  # fmt: skip
MODELS: list[ShuffleModel] = [*KNOWN, strip_cuts(1, 52), Overhand(3, 0.2), Wash(20), StickingPairs(1.0)]


def shelved(choices: Iterable[tuple[int, bool]], cards: int, *, from_top: bool) -> tuple[int, ...]:
    """Return one deck through the shelves, card by card: (shelf, above) for each."""
    piles: dict[int, list[int]] = {}
    deck = range(cards) if from_top else reversed(range(cards))
    for card, (at, above) in zip(deck, choices, strict=True):
        pile = piles.setdefault(at, [])
        pile.insert(0 if above else len(pile), card)
    return tuple(card for at in sorted(piles) for card in piles[at])


@pytest.mark.parametrize("from_top", [False, True])
@pytest.mark.parametrize(("shelves", "cards"), [(1, 5), (2, 5), (3, 4)])
def test_every_way_through_the_shelves(shelves: int, cards: int, from_top: bool) -> None:
    ways = Counter(
        shelved(choices, cards, from_top=from_top)
        for choices in product(product(range(shelves), (False, True)), repeat=cards)
    )
    count = patterns.peaks if from_top else patterns.valleys
    for order in permutations(range(cards)):
        few = int(count(np.array([order]))[0])
        assert Fraction(ways[order], (2 * shelves) ** cards) == shelf.probability(shelves, cards, few)


@pytest.mark.parametrize(("packets", "cards"), [(2, 5), (3, 4), (4, 5)])
def test_every_riffle(packets: int, cards: int) -> None:
    """The cards of each packet keep their order: there are as many riffles as words of that many letters."""
    ways = Counter(
        tuple(riffle.dropped(np.array([word]))[0].tolist()) for word in product(range(packets), repeat=cards)
    )
    for order in permutations(range(cards)):
        sequences = int(patterns.rising_sequences(np.array([order]))[0])
        assert Fraction(ways[order], packets**cards) == riffle.probability(packets, cards, sequences)


def passes(first: dict[tuple[int, ...], Fraction]) -> dict[tuple[int, ...], Fraction]:
    """Return the distribution after two independent passes."""
    found: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for one, other in product(first, repeat=2):
        both = one_after_the_other(np.array([one]), np.array([other]))[0]
        found[tuple(both.tolist())] += first[one] * first[other]
    return found


@pytest.mark.parametrize("from_top", [False, True])
def test_two_passes_are_one_of_more_shelves(from_top: bool) -> None:
    model = Shelves(2, passes=2, from_top=from_top)
    one = {
        tuple(order): float(np.exp(ratio))
        for order, ratio in zip(FIVE.tolist(), Shelves(2, from_top=from_top).log_ratios(FIVE), strict=True)
    }
    two = passes({order: Fraction(ratio).limit_denominator(10**9) / 120 for order, ratio in one.items()})
    for order, ratio in zip(FIVE.tolist(), model.log_ratios(FIVE), strict=True):
        assert float(two[tuple(order)]) * 120 == pytest.approx(np.exp(ratio))


@pytest.mark.parametrize("model", KNOWN, ids=lambda model: model.words)
def test_the_probabilities_of_all_orders_add_up_to_one(model: KnownModel) -> None:
    """Decks of one, two and five cards are tested."""
    for cards in (1, 2, 5) if not isinstance(model, FavouredPlace) else (5,):
        orders: Orders = np.array(list(permutations(range(cards))))
        assert np.exp(model.log_ratios(orders)).mean() == pytest.approx(1.0)


@pytest.mark.parametrize("model", KNOWN, ids=lambda model: model.words)
def test_simulated_decks_have_the_known_distribution(model: KnownModel) -> None:
    """A chi-square test with 60,000 decks of five cards, which fails by chance once in a million runs."""
    made = Counter(map(tuple, model.shuffle(np.random.default_rng(5), 60_000, 5).tolist()))
    expected = np.exp(model.log_ratios(FIVE)) / 120 * 60_000
    observed = np.array([made[tuple(order)] for order in FIVE.tolist()])
    assert expected.sum() == pytest.approx(60_000)
    assert not observed[expected == 0].any()
    likely = expected > 0
    freedom = int(likely.sum()) - 1
    chi_square = float(((observed - expected)[likely] ** 2 / expected[likely]).sum())
    assert chi_square < freedom + 5.5 * np.sqrt(2 * freedom) + 10


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.words)
def test_the_output_has_the_cards_of_the_input(model: ShuffleModel) -> None:
    made = model.shuffle(np.random.default_rng(3), 50, 52)
    assert made.shape == (50, 52)
    assert (np.sort(made, axis=1) == np.arange(52)).all()
    again = model.shuffle(np.random.default_rng(3), 50, 52)
    assert (made == again).all()


def test_riffles_as_bayer_and_diaconis_published_them() -> None:
    published = (1.000, 1.000, 1.000, 1.000, 0.924, 0.614, 0.334, 0.167, 0.085, 0.043)
    found = [distances.of_riffles(passes).total_variation for passes in range(1, 11)]
    assert [round(one, 3) for one in found] == list(published)


def test_shelves_as_diaconis_fulman_and_holmes_published_them() -> None:
    """Their table 1 has total variation, separation, and a third distance, compared where it is below a million."""
    published = {
        10: (1.0, 1.0, None), 15: (0.943, 1.0, None), 20: (0.720, 1.0, None), 25: (0.544, 1.0, 45118),
        30: (0.391, 1.0, 3961), 35: (0.299, 0.996, 716), 50: (0.159, 0.910, 39), 100: (0.041, 0.431, 1.9),
        150: (0.018, 0.219, 0.615), 200: (0.010, 0.130, 0.313), 250: (0.007, 0.085, 0.192), 300: (0.005, 0.060, 0.130),
    }  # fmt: skip
    for shelves, (variation, separation, worst) in published.items():
        found = distances.of_shelves(shelves)
        assert round(found.total_variation, 3) == variation
        assert round(found.separation, 3) == separation
        if worst is not None:
            assert found.worst_ratio == pytest.approx(worst, rel=0.03)


@pytest.mark.parametrize(
    ("shelves", "mean", "variance"), [(1, 39, 3.2), (2, 27, 5.6), (4, 17.6, 6.0), (10, 9.3, 4.7), (64, 4.7, 3.1)]
)
def test_guesses_as_they_were_published(shelves: int, mean: float, variance: float) -> None:
    guessed = patterns.right_guesses(Shelves(shelves).shuffle(np.random.default_rng(shelves), 20_000, 52))
    assert guessed.mean() == pytest.approx(mean, rel=0.02)
    assert guessed.var() == pytest.approx(variance, rel=0.05)
