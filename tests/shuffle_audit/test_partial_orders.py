"""Partly known decks: the rate of false alarms, the power, and unchanged results for whole decks."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from shuffle_audit import exact, patterns
from shuffle_audit.commands.command import audit
from shuffle_audit.evidence import SUSPECTED, ShuffleEvidence
from shuffle_audit.models.riffle import Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import FirstPlaces, ShuffleModel
from shuffle_audit.order_files import OrderFileError, read_decks, write_decks
from shuffle_audit.orders import UNKNOWN, DeckOrders, OrderError, orders_of_decks
from shuffle_audit.partial_orders import LEAST_KNOWN, order_in_part
from shuffle_audit.procedures import PROCEDURES, examine
from shuffle_audit.seen_orders import seen_of
from shuffle_audit.verdict import judge
from tests.shuffle_audit.decks import NEW_DECK, first_seen, from_random_orders, seen_at, shuffled

each_number_of_audits = pytest.mark.parametrize("audits", [1_000, pytest.param(2_000, marks=pytest.mark.exhaustive)])
EACH = 4  # decks of an audit


def a_deck(before: str, after: str) -> DeckOrders:
    return DeckOrders(tuple(before), tuple(after))


def test_the_relative_order_of_the_cards_that_are_known_on_both_sides() -> None:
    assert order_in_part(a_deck("abcdef", "f?b?a?")).tolist() == [2, 1, 0]
    assert order_in_part(a_deck("?bc?ef", "fabcde")).tolist() == [3, 0, 1, 2]
    assert order_in_part(a_deck("?bcd", "d?bc")).tolist() == [2, 0, 1]
    assert order_in_part(a_deck("abc", "bca")).tolist() == [1, 2, 0]
    assert order_in_part(a_deck("???", "abc")).tolist() == []


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("abc?", "aa??", "card-twice"),
        ("abca", "ab??", "card-twice"),
        ("abcd", "x???", "card-missing"),
        ("ab?d", "xy??", "card-missing"),
        ("ab", "abc?", "card-foreign"),
        ("abcd", "abc", "card-missing"),
        ("abcd", "ab?", "card-missing"),
        ("abcd", "ab???", "card-count"),
    ],
)
def test_two_orders_that_cannot_be_of_one_deck(before: str, after: str, code: str) -> None:
    with pytest.raises(OrderError) as refused:
        order_in_part(a_deck(before, after))
    assert refused.value.code == code


def test_decks_by_their_size_and_in_their_sequence() -> None:
    whole = shuffled("uniform", 3)
    decks = [whole[0], *first_seen(whole[1:], 20), *first_seen(whole[:2], 7), *first_seen(whole[:1], LEAST_KNOWN - 1)]
    seen = seen_of(decks)
    assert (len(seen.whole), [one.shape for one in seen.parts], seen.partial) == (1, [(2, 7), (2, 20)], 4)
    assert (seen.few.tolist(), seen.sizes.tolist()) == ([5], [52, 20, 20, 7, 7])
    assert [one.shape for one in seen.in_sequence] == [(1, 52), (2, 20), (2, 7)]
    with pytest.raises(OrderError, match="Deck 2 has 51 cards, and deck 1 has 52"):
        seen_of([whole[0], *shuffled("uniform", 1, cards=51)])


def test_whole_decks_give_the_same_results() -> None:
    """Results are equal to the bit, whether examined as one array or as decks that might be partly known."""
    decks = shuffled("shelves:30", 5)
    seen = seen_of(decks)
    orders = orders_of_decks(decks)
    assert (seen.whole == orders).all()
    assert examine(seen.whole, others=seen.parts) == examine(orders)
    evidence = ShuffleEvidence()
    evidence.add(orders)
    apart = ShuffleEvidence()
    for one in orders:
        apart.add(one[None])
    assert apart.log == pytest.approx(evidence.log, abs=1e-9)
    found = judge(decks)
    assert found.evidence is not None
    assert (found.partial, found.few_known, found.least_known) == (0, 0, 52)


# -- sums over decks of several sizes --------------------------------------------------------------------------------


def folded(parts: list[tuple[exact.Distribution, int]], value: int) -> tuple[float, float]:
    whole = np.array([1.0])
    for one, decks in parts:
        for _ in range(decks):
            whole = np.convolve(whole, one)
    return float(whole[: value + 1].sum()), float(whole[value:].sum())


@pytest.mark.parametrize("decks", [(3, 4, 0), (30, 40, 50)])
def test_sums_of_several_sizes_have_the_folded_distribution(decks: tuple[int, ...]) -> None:
    """Few decks are folded, many use the tilted transform; they agree far into both tails."""
    sizes = (52, 24, 9)
    parts = [(exact.distribution(exact.peak_numbers(size)), count) for size, count in zip(sizes, decks, strict=True)]
    mean = sum(count * (size - 2) / 3 for size, count in zip(sizes, decks, strict=True))
    for value in (round(mean * share) for share in (0.7, 0.8, 0.97, 1.0, 1.03, 1.2)):
        low, high = exact.tails_of_sizes(parts, value)
        assert (low, high) == pytest.approx(folded(parts, value), rel=1e-6, abs=0)


@pytest.mark.parametrize("cards", [208, 416])
def test_sums_of_large_decks_have_the_folded_distribution(cards: int) -> None:
    """One order among that many has a probability too small for a float."""
    for numbers in (exact.rising_sequence_numbers, exact.peak_numbers, exact.kept_pair_numbers, exact.cycle_numbers):
        one, decks = exact.distribution(numbers(cards)), 20
        mean, variance = exact.mean_and_variance(one)
        middle, step = decks * mean, math.sqrt(decks * variance)
        for value in (max(decks, round(middle + far * step)) for far in (-12, -3, 0, 3, 12)):
            low, high = exact.tails_of_sizes([(one, decks)], value)
            assert (low, high) == pytest.approx(folded([(one, decks)], value), rel=1e-6, abs=1e-300)
        assert exact.tails_of_sizes([(one, decks)], decks * (len(one) - 1))[1] < 1e-300


def test_one_size_is_the_sum_as_it_was() -> None:
    one = exact.distribution(exact.rising_sequence_numbers(52))
    for decks, value in ((3, 75), (500, 13_100)):
        assert exact.tails_of_sizes([(one, decks)], value) == exact.tails_of_decks(one, decks, value)
        split = exact.tails_of_sizes([(one, decks - 1), (one, 1)], value)
        assert split == pytest.approx(exact.tails_of_decks(one, decks, value), rel=1e-9)


# -- false alarms ----------------------------------------------------------------------------------------------------


def test_each_models_ratio_of_a_relative_order_is_one_on_average() -> None:
    """The mean is over all 720 orders of six cards; the evidence requires this of every model."""
    every = np.array(list(permutations(range(6))))
    for model in SUSPECTED:
        assert np.exp(model.log_ratios(every)).mean() == pytest.approx(1.0)


def masked(decks: list[DeckOrders], seed: int) -> list[DeckOrders]:
    """Return decks known at random places, different ones of each deck: a third of the decks completely."""
    random, cards = np.random.default_rng(seed), len(decks[0].after)
    sizes = np.where(random.random(len(decks)) < 1 / 3, cards, random.integers(LEAST_KNOWN, cards, len(decks)))
    places = (random.permutation(cards)[:size].tolist() for size in sizes)
    return [seen_at(deck, at) for deck, at in zip(decks, places, strict=True)]


@each_number_of_audits
def test_false_alarms_are_as_rare_as_stated_with_places_by_chance(audits: int) -> None:
    """Each audit examines four good decks, known at places that do not depend on their cards."""
    seen = masked(shuffled("uniform", audits * EACH, seed=11, cards=16), 12)
    chances = np.array([judge(seen[at : at + EACH]).chance for at in range(0, len(seen), EACH)])
    for level in (0.2, 0.05, 0.01):
        bad = (chances <= level).mean()
        assert level / 10 < bad <= level + 3 * math.sqrt(level * (1 - level) / audits)


@each_number_of_audits
def test_each_procedure_is_calibrated(audits: int) -> None:
    """p is at most 0.1 in a tenth of the audits at most, for each procedure, and not in far fewer."""
    seen = masked(shuffled("uniform", audits * EACH, seed=21, cards=16), 22)
    low = np.zeros(len(PROCEDURES))
    for at in range(0, len(seen), EACH):
        found = seen_of(seen[at : at + EACH])
        low += [one.p <= 0.1 for one in examine(found.whole, others=found.parts)[: len(PROCEDURES)]]
    assert (low / audits <= 0.1 + 3 * math.sqrt(0.09 / audits)).all()
    assert (low / audits >= 0.02).all()


# -- power -----------------------------------------------------------------------------------------------------------


def found_with(model: ShuffleModel, decks: int, known: int, audits: int = 200) -> float:
    """Return how often the evidence alone reaches 100, with the first places known."""
    orders = FirstPlaces(model, 52).shuffle(np.random.default_rng(31), audits * decks, known)
    found = 0
    for at in range(0, len(orders), decks):
        found += ShuffleEvidence().add(orders[at : at + decks]).max() >= math.log(100)
    return found / audits


def test_a_machine_with_ten_shelves_is_found_by_the_first_24_cards() -> None:
    assert found_with(Shelves(10), 4, 24) >= 0.95
    assert found_with(Shelves(10), 1, 52) >= 0.95
    assert found_with(Riffle(3), 3, 24) >= 0.95
    assert found_with(Shelves(10), 4, 24) > found_with(Shelves(10), 4, 12)


def test_a_suitable_part_of_a_deck_is_a_shuffle_of_fewer_cards() -> None:
    """A riffle by places of the order out, shelves by places of the order in: 26 of 52, and a deck of 26."""
    for model, counted in ((Riffle(3), patterns.rising_sequences), (Shelves(10), patterns.valleys)):
        decks = model.shuffle(np.random.default_rng(41), 4_000, 52)
        chosen = decks[:, ::2].argsort().argsort() if isinstance(model, Riffle) else decks[decks % 2 == 0] // 2
        found = counted(chosen.reshape(4_000, 26))
        fewer = counted(model.shuffle(np.random.default_rng(42), 4_000, 26))
        assert abs(found.mean() - fewer.mean()) < 4 * math.sqrt(2 * fewer.var() / 4_000)


# -- the command -----------------------------------------------------------------------------------------------------


def call(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(audit, arguments, prog_name="cardshoe audit")
    return done.exit_code, done.output


def test_a_plan_for_decks_with_known_first_cards() -> None:
    """The plan needs more decks than a plan for whole decks; with all cards known it is the same plan."""
    asked = ("plan", "shelves:10", "--level", "0.01", "--power", "0.95", "--audits", "200", "--json")
    plans = [json.loads(call(*asked, *known)[1]) for known in ((), ("--known", "52"), ("--known", "24"))]
    decks = [plan["cells"][0]["decks"] for plan in plans]
    assert plans[0] == plans[1]
    assert decks[0] < decks[2] <= 8
    code, output = call(*asked[:-1], "--known", "24")
    assert code == 0
    assert output.startswith(
        "Decks of 52 cards, order in known, the first 24 of the order out known, that find a shelf"
    )
    for known in ("5", "53"):
        code, output = call(*asked, "--known", known)
        assert (code, f"With {known} of 52 cards known, nothing can be counted." in output) == (2, True)


@pytest.mark.parametrize("name", ["decks.jsonl", "decks.csv"])
def test_files_keep_unknown_cards(name: str, tmp_path: Path) -> None:
    decks = first_seen(shuffled("shelves:10", 3), 10)
    write_decks(tmp_path / name, decks)
    assert [one.deck for one in read_decks([tmp_path / name])] == decks
    text = (tmp_path / name).read_text()
    assert ("null" in text, UNKNOWN in text) == (name.endswith("jsonl"), name.endswith("csv"))


def test_decks_of_other_cards_are_found_as_far_as_they_are_known(tmp_path: Path) -> None:
    file = tmp_path / "decks.jsonl"
    lines = ['["a", null, null]', '["b", "c", null]', '["d", null, null]', '["a", "b"]', '["d", "e", null]']
    file.write_text("".join(f'{{"after": {line}}}\n' for line in lines))
    with pytest.raises(OrderFileError) as refused:
        read_decks([file])
    assert [(fault.line, fault.code) for fault in refused.value.faults] == [(4, "mixed-decks")]
    file.write_text('{"before": ["a", "b"], "after": ["a", null]}\n{"after": ["c", null]}\n')
    with pytest.raises(OrderFileError, match="This deck has the card c, which is not in the one in"):
        read_decks([file])


def test_a_report_of_decks_that_are_known_in_part(tmp_path: Path) -> None:
    decks = shuffled("shelves:10", 8)
    file = tmp_path / "seen.jsonl"
    write_decks(file, [*first_seen(decks[:6], 24), *first_seen(decks[6:7], 30), *first_seen(decks[7:], 3)])
    code, output = call("run", str(file))
    assert code == 1
    assert f"  examined: 7 decks of 52 cards, from {file}\n" in output
    assert "  known in part: 7 decks, each with 24 cards or more\n" in output
    assert f"  left out: 1 deck with too few known cards: {file}, line 8\n" in output
    assert "Effect" not in output
    assert "  With 7 decks, 24 cards of each, a shelf shuffler with 10 shelves would have been found in" in output
    report = json.loads(call("run", str(file), "--json")[1])["result"]
    assert (report["partial"], report["few_known"], report["least_known"], report["guesses"]) == (7, 1, 24, None)


def test_with_too_few_known_cards_there_is_no_verdict(tmp_path: Path) -> None:
    file = tmp_path / "seen.jsonl"
    few = first_seen(from_random_orders("cut", 4), LEAST_KNOWN - 1)
    other = DeckOrders((), shuffled("uniform", 1)[0].after)
    write_decks(file, [*few, other])
    code, output = call("run", str(file))
    assert code == 2
    assert output.startswith("NO VERDICT: No deck with an order in has 6 or more cards that are known both before and")
    found = judge([*few, other])
    assert (found.code, found.few_known, found.not_known) == ("too-few-cards", 4, 1)
    one = judge(first_seen([DeckOrders(NEW_DECK, NEW_DECK)], LEAST_KNOWN), level=1e-9)
    assert (one.verdict, one.code) == ("no verdict", "too-few-decks")


def test_whole_and_partial_decks_are_judged_together() -> None:
    whole, more = shuffled("shelves:30", 3), shuffled("shelves:30", 6, seed=5)
    alone, together = judge(whole), judge([*whole, *first_seen(more, 40)])
    assert alone.chance is not None
    assert together.chance is not None
    assert together.chance < alone.chance
    assert together.guesses == alone.guesses
    assert together.decks == 9
    assert (together.partial, together.least_known) == (6, 40)
