"""The clauses of P3, by number: those of the document itself and of its diagrams."""

from typing import Final

from tests.clauses.numbers import named, numbered

CLAUSES: Final = (
    *numbered(
        "P3",
        {"1": 1, "2": 2, "3": 16, "4": 3, "5": 6}
        | {"1.1": 6, "1.1.4": 5, "2.2": 4, "3.9": 1, "3.9.1": 1, "3.10": 2, "3.11": 1, "3.13": 2, "5.1": 2},
    ),
    *named("P3", "Diagram ", "ABC"),
)
