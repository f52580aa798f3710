"""Every printed example of the documents, and every line of their lists of hands and prices, under its clause.

A hand is written by ranks, T for ten. Suits are dealt to it, except where Pair Plus looks at them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from controller.games import game
from controller.rules.hands import Outcome, class_name, hand_name, outcome, pictures, points, rank_key
from controller.rules.law import Law, read_law
from controller.rules.layout import Bettor, Layout, TableRules, enter_bettor
from controller.rules.payouts import Settled, Verdict, is_any_king, is_picture_pair, settle
from controller.rules.placing import place
from firmware_bridge.cards import Card
from tests.clauses.citations import cited

HALF = Fraction(1, 2)
WIN, LOSE, TIE = Outcome.WIN, Outcome.LOSE, Outcome.TIE

# Each class from best to worst: RTP's example, its name in RTP and NC, and how F3 displays it.
RANKING_LIST = (
    ("K J Q", "Three Pictures", "Three Pictures", "3P"),
    ("Q J 9", "Double Picture Nine", "Double Pictures Nine", "2P9"),
    ("Q 7 2", "Single Picture Nine", "Single Picture Nine", "P9"),
    ("6 9 4", "Nine", "Plain Nine", "9"),
    ("Q J 8", "Double Picture Eight", "Double Pictures Eight", "2P8"),
    ("Q 5 3", "Single Picture Eight", "Single Picture Eight", "P8"),
    ("9 2 7", "Eight", "Plain Eight", "8"),
    ("Q J 7", "Double Picture Seven", "Double Pictures Seven", "2P7"),
    ("J 5 2", "Single Picture Seven", "Single Picture Seven", "P7"),
    ("6 6 5", "Seven", "Plain Seven", "7"),
    ("Q J 6", "Double Picture Six", "Double Pictures Six", "2P6"),
    ("Q 4 2", "Single Picture Six", "Single Picture Six", "P6"),
    ("3 2 A", "Six", "Plain Six", "6"),
    ("Q J 5", "Double Picture Five", "Double Pictures Five", "2P5"),
    ("Q 3 2", "Single Picture Five", "Single Picture Five", "P5"),
    ("2 2 A", "Five", "Plain Five", "5"),
    ("Q J 4", "Double Picture Four", "Double Pictures Four", "2P4"),
    ("J A 3", "Single Picture Four", "Single Picture Four", "P4"),
    ("2 A A", "Four", "Plain Four", "4"),
    ("Q J 3", "Double Picture Three", "Double Pictures Three", "2P3"),
    ("Q A 2", "Single Picture Three", "Single Picture Three", "P3"),
    ("2 T A", "Three", "Plain Three", "3"),
    ("Q J 2", "Double Picture Two", "Double Pictures Two", "2P2"),
    ("Q T 2", "Single Picture Two", "Single Picture Two", "P2"),
    ("2 T T", "Two", "Plain Two", "2"),
    ("Q J A", "Double Picture One", "Double Pictures One", "2P1"),
    ("Q 9 2", "Single Picture One", "Single Picture One", "P1"),
    ("5 7 9", "One", "Plain One", "1"),
    ("Q J T", "Double Picture Zero", "Double Pictures Zero", "2P0"),
    ("Q 8 2", "Single Picture Zero", "Single Picture Zero", "P0"),
    ("4 7 9", "Zero", "Plain Zero", "0"),
)


def dealt(*texts: str) -> list[list[Card]]:
    """Return hands of one deck: the first card of a rank is a diamond, then a club, a heart, a spade."""
    suits: defaultdict[str, Iterator[str]] = defaultdict(lambda: iter("DCHS"))
    return [[Card.parse(rank + next(suits[rank])) for rank in text.split()] for text in texts]


def hand(text: str) -> list[Card]:
    """Return a hand by its ranks, or by cards of two letters each."""
    return [Card.parse(word) for word in text.split()] if len(text.split()[0]) == 2 else dealt(text)[0]


def law_of(document: str, **chosen: str) -> Law:
    return read_law(game(document), {"tie_on": "points"} | chosen if document == "P3" else chosen)


def settled(law: Law, wager: str, box: str, dealer: str) -> Settled:
    return settle(law, law.wager(wager), *dealt(box, dealer))


@pytest.mark.parametrize(
    ("clauses", "text", "total"),
    [
        ("TP 3.8.1, RTP 3.17.1, NC 3.2.1, P3 3.9.1", "A T T", 1),
        ("TP 3.8.1, RTP 3.17.1, NC 3.2.2, P3 3.9.1", "2 T T", 2),
        ("TP 3.8.1, RTP 3.17.1, NC 3.2.2, P3 3.9.1", "9 T T", 9),
        ("TP 3.8.1.1, RTP 3.17.1.1, NC 3.2.3, P3 3.9.1.1, F3 item 2", "T 3 2", 5),
        ("TP 3.8.1.1, RTP 3.17.1.1, NC 1.9, 3.2.3, P3 3.9.1.1, F3 item 2", "K Q J", 0),
        ("TP 3.8, 3.9, 3.9.1, RTP 3.17, 3.18, 3.18.1, NC 3.2, P3 3.9, 3.10, 3.10.1, F3 item 1", "4 3 2", 9),
        ("TP 3.9.2, RTP 3.18.2, NC 1.12, P3 3.10.2, F3 item 2", "6 3 A", 0),
        ("TP 3.9.2, RTP 3.18.2, NC 1.12, P3 3.10.2, F3 item 2", "9 8 K", 7),
        ("TP 3.9.2, RTP 3.18.2, NC 1.12, P3 3.10.2, F3 item 2", "9 9 2", 0),
        ("TP 3.9.2, RTP 3.18.2, NC 1.12, P3 3.10.2, F3 item 2", "9 9 9", 7),
    ],
)
def test_points_are_the_last_figure_of_the_sum(clauses: str, text: str, total: int) -> None:
    assert points(hand(text)) == total, clauses


@pytest.mark.parametrize(
    "clauses", ["TP 1.1.1, 3.8.1.1", "RTP 1.1.2, 3.17.1.1", "NC 1.9", "P3 1.1.2, 3.9.1.1", "F3 item 3"]
)
def test_jacks_queens_and_kings_are_pictures_and_tens_are_none(clauses: str) -> None:
    assert [pictures(hand(text)) for text in ("J Q K", "J Q T", "K T 9", "T T A")] == [3, 2, 1, 0], clauses


@pytest.mark.parametrize(("place", "line"), list(enumerate(RANKING_LIST)), ids=lambda value: str(value))
def test_every_line_of_the_ranking_lists_is_named_and_ranked(place: int, line: tuple[str, str, str, str]) -> None:
    """RTP 3.22 (its Four read as a two and two aces), NC 3.3 and Appendix C, F3 items 4 and 7."""
    text, *names = line
    assert [str(hand_name(hand(text), game(document).names)) for document in ("RTP", "NC", "F3")] == names
    assert rank_key(hand(text)) == len(RANKING_LIST) - 1 - place


@pytest.mark.parametrize("document", ["TP", "RTP", "NC", "P3", "F3"])
def test_every_class_has_its_own_name(document: str) -> None:
    assert len({str(class_name(key, game(document).names)) for key in range(31)}) == len(RANKING_LIST) == 31


@pytest.mark.parametrize(("text", "shown"), [("K 5 3", "P8"), ("K Q T", "2P0"), ("J J J", "3P"), ("4 2 2", "8")])
def test_f3_items_3_and_4_a_hand_is_displayed_as_its_pictures_and_its_points(text: str, shown: str) -> None:
    assert str(hand_name(hand(text), game("F3").names)) == shown


@pytest.mark.parametrize(
    ("clauses", "box", "dealer", "comes_out"),
    [
        ("TP 3.14, RTP 3.20, NC Appendix C, P3 3.14", "K K 9", "Q J 9", TIE),
        ("TP 3.10, NC 3.2, P3 3.11", "K Q J", "Q J 9", WIN),
        ("P3 3.11.1", "K Q J", "J J J", TIE),
        ("TP 3.12", "K Q J", "T T T", WIN),
        ("TP 3.11, NC 3.3, P3 3.12, F3 item 1", "4 3 2", "K Q 8", WIN),
        ("TP 3.11, NC 3.3, P3 3.12, F3 item 1", "T 7 3", "A T T", LOSE),
        ("TP 3.12, NC 3.13.1, P3 3.13, F3 item 1", "K Q 8", "K 5 3", WIN),
        ("TP 3.12, NC 3.13.2, P3 3.13, F3 item 1", "4 2 2", "K 5 3", LOSE),
        ("TP 3.13, RTP 1.1.5, NC 3.13.3, P3 3.13.1, F3 item 6", "9 5 4", "8 6 4", TIE),
        ("F3 item 5", "J J K", "Q J 9", WIN),
        ("F3 item 5", "Q J 9", "Q 7 2", WIN),
        ("F3 item 5", "6 9 4", "2 2 4", WIN),
    ],
)
def test_two_hands_compare(clauses: str, box: str, dealer: str, comes_out: Outcome) -> None:
    assert outcome(*dealt(box, dealer)) is comes_out, clauses


@pytest.mark.parametrize("clauses", ["TP 3.15", "RTP 3.21", "NC 1.9", "P3 3.16", "F3 item 5"])
def test_suits_never_rank(clauses: str) -> None:
    assert outcome(hand("KS QS 9S"), hand("KD QC 9H")) is TIE, clauses


@pytest.mark.parametrize(
    ("clauses", "document", "returned_under"),
    [
        ("TP 3.7, 3.13, 4.1", "TP", "TP 3.13"),
        ("RTP 1.1.5, 3.3, 3.16, 4.1", "RTP", "RTP 1.1.5"),
        ("NC 1.7, 1.8, 3.1, 3.13, 3.13.1 to 3.13.3, 4.1", "NC", "NC 3.13.3"),
        ("P3 3.3, 3.8, 3.13.1, 4.1", "P3", "P3 3.13.1"),
    ],
)
def test_the_main_wager_pays_half_on_six_points_of_any_kind(clauses: str, document: str, returned_under: str) -> None:
    law = law_of(document)
    rows = [("Q J 9", "Q 7 2", 1), ("3 2 A", "2 2 A", HALF), ("Q 4 2", "3 2 A", HALF), ("Q J 6", "9 7 9", HALF)]
    for box, dealer, net in rows:
        won = settled(law, "main", box, dealer)
        assert (won.net, won.clause in cited(clauses)) == (net, True), clauses
    lost = settled(law, "main", "2 2 A", "3 2 A")
    assert (lost.verdict, lost.clause in cited(clauses)) == (Verdict.LOST, True), clauses
    equal = settled(law, "main", "K K 9", "Q J 9")
    assert (equal.verdict, equal.clause) == (Verdict.RETURNED, returned_under)
    assert equal.net == 0


@pytest.mark.parametrize(
    ("clauses", "document", "net"),
    [
        ("TP 1.1.3, 3.13.1, 4.1", "TP", 8),
        ("RTP 1.1.6, 3.19, 4.1", "RTP", 8),
        ("NC 1.18, 3.13.3, 3.13.4, 4.1", "NC", 8),
        ("P3 1.1.6, 4.1", "P3", 10),
    ],
)
def test_the_tie_wager_is_paid_on_points_though_the_main_wager_wins(clauses: str, document: str, net: int) -> None:
    law = law_of(document)
    for box, dealer, came_to in (("Q J 9", "Q 7 2", net), ("Q J 9", "K K 9", net), ("Q J 9", "Q J 8", -1)):
        tie = settled(law, "tie", box, dealer)
        assert tie.net == came_to, clauses
        assert tie.clause in cited(clauses)
    assert settled(law, "main", "Q J 9", "Q 7 2").verdict is Verdict.WON


@pytest.mark.parametrize(
    ("clauses", "document"), [("TP 3.8", "TP"), ("RTP 3.17", "RTP"), ("NC 3.2", "NC"), ("P3 3.9", "P3")]
)
def test_three_pictures_tie_with_no_points_unless_read_otherwise(clauses: str, document: str) -> None:
    hands = ("K Q J", "4 7 9")
    assert settled(law_of(document), "tie", *hands).verdict is Verdict.WON, clauses
    other = law_of(document, tie_against_three_pictures="loses")
    assert settled(other, "tie", *hands).verdict is Verdict.LOST, clauses


@pytest.mark.parametrize(("reading", "net"), [("instead", 400), ("besides", 410)])
@pytest.mark.parametrize("tie_on", ["points", "ranking"])
def test_p3_1_1_1_3_13_2_and_3_15_the_same_three_ranks_are_a_perfect_tie(reading: str, net: int, tie_on: str) -> None:
    """P3 4.1 has the price, P3 1.1.1 the example."""
    law = law_of("P3", tie_on=tie_on, perfect_tie=reading)
    assert settled(law, "tie", "A K Q", "A K Q").net == net
    assert settled(law, "tie", "A K Q", "A K J").net == 10
    assert settled(law, "main", "A K Q", "A K Q").verdict is Verdict.RETURNED


@pytest.mark.parametrize(("tie_on", "verdict"), [("points", Verdict.WON), ("ranking", Verdict.LOST)])
def test_p3_1_1_6_against_3_13_1_the_casino_chooses_what_the_tie_wager_follows(tie_on: str, verdict: Verdict) -> None:
    assert settled(law_of("P3", tie_on=tie_on), "tie", "Q J 9", "Q 7 2").verdict is verdict


OTHER = "9 9 5"  # wins none of these wagers, and loses to most hands


@pytest.mark.parametrize(
    ("clauses", "text", "net"),
    [
        ("RTP 1.1.4.6, 4.2", "K K K", 188),
        ("RTP 1.1.4.5, 4.2", "Q Q Q", 128),
        ("RTP 1.1.4.4, 4.2", "J J J", 88),
        ("RTP 1.1.4.3, 4.2", "K J Q", 18),
        ("RTP 1.1.4.3, 4.2", "K K Q", 18),
        ("RTP 1.1.4.1, 4.2", "J J T", 8),
        ("RTP 1.1.4.1, 4.2", "K K 5", 8),
        ("RTP 1.1.4.2, 1.1.4.2.1, 4.2", "K T 9", 1),
        ("RTP 1.1.4.2, 1.1.4.2.2, 4.2", "K Q 9", 1),
        ("RTP 1.1.4.2, 1.1.4.2.3, 4.2", "K J 9", 1),
        ("RTP 1.1.4", "Q J 9", -1),
        ("RTP 1.1.4", "Q 7 2", -1),
    ],
)
def test_royal_pictures_pay_the_one_class_of_the_boxs_hand(clauses: str, text: str, net: int) -> None:
    law = law_of("RTP")
    assert settled(law, "royal", text, OTHER).net == net, clauses
    assert settled(law, "royal", OTHER, text).net == -1, clauses


def test_rtp_1_1_4_royal_pictures_do_not_ask_how_the_main_wager_goes() -> None:
    law = law_of("RTP")
    for dealer, main in ((OTHER, Verdict.WON), ("K J 5", Verdict.RETURNED), ("K K Q", Verdict.LOST)):
        assert settled(law, "royal", "K Q 5", dealer).net == 1
        assert settled(law, "main", "K Q 5", dealer).verdict is main


@pytest.mark.parametrize(
    ("clauses", "text", "net"),
    [
        ("P3 1.1.4.1, 4.2", "K K K", 250),
        ("P3 1.1.4.2, 4.2", "Q Q Q", 250),
        ("P3 1.1.4.3, 4.2", "J J J", 250),
        ("P3 1.1.4.4, 4.2", "K Q J", 25),
        ("P3 1.1.4.4, 4.2", "K K J", 25),
        ("P3 1.1.4.5, 4.2", "Q Q T", 15),
        ("P3 1.1.4", "K Q T", -1),
    ],
)
def test_prosperity_pictures_pay_one_class_of_the_hand_they_name(clauses: str, text: str, net: int) -> None:
    """P3 3.7: the Dealer's hand is judged for it too."""
    law = law_of("P3")
    assert settled(law, "player_prosperity", text, OTHER).net == net, clauses
    assert settled(law, "player_prosperity", OTHER, text).net == -1, clauses
    assert settled(law, "dealer_prosperity", OTHER, text).net == net, clauses
    assert settled(law, "dealer_prosperity", text, OTHER).net == -1, clauses


