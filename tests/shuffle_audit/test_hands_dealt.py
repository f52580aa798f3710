"""Hands from shuffled decks: dealt in the game's order, ranked by the controller, compared with the exact odds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from controller.games import GAMES, game
from controller.games.specification import Unit
from controller.rules.hands import Outcome, outcome, rank_key
from controller.rules.law import read_law
from controller.rules.payouts import settle
from firmware_bridge.cards import DECK, Card
from shuffle_audit.dealing import ALL_HANDS, dealing, keys, net
from shuffle_audit.faces import KINDS, NEW_DECK, faces_of, faces_of_decks, faces_out, numbers_of_runs, runs
from shuffle_audit.games_dealt import deals
from shuffle_audit.hands_dealt import Compared, Deal, class_odds, compare, outcome_odds
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.money import first_reading
from shuffle_audit.orders import DeckOrders, OrderError, unshuffled
from shuffle_audit.procedures import examine

DECKS = UNIFORM.shuffle(np.random.default_rng(5), 40, 52)


def test_faces_by_name() -> None:
    assert [DECK[face].code for face in faces_of(["AS", "10H", "TH", "kc"])] == ["AS", "TH", "TH", "KC"]
    with pytest.raises(OrderError, match="'0S' is not a card"):
        faces_of(["0S"])
    decks = [DeckOrders(("AS", "KD"), ("KD", "AS")), DeckOrders(("KD", "AS"), ("KD", "AS"))]
    assert faces_of_decks(decks).tolist() == [[39, 25], [25, 39]]
    assert faces_of_decks([]).shape == (0, 0)
    assert faces_out(np.array([[1, 0], [0, 1]]), faces_of_decks(decks)).tolist() == [[25, 39], [25, 39]]


def test_runs_by_hand() -> None:
    out = faces_of(["AS", "KS", "2C", "JH", "QD", "3S"])[None]
    assert [int(runs(out, kinds)[0]) for kinds in KINDS] == [3, 5, 5, 5]


def test_a_new_deck_has_few_runs() -> None:
    tested = {one.id: one for one in examine(unshuffled(1, 52), faces=NEW_DECK)}
    assert tested["runs-of-suit"].statistic == 4
    assert tested["runs-of-suit"].p < 1e-20
    assert tested["runs-of-colour"].p < 1e-9  # clubs, diamonds and hearts, spades
    assert tested["runs-of-pictures"].p < 1e-4


def test_decks_with_different_cards_are_not_combined() -> None:
    faces = np.stack([faces_of(["AS", "KD", "2C"]), faces_of(["AD", "KD", "2C"])])
    with pytest.raises(OrderError, match="Deck 2 has not as many cards of each kind as deck 1"):
        numbers_of_runs(faces, KINDS[0])
    with pytest.raises(OrderError):
        examine(unshuffled(2, 3), faces=faces)


def cards_of(order: np.ndarray[tuple[int], np.dtype[np.int64]], at: list[int]) -> list[Card]:
    return [DECK[order[place]] for place in at]


@pytest.mark.parametrize(
    ("name", "unit", "first", "dealer"),
    [
        ("TP", Unit.SETS, [0, 1, 2], [21, 22, 23]),
        ("TP", Unit.SINGLES, [0, 1, 2], [21, 22, 23]),
        ("NC", Unit.SINGLES, [0, 8, 16], [7, 15, 23]),
        ("RTP", Unit.SINGLES, [0, 9, 18], [8, 17, 26]),
        ("RTP", Unit.SETS, [0, 1, 2], [24, 25, 26]),
    ],
)
def test_hands_as_the_game_deals_them(name: str, unit: Unit, first: list[int], dealer: list[int]) -> None:
    deal = dealing(first_reading(game(name)), unit)
    assert (deal.places[0], deal.places[-1]) == ("B1", "D")
    hands = deal.hands(DECKS)
    for order, row in zip(DECKS, hands, strict=True):
        assert set(ALL_HANDS[row[0]]) == set(cards_of(order, first))
        assert set(ALL_HANDS[row[-1]]) == set(cards_of(order, dealer))


@pytest.mark.parametrize(("option", "before"), [("separate", 1), ("in_hand", 0)])
def test_the_first_card_says_where_the_deal_begins(option: str, before: int) -> None:
    deal = dealing(read_law(game("F3"), {"first_card": option}), Unit.SETS)
    starts = {rank: (rank - 1) % 4 for rank in range(1, 14)}  # 0: the Dealer, then Players 1 to 3
    for order, row in zip(DECKS, deal.hands(DECKS), strict=True):
        served = ["D", "B1", "B2", "B3"]
        start = starts[DECK[order[0]].rank]
        for number, place in enumerate([*served[start:], *served[:start]]):
            at = [before + 3 * number + step for step in range(3)]
            assert set(ALL_HANDS[row[deal.places.index(place)]]) == set(cards_of(order, at))


def test_cards_as_they_are_collected() -> None:
    deal = dealing(first_reading(game("NC")), Unit.SINGLES, boxes=2)
    assert deal.collected(unshuffled(1, 52))[0, :12].tolist() == [0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 10, 11]
    f3 = dealing(first_reading(game("F3")), Unit.SETS)
    found = f3.collected(DECKS)
    assert (np.sort(found, axis=1) == np.arange(52)).all()
    assert (found[:, 12] == DECKS[:, 0]).all()  # the First Card, below the hands
    assert (found[:, 13:] == DECKS[:, 13:]).all()


def test_every_hand_is_ranked_as_the_controller_ranks_it() -> None:
    assert keys().tolist() == [rank_key(hand) for hand in ALL_HANDS]


@pytest.mark.parametrize("name", GAMES)
def test_gains_of_wagers_equal_the_controllers_settlement(name: str) -> None:
    law = first_reading(game(name))
    deal = dealing(law, Unit.SINGLES)
    hands = deal.hands(DECKS)
    for wager in law.wagers:
        gained = net(law, wager, hands)
        for row, found in zip(hands, gained, strict=True):
            dealer = ALL_HANDS[row[-1]]
            expected = [float(settle(law, wager, ALL_HANDS[box], dealer).net) for box in row[:-1]]
            assert found.tolist() == expected[: len(found)]


def test_exact_odds_are_one_together() -> None:
    assert sum(class_odds()) == 1
    assert sum(outcome_odds().values()) == 1
    assert class_odds()[30] == Fraction(220, 22100)
    assert outcome_odds()[Outcome.WIN] == outcome_odds()[Outcome.LOSE]


def deal_of(name: str) -> Deal:
    return next(one for one in deals() if one.game == name)


def counts(found: list[Compared], place: str, what: str) -> int:
    return next(one.found for one in found if (one.place, one.what) == (place, what))


def test_hands_are_counted_and_compared() -> None:
    found = compare(deal_of("TP"), DECKS)
    assert len(found) == 8 * (31 + 3 + 10) + 7 * 3
    played = [outcome(cards_of(order, [3, 4, 5]), cards_of(order, [21, 22, 23])) for order in DECKS]
    for each in Outcome:
        assert counts(found, "B2", each.value) == played.count(each)
    assert min(one.p for one in found) * len(found) > 0.01
    assert sum(one.expected for one in found[: 8 * 31] if one.place == "D") == pytest.approx(40)


def test_decks_that_were_not_shuffled_deal_the_same_hands() -> None:
    found = compare(deal_of("TP"), unshuffled(30, 52))
    assert counts(found, "B1", "Six") == 30  # ace, two, three of clubs
    assert next(one for one in found if one.place == "B1" and one.what == "Six").p < 1e-20
