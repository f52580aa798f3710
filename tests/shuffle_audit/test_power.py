"""The computed power is the rate at which verdicts find a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from shuffle_audit import power as power_module
from shuffle_audit.models.named import model_named
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel
from shuffle_audit.orders import DeckOrders, Orders
from shuffle_audit.power import Draws, Power
from shuffle_audit.procedures import PROCEDURES
from shuffle_audit.verdict import judge
from tests.shuffle_audit.decks import NEW_DECK, shuffled
from tests.support import long_forms

LEVEL = 0.01


def draws(model: str, audits: int = 400, seed: int = 1, cards: int = 52, drawn: Callable[[int], object] = id) -> Draws:
    return Draws(model_named(model, cards), cards, audits, seed, drawn)


class Recorded:
    """A model that shuffles well after a number of calls; it keeps all the decks that it made."""

    words = "recorded"

    def __init__(self, model: ShuffleModel, good_from: int = 99) -> None:
        self._model = model
        self._good_from = good_from
        self._made: list[Orders] = []

    def shuffle(self, random: np.random.Generator, decks: int, cards: int) -> Orders:
        model = self._model if len(self._made) < self._good_from else UNIFORM
        self._made.append(model.shuffle(random, decks, cards))
        return self._made[-1]

    def audits(self, audits: int, decks: int) -> list[list[DeckOrders]]:
        """Return the first `decks` decks of each of `audits` audits, by the names of their cards."""
        cards = self._made[0].shape[1]
        made = np.concatenate([each.reshape(audits, -1, cards) for each in self._made], axis=1)[:, :decks]
        names = NEW_DECK[:cards]
        return [[DeckOrders(names, tuple(names[at] for at in one)) for one in each] for each in made.tolist()]


@pytest.mark.parametrize(("model", "decks"), [("shelves:20", 2), ("riffle:7", 12), ("cut", 1), ("sticking:0.1", 3)])
def test_the_power_is_the_rate_of_bad_verdicts(model: str, decks: int) -> None:
    """`judge` decides that many audits one after the other, on other decks."""
    audits = 100
    made = shuffled(model, audits * decks, seed=7)
    bad = sum(judge(made[at : at + decks], LEVEL).verdict == "bad" for at in range(0, len(made), decks))
    power = draws(model, 1000).power(decks, LEVEL)
    error = np.hypot(power.error, np.sqrt(0.25 / audits))
    assert abs(power.share - bad / audits) < 3 * error


@pytest.mark.parametrize(("model", "decks"), [("shelves:5", 1), ("shelves:8", 4), ("favoured:0.5:1:20", 12)])
def test_the_power_agrees_with_verdicts_on_the_same_decks(model: str, decks: int) -> None:
    """They agree to the last audit: what is drawn for the power is also judged."""
    recorded = Recorded(model_named(model, 20))
    power = Draws(recorded, 20, 40, 1).power(decks, LEVEL)
    bad = [judge(each, LEVEL).verdict for each in recorded.audits(40, decks)]
    assert power == Power(decks, bad.count("bad"), 40)
    assert 0 < power.found < 40


@pytest.mark.parametrize(
    ("model", "good_from", "decks"),
    [("shelves:4", 1, 1), ("shelves:4", 1, 9), ("shelves:4", 2, 3), ("shelves:6", 4, 13), ("shelves:6", 99, 6)],
)
def test_evidence_is_gathered_as_in_a_verdict(
    model: str, good_from: int, decks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of the procedures raises an alarm. The machine is repaired after some decks, or is not repaired."""
    monkeypatch.setattr(power_module, "PROCEDURES", (PROCEDURES[0]._replace(share=1e-300),))
    recorded = Recorded(model_named(model, 20), good_from)
    power = Draws(recorded, 20, 60, 1, whole=False).power(decks, LEVEL)
    gathered = [judge(each, LEVEL).evidence for each in recorded.audits(60, decks)]
    assert power.found == sum(one is not None and one.alarm for one in gathered)
    assert 0 < power.found < 60


def test_a_good_shuffle_is_found_as_rarely_as_is_stated() -> None:
    made = draws("uniform", 4000)
    for decks, level in ((1, 0.05), (5, 0.05), (10, 0.05), (10, 0.01)):
        assert made.power(decks, level).share <= level + 3 * np.sqrt(level * (1 - level) / 4000)


def test_more_decks_find_more_and_a_lower_level_finds_less() -> None:
    made = draws("riffle:7")
    shares = [made.power(decks, LEVEL).share for decks in (1, 5, 10, 20, 40)]
    assert shares == sorted(shares)
    assert (shares[0] < 0.3, shares[-1] > 0.95) == (True, True)
    assert made.power(20, 0.05).share > made.power(20, 0.001).share


def test_ten_shelves_are_found_in_one_deck() -> None:
    assert draws("shelves:10").power(1, 1e-4).share >= 0.95


def test_the_same_seed_draws_the_same_after_any_calls() -> None:
    one, other = draws("shelves:30"), draws("shelves:30")
    one.power(70, LEVEL)
    assert [one.power(decks, LEVEL) for decks in (3, 9, 70)] == [other.power(decks, LEVEL) for decks in (3, 9, 70)]
    assert draws("shelves:30", seed=2).power(9, LEVEL) != one.power(9, LEVEL)


@pytest.mark.parametrize(("model", "power"), [("shelves:20", 0.95), ("riffle:7", 0.8), ("shelves:10", 0.5)])
def test_the_least_number_of_decks(model: str, power: float) -> None:
    """No smaller number reaches the power, as a search one by one shows."""
    made = draws(model)
    found = made.least_decks(power, LEVEL, 200)
    assert found is not None
    assert found.share >= power
    by_each = next(decks for decks in range(1, 201) if made.power(decks, LEVEL).share >= power)
    assert found.decks == by_each


def test_a_number_that_is_beyond_reach() -> None:
    made = draws("riffle:7")
    least = made.least_decks(0.9, LEVEL, 200)
    assert least is not None
    assert made.least_decks(0.9, LEVEL, least.decks) == least
    assert made.least_decks(0.9, LEVEL, least.decks - 1) is None


def test_the_number_of_decks_is_counted_while_they_are_drawn() -> None:
    counted: list[int] = []
    draws("cut", 1000, drawn=counted.append).power(45, LEVEL)
    assert counted == [1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000]


def test_the_standard_error() -> None:
    assert Power(3, 80, 100).share == 0.8
    assert Power(3, 80, 100).error == pytest.approx(0.04)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("model", "decks", "level"),
    [("shelves:10", 1, 1e-5), ("shelves:20", 5, 0.01), ("riffle:4", 1, 0.01), ("riffle:7", 32, 0.01),
     ("shelves:50", 150, 0.01)],
)  # fmt: skip
def test_that_many_decks_find_it_with_95_percent(model: str, decks: int, level: float) -> None:
    power = draws(model, long_forms.count(2000)).power(decks, level)
    assert power.share >= 0.95 - 2 * power.error
