"""Decisions by known cards (RTP 5.13, NC 5.4): examples, and a comparison with dealing every completion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice, product
from typing import Final

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import GAMES, game
from controller.games.wager_specification import Looks, Price, Shape, Wager, odds
from controller.rules.established import (
    Established,
    KnownCards,
    Sight,
    Standing,
    WagerStatus,
    established,
    known_under,
    standing,
)
from controller.rules.hand_counting import CountedDeck
from controller.rules.law import Law, SettingError, UnknownWagerError, read_law
from controller.rules.odds import every_reading
from controller.rules.payouts import Verdict, settle
from firmware_bridge.cards import DECK, Card
from firmware_bridge.messages import message
from tests.support import long_forms

MATHEMATICALLY = {"established_by": "mathematically"}
RTP = read_law(game("RTP"), MATHEMATICALLY)
NC = read_law(game("NC"), MATHEMATICALLY)
F3 = read_law(game("F3"))
STATUS_OF = {Verdict.WON: WagerStatus.WON, Verdict.LOST: WagerStatus.LOST, Verdict.RETURNED: WagerStatus.STANDOFF}
ALL_OF = {"RTP": ["main", "tie", "royal"], "NC": ["main", "tie", "three_pictures"]}


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(word) for word in text.split())


def at(hands: Mapping[str, str], elsewhere: str = "") -> KnownCards:
    return KnownCards({place: cards(text) for place, text in hands.items()}, frozenset(cards(elsewhere)))


def mathematical(law: Law) -> Law:
    chosen = {setting: option for setting, option in law.chosen.items() if option}
    has_setting = any(setting.id == "established_by" for setting in law.game.settings)
    return read_law(law.game, chosen | MATHEMATICALLY) if has_setting else law


LAWS = [mathematical(law) for document in GAMES.values() for law in every_reading(document)]
CASES = [(law, wager) for law in LAWS for wager in law.wagers]


def statuses(law: Law, known: KnownCards, *wagers: str, box: int = 1) -> dict[str, WagerStatus]:
    found = established(law, [(box, wager) for wager in wagers], known)
    assert found is not None
    return {one.wager: one.status for one in found.standings}


def is_established(law: Law, known: KnownCards, *placed: tuple[int, str]) -> bool:
    found = established(law, placed, known)
    assert found is not None
    return found.is_established


@pytest.mark.parametrize(
    ("law", "hands", "placed", "decided", "expected"),
    [
        (RTP, {}, ALL_OF["RTP"], {}, False),
        (RTP, {"B1": "KD"}, ALL_OF["RTP"], {"royal": WagerStatus.WON}, True),
        (RTP, {"B1": "5D 9C"}, ALL_OF["RTP"], {}, False),
        (RTP, {"B1": "JD JC QH", "D": "7S"}, ["main"], {"main": WagerStatus.WON}, True),
        (RTP, {"B1": "9D 5C KH", "D": "8S 6C QD"}, ["main"], {"main": WagerStatus.STANDOFF}, False),
        (NC, {"B1": "10C"}, ALL_OF["NC"], {"three_pictures": WagerStatus.LOST}, True),
        (NC, {"B1": "KD"}, ALL_OF["NC"], {}, False),
    ],
    ids=["rtp-nothing", "rtp-K", "rtp-5-9", "rtp-JJQ-7", "rtp-both-single-four", "nc-10", "nc-K"],
)
def test_the_examples_of_an_established_outcome(
    law: Law, hands: dict[str, str], placed: list[str], decided: dict[str, WagerStatus], expected: bool
) -> None:
    """RTP 5.13, RTP 5.13.1, RTP 5.13.2, NC 5.4, NC 5.4.1, NC 5.4.2; a standoff is not an outcome (RTP 1.1.5)."""
    known = at(hands)
    assert statuses(law, known, *placed) == dict.fromkeys(placed, WagerStatus.UNDECIDED) | decided
    assert is_established(law, known, *((1, wager) for wager in placed)) is expected


@pytest.mark.parametrize("game_id", ["RTP", "NC"])
def test_by_complete_hands_part_of_a_hand_decides_nothing(game_id: str) -> None:
    """RTP 5.13, NC 5.4: the other option of reading 42."""
    law = read_law(game(game_id), {"established_by": "complete_hands"})
    own = ALL_OF[game_id][2]  # a wager on the box's hand alone
    undecided = dict.fromkeys(ALL_OF[game_id], WagerStatus.UNDECIDED)
    assert statuses(law, at({"B1": "10C 9D"}), *ALL_OF[game_id]) == undecided
    assert statuses(law, at({"B1": "JD JC QH", "D": "7S 8S"}), *ALL_OF[game_id]) == undecided | {own: WagerStatus.WON}
    whole = at({"B1": "JD JC QH", "D": "7S 8S 6S"})
    assert statuses(law, whole, "main", "tie") == {"main": WagerStatus.WON, "tie": WagerStatus.LOST}


@pytest.mark.parametrize("game_id", ["RTP", "NC"])
def test_the_way_to_establish_an_outcome_must_be_chosen(game_id: str) -> None:
    with pytest.raises(SettingError, match="established_by must be chosen"):
        established(read_law(game(game_id)), [(1, "main")], KnownCards())


@pytest.mark.parametrize("game_id", ["TP", "P3", "F3"])
def test_a_document_that_does_not_speak_of_it_is_read_mathematically(game_id: str) -> None:
    law = next(law for law in LAWS if law.game.id == game_id)
    assert standing(law, law.wagers[0], 1, at({"B1": "JD JC QH", "D": "7S"})) is WagerStatus.WON


def test_rtp_5_13_without_entered_wagers_it_is_unknown() -> None:
    """RTP 5.13: reading 29."""
    assert established(RTP, [], at({"B1": "KD"})) is None


def test_nc_5_4_1_one_box_binds_the_whole_round() -> None:
    """Box 6 has lost its bet, so the round is played for box 1 too."""
    placed = [(1, "main"), (6, "three_pictures")]
    found = established(NC, placed, at({"B6": "10C"}))
    standings = Standing(1, "main", WagerStatus.UNDECIDED), Standing(6, "three_pictures", WagerStatus.LOST)
    assert found == Established(True, standings)


def test_the_cards_of_other_boxes_count_as_known() -> None:
    """NC 5.4.1: eleven pictures are at other boxes, so this one cannot hold three."""
    others = {"B2": "JC JD JH", "B3": "JS QC QD", "B4": "QH QS KC", "B5": "KD KH"}
    assert is_established(NC, at(others), (1, "three_pictures"))
    assert not is_established(NC, at(others | {"B3": "JS QC", "B4": "QH QS"}), (1, "three_pictures"))


def test_cards_that_lie_in_no_hand_count_as_known() -> None:
    assert statuses(F3, at({"B1": "AC 2C"}, "AD AH AS 2D 2H 2S"), "pair_plus") == {"pair_plus": WagerStatus.UNDECIDED}
    none_left = "AD AH AS 2D 2H 2S 3C 3D 3H 3S KC KD KH KS 4C 5C 6C 7C 8C 9C 10C JC QC"
    assert statuses(F3, at({"B1": "AC 2C"}, none_left), "pair_plus") == {"pair_plus": WagerStatus.LOST}


def test_two_hands_cannot_draw_the_same_card() -> None:
    """P3 4.3: one king is left and each hand may still draw it, but both cannot, so no picture can match."""
    law = read_law(game("P3"), {"tie_on": "ranking"})
    hands, pictures = {"B1": "9C 8C", "D": "7D 6D"}, "JC JD JH JS QC QD QH QS KC KD"
    assert statuses(law, at(hands, pictures + " KH"), "picture_perfect") == {"picture_perfect": WagerStatus.LOST}
    assert statuses(law, at(hands, pictures), "picture_perfect") == {"picture_perfect": WagerStatus.UNDECIDED}


def test_a_wager_on_the_bankers_hand_belongs_to_no_box() -> None:
    """F3 PM4: it looks at the Banker's hand alone."""
    found = established(F3, [(0, "banker_pair_plus")], at({"D": "10C 10D"}))
    assert found is not None
    assert found.standings == ((0, "banker_pair_plus", WagerStatus.WON),)


