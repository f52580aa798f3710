"""The clause numbers of NC, as numbers: what the program cites must be among them."""

from __future__ import annotations

from typing import Final, TypeAlias

Clause: TypeAlias = tuple[int, ...]

# How many clauses a section has, and how many sub-clauses those of them that have any. (Numbers only.)
_SECTIONS: Final = {1: 19, 2: 2, 3: 13, 4: 1, 5: 17}
_SUBCLAUSES: Final = {
    (2, 1): 1, (2, 2): 1, (3, 2): 3, (3, 12): 1, (3, 13): 4,
    (5, 1): 2, (5, 2): 1, (5, 4): 2, (5, 5): 5, (5, 7): 3, (5, 11): 1,
}  # fmt: skip

CLAUSES: Final[frozenset[Clause]] = frozenset(
    [(section, number) for section, count in _SECTIONS.items() for number in range(1, count + 1)]
    + [(*clause, number) for clause, count in _SUBCLAUSES.items() for number in range(1, count + 1)]
)


def cited(text: str) -> Clause:
    """A citation as numbers. Raises ValueError for what is none of NC.

    >>> cited("NC 5.11.1")
    (5, 11, 1)
    """
    document, _, number = text.partition(" ")
    if document != "NC":
        raise ValueError(f"{text!r} does not cite NC")
    return tuple(int(part) for part in number.split("."))
