"""The searches.

Those in `COUNTED` are searched completely, and docs/testing.md has their numbers; the short run of the tests completes
the `SMALL` ones and only begins the `LARGE` ones. Of those in `IN_PART` only the long run searches the first states.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.games import GAMES, game
from controller.games.specification import Unit
from tests.search.explore import Search, begin, explore
from tests.search.moves import Scope


class Case(NamedTuple):
    """One search: a game, the device's unit, the number of occupied boxes, and the most irregularities.

    `every_start`: with a First Card, try every place at which the deal may begin, not only one. `corrections`: one bet
    of each round is also corrected.
    """

    game: str
    unit: Unit
    boxes: int = 1
    wagers: bool = True
    irregularities: int = 1
    wide: bool = False
    every_start: bool = False
    corrections: bool = False

    @property
    def name(self) -> str:
        also = {
            f"{self.boxes} boxes": self.boxes > 1,
            "no wagers": not self.wagers,
            "wide": self.wide,
            "every start": self.every_start,
            "a bet corrected": self.corrections,
        }
        return ", ".join([f"{self.game} {self.unit}", *(words for words, so in also.items() if so)])


WRITTEN: Final = ("F3", "NC", "P3", "RTP", "TP")  # in docs/testing.md; `--write` adds a further game to it
CORRECTED: Final = tuple(Case(game_id, unit, irregularities=0, corrections=True) for game_id in GAMES for unit in Unit)
# One box is enough for choices about bets; with two boxes several bettors choose, which needs no wagers.
COUNTED: Final = (
    *(Case(game_id, unit) for game_id in GAMES for unit in Unit),
    *(Case(game_id, unit, boxes=2, wagers=False) for game_id in ("RTP", "NC") for unit in Unit),
    *CORRECTED,
)
SMALL: Final = (
    *(Case("RTP", Unit.SETS), Case("NC", Unit.SETS)),
    *(case for case in CORRECTED if case.game == "F3" or (case.game in WRITTEN and case.unit is Unit.SETS)),
)
LARGE: Final = tuple(case for case in COUNTED if case not in SMALL)
LARGEST: Final = Case("NC", Unit.SINGLES, boxes=2, wagers=False)  # 385,000 states: only the full form searches it
IN_PART: Final = (
    *(Case(game_id, unit, wagers=False) for game_id in GAMES for unit in Unit),
    *(Case("F3", unit, every_start=True) for unit in Unit),
    *(Case(game_id, unit, wagers=False, irregularities=2) for game_id in ("TP", "P3") for unit in Unit),
    *(Case(game_id, unit, corrections=True) for game_id in GAMES for unit in Unit),
    *(Case(game_id, unit, boxes=2, irregularities=0, corrections=True) for game_id in ("RTP", "NC") for unit in Unit),
)


def starts_of(game_id: str) -> tuple[str, ...]:
    """Return the First Cards, one for each place where the deal may begin, or an empty value if the game does not show
    one.
    """
    first = game(game_id).first_card
    if first is None:
        return ("",)
    letters = "A23456789TJQK"
    return tuple(f"{letters[ranks[0] - 1]}C" for _, ranks in first.starts)


def run(case: Case, most: int = 0) -> Search:
    """Search completely, or until that many states were found."""
    scope = Scope(tuple(range(1, case.boxes + 1)), case.wagers, wide=case.wide, corrections=case.corrections)
    firsts = starts_of(case.game) if case.every_start else starts_of(case.game)[:1]
    starts = [begin(case.game, case.unit, scope, case.irregularities, first) for first in firsts]
    return explore(starts, scope, most)
