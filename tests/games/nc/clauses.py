"""The clauses of NC, by number: those of the document itself and of its appendices."""

from typing import Final

from tests.clauses.numbers import named, numbered

CLAUSES: Final = (
    *numbered(
        "NC",
        {"1": 19, "2": 2, "3": 13, "4": 1, "5": 17}
        | {"2.1": 1, "2.2": 1, "3.2": 3, "3.12": 1, "3.13": 4}
        | {"5.1": 2, "5.2": 1, "5.4": 2, "5.5": 5, "5.7": 3, "5.11": 1},
        {"2.1.1": "a"},
    ),
    *named("NC", "App. ", "ABC"),
)
