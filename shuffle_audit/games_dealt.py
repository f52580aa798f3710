"""Deals the given decks by the rules of each game, and finds hands and outcomes that come too often or too rarely.

Every class of hands at every place and every outcome at every box, of each game in sets and in singles, are compared
together (Bonferroni). This is not part of the verdict: a bad shuffle need not show in hands, and where it does, the
verdict sees it in the orders.
"""

from __future__ import annotations

import msgspec

from controller.games import GAMES, game
from controller.games.specification import Unit
from shuffle_audit.dealing import dealing
from shuffle_audit.faces import Faces
from shuffle_audit.hands_dealt import Compared, compare
from shuffle_audit.money import first_reading


class Count(msgspec.Struct, frozen=True):
    """A count at a place, as in `hands_dealt.Compared`. `adjusted` is p for all games together (Bonferroni). `place` is
    B1 and so on, or D for the Dealer.
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
    """The result. `compared` is the number of counts. `rarest` has the least likely of each game and unit, `beyond` all
    with an adjusted chance of at most the level.
    """

    compared: int
    rarest: tuple[Count, ...]
    beyond: tuple[Count, ...]


def deal_games(out: Faces, level: float) -> Dealt:
    """Deal whole decks with these faces from the top."""
    found: dict[tuple[str, Unit], list[Compared]] = {}
    for name in GAMES:
        law = first_reading(game(name))
        for unit in Unit:
            found[name, unit] = compare(law, dealing(law, unit), out)
    together = sum(map(len, found.values()))
    counts = {
        (name, unit): [_count(name, unit, one, together) for one in counted] for (name, unit), counted in found.items()
    }
    beyond = sorted(
        (one for counted in counts.values() for one in counted if one.adjusted <= level), key=lambda one: one.p
    )
    rarest = tuple(min(counted, key=lambda one: one.p) for counted in counts.values())
    return Dealt(together, rarest, tuple(beyond))


def _count(name: str, unit: Unit, one: Compared, together: int) -> Count:
    return Count(name, unit.value, *one, adjusted=min(1.0, one.p * together))
