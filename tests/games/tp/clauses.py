"""The clauses of TP, by number: those of the document itself and of its diagrams."""

from typing import Final

from tests.clauses.numbers import named, numbered

CLAUSES: Final = (
    *numbered(
        "TP",
        {"1": 1, "2": 2, "3": 15, "4": 1, "5": 6}
        | {"1.1": 4, "2.2": 3, "3.8": 1, "3.8.1": 1, "3.9": 2, "3.13": 1, "5.1": 2},
    ),
    *named("TP", "Diagram ", "AB"),
)