def test_rtp_1_1_4_1_and_1_1_4_2_no_hand_is_both_a_picture_pair_and_any_king() -> None:
    assert not [text for text, *_ in RANKING_LIST if is_picture_pair(hand(text)) and is_any_king(hand(text))]
    assert is_picture_pair(hand("K K 5"))
    assert not is_any_king(hand("K K 5"))


@pytest.mark.parametrize(
    ("clauses", "box", "dealer", "net"),
    [
        ("P3 1.1.3, 4.3", "J 9 7", "J J 6", 5),
        ("P3 1.1.3, 4.3", "J J 6", "J 9 7", 5),
        ("P3 4.3", "K Q 2", "Q K 3", 100),
        ("P3 4.3", "K K Q", "K K J", 100),
        ("P3 4.3", "K Q J", "J Q K", 500),
        ("P3 1.1.3", "K 9 7", "J J 6", -1),
        ("P3 1.1.3", "9 9 7", "9 7 7", -1),
    ],
)
def test_picture_perfect_counts_each_picture_once(clauses: str, box: str, dealer: str, net: int) -> None:
    assert settled(law_of("P3"), "picture_perfect", box, dealer).net == net, clauses


@pytest.mark.parametrize(
    ("clauses", "document"), [("TP 1.1.2, 4.1", "TP"), ("NC 1.17, 3.9, 4.1", "NC"), ("F3 item 3, O1", "F3")]
)
def test_the_three_pictures_wager_looks_at_its_own_hand(clauses: str, document: str) -> None:
    law = law_of(document)
    for box, dealer, came_to in (("K J Q", "4 7 9", 16), ("4 7 9", "K J Q", -1), ("K J T", "4 7 9", -1)):
        wager = settled(law, "three_pictures", box, dealer)
        assert wager.net == came_to, clauses
        assert wager.clause in cited(clauses)