def test_a_wager_that_the_game_does_not_know_is_refused() -> None:
    with pytest.raises(UnknownWagerError, match="NC has no wager 'royal'"):
        established(NC, [(1, "royal")], KnownCards())


@pytest.mark.parametrize(
    ("hands", "elsewhere", "sentence"),
    [
        ({"B1": "KD QD JD 9D"}, "", "B1 has 4 known cards and a hand has 3"),
        ({"B1": "KD KD"}, "", "known at two places"),
        ({"B1": "KD", "D": "KD"}, "", "known at two places"),
        ({"B1": "KD"}, "KD", "known at two places"),
    ],
)
def test_impossible_positions_of_cards_are_refused(hands: dict[str, str], elsewhere: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as refused:
        at(hands, elsewhere)
    assert "KD" not in str(refused.value)


def test_a_card_of_no_such_deck_is_refused() -> None:
    with pytest.raises(ValueError, match="does not belong to this deck"):
        standing(NC, NC.wager("main"), 1, at({"B1": "KD"}), DECK[:10])


def test_hands_that_cannot_be_completed_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer cards are unknown"):
        standing(NC, NC.wager("main"), 1, KnownCards(), DECK[:5])


def test_known_cards_do_not_show_themselves() -> None:
    assert not {"KD", "5S"} & set(repr(at({"B1": "KD"}, "5S")).replace(",", " ").split())
    assert "KD" not in repr(at({"B1": "KD"}))


SIGHTINGS = [
    ("B1", Card.parse("KD"), Sight.EXPOSED),
    ("B1", Card.parse("9D"), Sight.SEEN),
    ("B1", Card.parse("2D"), Sight.RECOGNISED),
    ("D", Card.parse("5S"), Sight.RECOGNISED),
    (None, Card.parse("7H"), Sight.EXPOSED),
    (None, Card.parse("8H"), Sight.RECOGNISED),
]


@pytest.mark.parametrize(
    ("basis", "hands", "elsewhere"),
    [
        ("exposed", {"B1": "KD"}, "7H"),
        ("seen", {"B1": "KD 9D"}, "7H"),
        ("recognised", {"B1": "KD 9D 2D", "D": "5S"}, "7H 8H"),
    ],
)
def test_known_cards_are_those_that_the_casino_chose(basis: str, hands: dict[str, str], elsewhere: str) -> None:
    """RTP 5.13, NC 5.4: the setting known_cards."""
    assert known_under(basis, SIGHTINGS) == at(hands, elsewhere)


def test_every_option_of_known_cards_is_a_sight() -> None:
    for law in (RTP, NC):
        setting = next(setting for setting in law.game.settings if setting.id == "known_cards")
        assert set(setting.words) == {sight.value for sight in Sight}


def test_an_unknown_option_of_known_cards_is_refused() -> None:
    with pytest.raises(ValueError, match="recognised or seen or exposed, not 'guessed'"):
        known_under("guessed", SIGHTINGS)


def test_a_card_sighted_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="known twice"):
        known_under("exposed", [SIGHTINGS[4], SIGHTINGS[4]])


