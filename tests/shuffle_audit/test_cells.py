"""Procedures that take the rarest of many counts: exact nulls, bounds that hold, and the machines that they find."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import gcd

import numpy as np
import pytest

from shuffle_audit import earlier_decks, faces_at_places, games_dealt, neighbours
from shuffle_audit.cells import Cells, bernoulli, rarest
from shuffle_audit.dealing import ALL_HANDS, keys, number_of
from shuffle_audit.exact import Distribution
from shuffle_audit.faces import faces_of
from shuffle_audit.orders import Counts, DeckOrders, Orders
from shuffle_audit.procedures import examine_cards
from shuffle_audit.shown import ShownFaces, shown_of
from shuffle_audit.table_hands import TableRound, table_cells
from shuffle_audit.verdict import AuditVerdict, judge
from tests.shuffle_audit.decks import NEW_DECK, first_seen, from_random_orders, shuffled, without_the_order_in
from tests.shuffle_audit.machines import MACHINES, decks_of
from tests.shuffle_audit.mathematics import FOUR


def shown(decks: Sequence[DeckOrders]) -> ShownFaces:
    found = shown_of(decks)
    assert isinstance(found, ShownFaces)
    return found


def counted(counts: Counts, one: Distribution) -> None:
    """Check that counts of all orders have this distribution."""
    found = np.bincount(counts, minlength=len(one)) / len(counts)
    np.testing.assert_allclose(found[: len(one)], one, atol=1e-12)
    assert found[len(one) :].sum() == 0


@pytest.mark.parametrize("step", [1, 2, 3])
def test_cards_at_a_distance_have_the_distribution_of_all_orders(step: int) -> None:
    counted(neighbours.counted(FOUR, step), neighbours.at_distance(4, 4 // gcd(4, step)))


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_kinds_that_follow_each_other_have_the_distribution_of_all_orders(first: int, second: int, size: int) -> None:
    kind = (np.arange(4) >= size).astype(np.int64)
    of, sizes = kind[FOUR], (size, 4 - size)
    pairs = ((of[:, :-1] == first) & (of[:, 1:] == second)).sum(axis=1)
    counted(pairs, neighbours.of_kinds(4, sizes[first], 0 if first == second else sizes[second]))


def test_the_first_cards_of_an_earlier_deck_have_the_distribution_of_all_orders() -> None:
    counted((FOUR[:, :2] < 2).sum(axis=1), earlier_decks.overlap(4, 2))


def test_the_weights_of_all_cells_are_at_most_one_together() -> None:
    """A family of cells adds its weight once for each of its cells."""
    decks = decks_of(MACHINES["picture-first"], np.random.default_rng(1), 5)
    seen = shown(decks)
    orders = np.arange(52)[None] + np.zeros((2, 1), np.int64)
    hands = {"B1": ("AS", "KS", "QS"), "D": ("2C", "3C", "4C")}
    both = {**hands, "B2": ("AH", "KH", "QH")}
    for families in (
        faces_at_places.cells(seen),
        neighbours.cells(orders, seen),
        earlier_decks.cells(seen),
        games_dealt.cells(seen.out),
        games_dealt.cells(seen.out, [TableRound(hands)] * 3),
        games_dealt.cells(seen.out, [TableRound(both, {"B1": 1, "B2": 2}), TableRound(both, {"B1": 1, "B2": 4})]),
    ):
        each = [(len(one.counts), one.weight) for one in families]
        assert 0.9 < sum(cells / weight for cells, weight in each) <= 1 + 1e-9


def test_the_rarest_is_too_few_or_too_many() -> None:
    counts = np.array([10, 0, 12])
    found = rarest([Cells(bernoulli(0.5), 20, counts, "abc".__getitem__, 6.0, 0.25)])
    assert found is not None
    assert (found.name, found.found, found.expected) == ("b", 0, 10.0)
    assert found.p == pytest.approx(6 / 0.25 * 0.5**20)
    only_many = rarest([Cells(bernoulli(0.5), 20, counts, "abc".__getitem__, 1.0, 0.0)])
    assert only_many is not None
    assert only_many.name == "c"
    assert rarest([]) is None
    assert rarest([Cells(bernoulli(0.5), 0, np.array([0]), "a".__getitem__, 1.0, 0.5)]) is None


def test_the_bound_of_four_cards_holds_for_all_pairs_of_decks() -> None:
    """All 576 pairs of decks of four cards go through the procedures, each a deck that goes in as the last came out."""
    names = ("AS", "KS", "QH", "2D")
    least: dict[str, list[float]] = {}
    for first, second in product(FOUR, FOUR):
        decks = [DeckOrders((), tuple(names[at] for at in order)) for order in (first, first[second])]
        for one in examine_cards(np.stack([first, second]), shown(decks)):
            least.setdefault(one.id, []).append(one.p)
    assert set(least) == {"faces-at-places", "neighbours", "earlier-decks"}
    for name, found in least.items():
        assert len(found) == 576
        for level in (0.05, 0.2, 0.5):
            assert np.mean(np.array(found) <= level) <= level, name


def alarms(found: AuditVerdict) -> dict[str, str]:
    return {one.id: one.where for one in found.findings if one.alarm}


@pytest.mark.parametrize(
    ("kind", "decks", "procedure", "where"),
    [
        ("card-first", 120, "faces-at-places", "AS at place 1"),
        ("rank-first", 120, "faces-at-places", "1 point at place 1"),
        ("picture-first", 40, "faces-at-places", "a picture at place 1"),
        ("box-without-pictures", 30, "hands-dealt", "no picture at B1, NC dealt in sets"),
        ("distance-26", 10, "neighbours", "place i+26 follows place i"),
        ("distance-13", 5, "neighbours", "place i+13 follows place i"),
        ("distance-5", 5, "neighbours", "place i+5 follows place i"),
        ("rank-after-rank", 40, "neighbours", "rank A follows rank K"),
        ("first-again", 120, "earlier-decks", "cards among the first 20 as in the deck 2 decks earlier, in one deck"),
    ],
)  # fmt: skip
def test_a_machine_that_looks_at_faces_or_at_a_distance_is_found(
    kind: str, decks: int, procedure: str, where: str
) -> None:
    """Each deck goes in as the last one came out, so that places in say nothing about faces."""
    found = judge(decks_of(MACHINES[kind], np.random.default_rng([5, decks]), decks))
    assert found.verdict == "bad"
    assert alarms(found)[procedure] == where


def test_a_machine_that_swaps_two_cards_when_it_pays_is_not_found() -> None:
    """Thirteen decks of a thousand are changed: it takes 26,000 decks to find that in half of the audits."""
    found = judge(decks_of(MACHINES["swapped"], np.random.default_rng(1), 200))
    assert found.verdict == "nothing found"


@pytest.mark.parametrize("known", [24, 52])
def test_faces_at_places_need_no_order_in_and_no_whole_deck(known: int) -> None:
    made = decks_of(MACHINES["picture-first"], np.random.default_rng(3), 40)
    found = judge(without_the_order_in(first_seen(made, known)))
    assert (found.verdict, found.decks, found.by_cards) == ("bad", 0, 40)
    assert alarms(found)["faces-at-places"] == "a picture at place 1"
    good = judge(without_the_order_in(first_seen(from_random_orders("shelves:1", 40), known)))
    assert (good.verdict, good.code) == ("no verdict", "order-in-not-known")


def test_places_that_fewer_decks_show_are_compared_with_these_decks() -> None:
    decks = without_the_order_in(shuffled("uniform", 12))
    seen = shown([*first_seen(decks[:8], 10), *first_seen(decks[8:], 20)])
    families = list(faces_at_places.cells(seen))
    assert {one.decks for one in families} == {12, 4}
    assert sum(int(one.counts.sum()) for one in families[:2]) == 12 * 10 + 4 * 10  # each card that is seen, once


@pytest.mark.parametrize(
    ("decks", "why"),
    [
        ([DeckOrders(("AS", "KS"), ("KS", "AS")), DeckOrders(("AS", "QS"), ("QS", "AS"))], "one and the same set"),
        ([DeckOrders((), ("AS", "?"))], "some cards never appear"),
        ([DeckOrders((), ("?", "?"))], "no card is known"),
        ([DeckOrders((), ("10H", "TH", *NEW_DECK[:50]))], "twice, spelled in two ways"),
    ],
)
def test_cards_that_cannot_be_compared_have_a_reason(decks: list[DeckOrders], why: str) -> None:
    found = shown_of(decks)
    assert isinstance(found, str)
    assert why in found


def test_the_same_card_in_two_spellings_is_one_card() -> None:
    rows = [tuple(name.replace("T", "10") for name in deck.after) for deck in shuffled("uniform", 3)]
    decks = [*shuffled("uniform", 3), *(DeckOrders((), row) for row in rows)]
    assert (shown(decks).cards[:3] == shown(decks).cards[3:]).all()


ROUNDS = 150


def at_a_table(bad: bool) -> list[TableRound]:
    """Return rounds with one to seven boxes in play. A bad device gives the Dealer a picture if box 3 is in play."""
    random = np.random.default_rng(9)
    rounds: list[TableRound] = []
    for _ in range(ROUNDS):
        boxes = [box for box in range(1, 8) if random.random() < 0.4] or [1]
        deck = random.permutation(np.array(NEW_DECK)).tolist()
        hands = {f"B{box}": tuple(deck[3 * at : 3 * at + 3]) for at, box in enumerate(boxes)}
        dealers = deck[30:33]
        if bad and 3 in boxes and not any(card[0] in "JQK" for card in dealers):
            dealers[0] = next(card for card in deck[33:] if card[0] in "JQK")
        rounds.append(TableRound({**hands, "D": tuple(dealers)}))
    return rounds


def test_a_device_that_cheats_while_a_box_is_in_play_is_found() -> None:
    bad, good = (rarest(table_cells(at_a_table(bad), 1)) for bad in (True, False))
    assert bad is not None
    assert good is not None
    assert bad.name == "no picture at D, rounds with B3 in play"
    assert bad.p < 1e-6
    assert good.p > 0.05


def test_hands_are_compared_by_the_stakes() -> None:
    """Equal stakes are neither the highest nor the lowest. A round counts as high by the rounds before it alone, so
    that doubling a stake until it wins does not make a good device bad.
    """
    pictures, six = ("KD", "QC", "JS"), ("AC", "2C", "3C")
    boxes = {"B1": pictures, "B2": six, "B3": six, "D": ("2D", "3D", "4D")}
    rounds = [TableRound(boxes, {"B1": 30, "B2": 10, "B3": 10}), TableRound(boxes, {"B1": 20, "B2": 20})]
    rounds += [TableRound(boxes, {"B3": 90}), TableRound(boxes)]
    found = {each.name(at): int(count) for each in table_cells(rounds, 1) for at, count in enumerate(each.counts)}
    assert found["no picture at the box with the highest stake, rounds with different stakes"] == 0
    assert found["win at the box with the highest stake, rounds with different stakes"] == 1
    assert not any("lowest" in name for name in found)
    assert found["no picture at B2, rounds with higher stakes than half of the rounds before"] == 1


def by_bets(random: np.random.Generator, rounds: int) -> list[TableRound]:
    """Return rounds in which somebody at box 1 doubles the stake until it wins, and a good device deals."""
    found, stake = [], 1
    for _ in range(rounds):
        deck = random.permutation(np.array(NEW_DECK)).tolist()
        hands = {place: tuple(deck[3 * at : 3 * at + 3]) for at, place in enumerate(("B1", "B2", "D"))}
        found.append(TableRound(hands, {"B1": stake, "B2": 3}))
        ours, theirs = (keys()[number_of(faces_of(hands[place]))] for place in ("B1", "D"))
        stake = 1 if ours > theirs else min(2 * stake, 64)
    return found


def test_stakes_that_follow_the_results_raise_few_alarms() -> None:
    """Of 200 good tables, at 5 %."""
    raised = 0
    for seed in range(200):
        found = rarest(table_cells(by_bets(np.random.default_rng([11, seed]), 40), 1))
        assert found is not None
        raised += found.p <= 0.05
    assert raised <= 10 + 4.5 * np.sqrt(200 * 0.05 * 0.95)


def test_a_hand_of_a_table_is_ranked_as_it_is_dealt() -> None:
    rounds = [TableRound({"B1": ("KD", "QC", "JS"), "D": ("2C", "3C", "4C")})] * 20
    found = rarest(table_cells(rounds, 1))
    assert found is not None
    assert found.found == 20
    assert len(ALL_HANDS[0]) == len(faces_of(("KD", "QC", "JS")))


def orders_of(decks: int, seed: int = 1) -> Orders:
    return np.random.default_rng(seed).permuted(np.tile(np.arange(52), (decks, 1)), axis=1)


def test_a_uniform_shuffle_of_any_order_in_raises_few_alarms() -> None:
    """400 audits of 8 decks, each deck in as the last came out: at 5 %, each procedure has its bound."""
    raised: dict[str, int] = {}
    for seed in range(400):
        decks = without_the_order_in(decks_of(lambda random, deck, earlier: random.permutation(deck),
                                              np.random.default_rng([7, seed]), 8))  # fmt: skip
        for one in examine_cards(orders_of(8, seed), shown(decks)):
            raised[one.id] = raised.get(one.id, 0) + (one.p <= 0.05)
    assert len(raised) == 4
    assert all(count <= 20 + 4.5 * np.sqrt(400 * 0.05 * 0.95) for count in raised.values()), raised
