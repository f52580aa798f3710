"""How much of the long forms a run takes: all, or a tenth that is drawn for each run.

`CARDSHOE_LONG=bounded` takes the tenth, `full` all; without it all. `CARDSHOE_LONG_SEED` draws the same tenth again:
the end of a run says which seed it had. What a long form draws besides by a seed of its own stays as it is in full.
"""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Sequence
from random import Random
from typing import Final, TypeVar

T = TypeVar("T")
LONG: Final = "CARDSHOE_LONG"
SEED: Final = "CARDSHOE_LONG_SEED"
SHARE: Final = 10  # one in so many
FORMS: Final = ("full", "bounded")

_form = os.environ.get(LONG) or "full"
if _form not in FORMS:
    raise ValueError(f"{LONG} is {_form!r}; it is one of {', '.join(FORMS)}")
BOUNDED: Final = _form == "bounded"
# Workers of a run inherit it, and so collect the same tests.
seed: Final = int(os.environ.setdefault(SEED, str(secrets.randbelow(10**6)))) if BOUNDED else 0


def some(cases: Sequence[T]) -> list[T]:
    """A tenth of the cases, in their order."""
    if not BOUNDED:
        return list(cases)
    drawn = Random(seed).sample(range(len(cases)), math.ceil(len(cases) / SHARE))
    return [cases[number] for number in sorted(drawn)]


def count(number: int) -> int:
    """How many of so many examples."""
    return math.ceil(number / SHARE) if BOUNDED else number


def one_in() -> int:
    """One of so many in a row is taken: 1 takes each."""
    return SHARE if BOUNDED else 1


def randomness(own_seed: object) -> Random:
    """What a long form draws from: by its own seed, in a bounded run by that of the run too."""
    return Random(f"{own_seed} {seed}" if BOUNDED else own_seed)  # type: ignore[arg-type]  # a number or a text


def as_environment() -> str:
    """What takes the same tenth again."""
    return f"{LONG}={_form} {SEED}={seed}"