def test_nc_1_17_in_the_other_reading_the_dealers_three_pictures_win_too() -> None:
    law = law_of("NC", three_pictures_of="either")
    assert [settled(law, "three_pictures", *hands).net for hands in (("4 7 9", "K J Q"), ("4 7 9", "K J T"))] == [
        16,
        -1,
    ]


@pytest.mark.parametrize(
    ("clauses", "player", "banker", "win", "lose"),
    [
        ("F3 PM3, O1", "Q J 9", "Q 7 2", 1, -1),
        ("F3 PM3, O1", "Q 7 2", "Q J 9", -1, 1),
        ("F3 O2", "Q J 6", "2 2 A", HALF, -1),
        ("F3 O2", "2 2 A", "Q 4 2", -1, HALF),
        ("F3 O1", "Q J 6", "Q J 7", -1, 1),
        ("F3 item 6", "K K 9", "Q J 9", 0, 0),
        ("F3 item 6", "Q J 6", "K K 6", 0, 0),
    ],
)
def test_win_and_lose_mirror_each_other(
    clauses: str, player: str, banker: str, win: Fraction | int, lose: Fraction | int
) -> None:
    law = law_of("F3")
    assert (settled(law, "win", player, banker).net, settled(law, "lose", player, banker).net) == (win, lose), clauses


