"""Deals hands from the order out of a deck by each game's rules, with tables of all hands to look them up.

The controller's own rules rank hands and settle wagers, once for each hand or pair of hands of ranks, so that decks by
the hundred thousand need only be looked up.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from controller.games.specification import Unit
from controller.games.wager_specification import Looks, Wager
from controller.rules.dealing_order import DEALER, Place, box, dealing_order, order_after_first_card
from controller.rules.dependence import dependence
from controller.rules.hand_counting import NUMBER_OF, RANK_COUNT, Trait, classes_by, unsuited
from controller.rules.hands import HAND_SIZE, rank_key
from controller.rules.law import Law
from controller.rules.payouts import settle
from firmware_bridge.cards import DECK
from shuffle_audit.faces import Faces

Hands: TypeAlias = npt.NDArray[np.int64]
"""`hands[d, place]`: the number of the hand among all 22,100, in the order of `combinations`."""
Net: TypeAlias = npt.NDArray[np.float64]
"""The gain of a bettor for each unit staked."""

ALL_HANDS: Final = tuple(combinations(DECK, HAND_SIZE))


class Dealing(NamedTuple):
    """A deal to `places`: the boxes from 1, the Dealer last. `at[r, i]` gives the positions in the deck of the cards
    for place i, in the order dealt; r is the rank of the top card less 1 if a First Card determines where the deal
    begins, else 0.
    """

    places: tuple[Place, ...]
    at: npt.NDArray[np.int64]

    def start(self, out: Faces) -> npt.NDArray[np.int64]:
        """Return the index r into `at` for each deck."""
        return out[:, 0] % RANK_COUNT if len(self.at) > 1 else np.zeros(len(out), np.int64)

    def hands(self, out: Faces) -> Hands:
        """Return the hand of each place of each deck, from the faces of the order out; -1 if a face of it, or the First
        Card, is unknown (-1).
        """
        decks = np.arange(len(out))[:, None, None]
        cards = out[decks, self.at[self.start(out)]]
        found: Hands = _numbers()[cards[..., 0], cards[..., 1], cards[..., 2]]
        unknown = (cards < 0).any(axis=2)
        if len(self.at) > 1:
            unknown |= out[:, :1] < 0
        found[unknown] = -1
        return found

    def is_same(self, other: Dealing) -> bool:
        """Return whether both deal the same cards to the same places."""
        return self.places == other.places and np.array_equal(self.at, other.at)

    def collected(self, out: Faces) -> Faces:
        """Return the deck after the round: hands in the order of `places`, cards as dealt, with the rest below."""
        orders = []
        for at in self.at:
            dealt = at.ravel()
            orders.append(np.concatenate([dealt, np.setdiff1d(np.arange(out.shape[1]), dealt)]))
        return np.take_along_axis(out, np.stack(orders)[self.start(out)], axis=1)


def dealing(law: Law, unit: Unit, boxes: int | None = None) -> Dealing:
    """Return how a game deals one round from the top of a deck with a wager on each of `boxes` boxes, by default all of
    its layout. A First Card that belongs to no hand comes before them (F3, reading 18).
    """
    game, grammar = law.game, law.game.grammar(unit)
    numbers = range(1, (game.boxes[2] if boxes is None else boxes) + 1)
    places = (*(box(number) for number in numbers), DEALER)
    if game.first_card is None:
        return Dealing(places, _positions(dealing_order(grammar, numbers), places, 0)[None])
    before = int(law.option(game.first_card.setting) != "in_hand")
    ranks = range(1, RANK_COUNT + 1)
    orders = [order_after_first_card(game.first_card, grammar, rank) for rank in ranks]
    return Dealing(places, np.stack([_positions(order, places, before) for order in orders]))


def _positions(order: tuple[Place, ...], places: tuple[Place, ...], before: int) -> npt.NDArray[np.int64]:
    return np.array([[before + at for at, one in enumerate(order) if one == place] for place in places])


@cache
def _numbers() -> npt.NDArray[np.int64]:
    """Return the table from three faces, in any order, to the number of their hand."""
    hands = np.array([[card.number - 1 for card in hand] for hand in ALL_HANDS])
    found = np.full((len(DECK),) * HAND_SIZE, -1, np.int64)
    for order in permutations(range(HAND_SIZE)):
        found[tuple(hands[:, order].T)] = np.arange(len(hands))
    return found


def number_of(hand: Faces) -> int:
    """Return the number of a hand of three faces."""
    return int(_numbers()[tuple(hand)])


@cache
def keys() -> npt.NDArray[np.int64]:
    """Return the class of each hand, 0 to 30, by its number."""
    return np.array([rank_key(hand) for hand in ALL_HANDS])


@cache
def _ranks() -> npt.NDArray[np.int64]:
    """Return the number of each hand's ranks (of 455), by the hand's number."""
    return np.array([NUMBER_OF[tuple(sorted(card.rank for card in hand))] for hand in ALL_HANDS])


_tables: dict[tuple[Wager, object], Net] = {}


def net(law: Law, wager: Wager, hands: Hands) -> Net:
    """Return a bettor's gain by a wager, for each deck and box; a single column where the box does not matter."""
    key = wager, law.prices(wager)
    if key not in _tables:
        _tables[key] = _by_pairs(law, wager) if wager.looks is Looks.BOTH else _by_hands(law, wager)
    table = _tables[key]
    if wager.looks is Looks.BOTH:
        return table[_ranks()[hands[:, :-1]], _ranks()[hands[:, -1:]]]
    return table[hands[:, -1:] if wager.looks is Looks.DEALER else hands[:, :-1]]


def _by_hands(law: Law, wager: Wager) -> Net:
    return np.array([float(settle(law, wager, hand, hand).net) for hand in ALL_HANDS])


def _by_pairs(law: Law, wager: Wager) -> Net:
    """Return gains by the ranks of the box's and the Dealer's hand; `settle` is called once for each two classes."""
    depends = dependence(wager, law.prices(wager))
    classes = classes_by(frozenset({Trait.RANKS}) if depends.same_ranks else depends.traits)
    ours, theirs = map(unsuited, classes.first), [unsuited(ranks) for ranks in classes.last]
    table = np.array([[float(settle(law, wager, hand, other).net) for other in theirs] for hand in ours])
    of = np.array(classes.of)
    found: Net = table[of[:, None], of]
    return found
