"""Which row of a game's irregularity table applies, and what must be asked before one can be told."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from controller.games.specification import Disposition, Facts, Game, Kind, Role, Row


class Finding(NamedTuple):
    """The row that applies. `asks` names facts that a person must state first; the row is then the likeliest."""

    row: Row
    asks: tuple[str, ...]


def find_row(game: Game, kind: Kind, facts: Facts) -> Finding:
    """The first row whose facts hold, or the first that might once the facts that it asks for are stated."""
    for row in game.irregularities:
        if row.kind is not kind:
            continue
        asks = _unstated(row.when, facts)
        if asks is not None:
            return Finding(row, asks)
    return Finding(silent_row(game, kind), ())


def _unstated(when: Facts, facts: Facts) -> tuple[str, ...] | None:
    """The facts that a row needs and nobody stated; None if a stated fact speaks against the row."""
    asks: list[str] = []
    for name, wanted in msgspec.structs.asdict(when).items():
        stated = getattr(facts, name)
        if wanted is None or stated is wanted:
            continue
        if stated is not None:
            return None
        asks.append(name)
    return tuple(asks)


def silent_row(game: Game, kind: Kind) -> Row:
    """No row fits: the clause that refers, where the document has one, else a ruling of the house."""
    return Row(
        id="-",
        kind=kind,
        clause=game.silent_clause,
        disposition=Disposition.REFER if game.silent_clause else Disposition.SILENT,
        because="the document provides nothing for this",
        decides=Role.SHIFT_MANAGER,
    )
