"""Deals the given decks by the rules of each game, and finds hands and outcomes that come too often or too rarely.

Every class of hands at every place and every outcome at every box, of each game in sets and in singles, are compared
together (Bonferroni). The rarest of them is a procedure of the verdict: it finds a shuffler that deals to a box.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import msgspec

from controller.games import GAMES, game
from controller.games.specification import Unit
from shuffle_audit.cells import Cells
from shuffle_audit.dealing import dealing
from shuffle_audit.hands_dealt import LOW as LOW
from shuffle_audit.hands_dealt import Compared, Deal, compare, count_dealt, kinds_of
from shuffle_audit.money import first_reading
from shuffle_audit.orders import Stored
from shuffle_audit.table_hands import TableRound, table_cells

ID: Final = "hands-dealt"
WORDS: Final = "Decks with the most unusual kind of hand at a place, or result at a box, of all games"
SOURCE: Final = "Dunn 1961"
SHARE: Final = 0.005


class Count(msgspec.Struct, frozen=True):
    """A count at a place, as in `hands_dealt.Compared`. `adjusted` is p for all games together (Bonferroni). `place` is
    B1 and so on, or D for the Dealer. `unit` has both units where they deal alike.
    """

    game: str
    unit: str
    place: str
    what: str
    found: int
    expected: float
    deviation: float
    p: float
    adjusted: float


class Dealt(msgspec.Struct, frozen=True):
    """The result. `compared` is the number of counts. `rarest` has the least likely of each deal, `beyond` all with an
    adjusted chance of at most the level.
    """

    compared: int
    rarest: tuple[Count, ...]
    beyond: tuple[Count, ...]


@cache
def deals() -> tuple[Deal, ...]:
    """Return how each game deals, once where sets and singles deal alike."""
    found: list[Deal] = []
    for name in GAMES:
        law = first_reading(game(name))
        sets, singles = (dealing(law, unit) for unit in (Unit.SETS, Unit.SINGLES))
        apart = [((Unit.SETS,), sets), ((Unit.SINGLES,), singles)]
        alike = [((Unit.SETS, Unit.SINGLES), sets)] if sets.is_same(singles) else apart
        found += [Deal(name, units, deal, kinds_of(law)) for units, deal in alike]
    return tuple(found)


def cells(out: Stored, rounds: Sequence[TableRound] = ()) -> Iterator[Cells]:
    """Yield the cells of the procedure, from the faces of whole decks from the top; a face may be unknown (-1). Hands
    that were dealt in `rounds` of a table have half of the alarms.
    """
    halves = 2 if rounds else 1
    weight = float(halves * sum(one.compared for one in deals()))
    for deal in deals():
        for counted in count_dealt(deal, out):
            yield counted.cells(weight, f"{deal.game} dealt in {deal.unit}")
    if rounds:
        yield from table_cells(rounds, halves)


def deal_games(out: Stored, level: float) -> Dealt:
    """Deal decks with these faces from the top; a face may be unknown (-1)."""
    together = sum(one.compared for one in deals())
    counts = [[_count(deal, one, together) for one in compare(deal, out)] for deal in deals()]
    beyond = sorted((one for own in counts for one in own if one.adjusted <= level), key=lambda one: one.p)
    rarest = tuple(min(own, key=lambda one: one.p) for own in counts if own)
    return Dealt(together, rarest, tuple(beyond))


def _count(deal: Deal, one: Compared, together: int) -> Count:
    return Count(deal.game, deal.unit, *one, adjusted=min(1.0, one.p * together))
