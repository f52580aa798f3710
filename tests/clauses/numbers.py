"""The clauses of the rules documents, by number only: what the program cites must be among them.

A clause is whatever its document numbers below the level of a section; section headings are not clauses. Unnumbered
parts have names of ours. The numbers of each document are in tests/games/<id>/clauses.py, written from the document
and not from the program's data.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from types import ModuleType
from typing import Final

from controller.games import GAMES


def numbered(document: str, counts: Mapping[str, int], lettered: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return clauses by number, each followed by its sub-clauses.

    `counts`: the number of clauses of a section, and of sub-clauses of each clause with any. `lettered`: the letters
    below a clause, by its number.

    >>> numbered("TP", {"1": 1, "1.1": 2, "2": 1}, {"2.1": "a"})
    ('TP 1.1', 'TP 1.1.1', 'TP 1.1.2', 'TP 2.1', 'TP 2.1.a')
    """
    sections = [section for section in counts if "." not in section]
    return tuple(f"{document} {clause}" for section in sections for clause in _below(section, counts, lettered or {}))


def _below(number: str, counts: Mapping[str, int], lettered: Mapping[str, str]) -> Iterator[str]:
    for count in range(1, counts.get(number, 0) + 1):
        clause = f"{number}.{count}"
        yield clause
        yield from (f"{clause}.{letter}" for letter in lettered.get(clause, ""))
        yield from _below(clause, counts, lettered)


def named(document: str, begins: str, goes_on: str) -> tuple[str, ...]:
    """Return clauses with a common start of their name, one for each figure or letter.

    >>> named("NC", "App. ", "AB")
    ('NC App. A', 'NC App. B')
    """
    return tuple(f"{document} {begins}{end}" for end in goes_on)


def _modules() -> dict[str, ModuleType]:
    """Return the clause numbers of every game that has them; a test requires those of the others."""
    names = {document: f"tests.games.{document.lower()}" for document in GAMES}
    return {
        document: importlib.import_module(f"{name}.clauses")
        for document, name in names.items()
        if find_spec(name) is not None and find_spec(f"{name}.clauses") is not None
    }


_MODULES: Final = _modules()
DOCUMENTS: Final = tuple(_MODULES)


def clauses(document: str) -> tuple[str, ...]:
    """Return every clause of a document, in its order, the lettered and listed ones last.

    >>> clauses("TP")[:3], clauses("TP")[-1]
    (('TP 1.1', 'TP 1.1.1', 'TP 1.1.2'), 'TP Diagram B')
    """
    found: tuple[str, ...] = _MODULES[document].CLAUSES
    return found


def naming(document: str) -> str:
    """Return our names for a document's unnumbered parts, or none where layouts and appendices keep their letter."""
    return getattr(_MODULES[document], "NAMING", "")


CLAUSES: Final[frozenset[str]] = frozenset(clause for document in DOCUMENTS for clause in clauses(document))
