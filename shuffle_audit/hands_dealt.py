"""Compares hands from shuffled decks with the exact odds: their classes, and wins, losses and ties of boxes.

Each place takes one hand of each deck. Where every order is equally likely, a count at one place is binomial, with a
probability that follows from the game's rules. This holds for every place, every order of dealing, and whatever went
in, even the previous order out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from controller.games.specification import Unit
from controller.rules.dealing_order import Place
from controller.rules.hand_counting import WHOLE_DECK, Trait, classes_by, count_hands, count_pairs, unsuited
from controller.rules.hands import THREE_PICTURES, Outcome, class_name, rank_key
from controller.rules.law import Law
from firmware_bridge.messages import Message
from shuffle_audit.cells import Cells, bernoulli
from shuffle_audit.dealing import Dealing, Hands, keys
from shuffle_audit.exact import mean_and_variance, tails_of_decks
from shuffle_audit.faces_at_places import points_in_words
from shuffle_audit.orders import Counts, Stored, in_blocks

_RANKING = frozenset({Trait.RANKING})
LOW: Final = 0.5  # the part of alarms that are raised by hands that are too rare
PICTURES: Final = ("no picture", "one picture", "two pictures")


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


class HandKind(NamedTuple):
    """A kind of hands: `holds[key]` says whether a hand of this class is of the kind."""

    name: Message | str
    holds: npt.NDArray[np.bool_]
    odds: float


class Deal(NamedTuple):
    """A deal by a game's rules, as `dealing` describes it, with the kinds of hands that are compared. `units` has both
    units if they deal alike.
    """

    game: str
    units: tuple[Unit, ...]
    dealing: Dealing
    kinds: tuple[HandKind, ...]

    @property
    def unit(self) -> str:
        """The units in words."""
        return " or ".join(self.units)

    @property
    def compared(self) -> int:
        """The number of counts."""
        return compared(self.dealing.places, self.kinds)


class CountedHands(NamedTuple):
    """The same count at several places, in as many decks."""

    places: tuple[Place, ...]
    what: Message | str
    decks: int
    odds: float
    counts: npt.NDArray[np.int64]

    def cells(self, weight: float, where: str) -> Cells:
        """Return the counts as cells. `where` says where these hands come from."""
        return Cells(
            bernoulli(self.odds), self.decks, self.counts, lambda at: f"{self.what} at {self.places[at]}, {where}",
            weight, LOW,
        )  # fmt: skip


class _Sums(NamedTuple):
    """Counts over decks: by place, hands that are known, and hands of each class; by box, hands that are known together
    with the Dealer's, and those that rank lower, the same, and higher.
    """

    known: Counts
    classes: Counts
    both: Counts
    signs: Counts


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


def kinds_of(law: Law) -> tuple[HandKind, ...]:
    """Return the classes of hands by the game's names, hands by their number of pictures, and by their points."""
    key = np.arange(THREE_PICTURES + 1)
    points, shown = np.where(key < THREE_PICTURES, key // 3, 0), np.where(key < THREE_PICTURES, key % 3, 3)
    kinds: list[tuple[Message | str, npt.NDArray[np.bool_]]] = [
        *((class_name(number, law.game.names), key == number) for number in key.tolist()),
        *((words, shown == number) for number, words in enumerate(PICTURES)),
        *((words, points == number) for number, words in enumerate(points_in_words())),
    ]
    odds = class_odds()
    return tuple(
        HandKind(name, holds, float(sum((odds[one] for one in np.flatnonzero(holds)), Fraction(0))))
        for name, holds in kinds
    )


def compared(places: Sequence[Place], kinds: Sequence[HandKind]) -> int:
    """Return the number of counts: every kind at every place, every outcome at every box."""
    return len(places) * len(kinds) + (len(places) - 1) * len(Outcome)


def count(places: Sequence[Place], hands: Iterable[Hands], kinds: Sequence[HandKind]) -> Iterator[CountedHands]:
    """Count every kind of hands at every place, and every outcome at every box. The Dealer is the last place; a hand
    may be unknown (-1). `hands` are those of some decks at a time.
    """
    sums = _sums(hands, len(places))
    holds = np.stack([kind.holds for kind in kinds]).astype(np.int64)
    for decks, at in _by_number(sums.known):
        there = tuple(places[one] for one in at)
        for kind, counts in zip(kinds, holds @ sums.classes[at].T, strict=True):
            yield CountedHands(there, kind.name, decks, kind.odds, counts)
    for decks, at in _by_number(sums.both):
        there = tuple(places[one] for one in at)
        for each, sign in ((Outcome.WIN, 1), (Outcome.LOSE, -1), (Outcome.TIE, 0)):
            yield CountedHands(there, each.value, decks, float(outcome_odds()[each]), sums.signs[sign + 1, at])


def _sums(hands: Iterable[Hands], places: int) -> _Sums:
    found = _Sums(
        np.zeros(places, np.int64), np.zeros((places, THREE_PICTURES + 1), np.int64), np.zeros(places - 1, np.int64),
        np.zeros((3, places - 1), np.int64),
    )  # fmt: skip
    for some in hands:
        known = some >= 0
        key = np.where(known, keys()[some], THREE_PICTURES + 1)
        np.add(found.known, known.sum(axis=0), out=found.known)
        for place, one in enumerate(key.T):
            found.classes[place] += np.bincount(one, minlength=THREE_PICTURES + 2)[: THREE_PICTURES + 1]
        both = known[:, :-1] & known[:, -1:]
        np.add(found.both, both.sum(axis=0), out=found.both)
        above = np.where(both, np.sign(key[:, :-1] - key[:, -1:]), 2)
        for sign in (-1, 0, 1):
            found.signs[sign + 1] += (above == sign).sum(axis=0)
    return found


def _by_number(seen: npt.NDArray[np.int64]) -> Iterator[tuple[int, list[int]]]:
    """Yield the indexes that as many decks show, by that number."""
    for decks in np.unique(seen[seen > 0]).tolist():
        yield decks, np.flatnonzero(seen == decks).tolist()


def count_dealt(deal: Deal, out: Stored) -> Iterator[CountedHands]:
    """Count the hands that are dealt from decks with these faces from the top; a face may be unknown (-1)."""
    return count(deal.dealing.places, (deal.dealing.hands(block) for block in in_blocks(out)), deal.kinds)


def compare(deal: Deal, out: Stored) -> list[Compared]:
    """Compare every count of a deal with the exact odds. A face may be unknown (-1)."""
    counts = count_dealt(deal, out)
    return [one for counted in counts for one in _compared(counted)]


def _compared(counted: CountedHands) -> Iterator[Compared]:
    one = bernoulli(counted.odds)
    mean, variance = mean_and_variance(one)
    for place, found in zip(counted.places, counted.counts.tolist(), strict=True):
        p = min(1.0, 2 * min(tails_of_decks(one, counted.decks, found)))
        deviation = (counted.decks * variance) ** 0.5
        yield Compared(place, str(counted.what), found, counted.decks * mean, deviation, p)
