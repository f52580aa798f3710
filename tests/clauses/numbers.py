"""The clauses of the five rules documents, as numbers only: what the program cites must be among them.

A clause is whatever its document numbers below the level of a section; a section's heading is none. What a document
leaves unnumbered has a name of ours: the layouts and appendices by their letter, and all of F3 by its lists (PM: the
bullets of the playing method, item: the points on counting, O: the tables of odds, X: the points of the explanation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

# How many clauses a section has, and how many sub-clauses those of its clauses that have any.
_NUMBERED: Final[dict[str, dict[str, int]]] = {
    "TP": {"1": 1, "2": 2, "3": 15, "4": 1, "5": 6}
    | {"1.1": 4, "2.2": 3, "3.8": 1, "3.8.1": 1, "3.9": 2, "3.13": 1, "5.1": 2},
    "RTP": {"1": 1, "2": 2, "3": 22, "4": 2, "5": 13, "6": 2}
    | {"1.1": 6, "1.1.4": 6, "1.1.4.2": 3, "2.2": 3, "3.9": 1, "3.12": 1, "3.17": 1, "3.17.1": 1, "3.18": 2}
    | {"5.1": 2, "5.8": 1, "5.13": 2},
    "NC": {"1": 19, "2": 2, "3": 13, "4": 1, "5": 17}
    | {"2.1": 1, "2.2": 1, "3.2": 3, "3.12": 1, "3.13": 4}
    | {"5.1": 2, "5.2": 1, "5.4": 2, "5.5": 5, "5.7": 3, "5.11": 1},
    "P3": {"1": 1, "2": 2, "3": 16, "4": 3, "5": 6}
    | {"1.1": 6, "1.1.4": 5, "2.2": 4, "3.9": 1, "3.9.1": 1, "3.10": 2, "3.11": 1, "3.13": 2, "5.1": 2},
    "F3": {},
}
_LETTERED: Final[dict[str, tuple[str, ...]]] = {"NC 2.1.1": ("a",)}
_NAMED: Final[dict[str, tuple[tuple[str, str], ...]]] = {  # how the name begins, and how it goes on
    "TP": (("Diagram ", "AB"),),
    "RTP": (("App. ", "AB"),),
    "NC": (("App. ", "ABC"),),
    "P3": (("Diagram ", "ABC"),),
    "F3": (("PM", "12345"), ("item ", "12345678"), ("O", "123"), ("X", "12")),
}
DOCUMENTS: Final = tuple(_NUMBERED)


def clauses(document: str) -> tuple[str, ...]:
    """Every clause of a document, in its order, the lettered and listed ones last.

    >>> clauses("TP")[:3], clauses("TP")[-1]
    (('TP 1.1', 'TP 1.1.1', 'TP 1.1.2'), 'TP Diagram B')
    """
    counts = _NUMBERED[document]
    sections = [section for section in counts if "." not in section]
    numbered = [clause for section in sections for clause in _below(document, section, counts)]
    named = [f"{document} {begins}{goes_on}" for begins, all_of_them in _NAMED[document] for goes_on in all_of_them]
    return (*numbered, *named)


def _below(document: str, number: str, counts: Mapping[str, int]) -> Iterator[str]:
    for count in range(1, counts.get(number, 0) + 1):
        clause = f"{document} {number}.{count}"
        yield clause
        yield from (f"{clause}.{letter}" for letter in _LETTERED.get(clause, ()))
        yield from _below(document, f"{number}.{count}", counts)


CLAUSES: Final[frozenset[str]] = frozenset(clause for document in DOCUMENTS for clause in clauses(document))
