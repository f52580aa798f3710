"""Compares hands from shuffled decks with the exact odds: their classes, and wins, losses and ties of boxes.

Each place takes one hand of each deck, and decks are independent. Where every order is equally likely, a count at one
place is binomial, with a probability that follows from the game's rules. This holds for every place, every order of
dealing and every order in (which must be known for another reason: see `shuffle_audit`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np

from controller.rules.dealing_order import Place
from controller.rules.hand_counting import WHOLE_DECK, Trait, classes_by, count_hands, count_pairs, unsuited
from controller.rules.hands import THREE_PICTURES, Outcome, class_name, rank_key
from controller.rules.law import Law
from shuffle_audit.dealing import Dealing, keys
from shuffle_audit.exact import tails_of_decks
from shuffle_audit.faces import Faces

_RANKING = frozenset({Trait.RANKING})


class Compared(NamedTuple):
    """A count at a place. `p` is exact and two-sided: twice the smaller tail. `deviation` is the standard deviation of
    the expected count.
    """

    place: Place
    what: str
    found: int
    expected: float
    deviation: float
    p: float


@cache
def _keys_of_classes() -> tuple[int, ...]:
    return tuple(rank_key(unsuited(ranks)) for ranks in classes_by(_RANKING).first)


@cache
def class_odds() -> tuple[Fraction, ...]:
    """Return the probability of each class of hands, 0 (no points) to 30 (three pictures)."""
    counted = dict(zip(_keys_of_classes(), count_hands(WHOLE_DECK, _RANKING), strict=True))
    return tuple(
        Fraction(counted[key].suited + counted[key].unsuited, WHOLE_DECK.hands) for key in range(THREE_PICTURES + 1)
    )


@cache
def outcome_odds() -> dict[Outcome, Fraction]:
    """Return the probabilities that a box's hand ranks higher than the Dealer's, lower, or the same."""
    ways = dict.fromkeys(Outcome, 0)
    key = _keys_of_classes()
    for (ours, theirs), pairs in count_pairs(WHOLE_DECK, _RANKING).items():
        won = Outcome.WIN if key[ours] > key[theirs] else Outcome.LOSE
        ways[Outcome.TIE if ours == theirs else won] += pairs.same_ranks + pairs.other
    return {each: Fraction(count, WHOLE_DECK.pairs) for each, count in ways.items()}


def compare(law: Law, deal: Dealing, out: Faces) -> list[Compared]:
    """Compare every class at every place, and every outcome at every box, of decks with these faces from the top."""
    key = keys()[deal.hands(out)]
    counted: list[tuple[Place, str, int, Fraction]] = []
    for at, place in enumerate(deal.places):
        came = np.bincount(key[:, at], minlength=THREE_PICTURES + 1)
        for number, odds in enumerate(class_odds()):
            counted.append((place, str(class_name(number, law.game.names)), int(came[number]), odds))
    for at, place in enumerate(deal.places[:-1]):
        above = np.sign(key[:, at] - key[:, -1])
        for each, sign in ((Outcome.WIN, 1), (Outcome.LOSE, -1), (Outcome.TIE, 0)):
            counted.append((place, each.value, int((above == sign).sum()), outcome_odds()[each]))
    return [_compared(*one, decks=len(out)) for one in counted]


def _compared(place: Place, what: str, count: int, odds: Fraction, *, decks: int) -> Compared:
    chance = float(odds)
    p = min(1.0, 2 * min(tails_of_decks(np.array([1 - chance, chance]), decks, count)))
    deviation = sqrt(decks * chance * (1 - chance))
    return Compared(place, what, count, decks * chance, deviation, p)