def completed(hand: Sequence[Card], rest: Sequence[Card]) -> Iterator[tuple[Card, ...]]:
    for drawn in combinations(rest, 3 - len(hand)):
        yield (*hand, *drawn)


def by_dealing(law: Law, wager: Wager, known: KnownCards, deck: Sequence[Card]) -> WagerStatus:
    """Deal every completion with real cards, and settle it."""
    rest = [card for card in deck if card not in known.cards]
    found: set[Verdict] = set()
    for box in completed(known.at("B1"), rest) if wager.looks is not Looks.DEALER else [()]:
        left = [card for card in rest if card not in box]
        for dealer in completed(known.at("D"), left) if wager.looks is not Looks.BOX else [()]:
            found.add(settle(law, wager, box, dealer).verdict)
            if len(found) > 1:
                return WagerStatus.UNDECIDED
    return STATUS_OF[found.pop()]


SMALL = CountedDeck((4, 9, 10, 12, 13), "CDH").cards
PICTURES = CountedDeck((11, 12, 13), "CDH").cards


@st.composite
def positions(draw: st.DrawFn, deck: Sequence[Card], least_unknown: int = 6) -> KnownCards:
    """Draw known cards at box 1, at the Dealer's place and elsewhere, with enough left to complete both hands."""
    shuffled = draw(st.permutations(list(deck)))
    box, dealer = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    spare = max(0, len(deck) - box - dealer - least_unknown)
    elsewhere = draw(st.integers(0, spare))
    return KnownCards(
        {"B1": tuple(shuffled[:box]), "D": tuple(shuffled[box : box + dealer])},
        frozenset(shuffled[box + dealer : box + dealer + elsewhere]),
    )


