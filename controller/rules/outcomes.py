"""The verdicts that are still possible for a wager, given every hand that its places can become.

The steps: the cards that may complete a hand, the hands that it can become, then for each wager a table of its verdicts
by classes of hands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, combinations_with_replacement
from typing import ClassVar, Final, NamedTuple, TypeAlias

from controller.games.wager_specification import Looks, Price, Wager
from controller.rules.dependence import Suits, dependence
from controller.rules.hand_counting import (
    NUMBER_OF,
    RANK_COUNT,
    RANK_HANDS,
    Classes,
    Hand,
    Trait,
    classes_by,
    has_three_ranks,
    suited,
    unsuited,
)
from controller.rules.hands import HAND_SIZE
from controller.rules.law import Law
from controller.rules.payouts import Cards, Verdict, settle
from firmware_bridge.cards import SUITS, Card

Traits: TypeAlias = frozenset[Trait]
DrawnByClass: TypeAlias = dict[int, list[int]]
VerdictOf: TypeAlias = Callable[[Hand, Hand], Verdict]

KnownRanks: TypeAlias = tuple[int, ...]  # ascending

_DIGIT: Final = 4  # bits
FLAGS: Final = sum(8 << _DIGIT * place for place in range(RANK_COUNT))
"""The high bit of every digit. Set before a subtraction, it is cleared in each digit from which too much was taken."""
ALL_SUITS: Final = (1 << len(SUITS)) - 1


def _as_number(ranks: Iterable[int]) -> int:
    return sum(1 << _DIGIT * (rank - 1) for rank in ranks)


class Completion(NamedTuple):
    """One way to fill a hand. `drawn` is the cards as a number; `hand` is the number of the resulting rank hand."""

    drawn: int
    ranks: tuple[int, ...]
    hand: int


@cache
def completions(known: KnownRanks) -> tuple[Completion, ...]:
    """Return every way to fill a hand with these known ranks, from an unlimited supply of cards."""
    return tuple(
        Completion(_as_number(drawn), drawn, NUMBER_OF[tuple(sorted((*known, *drawn)))])
        for drawn in combinations_with_replacement(range(1, RANK_COUNT + 1), HAND_SIZE - len(known))
    )


class Unknown:
    """The cards of a deck whose places are unknown. Any of them may complete a hand."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self.cards = tuple(cards)
        self.supply = FLAGS
        """The number of cards of each rank, one digit each, under the flags."""
        self.suits = [0] * (RANK_COUNT + 1)
        """The suits that are left of each rank, as bits."""
        for card in self.cards:
            self.supply += 1 << _DIGIT * (card.rank - 1)
            self.suits[card.rank] |= 1 << SUITS.index(card.code[1])

    @property
    def count(self) -> int:
        return len(self.cards)

    def possible(self, known: KnownRanks) -> list[Completion]:
        """Return the completions of one hand for which there are enough cards."""
        supply, flags = self.supply, FLAGS
        return [way for way in completions(known) if (supply - way.drawn) & flags == flags]

    def suited_or_not(self, known: Sequence[Card], way: Completion) -> tuple[bool, bool]:
        """Return whether the completed hand can be of one suit, and whether it can be of several."""
        if not has_three_ranks(RANK_HANDS[way.hand]):
            return False, True
        in_suit = ALL_SUITS
        for card in known:
            in_suit &= 1 << SUITS.index(card.code[1])
        ways = 1
        for rank in way.ranks:
            in_suit &= self.suits[rank]
            ways *= self.suits[rank].bit_count()
        return in_suit != 0, ways > in_suit.bit_count()


class Outlook:
    """The hands that a hand with these known ranks can still become. `ways` is not empty."""

    def __init__(self, known: KnownRanks, ways: list[Completion]) -> None:
        self.known, self.ways = known, ways
        self._drawn: dict[Traits, DrawnByClass] = {}

    @property
    def is_whole(self) -> bool:
        return not self.ways[0].drawn

    def drawn_by_class(self, traits: Traits) -> DrawnByClass:
        """Return, for each class that the hand can become, every draw that leads to it."""
        found = self._drawn.get(traits)
        if found is None:
            found = self._drawn[traits] = {}
            of = classes_by(traits).of
            for way in self.ways:
                found.setdefault(of[way.hand], []).append(way.drawn)
        return found


@dataclass(frozen=True)
class HandTable:
    """The verdicts of a wager on one hand, by class: of hands of several suits, and of one suit where suits matter."""

    traits: Traits
    ordinary: tuple[Verdict, ...]
    in_suit: tuple[Verdict, ...] = ()

    @property
    def minds_suits(self) -> bool:
        return bool(self.in_suit)

    def possible(self, outlooks: Sequence[Outlook], hands: Sequence[Cards], unknown: Unknown) -> set[Verdict]:
        """Return the verdicts that completions of the hand can reach, or two of them if there are more."""
        ((outlook,), (known,)) = outlooks, hands
        if not self.in_suit:
            return {self.ordinary[of] for of in outlook.drawn_by_class(self.traits)}
        found: set[Verdict] = set()
        for way in outlook.ways:
            one_suit, several = unknown.suited_or_not(known, way)
            if one_suit:
                found.add(self.in_suit[way.hand])
            if several:
                found.add(self.ordinary[way.hand])
            if len(found) > 1:
                break
        return found


