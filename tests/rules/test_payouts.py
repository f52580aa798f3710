"""The result of each wager of each game, by hand: TP 4.1, RTP 4.1 and 4.2, NC 4.1, P3 4.1 to 4.3, F3 O1 to O3."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import game
from controller.games.wager_specification import Looks, Needs
from controller.rules.law import Law, SettingError, read_law
from controller.rules.payouts import Settled, Verdict, settle
from firmware_bridge.cards import DECK, Card
from tests.rules.irregularity_cells import GAME_IDS

Net: TypeAlias = Fraction | int
HALF: Final = Fraction(1, 2)
WON, LOST, RETURNED = Verdict.WON, Verdict.LOST, Verdict.RETURNED
MUST: Final = {"P3": {"tie_on": "points"}}  # without these a table cannot open
two_hands = st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True).map(lambda six: (six[:3], six[3:]))


def hand(text: str) -> list[Card]:
    return [Card.parse(word) for word in text.split()]


def law_of(game_id: str, **chosen: str) -> Law:
    return read_law(game(game_id), MUST.get(game_id, {}) | chosen)


def settled(game_id: str, wager: str, box: str, dealer: str, **chosen: str) -> Settled:
    law = law_of(game_id, **chosen)
    return settle(law, law.wager(wager), hand(box), hand(dealer))


def in_short(result: Settled) -> tuple[Verdict, Net, str]:
    return result.verdict, result.net, result.clause


# The main wager: the price of a win, and the clauses by which it is lost and returned.
MAIN: Final = [
    ("TP", "main", "TP 4.1", "TP 3.7", "TP 3.13"),
    ("RTP", "main", "RTP 4.1", "RTP 3.16", "RTP 1.1.5"),
    ("NC", "main", "NC 4.1", "NC 3.13.2", "NC 3.13.3"),
    ("P3", "main", "P3 4.1", "P3 3.8", "P3 3.13.1"),
]
each_main = pytest.mark.parametrize(
    ("game_id", "wager", "paid", "lost", "returned"), MAIN, ids=[one[0] for one in MAIN]
)


@each_main
@pytest.mark.parametrize(
    ("box", "dealer"),
    [
        ("2C 3D 4H", "2D 3H 3S"),
        ("KC 9D TH", "9C TD TS"),  # equal points: more pictures
        ("KC QD 8H", "KD 8C TS"),
        ("JC QD KH", "KC QS 9H"),  # three pictures above all
        ("9C TD TH", "KD QC 8S"),  # points before pictures
    ],
)
def test_tp_4_1_rtp_4_1_nc_4_1_p3_4_1_a_higher_ranking_is_paid_even_money(
    game_id: str, wager: str, paid: str, lost: str, returned: str, box: str, dealer: str
) -> None:
    assert in_short(settled(game_id, wager, box, dealer)) == (WON, 1, paid)
    assert in_short(settled(game_id, wager, dealer, box)) == (LOST, -1, lost)


@each_main
@pytest.mark.parametrize("box", ["AC 2D 3H", "KC 6D TH", "KC QD 6H", "9C 9D 8H"])
def test_reading_14_a_win_on_six_points_pays_half_with_any_pictures(
    game_id: str, wager: str, paid: str, lost: str, returned: str, box: str
) -> None:
    """TP 4.1, RTP 4.1, NC 4.1, P3 4.1."""
    assert in_short(settled(game_id, wager, box, "AH 2S 2H")) == (WON, HALF, paid)


@each_main
def test_reading_14_the_six_must_be_the_winners_own(
    game_id: str, wager: str, paid: str, lost: str, returned: str
) -> None:
    assert in_short(settled(game_id, wager, "AC 2D 4H", "AH 2S 3H")) == (WON, 1, paid)
    assert in_short(settled(game_id, wager, "AH 2S 3H", "AC 2D 4H")) == (LOST, -1, lost)
    assert in_short(settled(game_id, wager, "KC 2D 4H", "AH 2S 3H")) == (WON, HALF, paid), "six against six"


@each_main
@pytest.mark.parametrize(
    ("box", "dealer"),
    [("KC KD 5H", "QC JD 5S"), ("JC JD JH", "KC QD QH"), ("AC 2D 3H", "TC TD 6H"), ("9C AD TH", "TC TD TS")],
)
def test_tp_3_13_rtp_1_1_5_nc_3_13_3_p3_3_13_1_an_equal_ranking_returns_the_stake(
    game_id: str, wager: str, paid: str, lost: str, returned: str, box: str, dealer: str
) -> None:
    own = "P3 3.11.1" if game_id == "P3" and box == "JC JD JH" else returned  # three pictures on both sides
    assert in_short(settled(game_id, wager, box, dealer)) == (RETURNED, 0, own)


@pytest.mark.parametrize(
    ("box", "dealer", "clause"),
    [
        ("KC QD JH", "KD QH JS", "P3 3.13.2"),  # a Perfect Tie, of three pictures too
        ("KC QD JH", "KD KH JS", "P3 3.11.1"),
        ("AC KD QC", "AH KS QD", "P3 3.13.2"),
        ("AC KD QC", "AH JS QD", "P3 3.13.1"),
    ],
)
def test_p3_3_11_1_3_13_1_3_13_2_each_tie_returns_the_wager_by_its_own_clause(
    box: str, dealer: str, clause: str
) -> None:
    assert in_short(settled("P3", "main", box, dealer)) == (RETURNED, 0, clause)


# The clauses by which a Tie wager is paid on equal points only, on an equal ranking, and lost.
TIE: Final = [
    ("TP", "TP 3.13.1", "TP 3.13.1", "TP 3.13.1"),
    ("RTP", "RTP 3.19", "RTP 3.19", "RTP 1.1.6"),
    ("NC", "NC 3.13.4", "NC 3.13.3", "NC 1.18"),
]


@pytest.mark.parametrize(("game_id", "on_points", "on_ranking", "lost"), TIE)
@pytest.mark.parametrize(
    ("box", "dealer", "equal"),
    [
        ("KC QD 5H", "2C 3D TH", "points"),  # the main wager wins
        ("2C 3D TH", "KC QD 5H", "points"),  # and here it loses
        ("KC KD 5H", "QC JD 5S", "ranking"),  # and here it is returned
        ("JC JD JH", "KC QD QH", "ranking"),
        ("KC QD 5H", "KD QC 6H", "nothing"),
    ],
)
def test_reading_1_a_tie_wager_wins_on_equal_points_with_any_ranking(
    game_id: str, on_points: str, on_ranking: str, lost: str, box: str, dealer: str, equal: str
) -> None:
    """TP 3.13.1, RTP 3.19, NC 3.13.3, NC 3.13.4."""
    expected = {"points": (WON, 8, on_points), "ranking": (WON, 8, on_ranking), "nothing": (LOST, -1, lost)}
    assert in_short(settled(game_id, "tie", box, dealer)) == expected[equal]


@pytest.mark.parametrize("option", ["pays", "loses"])
def test_nc_3_13_3_three_pictures_on_both_sides_tie_by_their_ranking(option: str) -> None:
    result = settled("NC", "tie", "JC JD JH", "KC QD QH", tie_against_three_pictures=option)
    assert in_short(result) == (WON, 8, "NC 3.13.3")


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3"])
@pytest.mark.parametrize(("box", "dealer"), [("JC QD KH", "2C 8D TH"), ("TC TD KH", "JC QD KC")])
def test_reading_2_three_pictures_against_another_hand_of_no_points(game_id: str, box: str, dealer: str) -> None:
    """TP 3.8, RTP 3.17, NC 3.2, P3 3.9."""
    price = 10 if game_id == "P3" else 8
    assert settled(game_id, "tie", box, dealer).net == price
    assert settled(game_id, "tie", box, dealer, tie_against_three_pictures="pays").net == price
    assert settled(game_id, "tie", box, dealer, tie_against_three_pictures="loses").verdict is LOST


@pytest.mark.parametrize("game_id", ["TP", "RTP", "NC", "P3"])
@pytest.mark.parametrize("option", ["pays", "loses"])
def test_reading_2_concerns_nothing_but_three_pictures_on_one_side(game_id: str, option: str) -> None:
    for box, dealer in (("JC QD KH", "KC KS QC"), ("KC QD TH", "2C 8D TS"), ("5C TD TH", "KC KD 5S")):
        assert settled(game_id, "tie", box, dealer, tie_against_three_pictures=option).verdict is WON
    assert settled(game_id, "tie", "5C TD TH", "KC KD 6S", tie_against_three_pictures=option).verdict is LOST


@pytest.mark.parametrize(("game_id", "paid", "lost"), [("TP", "TP 4.1", "TP 1.1.2"), ("NC", "NC 4.1", "NC 1.17")])
def test_tp_1_1_2_nc_1_17_three_pictures_are_paid_on_the_boxes_own_hand(game_id: str, paid: str, lost: str) -> None:
    assert in_short(settled(game_id, "three_pictures", "JC QD KH", "2C 3D 4H")) == (WON, 16, paid)
    assert in_short(settled(game_id, "three_pictures", "JC QD KH", "KC KD KS")) == (WON, 16, paid)
    assert in_short(settled(game_id, "three_pictures", "2C 3D 4H", "JC QD KH")) == (LOST, -1, lost)
    assert in_short(settled(game_id, "three_pictures", "JC QD TH", "2C 3D 4H")) == (LOST, -1, lost)


@pytest.mark.parametrize(
    ("option", "box", "dealer", "verdict"),
    [
        ("own", "2C 3D 4H", "JC QD KH", LOST),
        ("either", "2C 3D 4H", "JC QD KH", WON),
        ("own", "JC QD KH", "2C 3D 4H", WON),
        ("either", "JC QD KH", "2C 3D 4H", WON),
        ("either", "JC QD TH", "2C 3D 4H", LOST),
    ],
)
def test_reading_13_nc_1_17_3_9_whose_three_pictures(option: str, box: str, dealer: str, verdict: Verdict) -> None:
    result = settled("NC", "three_pictures", box, dealer, three_pictures_of=option)
    assert in_short(result)[:2] == (verdict, 16 if verdict is WON else -1)


@pytest.mark.parametrize(
    ("box", "net"),
    [
        ("KC KD KH", 188),
        ("QC QD QH", 128),
        ("JC JD JH", 88),
        ("KC QD JH", 18),
        ("KC KD JH", 18),  # reading 10: neither a pair nor any king
        ("KC KD 5H", 8),
        ("QC QD 5H", 8),
        ("JC JD TH", 8),
        ("KC 4D 5H", 1),
        ("KC QD 5H", 1),  # reading 9
        ("KC JD TH", 1),
        ("QC JD 5H", -1),
        ("QC 4D 5H", -1),
        ("TC TD TH", -1),
    ],
)
def test_rtp_4_2_royal_pictures_pays_the_one_class_of_the_boxes_own_hand(box: str, net: int) -> None:
    result = settled("RTP", "royal", box, "KS 2S 3S")
    assert in_short(result) == ((WON, net, "RTP 4.2") if net > 0 else (LOST, -1, "RTP 1.1.4"))


PROSPERITY: Final = [
    ("KC KD KH", 250),
    ("QC QD QH", 250),
    ("JC JD JH", 250),
    ("KC QD JH", 25),  # reading 6: only the highest class
    ("KC KD JH", 25),
    ("QC QD 5H", 15),
    ("JC JD TH", 15),
    ("KC QD 5H", -1),
    ("KC 4D 5H", -1),
    ("9C 9D 9H", -1),
]


@pytest.mark.parametrize(("of", "other"), [("player", "dealer"), ("dealer", "player")])
@pytest.mark.parametrize(("text", "net"), PROSPERITY)
def test_p3_4_2_prosperity_pictures_pays_on_its_own_hand_and_not_on_the_other(
    text: str, net: int, of: str, other: str
) -> None:
    hands = {of: text, other: "2S 3S 4S"}
    result = settled("P3", f"{of}_prosperity", hands["player"], hands["dealer"])
    assert in_short(result) == ((WON, net, "P3 4.2") if net > 0 else (LOST, -1, "P3 1.1.4"))
    assert settled("P3", f"{other}_prosperity", hands["player"], hands["dealer"]).verdict is LOST


@pytest.mark.parametrize(
    ("box", "dealer", "net"),
    [
        ("JC 9D 7S", "JD JH 6S", 5),
        ("JC QD 7S", "QH JH 6S", 100),
        ("KC KD 7S", "KH KS 6S", 100),
        ("KC QD JH", "JC KD QH", 500),
        ("KC KD QH", "KH KS QC", 500),
        ("KC QD 7S", "JC JD 6S", -1),
        ("TC 9D 7S", "TD 9H 7C", -1),
    ],
)
def test_p3_4_3_picture_perfect_pays_by_how_many_pictures_match(box: str, dealer: str, net: int) -> None:
    result = settled("P3", "picture_perfect", box, dealer)
    assert in_short(result) == ((WON, net, "P3 4.3") if net > 0 else (LOST, -1, "P3 1.1.3"))


@pytest.mark.parametrize(
    ("box", "dealer", "points", "ranking"),
    [
        ("KC KD 5H", "QC JD 5S", 10, 10),  # the ranking is equal
        ("KC QD 5H", "2C 3D TH", 10, -1),  # only the points
        ("JC QD KH", "KC KS QC", 10, 10),  # P3 3.11.1
        ("2C 3D TH", "2D 4H TS", -1, -1),
    ],
)
def test_reading_3_p3_1_1_6_4_1_3_13_1_a_tie_on_points_or_on_ranking(
    box: str, dealer: str, points: int, ranking: int
) -> None:
    for option, net in (("points", points), ("ranking", ranking)):
        result = settled("P3", "tie", box, dealer, tie_on=option)
        assert in_short(result) == ((WON, net, "P3 4.1") if net > 0 else (LOST, -1, "P3 1.1.6"))


def test_reading_3_p3_no_tie_is_settled_before_it_is_chosen() -> None:
    law = read_law(game("P3"))
    with pytest.raises(SettingError, match="tie_on must be chosen"):
        settle(law, law.wager("tie"), hand("KC KD 5H"), hand("KH KS 5S"))
    assert settle(law, law.wager("main"), hand("KC KD 5H"), hand("KH KS 5S")).verdict is RETURNED


@pytest.mark.parametrize("tie_on", ["points", "ranking"])
@pytest.mark.parametrize("three_pictures", ["pays", "loses"])
@pytest.mark.parametrize(
    ("box", "dealer"), [("AC KD QH", "AH KS QD"), ("5C 5D 5H", "5S 5H 5D"), ("KC QD JH", "JC QH KD")]
)
def test_reading_4_p3_1_1_1_3_15_a_perfect_tie_is_paid_instead_or_besides(
    box: str, dealer: str, three_pictures: str, tie_on: str
) -> None:
    for option, net in (("instead", 400), ("besides", 410)):
        result = settled(
            "P3", "tie", box, dealer, perfect_tie=option, tie_on=tie_on, tie_against_three_pictures=three_pictures
        )
        assert in_short(result) == (WON, net, "P3 4.1")


def test_reading_5_p3_1_1_1_other_pictures_are_not_a_perfect_tie() -> None:
    assert settled("P3", "tie", "KC QD JH", "KD KH JC").net == 10


@pytest.mark.parametrize(
    ("box", "banker", "win", "lose"),
    [
        ("2C 3D 4H", "2D 3H 3S", 1, -1),
        ("2D 3H 3S", "2C 3D 4H", -1, 1),
        ("AC 2D 3H", "AH 2S 2H", HALF, -1),
        ("KC QD 6H", "AH 2S 2H", HALF, -1),
        ("AH 2S 2H", "KC QD 6H", -1, HALF),
        ("AH 2S 2H", "AC 2D 3H", -1, HALF),
        ("AC 2D 3H", "AH 2S 4H", -1, 1),
        ("KC 6D TH", "AC 2D 3H", HALF, -1),
    ],
)
def test_f3_o1_o2_win_and_lose_each_pay_half_where_the_winning_hand_has_six_points(
    box: str, banker: str, win: Net, lose: Net
) -> None:
    for wager, net in (("win", win), ("lose", lose)):
        clause = "F3 PM3" if net < 0 else "F3 O1" if net == 1 else "F3 O2"
        assert in_short(settled("F3", wager, box, banker)) == (WON if net > 0 else LOST, net, clause)


@pytest.mark.parametrize("wager", ["win", "lose"])
def test_f3_item_6_an_equal_ranking_refunds_win_and_lose(wager: str) -> None:
    assert in_short(settled("F3", wager, "KC KD 5H", "QC JD 5S")) == (RETURNED, 0, "F3 item 6")


@pytest.mark.parametrize(
    ("option", "box", "banker", "verdict"),
    [
        ("ranking", "KC KD 5H", "QC JD 5S", WON),
        ("points", "KC KD 5H", "QC JD 5S", WON),
        ("ranking", "KC QD 5H", "2C 3D TH", LOST),
        ("points", "KC QD 5H", "2C 3D TH", WON),
        ("ranking", "JC QD KH", "2C 8D TH", LOST),
        ("points", "2C 3D TH", "2D 4H TS", LOST),
    ],
)
def test_reading_16_f3_item_6_a_tie_on_ranking_or_on_points(
    option: str, box: str, banker: str, verdict: Verdict
) -> None:
    expected = (WON, 8, "F3 O1") if verdict is WON else (LOST, -1, "F3 item 6")
    assert in_short(settled("F3", "tie", box, banker, tie_on=option)) == expected


def test_reading_16_f3_item_6_by_default_on_ranking() -> None:
    assert settled("F3", "tie", "KC QD 5H", "2C 3D TH").verdict is LOST


def test_reading_15_f3_o1_3p_is_bet_on_the_positions_own_hand() -> None:
    assert in_short(settled("F3", "three_pictures", "JC QD KH", "2C 3D 4H")) == (WON, 16, "F3 O1")
    assert in_short(settled("F3", "three_pictures", "2C 3D 4H", "JC QD KH")) == (LOST, -1, "F3 item 3")


PAIR_PLUS: Final = [
    ("TC JC QC", 40),
    ("QS KS AS", 40),
    ("AD 2D 3D", 40),
    ("TC TD TH", 30),
    ("TC JD QH", 6),
    ("QS KD AS", 6),
    ("AS 2D 3S", 6),
    ("2C 7C QC", 3),
    ("KS AS 2S", 3),
    ("TC TD QC", 1),
    ("KS AD 2S", -1),
    ("2C 7D QC", -1),
]


@pytest.mark.parametrize(("text", "net"), PAIR_PLUS)
def test_f3_item_8_o3_pair_plus_pays_on_a_players_hand_and_on_the_bankers(text: str, net: int) -> None:
    expected = (WON, net, "F3 O3") if net > 0 else (LOST, -1, "F3 item 8")
    assert in_short(settled("F3", "pair_plus", text, "4H 7H 9D")) == expected
    assert in_short(settled("F3", "banker_pair_plus", "4H 7H 9D", text)) == expected
    assert settled("F3", "pair_plus", "4H 7H 9D", text).verdict is LOST
    assert settled("F3", "banker_pair_plus", text, "4H 7H 9D").verdict is LOST


def test_f3_pm4_the_bankers_pair_plus_lies_on_no_box_and_every_other_wager_does() -> None:
    on_dealer = [(name, wager.id) for name in GAME_IDS for wager in game(name).wagers if wager.on_dealer]
    assert on_dealer == [("F3", "banker_pair_plus")]


def test_reading_44_tp_3_3_rtp_3_5_nc_3_9_p3_3_4_the_main_wager_a_side_wager_needs() -> None:
    needs = {"TP": Needs.OWN_MAIN, "RTP": Needs.ANY_MAIN, "NC": Needs.ANY_MAIN, "P3": Needs.OWN_MAIN}
    for name in GAME_IDS:
        for wager in game(name).wagers:
            assert wager.needs is (Needs.NOTHING if wager.main else needs.get(name, Needs.NOTHING))
    mains = {name: {wager.id for wager in game(name).wagers if wager.main} for name in GAME_IDS}
    assert mains == {name: {"win", "lose"} if name == "F3" else {"main"} for name in GAME_IDS}


@pytest.mark.parametrize("game_id", GAME_IDS)
@given(pair=two_hands)
def test_each_wager_has_a_verdict_with_its_net_and_a_clause_of_its_document(
    game_id: str, pair: tuple[list[Card], list[Card]]
) -> None:
    law = law_of(game_id)
    for wager in law.wagers:
        result = settle(law, wager, *pair)
        assert result.clause.startswith(f"{game_id} ")
        assert result.because
        signs = {WON: result.net > 0, LOST: result.net == -1, RETURNED: result.net == 0 and wager.main}
        assert signs[result.verdict]


@pytest.mark.parametrize("game_id", GAME_IDS)
@given(pair=two_hands)
def test_a_wager_on_one_hand_is_settled_without_the_other(game_id: str, pair: tuple[list[Card], list[Card]]) -> None:
    law, (box, dealer) = law_of(game_id), pair
    for wager in law.wagers:
        if wager.looks is Looks.BOX:
            assert settle(law, wager, box, []) == settle(law, wager, box, dealer)
        elif wager.looks is Looks.DEALER:
            assert settle(law, wager, [], dealer) == settle(law, wager, box, dealer)


@given(pair=two_hands)
def test_f3_o1_what_win_gains_lose_loses_and_both_are_refunded_together(pair: tuple[list[Card], list[Card]]) -> None:
    law, (box, banker) = law_of("F3"), pair
    win, lose = (settle(law, law.wager(name), box, banker) for name in ("win", "lose"))
    turned = {WON: LOST, LOST: WON, RETURNED: RETURNED}
    assert lose.verdict is turned[win.verdict]
    swapped = settle(law, law.wager("lose"), banker, box)
    assert (swapped.verdict, swapped.net) == (win.verdict, win.net)
