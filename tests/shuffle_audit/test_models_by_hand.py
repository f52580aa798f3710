"""Models whose distribution is partly known, compared with every outcome of small decks and with publications."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
import pytest

from shuffle_audit import exact, patterns
from shuffle_audit.models.by_hand import Cut, Overhand, Wash, strip_cuts
from shuffle_audit.models.faults import StickingPairs
from shuffle_audit.models.riffle import MOST_PASSES, BiasedRiffle, Riffle
from shuffle_audit.models.shuffle_model import KnownModel, ShuffleModel
from shuffle_audit.orders import Orders, one_after_the_other

FOUR: Orders = np.array(list(permutations(range(4))))
Chances = npt.NDArray[np.float64]


def one_pass(model: KnownModel) -> Chances:
    """Return the distribution of one pass over the orders of four cards."""
    found: Chances = np.exp(model.log_ratios(FOUR)) / 24
    return found


def exchange() -> Chances:
    """Exchange two places of four drawn separately: the same place four times in 16, each of six pairs twice."""
    moved = (np.arange(4) != FOUR).sum(axis=1)
    return np.where(moved == 0, 4 / 16, np.where(moved == 2, 2 / 16, 0.0))


def several(one: Chances, times: int) -> Chances:
    """Return the distribution after `times` independent shuffles."""
    number = {tuple(order): at for at, order in enumerate(FOUR.tolist())}
    found = np.zeros(24)
    found[0] = 1.0
    for _ in range(times):
        before, found = found, np.zeros(24)
        for first, then in product(range(24), repeat=2):
            both = one_after_the_other(FOUR[[first]], FOUR[[then]])[0]
            found[number[tuple(both.tolist())]] += before[first] * one[then]
    return found


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (Overhand(3, 0.3), several(one_pass(Overhand(1, 0.3)), 3)),
        (strip_cuts(2, 4, strips=2), several(one_pass(strip_cuts(1, 4, strips=2)), 2)),
        (Wash(0.8), several(exchange(), 4)),
        (BiasedRiffle(3, 0.3), several(one_pass(BiasedRiffle(1, 0.3)), 3)),
    ],
    ids=lambda one: getattr(one, "words", "chances"),
)
def test_several_passes_have_the_distribution_of_one_pass(model: ShuffleModel, expected: Chances) -> None:
    """A chi-square test with 60,000 decks of four cards, which fails by chance once in a million runs."""
    made = Counter(map(tuple, model.shuffle(np.random.default_rng(6), 60_000, 4).tolist()))
    observed = np.array([made[tuple(order)] for order in FOUR.tolist()])
    likely = expected > 0
    assert not observed[~likely].any()
    freedom = int(likely.sum()) - 1
    chi_square = float(((observed - 60_000 * expected)[likely] ** 2 / (60_000 * expected[likely])).sum())
    assert chi_square < freedom + 5.5 * np.sqrt(2 * freedom) + 10


def test_a_biased_cut_by_its_closed_form() -> None:
    """For one riffle, each card is above the cut with 40 %. It also equals three even cuts, up to the last passes."""
    made = np.array([[0, 3, 1, 4, 2], [0, 1, 2, 3, 4], [4, 3, 2, 1, 0]])
    whole = sum(0.4**k * 0.6 ** (5 - k) for k in range(6))
    found = np.exp(BiasedRiffle(1, 0.4).log_ratios(made)) / 120
    np.testing.assert_allclose(found, [0.4**3 * 0.6**2, whole, 0.0])
    decks = Riffle(3).shuffle(np.random.default_rng(1), 20, 52)
    np.testing.assert_allclose(BiasedRiffle(3, 0.5).log_ratios(decks), Riffle(3).log_ratios(decks))
    with pytest.raises(ValueError, match="more than 12"):
        BiasedRiffle(MOST_PASSES + 1, 0.5).log_ratios(decks)


def test_an_unknown_distribution_is_reported_as_such() -> None:
    with pytest.raises(ValueError, match="not known"):
        Overhand(2, 0.2).log_ratios(FOUR)


def test_a_cut_has_as_many_orders_as_cards() -> None:
    made = np.bincount(Cut().shuffle(np.random.default_rng(4), 52_000, 52)[:, 0], minlength=52)
    assert (abs(made - 1000) < 5 * np.sqrt(1000)).all()


@pytest.mark.parametrize("exchanges", [1, 26, 103])
def test_cards_in_place_after_a_wash(exchanges: int) -> None:
    """The expected value is the character of the permutation representation (Diaconis and Shahshahani 1981)."""
    in_place = patterns.cards_in_place(Wash(exchanges / 5).shuffle(np.random.default_rng(5), 20_000, 52))
    expected = 1 + 51 * (1 - 2 / 52) ** exchanges
    assert abs(in_place.mean() - expected) < 5 * in_place.std() / 20_000**0.5


def places_after_overhand(cards: int, breaks: float) -> Chances:
    """Return `found[i, j]`, the probability that the card at place i moves to place j, by the ends of its packet."""
    found = np.zeros((cards, cards))
    for at in range(cards):
        for begin in range(at + 1):
            for end in range(at, cards):
                chance = (1 - breaks) ** (end - begin) * (breaks if begin else 1) * (breaks if end < cards - 1 else 1)
                found[at, cards - 1 - end + at - begin] += chance
    return found


def test_the_place_of_a_card_after_overhand_shuffles() -> None:
    """The top card and one from the middle of 52, after three."""
    chances = np.linalg.matrix_power(places_after_overhand(52, 0.2), 3)
    places = np.argsort(Overhand(3, 0.2).shuffle(np.random.default_rng(2), 40_000, 52), axis=1)
    for card in (0, 25):
        expected = 40_000 * chances[card]
        observed = np.bincount(places[:, card], minlength=52)
        likely = expected > 5
        chi_square = float(((observed - expected)[likely] ** 2 / expected[likely]).sum())
        assert chi_square < likely.sum() + 5.5 * np.sqrt(2 * likely.sum())


def test_overhand_shuffles_grow_with_the_square_of_the_cards() -> None:
    """Pemantle 1989, Jonasson 2006: n^2 log n. The slowest mode of one card's place falls to 1/e in about n^2."""

    def slowest(cards: int) -> float:
        sizes = np.sort(abs(np.linalg.eigvals(places_after_overhand(cards, 0.2))))
        return float(-1 / np.log(sizes[-2]))

    times = [slowest(cards) for cards in (20, 40, 80)]
    assert times[1] / times[0] == pytest.approx(4, rel=0.2)
    assert times[2] / times[1] == pytest.approx(4, rel=0.1)


def test_pairs_that_stick_by_their_classes() -> None:
    """Pairs of 52 cards are kept as often as in their distribution, whose probabilities add up to 1."""
    model, counts = StickingPairs(0.1), np.arange(52)
    one = exact.distribution(exact.kept_pair_numbers(52))
    representative = np.tile(np.arange(51, -1, -1), (52, 1))
    for kept in counts:
        representative[kept, : kept + 1] = np.sort(representative[kept, : kept + 1])
    assert (patterns.kept_pairs(representative) == counts).all()
    chances = one * np.exp(model.log_ratios(representative))
    assert chances.sum() == pytest.approx(1.0)
    made = patterns.kept_pairs(model.shuffle(np.random.default_rng(3), 20_000, 52))
    assert abs(made.mean() - (counts * chances).sum()) < 5 * made.std() / 20_000**0.5