@dataclass(frozen=True)
class CardTable:
    """The verdicts of a wager on one hand that depend on suits beyond whether all cards share one."""

    verdict: Callable[[Hand], Verdict]

    minds_suits: ClassVar = True

    def possible(self, outlooks: Sequence[Outlook], hands: Sequence[Cards], unknown: Unknown) -> set[Verdict]:
        """Return the verdicts that completions of the hand can reach, or two of them if there are more."""
        (known,) = hands
        found: set[Verdict] = set()
        for drawn in combinations(unknown.cards, HAND_SIZE - len(known)):
            first, second, third = (*known, *drawn)
            found.add(self.verdict((first, second, third)))
            if len(found) > 1:
                break
        return found


@dataclass(frozen=True)
class PairTable:
    """The verdicts of a wager on two hands.

    `bits` has, for each verdict and each class of the box's hand, a bit for each class of the Dealer's hand that gives
    it.
    """

    traits: Traits
    bits: dict[Verdict, tuple[int, ...]]

    minds_suits: ClassVar = False

    def possible(self, outlooks: Sequence[Outlook], hands: Sequence[Cards], unknown: Unknown) -> set[Verdict]:
        """Return the verdicts that completions of both hands can reach, or two of them if there are more.

        The first check gives each hand its own deck. If that leaves several verdicts and both hands still draw, each
        verdict needs two completions that the unknown cards can serve together.
        """
        box, dealer = outlooks
        ours, theirs = box.drawn_by_class(self.traits), dealer.drawn_by_class(self.traits)
        there = sum(1 << of for of in theirs)
        apart = {verdict for verdict, bits in self.bits.items() if any(bits[of] & there for of in ours)}
        if len(apart) == 1 or box.is_whole or dealer.is_whole:
            return apart
        found: set[Verdict] = set()
        for verdict in sorted(apart):
            if _can_happen(self.bits[verdict], ours, theirs, unknown.supply):
                found.add(verdict)
            if len(found) > 1:
                break
        return found


def _can_happen(bits: Sequence[int], ours: DrawnByClass, theirs: DrawnByClass, supply: int) -> bool:
    """Return whether two completions with that verdict can be drawn from the same cards."""
    flags = FLAGS
    for of, draws in ours.items():
        with_it = [drawn for other, together in theirs.items() if bits[of] >> other & 1 for drawn in together]
        if not with_it:
            continue
        for drawn in draws:
            rest = supply - drawn
            for other in with_it:
                if (rest - other) & flags == flags:
                    return True
    return False


Table: TypeAlias = HandTable | CardTable | PairTable
_tables: dict[tuple[Wager, tuple[Price, ...]], Table] = {}


def table_of(law: Law, wager: Wager) -> Table:
    """Return the wager's verdicts, found with `settle` once for each class. They are kept: only its prices decide them.

    Raises `SettingError` where the wager depends on a reading that has not been chosen.
    """
    key = wager, law.prices(wager)
    found = _tables.get(key)
    if found is None:
        found = _tables[key] = (_pair_table if wager.looks is Looks.BOTH else _hand_table)(law, wager)
    return found


def _hand_table(law: Law, wager: Wager) -> HandTable | CardTable:
    depends = dependence(wager, law.prices(wager))

    def verdict(hand: Hand) -> Verdict:
        return settle(law, wager, hand, hand).verdict

    if depends.suits is Suits.CARDS:
        return CardTable(verdict)
    examples = classes_by(depends.traits).first
    ordinary = tuple(verdict(unsuited(ranks)) for ranks in examples)
    if depends.suits is Suits.NONE:
        return HandTable(depends.traits, ordinary)
    in_suit = tuple(verdict((suited if has_three_ranks(ranks) else unsuited)(ranks)) for ranks in examples)
    return HandTable(depends.traits, ordinary, in_suit)


def _pair_table(law: Law, wager: Wager) -> PairTable:
    depends = dependence(wager, law.prices(wager))

    def verdict(box: Hand, dealer: Hand) -> Verdict:
        return settle(law, wager, box, dealer).verdict

    traits = depends.traits
    if depends.same_ranks and _same_ranks_differ(verdict, classes_by(traits)):
        traits = frozenset({Trait.RANKS})
    classes = classes_by(traits)
    rows = [[verdict(unsuited(box), unsuited(dealer)) for dealer in classes.last] for box in classes.first]
    return PairTable(
        traits,
        {
            wanted: tuple(sum(1 << other for other, found in enumerate(row) if found is wanted) for row in rows)
            for wanted in Verdict
        },
    )


def _same_ranks_differ(verdict: VerdictOf, classes: Classes) -> bool:
    """Return whether two hands of one class get another verdict when their three ranks are the same."""
    return any(
        verdict(unsuited(first), unsuited(first)) is not verdict(unsuited(first), unsuited(last))
        for first, last in zip(classes.first, classes.last, strict=True)
    )
