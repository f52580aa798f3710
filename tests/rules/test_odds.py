"""Exact odds, compared with dealing and settling every hand of a small deck, and with a separate count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import comb, prod

import msgspec
import pytest

from controller.games import GAMES, game
from controller.games.wager_specification import Looks, Price, Shape, Wager, odds
from controller.rules.hand_counting import CountedDeck
from controller.rules.law import Law, SettingError, read_law, readings_that_matter
from controller.rules.odds import WagerOdds, count_odds, every_reading, wager_odds
from controller.rules.payouts import Settled, Verdict, settle
from firmware_bridge.cards import Card
from firmware_bridge.messages import message

# Small enough to be dealt completely. Each deals every shape of one hand, or of two.
FOR_ONE_HAND = CountedDeck((1, 2, 11, 12, 13), "CDH")
FOR_TWO_HANDS = (CountedDeck((6, 7, 11, 12, 13), "CS"), CountedDeck((3, 10, 11, 13), "DHS"))
READINGS = [law for document in GAMES.values() for law in every_reading(document)]
CASES = [(law, wager) for law in READINGS for wager in law.wagers]
OF_ONE_HAND = {price.shape for _, wager in CASES if wager.looks is not Looks.BOTH for price in wager.prices}
WHOLE_PAIRS = 407_170_400


def case_name(value: Law | Wager) -> str:
    if isinstance(value, Wager):
        return value.id
    return "-".join([value.game.id, *(value.chosen[setting.id] for setting in readings_that_matter(value.game))])


@cache
def dealt_pairs(deck: CountedDeck) -> tuple[tuple[tuple[Card, ...], tuple[Card, ...]], ...]:
    return tuple(
        (box, dealer)
        for box in combinations(deck.cards, 3)
        for dealer in combinations([card for card in deck.cards if card not in box], 3)
    )


def settle_all(law: Law, wager: Wager, deck: CountedDeck) -> Iterator[Settled]:
    """Yield the settlement of every way to deal the hands that the wager looks at, with real cards."""
    if wager.looks is Looks.BOTH:
        for box, dealer in dealt_pairs(deck):
            yield settle(law, wager, box, dealer)
    else:
        for hand in combinations(deck.cards, 3):
            yield settle(law, wager, *((hand, ()) if wager.looks is Looks.BOX else ((), hand)))


def decks_for(wager: Wager) -> tuple[CountedDeck, ...]:
    return FOR_TWO_HANDS if wager.looks is Looks.BOTH else (FOR_ONE_HAND,)


def check_by_dealing(law: Law, wager: Wager, deck: CountedDeck) -> None:
    dealt = Counter((one.verdict, one.net, one.because, one.clause) for one in settle_all(law, wager, deck))
    counted = wager_odds(law, wager, deck)
    assert counted.total == dealt.total()
    for price in counted.prices:
        assert price.ways == dealt[Verdict.WON, price.odds, price.name, price.clause]
    verdicts: Counter[Verdict] = Counter()
    for (verdict, *_), ways in dealt.items():
        verdicts[verdict] += ways
    assert counted.won == Fraction(verdicts[Verdict.WON], dealt.total())
    assert counted.returned == Fraction(verdicts[Verdict.RETURNED], dealt.total())
    assert counted.lost == Fraction(verdicts[Verdict.LOST], dealt.total())
    mean = sum((ways * net for (_, net, *_), ways in dealt.items()), Fraction(0)) / dealt.total()
    assert counted.payback == 1 + mean


@pytest.mark.parametrize(("law", "wager"), CASES, ids=case_name)
def test_a_small_deck_dealt_out_and_settled_gives_the_counted_odds(law: Law, wager: Wager) -> None:
    for deck in decks_for(wager):
        check_by_dealing(law, wager, deck)


@pytest.mark.parametrize("shape", list(Shape), ids=lambda shape: shape.name)
def test_every_shape_is_counted_as_it_is_dealt(shape: Shape) -> None:
    """A wager that pays on that shape only: it is dealt as often as counted."""
    looks = Looks.BOX if shape in OF_ONE_HAND else Looks.BOTH
    wager = Wager("only", message("Only"), looks, (Price(shape, odds(1), "TP 4.1"),), "TP 4.1")
    law = Law(msgspec.structs.replace(game("TP"), wagers=(wager,)), {})
    for deck in decks_for(wager):
        check_by_dealing(law, wager, deck)
    assert wager_odds(law, wager, decks_for(wager)[0]).won > 0


@pytest.mark.parametrize(("law", "wager"), CASES, ids=case_name)
def test_a_wager_is_won_returned_or_lost(law: Law, wager: Wager) -> None:
    counted = wager_odds(law, wager)
    assert counted.won + counted.returned + counted.lost == 1
    assert counted.total == (WHOLE_PAIRS if wager.looks is Looks.BOTH else 22_100)
    assert counted.house_edge == 1 - counted.payback
    assert counted.favours_player == (counted.house_edge < 0)


def counted_by_id(game_id: str, **chosen: str) -> dict[str, WagerOdds]:
    return {counted.wager: counted for counted in count_odds(read_law(game(game_id), chosen))}


POINTS = {"tie_on": "points"}
RANKING = {"tie_on": "ranking"}
LOSES = {"tie_against_three_pictures": "loses"}
BESIDES = {"perfect_tie": "besides"}
MAIN = Fraction(3_110_763, 101_792_600)  # 0.030560
THREE_PICTURES = Fraction(54, 65)  # 0.830769
TIE_ON_POINTS = Fraction(1_273_528, 12_724_075)  # 0.100088
TIE_WITHOUT_THREE_PICTURES = Fraction(1_498_258, 12_724_075)  # 0.117750
PROSPERITY = Fraction(108, 1_105)  # 0.097738
PAIR_PLUS = Fraction(402, 5_525)  # 0.072760


@pytest.mark.parametrize(
    ("game_id", "chosen", "wager", "edge"),
    [
        ("TP", {}, "main", MAIN),
        ("TP", {}, "tie", TIE_ON_POINTS),
        ("TP", LOSES, "tie", TIE_WITHOUT_THREE_PICTURES),
        ("TP", {}, "three_pictures", THREE_PICTURES),
        ("RTP", {}, "main", MAIN),
        ("RTP", {}, "tie", TIE_ON_POINTS),
        ("RTP", {}, "royal", Fraction(62, 1_105)),  # 0.056109
        ("NC", {}, "main", MAIN),
        ("NC", {}, "tie", TIE_ON_POINTS),
        ("NC", {}, "three_pictures", THREE_PICTURES),
        ("NC", {"three_pictures_of": "either"}, "three_pictures", Fraction(2_179, 3_290)),  # 0.662310
        ("P3", RANKING, "main", MAIN),
        ("P3", RANKING, "tie", Fraction(255_848, 2_544_815)),  # 0.100537
        ("P3", RANKING | BESIDES, "tie", Fraction(224_258, 2_544_815)),  # 0.088123
        ("P3", POINTS, "tie", Fraction(-1_061_584, 1_817_725)),  # -0.584018
        ("P3", POINTS | BESIDES, "tie", Fraction(-446_414, 748_475)),  # -0.596431
        ("P3", POINTS | LOSES, "tie", Fraction(-7_156_418, 12_724_075)),  # -0.562431
        ("P3", RANKING, "player_prosperity", PROSPERITY),
        ("P3", RANKING, "dealer_prosperity", PROSPERITY),
        ("P3", RANKING, "picture_perfect", Fraction(115_828, 978_775)),  # 0.118340
        ("F3", {}, "win", MAIN),
        ("F3", {}, "lose", MAIN),
        ("F3", {}, "tie", Fraction(1_680_032, 2_544_815)),  # 0.660178
        ("F3", POINTS, "tie", TIE_ON_POINTS),
        ("F3", {}, "three_pictures", THREE_PICTURES),
        ("F3", {}, "pair_plus", PAIR_PLUS),
        ("F3", {}, "banker_pair_plus", PAIR_PLUS),
    ],
)
def test_the_house_edge_of_the_printed_odds(game_id: str, chosen: dict[str, str], wager: str, edge: Fraction) -> None:
    """TP 4.1, RTP 4.1, RTP 4.2, NC 4.1, P3 4.1, P3 4.2, P3 4.3, F3 O1, F3 O2, F3 O3."""
    assert counted_by_id(game_id, **chosen)[wager].house_edge == edge


def test_p3_1_1_6_a_tie_on_points_favours_the_player_and_one_on_ranking_does_not() -> None:
    assert counted_by_id("P3", **POINTS)["tie"].favours_player
    assert not counted_by_id("P3", **RANKING)["tie"].favours_player


def test_rtp_4_2_royal_pictures_pay_on_the_calculated_number_of_hands() -> None:
    """The counts of 22,100 hands are for KKK, QQQ, JJJ, other three pictures, a picture pair, one king."""
    mixed, one_king = comb(12, 3) - 3 * comb(4, 3), 4 * comb(48 - 8, 2) + 4 * 8 * 40
    assert (mixed, one_king) == (208, 4400)
    royal = counted_by_id("RTP")["royal"]
    assert [price.ways for price in royal.prices] == [4, 4, 4, mixed, 3 * comb(4, 2) * 40, one_king]


def test_f3_o3_pair_plus_pays_on_the_known_number_of_hands() -> None:
    """The hands are a straight flush, three of a kind, a straight, a flush and a pair."""
    assert [price.ways for price in counted_by_id("F3")["pair_plus"].prices] == [48, 52, 720, 1096, 3744]


def test_main_wagers_win_lose_and_tie_as_often_as_a_separate_count() -> None:
    """The other count takes every two multisets of ranks, with binomials of their common ranks."""

    def chances(box: Counter[int], dealer: Counter[int]) -> int:
        return prod(comb(4 - box.get(rank, 0), count) for rank, count in dealer.items())

    def ranking(hand: tuple[int, ...]) -> tuple[bool, int, int]:
        shown = sum(rank > 10 for rank in hand)
        return shown == 3, sum(min(rank, 10) for rank in hand) % 10, shown

    hands = [(ranking(hand), Counter(hand)) for hand in combinations_with_replacement(range(1, 14), 3)]
    found: Counter[str] = Counter()
    for ours, box in hands:
        ways_of_box = prod(comb(4, count) for count in box.values())
        for theirs, dealer in hands:
            ways = ways_of_box * chances(box, dealer)
            found["pairs"] += ways
            found["higher"] += ways if ours > theirs else 0
            found["on six"] += ways if ours > theirs and ours[1] == 6 else 0
            found["same ranking"] += ways if ours == theirs else 0
            found["same points"] += ways if ours[1] == theirs[1] else 0
            found["same ranks"] += ways if box == dealer else 0
    main, tie, perfect = (
        counted_by_id("TP")["main"],
        counted_by_id("TP")["tie"],
        counted_by_id("P3", **POINTS)["tie"],
    )
    assert found["pairs"] == main.total == WHOLE_PAIRS
    assert [price.ways for price in main.prices] == [found["on six"], found["higher"] - found["on six"]]
    assert (main.ways_returned, main.ways_lost) == (found["same ranking"], found["higher"])
    assert tie.prices[0].ways == found["same points"]
    assert [price.ways for price in perfect.prices] == [found["same ranks"], found["same points"] - found["same ranks"]]


def test_a_reading_that_must_be_chosen_is_asked_for() -> None:
    with pytest.raises(SettingError, match="tie_on must be chosen"):
        count_odds(read_law(game("P3")))


def test_a_reading_that_decides_which_wagers_exist_is_asked_for() -> None:
    """The wager would silently be missing without the question."""
    document = game("F3")
    settings = tuple(
        msgspec.structs.replace(setting, default="") if setting.id == "three_pictures_wager" else setting
        for setting in document.settings
    )
    with pytest.raises(SettingError, match="three_pictures_wager must be chosen"):
        count_odds(read_law(msgspec.structs.replace(document, settings=settings)))


def test_the_settings_that_matter_are_those_of_wagers_and_prices() -> None:
    known = {
        "TP": ["tie_against_three_pictures"],
        "RTP": ["tie_against_three_pictures"],
        "NC": ["tie_against_three_pictures", "three_pictures_of"],
        "P3": ["tie_against_three_pictures", "tie_on", "perfect_tie"],
        "F3": ["three_pictures_wager", "tie_on"],
    }
    assert {game_id: [setting.id for setting in readings_that_matter(game(game_id))] for game_id in known} == known
    main, tie, *_ = game("P3").wagers
    assert readings_that_matter(game("P3"), [main]) == ()
    assert [setting.id for setting in readings_that_matter(game("P3"), [main, tie])] == known["P3"]


@pytest.mark.parametrize(("game_id", "count"), [("TP", 2), ("RTP", 2), ("NC", 4), ("P3", 6), ("F3", 4)])
def test_every_reading_is_listed_once(game_id: str, count: int) -> None:
    """P3: how points are compared does not matter where the ranking decides, so six of the eight choices differ."""
    laws = every_reading(game(game_id))
    in_force = [tuple((wager.id, law.prices(wager)) for wager in law.wagers) for law in laws]
    assert len(laws) == len(set(in_force)) == count
    for law in laws:
        assert count_odds(law)
