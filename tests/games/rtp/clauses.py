"""The clauses of RTP, by number: those of the document itself and of its appendices."""

from typing import Final

from tests.clauses.numbers import named, numbered

CLAUSES: Final = (
    *numbered(
        "RTP",
        {"1": 1, "2": 2, "3": 22, "4": 2, "5": 13, "6": 2}
        | {"1.1": 6, "1.1.4": 6, "1.1.4.2": 3, "2.2": 3, "3.9": 1, "3.12": 1, "3.17": 1, "3.17.1": 1, "3.18": 2}
        | {"5.1": 2, "5.8": 1, "5.13": 2},
    ),
    *named("RTP", "App. ", "AB"),
)
