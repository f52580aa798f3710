"""Dependence between wagers, found by their predicates: new facts are counted as they are dealt, or refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations

import pytest
from msgspec.structs import replace

from controller.games import game
from controller.games.wager_specification import Looks, Price, Shape, Wager, odds
from controller.rules.dependence import TRAITS, CountingError, Suits, dependence, of_one_hand, untrue_of
from controller.rules.established import KnownCards, WagerStatus, standing
from controller.rules.hand_counting import CountedDeck, Trait
from controller.rules.law import Law
from controller.rules.odds import wager_odds
from controller.rules.payouts import OF_BOTH, OF_ONE
from firmware_bridge.cards import DECK, Card
from firmware_bridge.messages import message

Cards = Sequence[Card]
RED = "DH"


def suits_of(cards: Cards) -> int:
    return len({card.suit for card in cards})


def red_ace(cards: Cards) -> bool:
    return any(card.rank == 1 and card.suit in RED for card in cards)


def lowest_and_highest_suited(cards: Cards) -> bool:
    low, _, high = sorted(cards, key=lambda card: (card.rank, card.suit))
    return low.suit == high.suit


# predicate -> its number among 22,100 hands, counted separately; how suits matter
INVENTED: dict[str, tuple[Callable[[Cards], bool], int, Suits]] = {
    "three suits": (lambda cards: suits_of(cards) == 3, 4 * 13**3, Suits.CARDS),
    "two suits": (lambda cards: suits_of(cards) == 2, 4 * 78 * 39, Suits.CARDS),
    "one suit": (lambda cards: suits_of(cards) == 1, 4 * 286, Suits.ONE_SUIT),
    "not one suit": (lambda cards: suits_of(cards) > 1, 22_100 - 1144, Suits.ONE_SUIT),
    "three hearts": (lambda cards: all(card.suit == "H" for card in cards), 286, Suits.CARDS),
    "the king of spades": (lambda cards: any(card.code == "KS" for card in cards), 1275, Suits.CARDS),
    "all of one colour": (lambda cards: len({card.suit in RED for card in cards}) == 1, 2 * 2600, Suits.CARDS),
    "a suited pair of ace and king": (
        lambda cards: any({a.rank, b.rank} == {1, 13} and a.suit == b.suit for a, b in combinations(cards, 2)),
        4 * 50,
        Suits.CARDS,
    ),
    "a red ace": (red_ace, 22_100 - 19_600, Suits.CARDS),
    "three even cards": (lambda cards: all(card.rank % 2 == 0 for card in cards), 2024, Suits.NONE),
    "nine points in any suit": (lambda cards: sum(min(card.rank, 10) for card in cards) % 10 == 9, 2212, Suits.NONE),
}
SOME_OF_A_DECK = CountedDeck((1, 2, 12, 13), "CDS")


def only(looks: Looks, shape: Shape = Shape.FLUSH, **more: object) -> tuple[Law, Wager]:
    wager = replace(Wager("only", message("Only"), looks, (Price(shape, odds(1), "TP 4.1"),), "TP 4.1"), **more)
    return Law(replace(game("TP"), wagers=(wager,)), {}), wager


@pytest.mark.parametrize("name", INVENTED)
def test_a_new_fact_of_one_hand_is_counted_as_often_as_it_is_dealt(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The predicate replaces a flush, which is counted by whether a hand has a single suit."""
    predicate, ways, suits = INVENTED[name]
    monkeypatch.setitem(OF_ONE, Shape.FLUSH, predicate)
    law, wager = only(Looks.BOX)
    assert dependence(wager, wager.prices).suits is suits
    assert wager_odds(law, wager).prices[0].ways == sum(map(predicate, combinations(DECK, 3))) == ways
    some = wager_odds(law, wager, SOME_OF_A_DECK)
    assert some.prices[0].ways == sum(map(predicate, combinations(SOME_OF_A_DECK.cards, 3)))
    assert some.total == SOME_OF_A_DECK.hands


def test_a_wager_on_three_suits_is_won_in_39_76_hundredths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OF_ONE, Shape.FLUSH, INVENTED["three suits"][0])
    law, wager = only(Looks.DEALER)
    assert wager_odds(law, wager).won == Fraction(8788, 22_100)


