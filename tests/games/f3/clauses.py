"""The clauses of F3: the page has none, so its lists are named and their points numbered."""

from typing import Final

from tests.clauses.numbers import named

NAMING: Final = (
    "PM1 to PM5 are the bullets of the playing method, items 1 to 8 the points on counting, O1 the odds, O2 those on"
    " six points, O3 those of Pair Plus, X1 and X2 the points of the explanation."
)
CLAUSES: Final = (
    *named("F3", "PM", "12345"),
    *named("F3", "item ", "12345678"),
    *named("F3", "O", "123"),
    *named("F3", "X", "12"),
)
