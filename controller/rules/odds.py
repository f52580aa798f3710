"""The exact odds of every wager, by counting. Probabilities are fractions; nothing is sampled or rounded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from types import MappingProxyType
from typing import TypeAlias

from controller.games.specification import Game
from controller.games.wager_specification import Looks, Price, Wager
from controller.rules.dependence import Dependence, Suits, dependence
from controller.rules.hand_counting import (
    WHOLE_DECK,
    CountedDeck,
    classes_by,
    count_hands,
    count_pairs,
    suited,
    unsuited,
)
from controller.rules.law import Law, read_law, readings_that_matter
from controller.rules.payouts import Settled, Verdict, settle
from firmware_bridge.messages import Message

Play: TypeAlias = tuple[tuple[Wager, tuple[Price, ...]], ...]
"""The wagers in force under some choice of readings, each with its prices."""


@dataclass(frozen=True)
class PriceWays:
    """One price of a wager, and the number of the wager's `total` ways in which it is paid.

    `name` is the document's name for it, or the shape where there is none; `shape` is what it is paid on, with the
    name. `odds` are net units for each unit staked.
    """

    name: Message
    shape: Message
    odds: Fraction
    clause: str
    ways: int


@dataclass(frozen=True)
class WagerOdds:
    """The counted odds of a wager. `prices` are in the order in which they are checked.

    `total` is the number of equally likely ways: ordered pairs of hands (407,170,400 of 52 cards), or hands (22,100)
    where the wager looks at one.
    """

    wager: str
    title: Message
    prices: tuple[PriceWays, ...]
    ways_returned: int
    ways_lost: int
    total: int

    @property
    def won(self) -> Fraction:
        """The probability of winning."""
        return Fraction(sum(price.ways for price in self.prices), self.total)

    @property
    def returned(self) -> Fraction:
        """The probability that the stake is returned."""
        return Fraction(self.ways_returned, self.total)

    @property
    def lost(self) -> Fraction:
        """The probability of losing."""
        return Fraction(self.ways_lost, self.total)

    @property
    def payback(self) -> Fraction:
        """The average return for each unit staked, including the stake."""
        paid = sum((price.ways * (1 + price.odds) for price in self.prices), Fraction(self.ways_returned))
        return paid / self.total

    @property
    def house_edge(self) -> Fraction:
        """The house's average share of each unit staked; negative if the wager favours the player."""
        return 1 - self.payback

    @property
    def favours_player(self) -> bool:
        return self.payback > 1


def count_odds(law: Law, deck: CountedDeck = WHOLE_DECK) -> tuple[WagerOdds, ...]:
    """Count the odds of every wager that is in force.

    Raises `SettingError` where a wager depends on a reading that has not been chosen, and `CountingError` for a wager
    that cannot be counted.

    >>> from controller.games import game
    >>> main, tie, three_pictures = count_odds(read_law(game("TP")))
    >>> three_pictures.total, three_pictures.house_edge
    (22100, Fraction(54, 65))
    """
    for setting in readings_that_matter(law.game):
        law.option(setting.id)
    return tuple(wager_odds(law, wager, deck) for wager in law.wagers)


def wager_odds(law: Law, wager: Wager, deck: CountedDeck = WHOLE_DECK) -> WagerOdds:
    """Count the odds of one wager. Raises as `count_odds` does, for the wager's own prices."""
    verdicts: Counter[Verdict] = Counter()
    paid: Counter[tuple[Message, Fraction, str]] = Counter()
    for settled, ways in _ways(law, wager, deck):
        verdicts[settled.verdict] += ways
        if settled.verdict is Verdict.WON:
            paid[settled.because, settled.net, settled.clause] += ways
    return WagerOdds(
        wager.id,
        wager.title,
        tuple(_ways_of(price, paid) for price in law.prices(wager)),
        verdicts[Verdict.RETURNED],
        verdicts[Verdict.LOST],
        deck.pairs if wager.looks is Looks.BOTH else deck.hands,
    )


def _ways_of(price: Price, paid: Counter[tuple[Message, Fraction, str]]) -> PriceWays:
    name = price.name or price.pays_on
    return PriceWays(name, price.called, price.odds, price.clause, paid[name, price.odds, price.clause])


def _ways(law: Law, wager: Wager, deck: CountedDeck) -> Iterator[tuple[Settled, int]]:
    """Yield the wager's outcome for each class of hands, with the number of ways to deal that class."""
    depends = dependence(wager, law.prices(wager))
    if wager.looks is Looks.BOTH:
        return _pair_ways(law, wager, deck, depends)
    if depends.suits is Suits.CARDS:
        return ((settle(law, wager, hand, hand), 1) for hand in combinations(deck.cards, 3))
    return _hand_ways(law, wager, deck, depends)


def _hand_ways(law: Law, wager: Wager, deck: CountedDeck, depends: Dependence) -> Iterator[tuple[Settled, int]]:
    traits = depends.traits
    for ranks, count in zip(classes_by(traits).first, count_hands(deck, traits), strict=True):
        ordinary, in_suit = unsuited(ranks), count.suited if depends.suits is Suits.ONE_SUIT else 0
        yield settle(law, wager, ordinary, ordinary), count.suited + count.unsuited - in_suit
        if in_suit:
            flush = suited(ranks)
            yield settle(law, wager, flush, flush), in_suit


def _pair_ways(law: Law, wager: Wager, deck: CountedDeck, depends: Dependence) -> Iterator[tuple[Settled, int]]:
    classes = classes_by(depends.traits)
    for (ours, theirs), count in count_pairs(deck, depends.traits).items():
        box, dealer = classes.first[ours], classes.last[theirs]
        if count.other:
            yield settle(law, wager, unsuited(box), unsuited(dealer)), count.other
        if count.same_ranks:
            dealer = box if depends.same_ranks else dealer
            yield settle(law, wager, unsuited(box), unsuited(dealer)), count.same_ranks


def ways_to_play(
    game: Game, wager_id: str = "", fixed: Mapping[str, str] = MappingProxyType({})
) -> dict[Play, list[Law]]:
    """Group every choice of the readings that matter by its effect on one wager; without `wager_id`, on all wagers.

    Choices that put the same wagers and prices in force are one way to play: if ties are decided by the ranking of P3,
    it does not matter how points are compared. A wager that is not in force has an empty way to play. A setting in
    `fixed` keeps that option. A setting that does not matter keeps its default, which may be empty.
    """
    variants = [wager for wager in game.wagers if wager_id in ("", wager.id)]
    matter = readings_that_matter(game, variants)
    found: dict[Play, list[Law]] = {}
    for options in product(*((fixed[one.id],) if one.id in fixed else one.words for one in matter)):
        law = read_law(game, {one.id: option for one, option in zip(matter, options, strict=True)})
        play = tuple((wager, law.prices(wager)) for wager in law.wagers if wager_id in ("", wager.id))
        found.setdefault(play, []).append(law)
    return found


def every_reading(game: Game) -> tuple[Law, ...]:
    """Return one law for each way to play, with the options that the document's data names first."""
    return tuple(laws[0] for laws in ways_to_play(game).values())