@pytest.mark.parametrize("name", INVENTED)
def test_a_new_fact_is_established_when_no_card_can_change_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compared with dealing every unknown card."""
    predicate, _, _ = INVENTED[name]
    monkeypatch.setitem(OF_ONE, Shape.FLUSH, predicate)
    law, wager = only(Looks.BOX, title=name)  # another title, because tables of wagers are cached
    for known in (("AH", "KH"), ("AC", "KC"), ("AD", "2S"), ("3H", "4S"), ("2C", "2D"), ("9H", "KS"), ("QD", "2D")):
        cards = tuple(map(Card.parse, known))
        dealt = {predicate((*cards, third)) for third in DECK if third not in cards}
        expected = WagerStatus.UNDECIDED if len(dealt) == 2 else (WagerStatus.WON if dealt.pop() else WagerStatus.LOST)
        assert standing(law, wager, 1, KnownCards({"B1": cards})) is expected, known
    assert standing(law, wager, 1, KnownCards()) is WagerStatus.UNDECIDED


def test_which_ranks_are_suited_matters_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OF_ONE, Shape.FLUSH, lowest_and_highest_suited)
    law, wager = only(Looks.BOX)
    assert wager_odds(law, wager).prices[0].ways == sum(map(lowest_and_highest_suited, combinations(DECK, 3)))


@pytest.mark.parametrize(
    ("predicate", "words"),
    [
        (lambda box, dealer: suits_of((*box, *dealer)) == 4, "depends on suits"),
        (lambda box, dealer: suits_of(box) == suits_of(dealer), "depends on suits"),
        (lambda box, dealer: suits_of(dealer) == 1, "depends on suits"),
        (lambda box, dealer: suits_of(box) == 2, "depends on suits"),
        (lambda box, dealer: all(card.suit in "DH" for card in (*box, *dealer)), "depends on suits"),
        (lambda box, dealer: max(card.number for card in box) == 52, "depends on suits"),
        (lambda box, dealer: max(c.rank for c in box) > max(c.rank for c in dealer), "depends on more than points"),
    ],
    ids=[
        "all four suits",
        "as many suits",
        "the Dealer's flush",
        "two suits",
        "all red",
        "the king of spades",
        "the higher card",
    ],
)
def test_a_fact_of_two_hands_that_depends_on_more_than_is_stated_is_refused(
    predicate: Callable[[Cards, Cards], bool], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OF_BOTH, Shape.SAME_POINTS, predicate)
    with pytest.raises(CountingError, match=f"SAME_POINTS {words}"):
        wager_odds(*only(Looks.BOTH, Shape.SAME_POINTS))


def test_a_fact_of_two_hands_without_stated_traits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(TRAITS, Shape.HIGHER)
    with pytest.raises(CountingError, match="it is not known what HIGHER depends on; enter it in TRAITS"):
        wager_odds(*only(Looks.BOTH, Shape.HIGHER))


def test_a_wager_on_two_hands_that_pays_on_suits_is_refused() -> None:
    with pytest.raises(CountingError, match="Only looks at two hands and pays on FLUSH"):
        wager_odds(*only(Looks.BOTH))


def test_a_wager_on_one_hand_that_pays_on_two_is_refused() -> None:
    with pytest.raises(CountingError, match="Only looks at one hand and pays on a fact of two"):
        wager_odds(*only(Looks.BOX, Shape.HIGHER))


def test_returned_and_paid_outcomes_are_both_counted() -> None:
    _, wager = only(Looks.BOX, Shape.THREE_PICTURES, returned=Shape.FLUSH)
    assert dependence(wager, wager.prices) == (frozenset({Trait.RANKS}), Suits.ONE_SUIT, False)


@pytest.mark.parametrize("shape", OF_BOTH, ids=lambda shape: shape.name)
def test_the_stated_traits_of_a_shape_are_true(shape: Shape) -> None:
    assert untrue_of(TRAITS[shape], OF_BOTH[shape]) == ""


def test_every_shape_is_of_one_hand_or_of_two() -> None:
    assert {*OF_ONE, *OF_BOTH} == set(Shape)
    assert len(OF_ONE) + len(OF_BOTH) == len(Shape)
    assert set(TRAITS) == set(OF_BOTH)


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        (Shape.THREE_PICTURES, (Trait.RANKING, Suits.NONE)),
        (Shape.ANY_KING, (Trait.PICTURES, Suits.NONE)),
        (Shape.STRAIGHT, (Trait.RANKS, Suits.NONE)),
        (Shape.STRAIGHT_FLUSH, (Trait.RANKS, Suits.ONE_SUIT)),
    ],
    ids=lambda value: value.name if isinstance(value, Shape) else "",
)
def test_only_what_a_shape_needs_is_distinguished(shape: Shape, found: tuple[Trait, Suits]) -> None:
    assert of_one_hand(OF_ONE[shape]) == found
