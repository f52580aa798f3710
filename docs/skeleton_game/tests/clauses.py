"""The clauses of SK, by number, counted in the document."""

from typing import Final

from tests.clauses.numbers import numbered

CLAUSES: Final = numbered("SK", {"1": 2, "2": 3, "3": 4, "4": 3, "5": 6})