def test_f3_item_6_and_o1_the_tie_wager_needs_equal_ranking_by_default() -> None:
    by_ranking, by_points = law_of("F3"), law_of("F3", tie_on="points")
    assert settled(by_ranking, "tie", "K K 9", "Q J 9").net == 8
    assert settled(by_ranking, "tie", "K K 9", "Q 7 2").net == -1
    assert settled(by_points, "tie", "K K 9", "Q 7 2").net == 8


@pytest.mark.parametrize(
    ("text", "net"),
    [
        ("TS JS QS", 40),
        ("QH KH AH", 40),
        ("AC 2C 3C", 40),
        ("TS TH TD", 30),
        ("TS JH QS", 6),
        ("QH KD AH", 6),
        ("AC 2D 3C", 6),
        ("2D 7D QD", 3),
        ("KD AD 2D", 3),
        ("TD TC QD", 1),
        ("KD AC 2D", -1),
        ("2D 7C QD", -1),
    ],
)
def test_f3_item_8_and_o3_pair_plus_pays_the_best_of_its_classes(text: str, net: int) -> None:
    law, cards, other = law_of("F3"), hand(text), hand("2S 5C 9H")
    assert settle(law, law.wager("pair_plus"), cards, other).net == net
    assert settle(law, law.wager("banker_pair_plus"), other, cards).net == net