def lacking(known: KnownCards) -> int:
    return 6 - len(known.at("B1")) - len(known.at("D"))


@pytest.mark.parametrize("deck", [SMALL, PICTURES], ids=["five-ranks", "pictures"])
@given(data=st.data())
def test_dealing_every_completion_gives_the_same_result(deck: Sequence[Card], data: st.DataObject) -> None:
    law, wager = data.draw(st.sampled_from(CASES))
    known = data.draw(positions(deck))
    assert standing(law, wager, 1, known, deck) is by_dealing(law, wager, known, deck)


def tiny_positions(deck: Sequence[Card]) -> Iterator[KnownCards]:
    """Yield each card at box 1, at the Dealer's place, elsewhere or unknown, wherever both hands can be completed."""
    for places in product(("B1", "D", None, ""), repeat=len(deck)):
        hands = {
            place: tuple(card for card, at in zip(deck, places, strict=True) if at == place) for place in ("B1", "D")
        }
        if max(map(len, hands.values())) > 3:
            continue
        known = KnownCards(hands, frozenset(card for card, at in zip(deck, places, strict=True) if at is None))
        if lacking(known) <= places.count(""):
            yield known


# These wagers differ by more than their prices.
UNLIKE = list(
    {
        (wager.looks, wager.returned, *((price.shape, price.points) for price in law.prices(wager))): (law, wager)
        for law, wager in CASES
    }.values()
)


every_tiny_deck = pytest.mark.parametrize("names", ["KC KD QC QD 9C 9D 4C", "10C 10D 9C AC 6C 6D KC"])
ONE_IN: Final = 29  # the share of the positions of a tiny deck that a usual run checks


@every_tiny_deck
def test_positions_of_a_tiny_deck_are_as_they_are_dealt_out(names: str) -> None:
    deck = cards(names)
    assert_dealt_out(deck, islice(tiny_positions(deck), 0, None, ONE_IN))


@pytest.mark.exhaustive
@every_tiny_deck
def test_every_position_of_a_tiny_deck_is_as_it_is_dealt_out(names: str) -> None:
    deck = cards(names)
    assert_dealt_out(
        deck, islice(tiny_positions(deck), long_forms.seed % long_forms.one_in(), None, long_forms.one_in())
    )


def assert_dealt_out(deck: tuple[Card, ...], positions_of_it: Iterable[KnownCards]) -> None:
    found: set[WagerStatus] = set()
    for known in positions_of_it:
        for law, wager in UNLIKE:
            status = standing(law, wager, 1, known, deck)
            assert status is by_dealing(law, wager, known, deck), (wager.id, known.hands, known.elsewhere)
            found.add(status)
    assert found == set(WagerStatus)


