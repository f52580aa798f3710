"""What a wager may still come to, given every hand that its places can become.

First the cards that may complete a hand, then the hands that can become of it, then for each wager a table of its
verdicts by classes of hands.
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
"""The high bit of every digit: set before a subtraction, it is gone from each digit of which too much was taken."""
ALL_SUITS: Final = (1 << len(SUITS)) - 1


def _as_number(ranks: Iterable[int]) -> int:
    return sum(1 << _DIGIT * (rank - 1) for rank in ranks)


class Completion(NamedTuple):
    """One way to fill a hand: `drawn` as a number and as `ranks`; `hand` is the number of the rank hand it becomes."""

    drawn: int
    ranks: tuple[int, ...]
    hand: int


@cache
def completions(known: KnownRanks) -> tuple[Completion, ...]:
    """Every way to fill a hand of which those ranks are known, from cards without end."""
    return tuple(
        Completion(_as_number(drawn), drawn, NUMBER_OF[tuple(sorted((*known, *drawn)))])
        for drawn in combinations_with_replacement(range(1, RANK_COUNT + 1), HAND_SIZE - len(known))
    )


class Unknown:
    """The cards of a deck whose places are unknown: all that may complete a hand."""

    def __init__(self, cards: Iterable[Card]) -> None:
        self.cards = tuple(cards)
        self.supply = FLAGS
        """How many there are of each rank, as a number, under the flags."""
        self.suits = [0] * (RANK_COUNT + 1)
        """By rank, a bit for each suit in which it is there."""
        for card in self.cards:
            self.supply += 1 << _DIGIT * (card.rank - 1)
            self.suits[card.rank] |= 1 << SUITS.index(card.code[1])

    @property
    def count(self) -> int:
        return len(self.cards)

    def possible(self, known: KnownRanks) -> list[Completion]:
        """The completions of one hand for which there are cards enough."""
        supply, flags = self.supply, FLAGS
        return [way for way in completions(known) if (supply - way.drawn) & flags == flags]

    def suited_or_not(self, known: Sequence[Card], way: Completion) -> tuple[bool, bool]:
        """Whether the completed hand can be of one suit, and whether it can be of several."""
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
    """What a hand of which those ranks are known can still become: `ways`, of which there is at least one."""

    def __init__(self, known: KnownRanks, ways: list[Completion]) -> None:
        self.known, self.ways = known, ways
        self._drawn: dict[Traits, DrawnByClass] = {}

    @property
    def is_whole(self) -> bool:
        return not self.ways[0].drawn

    def drawn_by_class(self, traits: Traits) -> DrawnByClass:
        """For each class that the hand can be of, all that it would draw to become so."""
        found = self._drawn.get(traits)
        if found is None:
            found = self._drawn[traits] = {}
            of = classes_by(traits).of
            for way in self.ways:
                found.setdefault(of[way.hand], []).append(way.drawn)
        return found


@dataclass(frozen=True)
class HandTable:
    """Of a wager on one hand: its verdict for each class, for hands of several suits, and of one where suits matter."""

    traits: Traits
    ordinary: tuple[Verdict, ...]
    in_suit: tuple[Verdict, ...] = ()

    @property
    def minds_suits(self) -> bool:
        return bool(self.in_suit)

    def possible(self, outlooks: Sequence[Outlook], hands: Sequence[Cards], unknown: Unknown) -> set[Verdict]:
        """The verdicts that some completion of the hand comes to; two may stand for all where there are more."""
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
    """Of a wager on one hand to which suits matter in another way than whether they are one."""

    verdict: Callable[[Hand], Verdict]

    minds_suits: ClassVar = True

    def possible(self, outlooks: Sequence[Outlook], hands: Sequence[Cards], unknown: Unknown) -> set[Verdict]:
        """The verdicts that some completion of the hand comes to; two may stand for all where there are more."""
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
    """Of a wager on two hands: for each verdict and each class of the box's hand, a bit for each class of the Dealer's
    hand with which it is the verdict."""

    traits: Traits
    bits: dict[Verdict, tuple[int, ...]]

    minds_suits: ClassVar = False

    def possible(self, outlooks: Sequence[Outlook], hands: Sequence[Cards], unknown: Unknown) -> set[Verdict]:
        """The verdicts that some completion of both hands comes to; two may stand for all where there are more.

        First as if each hand had a deck of its own. Where that leaves several verdicts and both hands still draw, each
        needs two completions that the unknown cards can serve together.
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
    """Whether two completions with that verdict can be drawn from the same cards."""
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
    """The wager's verdicts, asked of `settle` once for each class and kept: they depend on nothing but its prices.

    Raises `SettingError` where a reading that it depends on must be chosen and is not.
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
    """Whether two hands of one class have another verdict for being of the same three ranks."""
    return any(
        verdict(unsuited(first), unsuited(first)) is not verdict(unsuited(first), unsuited(last))
        for first, last in zip(classes.first, classes.last, strict=True)
    )
