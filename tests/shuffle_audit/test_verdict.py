"""A verdict depends on the procedures and the evidence at one chance of a false alarm, and on nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec
import numpy as np
import pytest

from shuffle_audit import orders
from shuffle_audit.evidence import OF_EVIDENCE, ShuffleEvidence
from shuffle_audit.faces import faces_if_known, faces_of_decks
from shuffle_audit.orders import DeckOrders, OrderError, orders_of_decks
from shuffle_audit.procedures import PROCEDURES, SHARES, examine
from shuffle_audit.sampled import SAMPLED, Nulls
from shuffle_audit.shown import ShownFaces, shown_of
from shuffle_audit.verdict import OF_PROCEDURES, can_speak, guesses_expected, judge
from tests.shuffle_audit.decks import NEW_DECK, first_seen, from_random_orders, shuffled, without_the_order_in


def test_a_bad_machine_is_bad() -> None:
    found = judge(shuffled("shelves:10", 20))
    assert (found.verdict, found.code, found.decks, found.not_known, found.cards) == ("bad", "", 20, 0, 52)
    assert found.chance is not None
    assert found.chance < 1e-50
    assert found.sentence == (
        "A shuffle that makes every order equally likely gives decks that look this bad with a chance of less than one "
        "in a billion; the limit is 0.01."
    )
    assert found.guesses == pytest.approx(9.3, abs=1.5)
    assert found.guesses_expected == pytest.approx(4.54, abs=0.005)
    assert {one.id for one in found.findings if one.alarm} >= {"valleys", "guesses"}
    assert found.evidence is not None
    assert found.evidence.alarm
    assert found.evidence.likeliest == "a shelf shuffler with 10 shelves"


def test_nothing_is_found_in_a_good_shuffle() -> None:
    found = judge(shuffled("uniform", 20))
    assert (found.verdict, found.code) == ("nothing found", "")
    assert (
        found.sentence
        == "Nothing raises an alarm; the chance of a false one is 0.01 over all procedures and the evidence."
    )
    assert not any(one.alarm for one in found.findings)
    assert found.evidence is not None
    assert not found.evidence.alarm


def test_the_parts_are_the_whole() -> None:
    assert sum((OF_PROCEDURES, OF_EVIDENCE)) == pytest.approx(1.0)


@pytest.mark.parametrize("model", ["shelves:30", "riffle:8", "sticking:0.1", "uniform"])
def test_procedures_and_evidence_share_the_chance_of_a_false_alarm(model: str) -> None:
    decks = shuffled(model, 12)
    orders = orders_of_decks(decks)
    best = np.exp(-max(0.0, ShuffleEvidence().add(orders).max())) / OF_EVIDENCE
    shown = shown_of(decks)
    assert isinstance(shown, ShownFaces)
    tested = examine(orders, faces=faces_of_decks(decks), shown=shown)
    expected = min(1.0, best, min(one.adjusted for one in tested) / OF_PROCEDURES)
    found = judge(decks)
    assert found.chance == pytest.approx(expected)
    assert found.chance is not None
    if found.chance < 0.5:
        assert judge(decks, found.chance * 1.001).verdict == "bad"
        assert judge(decks, found.chance * 0.999).verdict == "nothing found"


def test_evidence_alone_is_enough() -> None:
    """A machine that is repaired: its earlier output is not forgotten."""
    decks = [*shuffled("shelves:30", 12), *shuffled("uniform", 400)]
    evidence = judge(decks).evidence
    assert evidence is not None
    assert evidence.alarm
    assert 1 <= evidence.after_deck <= 20
    assert evidence.most_log10 >= 3
    assert evidence.likeliest.startswith("a shelf shuffler with ")


def test_with_faces_and_samples_everything_is_examined() -> None:
    decks = shuffled("shelves:10", 30)
    nulls = Nulls(np.random.default_rng(1), 199)
    found = judge(decks, random=nulls)
    assert [one.id for one in found.findings] == list(SHARES)
    assert found == judge(decks, random=nulls)
    assert found.findings[10].p == nulls.p(SAMPLED[0], orders_of_decks(decks))[2]
    numbered = [DeckOrders(*(tuple(f"c{card}" for card in side) for side in msgspec.structs.astuple(deck)))
                for deck in decks]  # fmt: skip
    plain = judge(numbered)
    of_orders = [*(one.id for one in PROCEDURES), "favoured-place", "repeated-orders"]
    assert [one.id for one in plain.findings] == [*of_orders, "faces-at-places", "neighbours", "earlier-decks"]
    assert plain.findings[: len(of_orders)] == found.findings[: len(of_orders)]


def test_a_machine_with_a_favoured_place_is_found() -> None:
    """The fullest cell shows the fault although chi-square of the whole table shows nothing yet."""
    found = judge(shuffled("favoured:0.3:1:52", 45), random=np.random.default_rng(1))
    assert found.verdict == "bad"
    assert [one.id for one in found.findings if one.alarm] == ["favoured-place", "faces-at-places"]


def test_faces_that_are_not_known() -> None:
    cards = DeckOrders(("AS", "10H"), ("10H", "AS"))
    known = faces_if_known([cards, DeckOrders(("TH", "AS"), ("AS", "TH"))])
    assert known is not None
    assert known.tolist() == [[39, 35], [35, 39]]
    for names in (("AS", "1H"), ("TH", "10H"), ("AS", "KH"), ("AS", "XX")):
        assert faces_if_known([cards, DeckOrders(names, names)]) is None
    judged = judge([cards, DeckOrders(("AS", "KH"), ("AS", "KH"))])
    assert "runs-of-suit" not in {one.id for one in judged.findings}


SPELLINGS: dict[str, Callable[[str, str], str]] = {
    "symbols": lambda rank, suit: rank + dict(zip("SHDC", "♠♥♦♣", strict=True))[suit],
    "symbols with a variation selector": lambda rank, suit: (
        rank + dict(zip("SHDC", "♠♥♦♣", strict=True))[suit] + "\ufe0f"
    ),
    "suit first": lambda rank, suit: suit + rank,
    "numbers": lambda rank, suit: {"A": "1", "T": "10", "J": "11", "Q": "12", "K": "13"}.get(rank, rank) + suit,
    "aces high": lambda rank, suit: {"A": "14", "T": "10"}.get(rank, rank) + suit,
    "small letters": lambda rank, suit: (rank + suit).lower(),
}


def spelled(decks: list[DeckOrders], spell: Callable[[str, str], str]) -> list[DeckOrders]:
    name = {card: spell(card[0], card[1]) for card in NEW_DECK}
    return [
        DeckOrders(tuple(map(name.__getitem__, one.before)), tuple(map(name.__getitem__, one.after))) for one in decks
    ]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_cards_are_read_however_they_are_spelled(spelling: str) -> None:
    decks = shuffled("uniform", 20)
    found = judge(spelled(decks, SPELLINGS[spelling]))
    assert found == judge(decks)
    assert found.not_run == ()


@pytest.mark.parametrize(
    "spell",
    [
        lambda rank, suit: f"{rank}{suit}#",
        lambda rank, suit: f"{rank}-of-{suit}",
        lambda rank, suit: rank.translate(str.maketrans("QJ", "DB")) + suit.translate(str.maketrans("SDC", "PKX")),
    ],
)
def test_names_that_are_not_read_are_named_beside_a_verdict(spell: Callable[[str, str], str]) -> None:
    found = judge(spelled(shuffled("uniform", 20), spell))
    hands, missing = found.not_run
    assert hands.ids == ("hands-dealt",)
    assert missing.ids == ("runs-of-colour", "runs-of-pictures", "runs-of-points", "runs-of-suit")
    assert found.verdict == "nothing found"
    assert f"Not examined by {', '.join(missing.ids)}: {spell('A', 'S')!r} is not the name of a card" in found.sentence


def test_the_reason_why_no_games_are_dealt_names_a_card() -> None:
    """One card is missing in all decks, or has a name that nobody reads."""
    whole = shuffled("uniform", 20)
    without = [DeckOrders(*(tuple(card for card in side if card != "AS") for side in (one.before, one.after)))
               for one in whole]  # fmt: skip
    for decks, which in (
        (without, "AS is not among these"),
        (spelled(whole, lambda rank, suit: "joker" if rank + suit == "AS" else rank + suit),
         "'joker' is not the name of a card"),
    ):  # fmt: skip
        found = judge(decks)
        why = f"the games are dealt from the 52 cards, by their names, and {which}"
        assert [one.why for one in found.not_run if "hands-dealt" in one.ids] == [why]
        assert f"Not examined by hands-dealt: {why}." in found.sentence


def test_every_procedure_ran_or_is_named() -> None:
    """Few decks, large decks, decks known in part, and names without faces."""
    whole = shuffled("uniform", 20)
    for decks in (
        whole[:1],
        whole,
        shuffled("uniform", 3, cards=20),
        first_seen(whole, 30),
        [*whole, *first_seen(whole, 30)],
    ):
        for random in (None, np.random.default_rng(1)):
            found = judge(decks, random=random)
            missing = [name for one in found.not_run for name in one.ids]
            optional = set() if random is not None else {one.id for one in SAMPLED}
            assert sorted([one.id for one in found.findings] + missing) == sorted(set(SHARES) - optional)


def test_with_an_unknown_order_in_there_is_no_verdict() -> None:
    found = judge(without_the_order_in(from_random_orders("shelves:1", 20)))
    assert (found.verdict, found.code) == ("no verdict", "order-in-not-known")
    assert found.sentence == (
        "The order in is not known for any of the 20 decks. If the order in was random and is not known, the order "
        "out of any shuffler that does not look at faces is uniform, however badly it shuffles, and shows nothing."
    )
    assert (found.decks, found.not_known, found.by_cards, found.evidence) == (0, 20, 20, None)
    assert {one.id for one in found.findings} == {"faces-at-places", "hands-dealt", "neighbours", "earlier-decks"}
    one = judge(without_the_order_in(from_random_orders("shelves:1", 1)))
    assert one.sentence.startswith("The order in is not known for the deck. ")


def test_decks_without_the_order_in_are_left_out() -> None:
    known = shuffled("shelves:10", 6)
    found, alone = judge([*without_the_order_in(shuffled("uniform", 30)), *known]), judge(known)
    assert (found.verdict, found.decks, found.not_known, found.by_cards) == ("bad", 6, 30, 36)
    assert (found.chance, found.evidence) == (alone.chance, alone.evidence)
    assert [one for one in found.findings if not one.where] == [one for one in alone.findings if not one.where]


def test_a_bad_shuffle_of_new_decks_is_bad_without_the_order_in() -> None:
    """The cards that come out show it: they depend on an order in that nobody wrote down."""
    found = judge(without_the_order_in(shuffled("shelves:1", 20)))
    assert (found.verdict, found.code, found.decks, found.by_cards) == ("bad", "", 0, 20)
    assert "faces-at-places" in {one.id for one in found.findings if one.alarm}


def test_too_few_decks_for_a_statement() -> None:
    """The decks have three cards: the least chance is 1 of 6 for one deck, 1 of 1,296 for four."""
    cards = NEW_DECK[:3]
    same = DeckOrders(cards, cards)
    found = judge([same])
    assert (found.verdict, found.code) == ("no verdict", "too-few-decks")
    assert found.sentence == (
        "One deck is too few: not even a deck that comes out as it went in could be called bad at a chance of a false "
        "alarm of 0.01."
    )
    assert judge([same] * 3).sentence.startswith("3 decks are too few: ")
    assert judge([same] * 12).verdict == "bad"
    assert judge(shuffled("uniform", 12, cards=3)).verdict == "nothing found"
    assert judge([]).sentence == "There are no decks."


def test_one_deck_of_52_can_speak_at_any_usual_level() -> None:
    assert can_speak(1, 52, 1e-12)
    assert not can_speak(0, 52, 0.5)
    assert not can_speak(1000, 1, 0.5)
    assert can_speak(40, 3, 1e-6)
    assert not can_speak(4, 3, 1e-6)


def test_decks_that_are_not_whole_are_refused() -> None:
    with pytest.raises(OrderError, match="Deck 2: Of the cards that went in, AS did not come out"):
        judge([*shuffled("cut", 1), DeckOrders(NEW_DECK, NEW_DECK[1:])])


def test_guesses_that_are_expected() -> None:
    assert guesses_expected(3) == pytest.approx(11 / 6)


def test_a_chance_that_is_too_small_for_a_number() -> None:
    same = [DeckOrders(NEW_DECK, NEW_DECK)]
    assert judge(same * 30).sentence.endswith("a chance of less than one in a billion; the limit is 0.01.")
    for level, said in ((1e-6, "billion"), (1e-9, "billion"), (1e-10, "million million"), (1e-12, "million million")):
        assert judge(same * 30, level).sentence.endswith(
            f"a chance of less than one in a {said}; the limit is {level:g}."
        )
    few = judge([DeckOrders(NEW_DECK[:3], NEW_DECK[:3])] * 6)
    assert few.sentence.endswith("a chance of at most one in 9,400; the limit is 0.01.")


def test_the_number_of_decks_in_a_block_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decks are counted in blocks; here a block has three of them, and those known in part are between the others."""
    whole = from_random_orders("sticking:0.05", 40)
    decks = [*whole[:20], *first_seen(whole[20:30], 30), *without_the_order_in(whole[30:35]), *whole[35:], whole[0]]
    nulls = Nulls(np.random.default_rng(1), 199)
    at_once = judge(decks, random=nulls)
    monkeypatch.setattr(orders, "IN_A_BLOCK", 3 * 52)
    assert judge(decks, random=nulls) == at_once
    assert {one.id for one in at_once.findings} == SHARES.keys()


def test_the_work_is_shown_while_it_is_done() -> None:
    shown: dict[str, list[int]] = {}

    @contextmanager
    def watch(words: str, total: int | None) -> Iterator[Callable[[int], None]]:
        done: list[int] = []
        yield done.append
        shown[words] = [total or 0, sum(done)]

    judge(shuffled("uniform", 7), random=Nulls(np.random.default_rng(1), 19), watch=watch)
    assert shown == {"testing decks": [len(SHARES), len(SHARES)], "gathering evidence": [7, 7]}