@pytest.mark.parametrize(
    ("clause", "document", "wagers"),
    [
        ("TP 2.2.1", "TP", "main"),
        ("TP 2.2.2", "TP", "tie"),
        ("TP 2.2.3", "TP", "three_pictures"),
        ("RTP 2.2.1", "RTP", "main"),
        ("RTP 2.2.2", "RTP", "tie"),
        ("RTP 2.2.3", "RTP", "royal"),
        ("P3 2.2.1", "P3", "main"),
        ("P3 2.2.2", "P3", "tie"),
        ("P3 2.2.3", "P3", "player_prosperity dealer_prosperity"),
        ("P3 2.2.4", "P3", "picture_perfect"),
        ("F3 PM1, PM4", "F3", "win lose tie pair_plus"),
    ],
)
def test_every_box_takes_the_wagers_for_which_the_layout_has_places(clause: str, document: str, wagers: str) -> None:
    law = law_of(document)
    rules = TableRules(boxes=law.game.boxes[-1])
    main = law.wagers[0].id
    for wager, box in product(wagers.split(), range(1, rules.boxes + 1)):
        layout = enter_bettor(rules, Layout(), Bettor("ann", box))
        if wager != main:
            layout = place(law, rules, layout, "ann", main, box, 10, betting_open=True).layout
        layout = place(law, rules, layout, "ann", wager, box, 5, betting_open=True).layout
        assert [(bet.wager, bet.amount) for bet in layout.on(box)][-1] == (wager, 5), clause


def test_f3_pm4_on_the_banker_lies_pair_plus_alone() -> None:
    assert [wager.id for wager in law_of("F3").wagers if wager.on_dealer] == ["banker_pair_plus"]
