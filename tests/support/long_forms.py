"""The share of the long forms that a run takes: all, or a random part selected for each run.

`CARDSHOE_LONG=bounded` takes a random half of each file's long tests, each with a tenth of its cases; `full`, the
default, takes all. `CARDSHOE_LONG_SEED` draws the same part again; a run prints its seed at the end. A long form with
its own seed draws the same as in the full form.
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
SHARE: Final = 10  # one case in ten
FORMS: Final = ("full", "bounded")

_form = os.environ.get(LONG) or "full"
if _form not in FORMS:
    raise ValueError(f"{LONG} is {_form!r}; it is one of {', '.join(FORMS)}")
BOUNDED: Final = _form == "bounded"
# The workers of a run inherit it, and so collect the same tests.
seed: Final = int(os.environ.setdefault(SEED, str(secrets.randbelow(10**6)))) if BOUNDED else 0


def some(cases: Sequence[T]) -> list[T]:
    """Return a tenth of the cases, in their order."""
    if not BOUNDED:
        return list(cases)
    drawn = Random(seed).sample(range(len(cases)), math.ceil(len(cases) / SHARE))
    return [cases[number] for number in sorted(drawn)]


def half(cases: Sequence[T], of: str) -> list[T]:
    """Return half of the cases, in their order. A different text `of` gives a different half."""
    drawn = Random(f"{seed} {of}").sample(range(len(cases)), math.ceil(len(cases) / 2))
    return [cases[number] for number in sorted(drawn)] if BOUNDED else list(cases)


def count(number: int) -> int:
    """Return how many of the examples are run."""
    return math.ceil(number / SHARE) if BOUNDED else number


def one_in() -> int:
    """Return the step for taking one in every few of a sequence: 1 takes each."""
    return SHARE if BOUNDED else 1


def randomness(own_seed: object) -> Random:
    """Return the random generator of a long form. It depends on the form's own seed, and in a bounded run also on the
    seed of the run.
    """
    return Random(f"{own_seed} {seed}" if BOUNDED else own_seed)  # type: ignore[arg-type]  # a number or a text


def as_environment() -> str:
    """Return the environment variables that select the same random part of the tests again."""
    return f"{LONG}={_form} {SEED}={seed}"
