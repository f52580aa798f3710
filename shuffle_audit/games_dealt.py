"""The given decks, dealt as each of the games deals them: which hands and outcomes come too often or too rarely.

Every class of hands at every place, and every outcome at every box, of each game in sets and in singles, are compared
together (Bonferroni). That is no part of the verdict: a shuffle that is bad need not show in hands, and where it does,
the verdict has it from the orders.
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
    """What was counted at a place, as `hands_dealt.Compared`; `adjusted` is p for all games together (Bonferroni).
    `place`: B1 and on, D is the Dealer.
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
    """`compared`: how many counts. `rarest`: of each game and unit the one with the least chance. `beyond`: all with an
    adjusted chance of at most the level.
    """

    compared: int
    rarest: tuple[Count, ...]
    beyond: tuple[Count, ...]


def deal_games(out: Faces, level: float) -> Dealt:
    """Of whole decks with those faces from the top."""
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
