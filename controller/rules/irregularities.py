"""Which row of a table's law applies to an irregularity, and what must be asked before one can be told."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.games.specification import ASSUMED_NOT, NUMBERS, Disposition, Facts, Game, Kind, Noticed, Role, Row
from controller.rules.law import Law

SILENT_DECIDED_BY: Final = Role.SHIFT_MANAGER  # what no document provides for


class Finding(NamedTuple):
    """The row that applies. `asks` names facts that a person must state first; the row is then the likeliest."""

    row: Row
    asks: tuple[str, ...]


def find_row(law: Law, kind: Kind, facts: Facts) -> Finding:
    """The first row whose facts hold, or the first that might once the facts that it asks for are stated."""
    for row in law.rows:
        if row.kind is not kind or facts.noticed not in row.noticed:
            continue
        asks = _unstated(row.when, facts)
        if asks is not None:
            numbered = row if asks or row.authority else replace(row, id=number(kind, facts))
            return Finding(numbered, asks)
    return Finding(silent_row(law.game, kind, facts), ())


STATED: Final = tuple(name for name in Facts.__struct_fields__ if name != "noticed")  # rows say that one themselves


def _unstated(when: Facts, facts: Facts) -> tuple[str, ...] | None:
    """The facts that a row needs and nobody stated; None if a stated fact speaks against the row."""
    asks: list[str] = []
    for name in STATED:
        wanted, stated = getattr(when, name), getattr(facts, name)
        if wanted is None or stated is wanted or (stated is None and wanted is False and name in ASSUMED_NOT):
            continue
        if stated is not None or name in ASSUMED_NOT:
            return None
        asks.append(name)
    return tuple(asks)


def number(kind: Kind, facts: Facts) -> str:
    """The irregularity's number among I01 to I28; a dash for what has none.

    >>> number(Kind.WRONG_COUNT, Facts(dealer_hand=True, handled=True))
    'I08b'
    """
    if facts.noticed is Noticed.NEXT_ROUND:
        return "I24"
    return next((name for name, of, when in NUMBERS if of is kind and _unstated(when, facts) == ()), "-")


def silent_row(game: Game, kind: Kind, facts: Facts) -> Row:
    """No row fits: the clause that refers, where the document has one, else a ruling of the house."""
    return Row(
        id=number(kind, facts),
        kind=kind,
        clause=game.silent_clause,
        disposition=Disposition.REFER if game.silent_clause else Disposition.SILENT,
        because="the document provides nothing for this",
        decides=SILENT_DECIDED_BY,
        noticed=tuple(Noticed),
    )
