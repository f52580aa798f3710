"""The numbers under which a table shows a row. The number follows from the facts, so a row may have several."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.games.specification import NUMBERS, STATED, Facts, Kind, Noticed, Row
from controller.rules.law import Law, find_row

IMPLIED: Final = (
    (("viewed", True), ("handled", True)),
    (("handled", False), ("viewed", False)),
    (("cannot_tell", True), ("established", False)),
    (("established", True), ("cannot_tell", False)),
)
"""Facts that imply others: a hand that was viewed was handled; if nobody can tell, nothing is established."""


class NumberedRow(NamedTuple):
    """A row under one number. `when`: the facts that hold whenever the table shows it so; `noticed`: the moments."""

    row: Row
    number: str
    when: Facts
    noticed: tuple[Noticed, ...]


def numbered_rows(law: Law, kind: Kind) -> Iterator[NumberedRow]:
    """Yield the rows of a kind, without the house's own rows, under each number that some facts give them."""
    names = _names(law, kind)
    found: dict[tuple[Row, str], list[Facts]] = {}
    for facts in _every_fact(names):
        row = find_row(dataclasses.replace(law, house=()), kind, facts).row
        found.setdefault((replace(row, id=""), row.id), []).append(facts)
    for (row, number), reaching in found.items():
        if row in law.rows:
            noticed = tuple(moment for moment in Noticed if any(facts.noticed is moment for facts in reaching))
            yield NumberedRow(row, number, _in_common(row, names, reaching), noticed)


def _names(law: Law, kind: Kind) -> list[str]:
    """Return the facts on which the row or the number depends."""
    whens = [row.when for row in law.rows if row.kind is kind and row not in law.house]
    whens += [when for _, of, when in NUMBERS if of is kind]
    return [name for name in STATED if any(getattr(when, name) is not None for when in whens)]


def _every_fact(names: list[str]) -> Iterator[Facts]:
    for noticed, answers in product(Noticed, product((False, True), repeat=len(names))):
        facts = Facts(**dict(zip(names, answers, strict=True)), noticed=noticed)
        if not any(_is(facts, *one) and _is(facts, name, not value) for one, (name, value) in IMPLIED):
            yield facts


def _is(facts: Facts, name: str, value: bool) -> bool:
    return getattr(facts, name) is value


def _in_common(row: Row, names: list[str], reaching: list[Facts]) -> Facts:
    """Return the facts that the row needs and those that the number adds, without the ones that these imply."""
    of_number = {name for _, of, when in NUMBERS if of is row.kind for name in names if getattr(when, name) is not None}
    values = {name: {getattr(facts, name) for facts in reaching} for name in of_number}
    common = {name: value for name, (value, *others) in values.items() if not others}
    stated = {name: value for name in STATED if (value := getattr(row.when, name)) is not None}
    holds = {**common, **stated}
    implied = {then for one, (then, _) in IMPLIED if one in holds.items()} - set(stated)
    return Facts(**{name: value for name, value in holds.items() if name not in implied})