@given(data=st.data())
def test_many_boxes_are_answered_like_each_box_alone(data: st.DataObject) -> None:
    law = data.draw(st.sampled_from(LAWS))
    left = list(data.draw(st.permutations(DECK)))
    places = ["B1", "B2", "B3", "D"]
    known = KnownCards({place: tuple(left.pop() for _ in range(data.draw(st.integers(0, 3)))) for place in places})
    placed = [(box, wager.id) for box in (1, 2, 3) for wager in law.wagers]
    found = established(law, placed, known)
    assert found is not None
    alone = [standing(law, law.wager(wager), box, known) for box, wager in placed]
    assert [one.status for one in found.standings] == alone
    assert found.is_established == bool({WagerStatus.WON, WagerStatus.LOST} & set(alone))


def test_boxes_of_the_same_ranks_are_distinguished_by_their_suits() -> None:
    """F3 item 8: 2, 5 and 9 of one suit are a flush; of several suits they have no value."""
    found = established(F3, [(1, "pair_plus"), (2, "pair_plus")], at({"B1": "2C 5C 9C", "B2": "2D 5H 9D"}))
    assert found is not None
    assert [one.status for one in found.standings] == [WagerStatus.WON, WagerStatus.LOST]


@given(data=st.data())
def test_a_decided_wager_stays_decided_with_more_known_cards(data: st.DataObject) -> None:
    """A further card in the hand, or elsewhere, never changes a decided wager."""
    law, wager = data.draw(st.sampled_from(CASES))
    deck = data.draw(st.sampled_from([DECK, SMALL, PICTURES]))
    known = data.draw(positions(deck, least_unknown=7))
    before = standing(law, wager, 1, known, deck)
    places = [place for place in ("B1", "D") if len(known.at(place)) < 3]
    place = data.draw(st.sampled_from([*places, None]))
    card = data.draw(st.sampled_from([card for card in deck if card not in known.cards]))
    if place is None:
        after = KnownCards(known.hands, known.elsewhere | {card})
    else:
        after = KnownCards({**known.hands, place: (*known.at(place), card)}, known.elsewhere)
    if before is not WagerStatus.UNDECIDED:
        assert standing(law, wager, 1, after, deck) is before


@given(st.sampled_from(CASES), st.permutations(DECK))
def test_complete_hands_are_decided_as_they_are_settled(case: tuple[Law, Wager], shuffled: list[Card]) -> None:
    law, wager = case
    box, dealer = tuple(shuffled[:3]), tuple(shuffled[3:6])
    found = standing(law, wager, 1, KnownCards({"B1": box, "D": dealer}))
    assert found is STATUS_OF[settle(law, wager, box, dealer).verdict]


def test_a_wager_on_the_same_three_ranks_alone_is_decided_by_ranks() -> None:
    """P3 1.1.1: no document has such a wager, and the ranking alone would not decide it."""
    wager = Wager(
        "perfect", message("Perfect"), Looks.BOTH, (Price(Shape.SAME_RANKS, odds(400), "P3 1.1.1"),), "P3 1.1.1"
    )
    law = Law(msgspec.structs.replace(game("P3"), wagers=(wager,)), {})
    deck = cards("10C 9C 10D 9D JC QC QD")
    for box, dealer in (("10C 9C", "10D 9D"), ("10C 9C JC", "10D 9D"), ("JC 10C 9C", "10D 9D"), ("9C", "10D QD")):
        known = at({"B1": box, "D": dealer})
        assert standing(law, wager, 1, known, deck) is by_dealing(law, wager, known, deck)
    same = at({"B1": "10C 9C QC", "D": "10D 9D QD"})
    assert standing(law, wager, 1, same, deck) is WagerStatus.WON
